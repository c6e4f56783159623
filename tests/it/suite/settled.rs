//! Marks that say that an agent's work ended.

use sayso::model::{EntryBody, MarkKind, SessionId};
use sayso::store::{Command, Done, MarkEntry};
use sayso::view::card::Card;
use sayso::view::context::Provider;
use sayso::{Fate, Placed, Refusal, SpeakerKind::*};

use super::open;
use crate::support::World;

fn command(world: &World, session: SessionId, of: Option<Placed>) -> Command {
    let (id, route) = (world.ledger.fresh_entry(), "codex Stop".to_owned());
    Command::Mark(MarkEntry { id, session, kind: MarkKind::Settled, of: of.map(|of| of.id), route })
}

fn settled(world: &World, of: &Placed) -> (Fate, Placed) {
    let mark = command(world, of.session, Some(*of));
    match world.ledger.write(world.all().scope(), vec![mark]).unwrap().remove(0) {
        Done::Entries(fate, placed) => (fate, placed[0]),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_turn_settles_once() {
    let world = open();
    let first = world.says("Acme/Plan", (Agent, "Rocky"), "The plan stands.");
    let (fate, mark) = settled(&world, &first);
    assert_eq!((fate, mark.seq), (Fate::New, 2));
    assert_eq!(settled(&world, &first), (Fate::Known, mark));
    let EntryBody::Mark(body) = world.entry(&mark).body else { panic!("a mark") };
    assert_eq!((body.kind, body.of, body.route.as_str()), (MarkKind::Settled, Some(first.id), "codex Stop"));
    assert_eq!(world.all().marks(first.id).unwrap(), [body]);
    // The next turn settles for itself, and the first stays known.
    let next = world.says("Acme/Plan", (Agent, "Rocky"), "Done.");
    assert_eq!(settled(&world, &next).0, Fate::New);
    assert_eq!(settled(&world, &first), (Fate::Known, mark));
    assert_eq!(world.all().session(first.session).unwrap().unwrap().last_seq, 4);
}

#[test]
fn a_turn_is_what_settles() {
    let world = open();
    let said = world.says("Acme/Plan", (Agent, "Rocky"), "The plan stands.");
    let of_none = command(&world, said.session, None);
    let refused = world.ledger.write(world.all().scope(), vec![of_none]).unwrap_err();
    assert!(matches!(refused.refusal(), Some(Refusal::Contradiction(_))), "{refused:?}");
    let elsewhere = world.says("Beta/Build", (Agent, "Rocky"), "The build stands.");
    let of_another = command(&world, said.session, Some(elsewhere));
    assert!(world.ledger.write(world.all().scope(), vec![of_another]).is_err());
    assert_eq!(world.all().session(said.session).unwrap().unwrap().last_seq, 1);
}

#[test]
fn neither_a_model_nor_a_card_is_told_of_it() {
    let world = open();
    let source = world.says("Acme/Plan", (Agent, "Rocky"), "The plan stands.");
    world.says("Beta/Build", (Owner, "Mira"), "Go on.");
    let forward = world.forward(&source, "Beta/Build");
    let given = || {
        let input =
            |provider| world.all().context(forward.session, provider, None).unwrap().input.to_string();
        let (reader, entry) = (world.all(), world.all().entry(forward.id).unwrap().unwrap());
        let state = reader.origin_state(entry.turn().unwrap().quote.as_ref().unwrap()).unwrap();
        (Provider::ALL.map(input), Card::of(world.ledger.id(), &entry, Some(state)).unwrap().json())
    };
    let before = given();
    let waiting = world.all().inbox(None).unwrap();
    settled(&world, &crate::support::placed(&forward));
    assert_eq!(given(), before);
    // That the agent stopped says nothing about what still waits for it.
    assert_eq!(world.all().inbox(None).unwrap(), waiting);
    assert_eq!(waiting.len(), 1);
}
