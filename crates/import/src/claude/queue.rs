//! What was typed while the model worked.
//!
//! It waits in a queue. When it is taken out, a record of the role user or an attachment mostly shows it; where none does
//! before the model speaks again, the queue is the only place where the words stand. Operations do not say what they take,
//! so the oldest is assumed, and words are matched with the records that show them.

use std::collections::VecDeque;

use sayso_model::SaidAt;
use serde_json::Value;

use super::content::typed_words;
use super::words::command;
use crate::draft::Meta;
use crate::report::FileReport;

/// What waits.
#[derive(Debug)]
pub(super) struct Item {
    pub(super) said_at: Option<SaidAt>,
    pub(super) content: Value,
}

impl Item {
    fn words(&self) -> String {
        typed_words(&self.content)
    }
}

/// How something was taken out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    Dequeue,
    Remove,
}

impl Operation {
    /// The kind under which it is counted where it adds no turn.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Dequeue => "queue-operation/dequeue",
            Self::Remove => "queue-operation/remove",
        }
    }
}

/// What was taken out, until it is known whether a record shows it.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) item: Item,
    pub(super) operation: Operation,
    /// Of the record that took it out.
    pub(super) meta: Meta,
}

/// The queue, and what was taken out of it since the model spoke last.
#[derive(Debug, Default)]
pub(super) struct Queue {
    /// `None` is what a record has shown already.
    pending: VecDeque<Option<Item>>,
    waiting: Vec<Waiting>,
}

impl Queue {
    pub(super) fn enqueue(&mut self, item: Item) {
        self.pending.push_back(Some(item));
    }

    /// Takes the oldest out. What is empty, or was shown before, adds nothing.
    pub(super) fn consume(&mut self, operation: Operation, meta: Meta, report: &mut FileReport) {
        match self.pending.pop_front().flatten().filter(|item| !item.words().is_empty()) {
            Some(item) => self.waiting.push(Waiting { item, operation, meta }),
            None => report.skip(operation.word()),
        }
    }

    /// Takes out what the person pulled back to edit: it was not said. Where it seemed to be taken out before, something
    /// else was.
    pub(super) fn pull_back(&mut self, words: &str, report: &mut FileReport) {
        let words = words.trim();
        let same = |item: &Item| item.words() == words;
        if let Some(at) = self.pending.iter().position(|item| item.as_ref().is_some_and(same)) {
            self.pending.remove(at);
        } else if let Some(at) = self.waiting.iter().position(|waiting| same(&waiting.item)) {
            let Waiting { operation, meta, .. } = self.waiting.remove(at);
            self.consume(operation, meta, report);
        } else {
            self.pending.pop_front();
        }
    }

    /// What a record with these words shows of what was taken out: one item, or several that follow each other.
    pub(super) fn cover(&mut self, words: &str) -> Option<Vec<Waiting>> {
        let words = words.trim();
        let command = command(words);
        let is = |item: &Item| {
            let waiting = item.words();
            waiting == words || Some(&waiting) == command.as_ref()
        };
        if let Some(at) = self.waiting.iter().position(|waiting| is(&waiting.item)) {
            return Some(vec![self.waiting.remove(at)]);
        }
        let run = (0..self.waiting.len()).find_map(|from| Some(from..from + self.joined(from, words)?))?;
        Some(self.waiting.drain(run).collect())
    }

    /// How many items from here on, joined by LF, are these words.
    fn joined(&self, from: usize, words: &str) -> Option<usize> {
        let mut rest = words;
        for (count, waiting) in self.waiting.iter().skip(from).enumerate() {
            rest = rest.strip_prefix(waiting.item.words().as_str())?;
            if rest.is_empty() {
                return Some(count + 1);
            }
            rest = rest.strip_prefix('\n')?;
        }
        None
    }

    /// The same for an attachment, which may come before its words are taken out.
    pub(super) fn cover_ahead(&mut self, words: &str) -> Option<Vec<Waiting>> {
        if let Some(covered) = self.cover(words) {
            return Some(covered);
        }
        let same = |item: &Option<Item>| item.as_ref().is_some_and(|item| item.words() == words.trim());
        if let Some(item) = self.pending.iter_mut().find(|item| same(item)) {
            *item = None;
        }
        None
    }

    /// Everything that was taken out and that no record has shown.
    pub(super) fn settle(&mut self) -> Vec<Waiting> {
        std::mem::take(&mut self.waiting)
    }
}
