//! The lines of one stream in a view.

use super::line::Line;
use crate::limits::{LINE_BYTES, LINE_BYTES_LEAST, SALIENT_LINES};
use crate::profile::Cost;
use crate::salient::Salient;

/// Which lines of a stream that does not fit are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// The first.
    Head,
    /// The first, the last, and salient ones between.
    Ends,
}

/// The lines of one stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Text {
    shape: Shape,
    /// By number; where numbers are missing, lines are left out.
    pub(super) lines: Vec<Line>,
    /// By number; shown where they stand in a gap.
    pub(super) salient: Vec<Salient>,
    pub(super) total_lines: u64,
    pub(super) total_bytes: u64,
}

/// What the two lines around a gap may take up.
const GAP: Cost = Cost { lines: 2, bytes: 220, chars: 200, thirds: 240 };

impl Text {
    pub(crate) fn new(
        shape: Shape,
        lines: Vec<Line>,
        salient: Vec<Salient>,
        total_lines: u64,
        total_bytes: u64,
    ) -> Self {
        Self { shape, lines, salient, total_lines, total_bytes }
    }

    pub(super) fn cut(&self) -> bool {
        self.lines.len() as u64 != self.total_lines || self.lines.iter().any(|l| l.missing() > 0)
    }

    /// The gap: the last number before it and the first after it. None at the end of the first lines.
    pub(super) fn gap(&self) -> Option<(u64, u64)> {
        let firsts = self.lines.iter().map(|l| l.number);
        let before = std::iter::once(0).chain(firsts.clone());
        let jump = before.zip(firsts).find(|(before, after)| before + 1 < *after);
        jump.or_else(|| {
            let last = self.lines.last().map_or(0, |l| l.number);
            (self.shape == Shape::Ends && last < self.total_lines).then_some((last, self.total_lines + 1))
        })
    }

    pub(super) fn in_gap(&self) -> impl Iterator<Item = &Salient> {
        let (from, to) = self.gap().unwrap_or((0, 0));
        self.salient.iter().filter(move |s| from < s.line.number && s.line.number < to)
    }

    pub(crate) fn shown(&self) -> Vec<&Line> {
        let mut lines: Vec<&Line> = self.lines.iter().chain(self.in_gap().map(|s| &s.line)).collect();
        lines.sort_by_key(|l| l.number);
        lines
    }

    pub(super) fn cost(&self) -> Cost {
        super::render::text(self).iter().map(|row| Cost::line(row)).sum()
    }

    /// At most so many lines and bytes of it.
    pub(crate) fn at_most(&self, lines: usize, bytes: usize) -> Self {
        let all = u64::MAX / 8;
        self.fit(Cost {
            lines: lines as u64 + GAP.lines,
            bytes: bytes as u64 + GAP.bytes,
            chars: all,
            thirds: all,
        })
    }

    /// As much of it as there is room for.
    pub(super) fn fit(&self, room: Cost) -> Self {
        if self.cost().fits(&room) {
            return self.clone();
        }
        match self.shape {
            Shape::Head => self.with(prefix(&self.lines, room, self.cap(room))),
            Shape::Ends => self.fit_ends(room.minus(GAP)),
        }
    }

    fn fit_ends(&self, room: Cost) -> Self {
        let share = if self.salient.is_empty() { room } else { room.percent(75) };
        let cap = self.cap(share);
        let last = suffix(&self.lines, share.percent(60), cap);
        let before = self.lines.get(..self.lines.len() - last.len()).unwrap_or_default();
        let first = prefix(before, share.minus(cost(&last)), cap);
        let unused = share.minus(cost(&first));
        let after = self.lines.get(first.len()..).unwrap_or_default();
        let last = suffix(after, unused, cap);
        let ends = self.with(first.into_iter().chain(last).collect());
        let room = room.minus(cost(&ends.lines));
        ends.with_salient(room)
    }

    fn with(&self, lines: Vec<Line>) -> Self {
        Self { lines, ..self.clone() }
    }

    /// The salient lines of the gap that matter most, as far as there is room.
    fn with_salient(self, mut room: Cost) -> Self {
        let mut ranked: Vec<Salient> = self.in_gap().cloned().collect();
        ranked.sort_by_key(|s| s.rank);
        let mut salient = Vec::new();
        for mut candidate in ranked.into_iter().take(SALIENT_LINES) {
            let number = Cost { lines: 0, ..Cost::line(&candidate.line.number.to_string()) };
            let Some(line) = candidate.line.within(&room.minus(number), LINE_BYTES_LEAST) else { break };
            room = room.minus(line.cost()).minus(number).minus(ONE);
            candidate.line = line;
            salient.push(candidate);
        }
        salient.sort_by_key(|s| s.line.number);
        Self { salient, ..self }
    }

    /// Bytes to which lines are cut so that the longest give way first; never below what is worth reading.
    fn cap(&self, room: Cost) -> usize {
        let room = usize::try_from(room.bytes).unwrap_or(usize::MAX);
        let mut sizes: Vec<usize> = self.lines.iter().map(Line::size).collect();
        sizes.sort_unstable();
        let (mut left, mut count) = (room, sizes.len());
        for size in sizes {
            let part = left / count.max(1);
            if size > part {
                return part.saturating_sub(48).max(LINE_BYTES.min(room / 4));
            }
            left -= size;
            count -= 1;
        }
        room
    }

    /// Takes out the line that matters least; false when there is none.
    pub(super) fn drop_one(&mut self) -> bool {
        let (from, to) = self.gap().unwrap_or((0, 0));
        let inside = |s: &Salient| from < s.line.number && s.line.number < to;
        let worst = self.salient.iter().enumerate().filter(|(_, s)| inside(s)).max_by_key(|(_, s)| s.rank);
        if let Some((at, _)) = worst {
            self.salient.remove(at);
            return true;
        }
        let before = self.lines.iter().take_while(|l| l.number <= from).count();
        match (self.shape, before) {
            (Shape::Ends, 1..) => drop(self.lines.remove(before - 1)),
            (Shape::Ends, 0) if !self.lines.is_empty() => drop(self.lines.remove(0)),
            _ => return self.lines.pop().is_some(),
        }
        true
    }
}

const ONE: Cost = Cost { lines: 0, bytes: 2, chars: 2, thirds: 2 };

fn cost(lines: &[Line]) -> Cost {
    lines.iter().map(Line::cost).sum()
}

fn prefix(lines: &[Line], room: Cost, cap: usize) -> Vec<Line> {
    take(lines.iter(), room, cap)
}

fn suffix(lines: &[Line], room: Cost, cap: usize) -> Vec<Line> {
    let mut taken = take(lines.iter().rev(), room, cap);
    taken.reverse();
    taken
}

fn take<'a>(lines: impl Iterator<Item = &'a Line>, mut room: Cost, cap: usize) -> Vec<Line> {
    let mut taken = Vec::new();
    for line in lines {
        let capped = line.capped(cap);
        let least = LINE_BYTES_LEAST.min(capped.size());
        let Some(line) = capped.within(&room, least) else { break };
        room = room.minus(line.cost());
        taken.push(line);
    }
    taken
}
