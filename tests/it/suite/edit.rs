//! Field case Q8, and what else an edit is: a new turn that takes the place of an earlier one.

use std::collections::BTreeMap;

use sayso::model::OriginState;
use sayso::{NewTurn, Placed, Refusal, SpeakerKind::*};

use super::open;
use crate::support::{World, quote, text};

fn edit(world: &World, of: &Placed, words: &str) -> Placed {
    world.all().edit(of.id, &NewTurn::text(Person, "Jun", words)).expect("a turn can be edited").1
}

#[test]
fn q8_a_quote_keeps_the_words_that_were_quoted() {
    let world = open();
    let source = world.says("Acme/Plan", (Person, "Jun"), "hello");
    let forward = world.forward(&source, "Beta/Build");
    let edited = edit(&world, &source, "bye");
    let holder = world.all().entry(forward.id).unwrap().unwrap();
    assert_eq!(quote(&holder).text, "hello");
    let report = world.all().origin(forward.id).unwrap();
    assert_eq!(report.state, OriginState::Changed);
    assert_eq!((text(&world.entry(&source)), text(&world.entry(&edited))), ("hello".into(), "bye".into()));
    assert_eq!(world.entry(&edited).turn().unwrap().supersedes, Some(source.id));
    assert_eq!(quote(&world.forward(&edited, "Beta/Build")).text, "bye");
    assert_eq!(world.all().verify(&BTreeMap::new()).unwrap().problems, []);
}

#[test]
fn the_last_of_several_edits_stands() {
    let world = open();
    let first = world.says("Acme/Plan", (Person, "Jun"), "one");
    let second = edit(&world, &first, "two");
    let third = edit(&world, &second, "three");
    for turn in [&first, &second] {
        assert_eq!(world.all().superseded_by(turn.id).unwrap(), Some(third));
    }
    assert_eq!(world.all().superseded_by(third.id).unwrap(), None);
    let again = world.all().edit(first.id, &NewTurn::text(Person, "Jun", "four")).unwrap_err();
    assert_eq!(again.refusal(), Some(&Refusal::Superseded { of: first.id, by: second.id }));
}

#[test]
fn only_own_words_are_edited_and_never_a_quote() {
    let world = open();
    let source = world.says("Acme/Plan", (Agent, "Rocky"), "the words");
    let by = |kind, name: &str| NewTurn::text(kind, name, "other words");
    for other in [by(Owner, "Mira"), by(Agent, "Pip")] {
        let refused = world.all().edit(source.id, &other).unwrap_err();
        assert_eq!(refused.refusal(), Some(&Refusal::NotTheSpeaker(source.id)));
    }
    let forward = world.forward(&source, "Beta/Build");
    let refused = world.all().edit(forward.id, &by(Owner, "Mira")).unwrap_err();
    assert_eq!(refused.refusal(), Some(&Refusal::HoldsQuote(forward.id)));
    assert!(world.only("Beta").edit(source.id, &by(Agent, "Rocky")).is_err());
    assert_eq!(world.all().entries(source.session, 0, 9).unwrap().len(), 1);
}

#[test]
fn an_edit_with_a_key_is_written_once() {
    let world = open();
    let first = world.says("Acme/Plan", (Person, "Jun"), "one");
    let turn = NewTurn::text(Person, "Jun", "two").with_key("k");
    let second = world.all().edit(first.id, &turn).unwrap().1;
    assert_eq!(world.all().edit(first.id, &turn).unwrap(), (sayso::Fate::Known, second));
    // The same words as a turn of their own are another thing.
    let session = world.all().find_session("Plan").unwrap();
    let conflict = world.ledger.append(&session, turn).unwrap_err();
    assert!(matches!(conflict.refusal(), Some(Refusal::Conflict { .. })));
}
