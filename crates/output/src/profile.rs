//! For whom a view is made: how much fits, and which next actions exist there.

use crate::limits::{VIEW_BYTES, VIEW_BYTES_LEAST, VIEW_LINES, VIEW_LINES_LEAST, WINDOW_PARTS};

/// How much a view shows at most. No bound is below what the footer needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    lines: usize,
    bytes: usize,
    chars: Option<usize>,
    tokens: Option<usize>,
}

impl Default for Limits {
    /// 200 lines, 51,200 bytes.
    fn default() -> Self {
        Self::new(VIEW_LINES, VIEW_BYTES)
    }
}

impl Limits {
    /// Lines (8 at least) and bytes (1,000 at least), the footer with them.
    #[must_use]
    pub fn new(lines: usize, bytes: usize) -> Self {
        let (lines, bytes) = (lines.max(VIEW_LINES_LEAST), bytes.max(VIEW_BYTES_LEAST));
        Self { lines, bytes, chars: None, tokens: None }
    }

    /// Also at most so many characters (1,000 at least).
    #[must_use]
    pub fn chars(self, chars: usize) -> Self {
        Self { chars: Some(chars.max(VIEW_BYTES_LEAST)), ..self }
    }

    /// Also at most an eighth of a model's free window, which has so many tokens (the eighth: 1,000 at least).
    ///
    /// Tokens are reckoned by script and rather too many: three characters of ASCII are one, any other character is one.
    #[must_use]
    pub fn window(self, tokens: usize) -> Self {
        Self { tokens: Some((tokens / WINDOW_PARTS).max(VIEW_BYTES_LEAST)), ..self }
    }

    /// Lines at most.
    #[must_use]
    pub const fn max_lines(&self) -> usize {
        self.lines
    }

    /// Bytes at most.
    #[must_use]
    pub const fn max_bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn cost(&self) -> Cost {
        let most = |bound: Option<usize>, times: u64| bound.map_or(u64::MAX / 8, |b| b as u64 * times);
        Cost {
            lines: self.lines as u64,
            bytes: self.bytes as u64,
            chars: most(self.chars, 1),
            thirds: most(self.tokens, 3),
        }
    }
}

/// The names of what can be done next, each with `{id}` where the output's id goes; absent where it does not exist.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Actions {
    /// Reads the whole output.
    pub whole: Option<String>,
    /// Reads a range of lines.
    pub lines: Option<String>,
    /// Reads a range of bytes, such as of a giant line.
    pub bytes: Option<String>,
    /// Searches in it.
    pub grep: Option<String>,
    /// Reads its first lines.
    pub head: Option<String>,
    /// Reads its last lines.
    pub tail: Option<String>,
    /// Writes its bytes to a file.
    pub file: Option<String>,
    /// What is added to any of them that is about standard error.
    pub stderr: Option<String>,
}

impl Actions {
    /// What the program `sayso` offers.
    #[must_use]
    pub fn sayso() -> Self {
        let action = |rest: &str| Some(format!("sayso output {{id}}{rest}"));
        Self {
            whole: action(""),
            lines: action(" --lines A:B"),
            bytes: action(" --bytes A:B"),
            grep: action(" --grep PATTERN"),
            head: action(" --head N"),
            tail: action(" --tail N"),
            file: action(" --to FILE"),
            stderr: Some("--stderr".to_owned()),
        }
    }
}

/// For whom a view is made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Profile {
    /// How much fits.
    pub limits: Limits,
    /// What exists there.
    pub actions: Actions,
}

/// What a text takes up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Cost {
    pub(crate) lines: u64,
    pub(crate) bytes: u64,
    pub(crate) chars: u64,
    /// Thirds of tokens.
    pub(crate) thirds: u64,
}

impl Cost {
    /// What one line takes up, with its end.
    pub(crate) fn line(text: &str) -> Self {
        let chars = bytecount::num_chars(text.as_bytes()) as u64;
        let wide: u64 = match text.is_ascii() {
            true => 0,
            false => {
                text.chars().map(|c| if c.is_ascii() { 0 } else { 2 + 3 * u64::from(c > '\u{FFFF}') }).sum()
            }
        };
        Self { lines: 1, bytes: text.len() as u64 + 1, chars: chars + 1, thirds: chars + 1 + wide }
    }

    pub(crate) const fn fits(&self, room: &Self) -> bool {
        self.lines <= room.lines
            && self.bytes <= room.bytes
            && self.chars <= room.chars
            && self.thirds <= room.thirds
    }

    pub(crate) fn plus(self, other: Self) -> Self {
        self.zip(other, u64::saturating_add)
    }

    pub(crate) fn minus(self, other: Self) -> Self {
        self.zip(other, u64::saturating_sub)
    }

    /// The smaller bound each.
    pub(crate) fn least(self, other: Self) -> Self {
        self.zip(other, u64::min)
    }

    /// The larger bound each.
    pub(crate) fn most(self, other: Self) -> Self {
        self.zip(other, u64::max)
    }

    /// So many hundredths of it.
    pub(crate) fn percent(self, part: u64) -> Self {
        let of = |n: u64| n / 100 * part + n % 100 * part / 100;
        Self { lines: of(self.lines), bytes: of(self.bytes), chars: of(self.chars), thirds: of(self.thirds) }
    }

    fn zip(self, other: Self, with: fn(u64, u64) -> u64) -> Self {
        Self {
            lines: with(self.lines, other.lines),
            bytes: with(self.bytes, other.bytes),
            chars: with(self.chars, other.chars),
            thirds: with(self.thirds, other.thirds),
        }
    }
}

impl std::iter::Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        costs.fold(Self::default(), Self::plus)
    }
}
