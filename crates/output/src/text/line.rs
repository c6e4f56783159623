//! One line as a terminal shows it: columns that later characters overwrite.

use unicode_width::UnicodeWidthChar;

#[derive(Debug, Clone)]
enum Cell {
    /// A character and what combines with it.
    Char(char, String),
    /// The second column of a wide character.
    Second,
}

const BLANK: Cell = Cell::Char(' ', String::new());

/// A line that was gone back in.
#[derive(Debug, Default)]
pub(super) struct Columns {
    cells: Vec<Cell>,
    cursor: usize,
    /// Whether the cursor came here by backspaces.
    stepped_back: bool,
    /// Characters struck over another by a backspace.
    pub(super) overstrikes: u64,
}

impl Columns {
    pub(super) fn of(text: &str) -> Self {
        let mut columns = Self::default();
        text.chars().for_each(|c| columns.put(c));
        columns
    }

    pub(super) fn text(&self) -> String {
        let mut text = String::with_capacity(self.cells.len());
        for cell in &self.cells {
            if let Cell::Char(c, marks) = cell {
                text.push(*c);
                text.push_str(marks);
            }
        }
        text
    }

    /// Whether it has so many columns that it is no longer kept for going back.
    pub(super) fn long(&self) -> bool {
        self.cells.len() > crate::limits::LINE_EDIT_BYTES
    }

    pub(super) fn home(&mut self) {
        (self.cursor, self.stepped_back) = (0, false);
    }

    pub(super) fn erase_right(&mut self) {
        self.split(self.cursor);
        self.cells.truncate(self.cursor);
    }

    pub(super) fn erase(&mut self) {
        self.cells.clear();
        self.cursor = 0;
    }

    pub(super) fn right(&mut self, columns: usize) {
        self.cursor += columns;
        while self.cells.len() < self.cursor {
            self.cells.push(BLANK);
        }
    }

    pub(super) fn left(&mut self, columns: usize) {
        self.cursor = self.cursor.saturating_sub(columns);
    }

    pub(super) fn backspace(&mut self) {
        self.left(1);
        self.stepped_back = true;
    }

    pub(super) fn put(&mut self, c: char) {
        match c.width().unwrap_or(0) {
            0 if c != '\t' => self.combine(c),
            2 => self.place(c, true),
            _ => self.place(c, false),
        }
    }

    fn combine(&mut self, c: char) {
        let before = self.cells.get_mut(..self.cursor).unwrap_or_default();
        let last = before.iter_mut().rev().find_map(|cell| match cell {
            Cell::Char(_, marks) => Some(marks),
            Cell::Second => None,
        });
        match last {
            Some(marks) => marks.push(c),
            None => self.place(c, false),
        }
    }

    fn place(&mut self, c: char, wide: bool) {
        if wide && matches!(self.cells.get(self.cursor), Some(Cell::Second)) {
            self.cursor -= 1;
        }
        let struck =
            std::mem::take(&mut self.stepped_back).then(|| self.cells.get(self.cursor).cloned()).flatten();
        let kept = matches!(&struck, Some(Cell::Char(old, _)) if c == '_' && !matches!(old, ' ' | '_'));
        self.overstrikes += u64::from(struck.is_some());
        if kept {
            let second = matches!(self.cells.get(self.cursor + 1), Some(Cell::Second));
            self.cursor += 1 + usize::from(second);
            return;
        }
        self.set(Cell::Char(c, String::new()));
        if wide {
            self.set(Cell::Second);
        }
    }

    fn set(&mut self, cell: Cell) {
        if !matches!(cell, Cell::Second) {
            self.split(self.cursor);
        }
        self.split(self.cursor + 1);
        match self.cells.get_mut(self.cursor) {
            Some(old) => *old = cell,
            None => self.cells.push(cell),
        }
        self.cursor += 1;
    }

    /// A wide character that lies over this border becomes two blanks.
    fn split(&mut self, border: usize) {
        if border > 0 && matches!(self.cells.get(border), Some(Cell::Second)) {
            for at in [border - 1, border] {
                if let Some(cell) = self.cells.get_mut(at) {
                    *cell = BLANK;
                }
            }
        }
    }
}
