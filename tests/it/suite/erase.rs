//! Field cases S17 and Q25, and what else erasing means: it is gone, it does not come back, and what is left holds together.

use std::collections::BTreeMap;

use sayso::model::{EntryBody, MarkKind, OriginState, SessionKind};
use sayso::store::Alias;
use sayso::view::card::Card;
use sayso::{Erasing, Error, Forks, NewTurn, Quotes, Refusal, Scope, SpeakerKind::*, StoreError, Target};

use super::open;
use crate::support::{World, placed, quote, text};

#[track_caller]
fn erase(world: &World, target: Target) {
    let done = world.all().erase(target, Forks::Refuse, Quotes::Keep).unwrap();
    assert_eq!(done.state, Erasing::Done);
    sound(world);
}

#[track_caller]
fn sound(world: &World) {
    assert_eq!(world.all().verify(&BTreeMap::new()).unwrap().problems, Vec::new());
}

#[test]
fn q25_of_an_unknown_speaker_whose_original_is_gone() {
    let world = open();
    let source = world.says("Acme/Plan", (Agent, ""), "the words");
    let holder = world.forward(&source, "Beta/Build");
    erase(&world, Target::Session(source.session));
    let state = world.all().origin_state(quote(&holder)).unwrap();
    assert_eq!(state, OriginState::Deleted);
    let card = Card::of(world.ledger.id(), &holder, Some(state)).unwrap().terminal(80);
    assert!(card.contains("Unknown speaker · original deleted"), "{card}");
    // The quote itself stays.
    assert_eq!(quote(&world.entry(&placed(&holder))).text, "the words");
}

#[test]
fn s17_an_erased_session_is_gone_and_does_not_come_back() {
    let world = open();
    let project = world.session("Acme", "Notes").project;
    let alias = Alias::new("codex", "0199-abc");
    let all = Scope::All;
    let session = world.ledger.session_as(&all, project, &alias, "Plan", SessionKind::Thread).unwrap();
    let said = world.ledger.append(&session, NewTurn::text(Agent, "Only here", "x").with_key("k")).unwrap();
    let address = world.ledger.address(&said);
    erase(&world, Target::Session(session.id));
    let reader = world.all();
    assert_eq!(reader.session(session.id).unwrap(), None);
    assert_eq!(reader.entry(said.id).unwrap(), None);
    assert_eq!(reader.entries(session.id, 0, 9).unwrap(), []);
    assert!(matches!(reader.find_turn(&address.to_string()), Err(Error::Erased { .. })));
    // Whoever may not see the project is told nothing.
    world.says("Beta/Build", (Owner, "Mira"), "hello");
    assert!(matches!(world.only("Beta").find_turn(&address.to_string()), Err(Error::Unknown { .. })));
    // Who only spoke there is forgotten.
    let known = world.ledger.reader(all.clone());
    assert!(known.sessions(None).unwrap().iter().all(|s| s.id != session.id));
    let again = world.ledger.session_as(&all, project, &alias, "Plan", SessionKind::Thread).unwrap_err();
    assert!(matches!(again.refusal(), Some(Refusal::Erased(_))), "{again}");
    // A session of the same name is another one.
    assert_ne!(world.session("Acme", "Plan").id, session.id);
    erase(&world, Target::Session(session.id));
}

#[test]
fn an_erased_turn_leaves_its_place_and_the_chain_holds() {
    let world = open();
    let session = world.session("Acme", "Plan");
    let turn = NewTurn::text(Agent, "Rocky", "the secret").with_key("k");
    let first = world.ledger.append(&session, turn.clone()).unwrap();
    let next = world.says("Acme/Plan", (Owner, "Mira"), "go on");
    let holder = world.forward(&first, "Beta/Build");
    let kept = world.all().verify(&BTreeMap::new()).unwrap().heads;
    let done = world.all().erase(Target::Entry(first.id), Forks::Refuse, Quotes::TakeAlong).unwrap();
    assert_eq!(done.quotes, [placed(&holder)]);
    let stub = world.entry(&first);
    assert!(matches!(&stub.body, EntryBody::Mark(m) if m.kind == MarkKind::Erased && m.of.is_none()));
    assert_eq!((stub.seq, stub.hash), (first.seq, first.hash));
    assert_eq!(text(&world.entry(&next)), "go on");
    assert_eq!(quote(&world.entry(&placed(&holder))).text, "");
    assert_eq!(world.all().origin(holder.id).unwrap().state, OriginState::Deleted);
    assert_eq!(world.all().session(session.id).unwrap().unwrap().turns, 1);
    // The key is still known, so that an import does not bring the words back.
    assert_eq!(world.all().known(session.id, "k").unwrap().map(|p| p.id), Some(first.id));
    assert_eq!(world.ledger.append(&session, turn).unwrap().id, first.id);
    // A head that was kept before still fits.
    let kept = kept.iter().map(|h| (h.session, sayso::HeadKept { seq: h.seq, hash: h.hash })).collect();
    assert_eq!(world.all().verify(&kept).unwrap().problems, []);
    let refused = world.all().erase(Target::Entry(done.quotes[0].id), Forks::Refuse, Quotes::Keep);
    assert!(refused.is_ok(), "a forward can be erased as well");
    sound(&world);
}

