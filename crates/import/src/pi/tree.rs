//! The tree that a session's records form: a person may go back and take another branch.
//!
//! What counts is the branch of the last record. Turns elsewhere were abandoned, where it is sure that they stand on another
//! branch: where parents are missing from the file, nothing is said about what lies behind the gap.

use std::collections::HashMap;

use serde_json::Value;

use crate::values::named;

/// One record.
#[derive(Debug)]
struct Node {
    parent: Parent,
    /// The entry of the session that it became.
    entry: Option<usize>,
    side: Side,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Parent {
    Root,
    Node(usize),
    Missing,
}

/// Where a record stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Open,
    /// On the branch of the last record.
    Path,
    /// On a branch that was left.
    Left,
    /// Behind a gap.
    Unknown,
}

/// The records with ids, in the order of the file.
#[derive(Debug, Default)]
pub(super) struct Tree {
    header: String,
    places: HashMap<String, usize>,
    nodes: Vec<Node>,
    /// Whether a record ever had another parent than the one before it.
    branched: bool,
}

impl Tree {
    pub(super) fn head(&mut self, header: &Value) {
        named(header, "id").unwrap_or_default().clone_into(&mut self.header);
    }

    /// Adds a record; one without an id, or with a known one, stands in no tree.
    pub(super) fn add(&mut self, id: Option<String>, parent: Option<&Value>, entry: Option<usize>) {
        let Some(id) = id.filter(|id| !self.places.contains_key(id)) else { return };
        let before = self.nodes.len().checked_sub(1).map_or(Parent::Root, Parent::Node);
        let parent = match parent {
            None => before.clone(),
            Some(Value::String(parent)) if *parent == self.header => Parent::Root,
            Some(Value::String(parent)) => {
                self.places.get(parent).map_or(Parent::Missing, |at| Parent::Node(*at))
            }
            Some(_) => Parent::Root,
        };
        self.branched |= parent != before;
        self.places.insert(id, self.nodes.len());
        self.nodes.push(Node { parent, entry, side: Side::Open });
    }

    /// The entries that may stand on the branch of the last record, and those that surely do not.
    pub(super) fn sides(&mut self) -> (Vec<usize>, Vec<usize>) {
        if !self.branched {
            return (Vec::new(), Vec::new());
        }
        self.nodes.iter_mut().for_each(|node| node.side = Side::Open);
        let whole = self.mark_path();
        for at in 0..self.nodes.len() {
            self.settle(at, whole);
        }
        let entries = |left| {
            self.nodes
                .iter()
                .filter(move |n| (n.side == Side::Left) == left)
                .filter_map(|n| n.entry)
                .collect()
        };
        (entries(false), entries(true))
    }

    /// Marks the branch of the last record; whether it reaches a root.
    fn mark_path(&mut self) -> bool {
        let mut at = self.nodes.len().checked_sub(1);
        while let Some(node) = at.and_then(|at| self.nodes.get_mut(at)) {
            node.side = Side::Path;
            match node.parent {
                Parent::Node(parent) => at = Some(parent),
                Parent::Root => return true,
                Parent::Missing => return false,
            }
        }
        false
    }

    /// Decides about a record; parents stand before their children, so they are decided.
    fn settle(&mut self, at: usize, whole: bool) {
        let side = match self.nodes.get(at) {
            Some(node) if node.side == Side::Open => match node.parent {
                Parent::Root if whole => Side::Left,
                Parent::Root | Parent::Missing => Side::Unknown,
                Parent::Node(parent) => match self.nodes.get(parent).map(|node| node.side) {
                    Some(Side::Path | Side::Left) => Side::Left,
                    _ => Side::Unknown,
                },
            },
            _ => return,
        };
        if let Some(node) = self.nodes.get_mut(at) {
            node.side = side;
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sides(records: &[(&str, Value)]) -> (Vec<usize>, Vec<usize>) {
        let mut tree = Tree::default();
        tree.head(&json!({"id": "head"}));
        for (at, (id, parent)) in records.iter().enumerate() {
            let parent = Some(parent).filter(|parent| **parent != json!("-"));
            tree.add(Some((*id).to_owned()), parent, Some(at));
        }
        tree.sides()
    }

    #[test]
    fn the_branch_of_the_last_record_counts() {
        let null = || Value::Null;
        type Case<'a> = (&'a [(&'a str, Value)], &'a [usize], &'a [usize]);
        let cases: [Case<'_>; 7] = [
            (&[("a", null()), ("b", json!("a"))], &[], &[]),
            (&[("a", json!("-")), ("b", json!("-"))], &[], &[]),
            (&[("a", null()), ("b", json!("a")), ("c", json!("b")), ("d", json!("a"))], &[0, 3], &[1, 2]),
            // Back on the branch that was left.
            (&[("a", null()), ("b", json!("a")), ("c", json!("a")), ("d", json!("b"))], &[0, 1, 3], &[2]),
            // Another root.
            (&[("a", json!("head")), ("b", json!("a")), ("c", null())], &[2], &[0, 1]),
            // A gap below the last record.
            (&[("a", null()), ("b", json!("gone")), ("c", json!("b")), ("d", json!("b"))], &[0, 1, 3], &[2]),
            (&[("a", null()), ("b", json!("gone")), ("c", json!("a"))], &[0, 1, 2], &[]),
        ];
        for (records, path, left) in cases {
            assert_eq!(sides(records), (path.to_vec(), left.to_vec()), "{records:?}");
        }
    }
}
