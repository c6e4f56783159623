//! What is typed while the model works: it waits in a queue.

use std::collections::VecDeque;

use serde_json::Value;

use super::words;

/// The words of a content, by which what was typed is found again.
pub(super) fn words_of(content: Option<&Value>) -> String {
    words::typed(content)
}

/// Something that was typed.
struct Item {
    content: Option<Value>,
    words: String,
    /// Whether a record showed it before it was taken out.
    shown: bool,
}

/// What waits, and what was taken out and is not yet seen elsewhere.
#[derive(Default)]
pub(super) struct Queue {
    waiting: VecDeque<Item>,
    /// The taken items, each with the operation that took it.
    taken: Vec<(String, Item)>,
}

impl Queue {
    pub(super) fn put(&mut self, content: Option<&Value>) {
        let item = Item { content: content.cloned(), words: words_of(content), shown: false };
        self.waiting.push_back(item);
    }

    /// Takes the oldest item out. Whether there is something to say in it that is not said yet.
    pub(super) fn take(&mut self, operation: &str) -> bool {
        match self.waiting.pop_front() {
            Some(item) if !item.words.is_empty() && !item.shown => {
                self.taken.push((operation.to_owned(), item));
                true
            }
            _ => false,
        }
    }

    /// Something goes back to be edited. The operations that took what is now not said.
    pub(super) fn pull_back(&mut self, words: &str) -> Vec<String> {
        if let Some(at) = self.waiting.iter().position(|item| item.words == words) {
            self.waiting.remove(at);
            return Vec::new();
        }
        let Some(at) = self.taken.iter().position(|(_, item)| item.words == words) else {
            self.waiting.pop_front();
            return Vec::new();
        };
        let (operation, _) = self.taken.remove(at);
        match self.waiting.pop_front() {
            Some(other) if !other.words.is_empty() && !other.shown => {
                self.taken.insert(at, (operation, other));
                Vec::new()
            }
            _ => vec![operation],
        }
    }

    /// A record says `content`. The operations that took it out, if it was taken out.
    pub(super) fn show(&mut self, content: Option<&Value>, also_waiting: bool) -> Vec<String> {
        let mut forms = vec![words_of(content)];
        forms.extend(words::typed_command(&words_of(content)));
        for words in &forms {
            if let Some(run) = self.run_of(words) {
                return self.taken.drain(run).map(|(operation, _)| operation).collect();
            }
        }
        let same = |item: &&mut Item| !item.shown && forms.contains(&item.words);
        if let Some(item) = self.waiting.iter_mut().find(same).filter(|_| also_waiting) {
            item.shown = true;
        }
        Vec::new()
    }

    /// Which taken items, one after the other, have these words together.
    fn run_of(&self, words: &str) -> Option<std::ops::Range<usize>> {
        let count = self.taken.len();
        let runs = (1..=count).flat_map(|length| (0..=count - length).map(move |at| at..at + length));
        runs.into_iter().find(|run| {
            let items = self.taken.get(run.clone()).unwrap_or_default();
            let said: Vec<&str> = items.iter().map(|(_, item)| item.words.as_str()).collect();
            said.join("\n") == words
        })
    }

    /// The contents that were taken out and seen nowhere else, in that order.
    pub(super) fn settle(&mut self) -> Vec<Option<Value>> {
        self.taken.drain(..).map(|(_, item)| item.content).collect()
    }
}
