//! Turns that were edited or taken back.

use super::*;

fn said(seq: u64, words: &str) -> Entry {
    entry(seq, owner(), vec![text(words)])
}

fn edit(seq: u64, of: &Entry, words: &str) -> Entry {
    let mut entry = said(seq, words);
    if let EntryBody::Turn(turn) = &mut entry.body {
        turn.supersedes = Some(of.id);
    }
    entry
}

fn marked(seq: u64, kind: MarkKind, of: &Entry) -> Entry {
    Entry { body: EntryBody::Mark(Mark::new(kind, Some(of.id), "")), ..said(seq, "") }
}

fn shown(entries: &[Entry]) -> Vec<String> {
    texts(&openai_responses(entries))
}

#[test]
fn the_last_edit_stands_where_the_first_words_stood() {
    let mut entries = vec![said(1, "one"), said(2, "two"), said(3, "three")];
    entries.push(edit(4, &entries[1], "2"));
    assert_eq!(shown(&entries), ["one", "2", "three"]);
    entries.push(said(5, "five"));
    entries.push(edit(6, &entries[3], "II"));
    assert_eq!(shown(&entries), ["one", "II", "three", "five"]);
}

#[test]
fn an_edit_of_what_a_summary_stands_for_stands_at_its_own_place() {
    let mut entries = vec![said(1, "one"), said(2, "two")];
    entries.push(compaction(3, 1, "s"));
    entries.push(edit(4, &entries[0], "1"));
    entries.push(edit(5, &entries[1], "2"));
    entries.push(edit(6, &entries[3], "I"));
    assert_eq!(shown(&entries)[1..], ["2", "I"]);
    // The edit is covered as well: nothing of it is left to be shown.
    entries.push(compaction(7, 6, "s"));
    assert_eq!(shown(&entries).len(), 1);
}

#[test]
fn what_was_taken_back_is_left_out_until_it_is_restored() {
    let mut entries = vec![said(1, "one"), said(2, "two"), said(3, "three")];
    entries.push(marked(4, MarkKind::RolledBack, &entries[1]));
    entries.push(marked(5, MarkKind::Abandoned, &entries[2]));
    entries.push(said(6, "six"));
    assert_eq!(shown(&entries), ["one", "six"]);
    entries.push(marked(7, MarkKind::Restored, &entries[2]));
    assert_eq!(shown(&entries), ["one", "three", "six"]);
}

#[test]
fn an_edit_goes_with_its_place_and_words_stand_again_without_it() {
    let first = said(1, "one");
    let second = edit(2, &first, "1");
    let without_edit = [first.clone(), second.clone(), marked(3, MarkKind::RolledBack, &second)];
    assert_eq!(shown(&without_edit), ["one"]);
    let without_place = [first.clone(), second, marked(3, MarkKind::RolledBack, &first)];
    assert!(shown(&without_place).is_empty());
}

#[test]
fn a_result_whose_call_was_taken_back_is_words() {
    let mut entries = session(vec![(agent(), vec![call("a")]), (tool(), vec![result("a", "out")])]);
    entries.push(marked(3, MarkKind::Abandoned, &entries[0]));
    assert_eq!(outline(&openai_responses(&entries)), ["user"]);
}