#[test]
fn what_needs_the_words_of_an_erased_turn_is_told_that_they_were_erased() {
    let world = open();
    let said = world.says("Acme/Plan", (Agent, "Rocky"), "one");
    world.says("Beta/Build", (Owner, "Mira"), "two");
    erase(&world, Target::Entry(said.id));
    let address = world.ledger.address(&said);
    let is_erased =
        |error: Error| assert!(matches!(&error, Error::Erased { given } if *given == address), "{error}");
    is_erased(world.try_forward(world.request(&said, "Beta/Build")).unwrap_err());
    is_erased(world.all().edit(said.id, &NewTurn::text(Agent, "Rocky", "other")).unwrap_err());
    // Whoever does not see it is told nothing of it.
    let narrow = world.only("Beta").forward(world.request(&said, "Beta/Build")).unwrap_err();
    assert_eq!(narrow.refusal(), Some(&Refusal::UnknownTurn(said.id)));
}

#[test]
fn the_beginning_of_a_fork_is_not_erased_unless_told() {
    let world = open();
    let first = world.says("Acme/Plan", (Agent, "Rocky"), "one");
    let fork = world.all().fork(first.session, None, "fork").unwrap();
    let refused = world.all().erase(Target::Session(first.session), Forks::Refuse, Quotes::Keep).unwrap_err();
    let expected = Refusal::HasForks { session: first.session, fork: fork.id };
    assert_eq!(refused.refusal(), Some(&expected));
    assert_eq!(text(&world.entry(&first)), "one");
    erase(&world, Target::Session(fork.id));
    let fork = world.all().fork(first.session, None, "fork").unwrap();
    world.all().erase(Target::Session(first.session), Forks::TakeAlong, Quotes::Keep).unwrap();
    assert_eq!(world.all().session(fork.id).unwrap(), None);
    sound(&world);
}

#[test]
fn a_project_goes_with_its_sessions_and_what_was_merged_into_it() {
    let world = open();
    let first = world.says("Acme/Plan", (Agent, "Rocky"), "one");
    let second = world.says("Beta/Build", (Owner, "Mira"), "two");
    let kept = world.says("Gamma/Notes", (Owner, "Mira"), "three");
    world.all().merge_project(first.project, second.project).unwrap();
    let old = world.ledger.project_address(first.project).to_string();
    erase(&world, Target::Project(second.project));
    assert_eq!(world.all().projects().unwrap().len(), 1);
    assert!(matches!(world.all().find_project(&old), Err(Error::Erased { .. })));
    assert_eq!(text(&world.entry(&kept)), "three");
    // Who spoke in both is still there, who spoke in the erased one is not.
    let find = |kind, name: &str| {
        world.all().speaker(world.ledger.speaker(&sayso::SpeakerRef::new(kind, name)).unwrap())
    };
    assert!(find(Owner, "Mira").unwrap().is_some());
    sound(&world);
}

#[test]
fn erasing_needs_the_whole_ledger_and_something_to_erase() {
    let world = open();
    let said = world.says("Acme/Plan", (Agent, "Rocky"), "one");
    let narrow = world.only("Acme").erase(Target::Entry(said.id), Forks::Refuse, Quotes::Keep).unwrap_err();
    assert!(matches!(narrow, Error::Store(StoreError::NeedsWholeLedger)));
    let mark = world.all().close_session(said.session).unwrap().1;
    let refused = world.all().erase(Target::Entry(mark.id), Forks::Refuse, Quotes::Keep).unwrap_err();
    assert_eq!(refused.refusal(), Some(&Refusal::NothingToRedact(mark.id)));
    let unknown = world.ledger.fresh_entry();
    let refused = world.all().erase(Target::Entry(unknown), Forks::Refuse, Quotes::Keep).unwrap_err();
    assert_eq!(refused.refusal(), Some(&Refusal::UnknownTurn(unknown)));
    assert_eq!(world.all().go_on_erasing().unwrap(), Erasing::Done);
}
