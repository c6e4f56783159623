//! Which record answers which, and which conversation beside the session a record belongs to.
//!
//! A parent never selects: every record is imported in file order. It only says what a turn answers and, for the side
//! chains that older versions wrote into the session's own file, with which of them a record stands together.

use std::collections::HashMap;
use std::rc::Rc;

use serde_json::Value;

use crate::values::named;

/// What is known about a record.
#[derive(Debug, Clone)]
struct Node {
    side: Option<Rc<str>>,
    /// The entry of its conversation that it is, or that it stands behind.
    entry: Option<usize>,
    /// Whether it is that entry itself.
    own: bool,
    /// Whether anybody but the program speaks in it or above it.
    spoken: bool,
}

/// The records so far, by uuid.
#[derive(Debug, Default)]
pub(super) struct Edges {
    nodes: HashMap<String, Node>,
    /// The side chain of the last record that belonged to one.
    last: Option<Rc<str>>,
    /// What the record that is read now answers.
    answered: Option<usize>,
    /// Whether anybody but the program speaks above it.
    spoken: bool,
    /// Whether anybody but the program spoke before it.
    ever_spoken: bool,
}

impl Edges {
    /// The side chain that a record belongs to; none in a sub-agent's own file.
    pub(super) fn enter(&mut self, value: &Value, own_file: bool) -> Option<Rc<str>> {
        let parent = named(value, "parentUuid").or_else(|| named(value, "logicalParentUuid"));
        let node = parent.and_then(|uuid| self.nodes.get(uuid)).cloned();
        let is_side = value.get("isSidechain").and_then(Value::as_bool) == Some(true) && !own_file;
        let side = match (&node, is_side) {
            (_, false) => None,
            (Some(Node { side: Some(side), .. }), true) => Some(side.clone()),
            // A parent that is missing was cut off the chain that was written last.
            (None, true) if parent.is_some() && self.last.is_some() => self.last.clone(),
            (_, true) => named(value, "uuid").map(Rc::from).or_else(|| self.last.clone()),
        };
        if is_side {
            self.last.clone_from(&side);
        }
        self.spoken = match &node {
            Some(node) => node.spoken,
            // A record that names no parent at all stands behind the one before it.
            None => value.get("parentUuid").is_none() && parent.is_none() && self.ever_spoken,
        };
        self.answered = node.filter(|node| node.side == side).and_then(|node| node.entry);
        side
    }

    /// Says that somebody but the program speaks in the record that is read now.
    pub(super) const fn speaks(&mut self) {
        self.spoken = true;
        self.ever_spoken = true;
    }

    /// Whether the record that is read now may start a conversation: nobody but the program is known to speak above it.
    pub(super) const fn starts(&self) -> bool {
        !self.spoken
    }

    /// Remembers a record, and which entry it became.
    pub(super) fn leave(&mut self, uuid: Option<String>, side: Option<Rc<str>>, entry: Option<usize>) {
        let node = Node { side, own: entry.is_some(), entry: entry.or(self.answered), spoken: self.spoken };
        if let Some(uuid) = uuid {
            self.nodes.entry(uuid).or_insert(node);
        }
    }

    /// Whether a record with this uuid stood before.
    pub(super) fn has(&self, uuid: &str) -> bool {
        self.nodes.contains_key(uuid)
    }

    /// Which entry the record that is read now answers.
    pub(super) const fn answered(&self) -> Option<usize> {
        self.answered
    }

    /// How many entries of the session itself stand before a record.
    pub(super) fn place_of(&self, uuid: &str) -> Option<usize> {
        let node = self.nodes.get(uuid).filter(|node| node.side.is_none())?;
        match node.entry {
            Some(entry) => Some(if node.own { entry } else { entry + 1 }),
            None => Some(0),
        }
    }
}
