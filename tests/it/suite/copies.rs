//! Exports and imports of whole ledgers, through the library.

use std::collections::BTreeSet;

use sayso::model::{MarkKind, PartBody, SessionId, ToolResult};
use sayso::store::{
    Command, Done, MarkEntry, OutputState, OutputStream, ReadOrder, Restore, Run, StoreOutput, StreamKind,
};
use sayso::{Error, Fate, NewTurn, Quotes, Refusal, Scope, Search, SpeakerKind::*};
use sayso_import::archive::export;
use sayso_import::{FileReport, import_file};

use super::open;
use crate::support::{World, quote, text};

fn exported(world: &World) -> Vec<u8> {
    let reader = world.all();
    let projects: BTreeSet<_> = reader.projects().unwrap().iter().map(|p| p.id).collect();
    let sessions: BTreeSet<_> = reader.sessions(None).unwrap().iter().map(|s| s.id).collect();
    let mut bytes = Vec::new();
    export(&reader, &projects, &sessions, &mut bytes).unwrap();
    bytes
}

fn taken(copy: &World, export: &[u8]) -> FileReport {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("export.jsonl");
    std::fs::write(&path, export).unwrap();
    import_file(&copy.ledger, &path, &mut |_| {}).unwrap()
}

/// The ledger's ids are drawn from a counter, so a copy's own must begin elsewhere.
fn elsewhere() -> World {
    let world = open();
    (0..50).for_each(|_| _ = world.ledger.fresh_entry());
    world
}

fn heads(world: &World) -> BTreeSet<(SessionId, u64, String)> {
    let report = world.all().verify(&std::collections::BTreeMap::new()).unwrap();
    assert_eq!(report.problems, []);
    report.heads.iter().map(|h| (h.session, h.seq, h.hash.to_string())).collect()
}

#[test]
fn a_retry_with_the_key_of_the_source_is_known_in_the_copy() {
    let (world, copy) = (open(), elsewhere());
    let session = world.session("Acme", "Plan");
    let turn = NewTurn::text(Agent, "Rocky", "The plan stands.").with_key("turn-1");
    let written = world.ledger.append(&session, turn.clone()).unwrap();
    let redacted = NewTurn::text(Agent, "Rocky", "A secret.").with_key("secret");
    let gone = world.ledger.append(&session, redacted.clone()).unwrap();
    let older = exported(&world);
    world.all().redact(gone.id, Quotes::Keep).unwrap();
    taken(&copy, &exported(&world));
    let there = copy.all().session(session.id).unwrap().unwrap();
    assert_eq!(copy.ledger.append(&there, turn).unwrap(), written);
    let other = NewTurn::text(Agent, "Rocky", "Other words.").with_key("turn-1");
    let refused = copy.ledger.append(&there, other).unwrap_err();
    assert!(matches!(refused.refusal(), Some(Refusal::Conflict { .. })), "{refused:?}");
    // The key of what was redacted here does not come back with an older export.
    taken(&world, &older);
    assert_eq!(world.ledger.append(&session, redacted).unwrap(), gone);
    assert_eq!(heads(&world), heads(&copy));
}

#[test]
fn that_a_turn_settled_goes_along_and_is_known_in_the_copy() {
    let (world, copy) = (open(), elsewhere());
    let said = world.says("Acme/Plan", (Agent, "Rocky"), "The plan stands.");
    let settle = |world: &World| {
        let (id, session, of) = (world.ledger.fresh_entry(), said.session, Some(said.id));
        let mark = MarkEntry { id, session, kind: MarkKind::Settled, of, route: "codex Stop".into() };
        world.ledger.write(&Scope::All, vec![Command::Mark(mark)]).unwrap().remove(0)
    };
    let Done::Entries(Fate::New, written) = settle(&world) else { panic!("a new mark") };
    taken(&copy, &exported(&world));
    assert_eq!(heads(&copy), heads(&world));
    assert_eq!(settle(&copy), Done::Entries(Fate::Known, written));
    assert!(exported(&copy) == exported(&world));
}

#[test]
fn a_speaker_of_the_same_name_stays_a_speaker_of_their_own() {
    let (world, copy) = (open(), elsewhere());
    let theirs = world.says("Acme/Plan", (Agent, "Rocky"), "The plan stands.");
    let ours = copy.says("Beta/Build", (Agent, "Rocky"), "The build stands.");
    taken(&copy, &exported(&world));
    let speaker = |placed| copy.entry(placed).turn().unwrap().speaker.clone();
    assert_ne!(speaker(&theirs).id, speaker(&ours).id);
    assert_eq!(speaker(&theirs).name, "Rocky");
    let later = copy.says("Beta/Build", (Agent, "Rocky"), "Still.");
    assert_eq!(speaker(&later).id, speaker(&ours).id);
    assert!(heads(&copy).is_superset(&heads(&world)));
    // Both are told apart when that copy is copied.
    let third = elsewhere();
    taken(&third, &exported(&copy));
    assert_eq!(heads(&third), heads(&copy));
    assert!(exported(&third) == exported(&copy));
}

#[test]
fn an_entry_that_was_changed_is_refused_and_nothing_is_written() {
    let (world, copy) = (open(), elsewhere());
    let said = world.says("Acme/Plan", (Agent, "Rocky"), "The plan stands.");
    let reader = world.all();
    let session = reader.archived_session(said.session).unwrap().unwrap();
    let entry = reader.archived_entries(said.session, 0, 9).unwrap().remove(0);
    let speaker = entry.entry.turn().unwrap().speaker.id;
    let write = |restore: Vec<Restore>| {
        let commands = restore.into_iter().map(|r| Command::Restore(Box::new(r))).collect();
        copy.ledger.write(&Scope::All, commands)
    };
    let mut before: Vec<Restore> = Vec::new();
    before.extend(reader.archived_project(said.project).unwrap().into_iter().map(Restore::Project));
    before.push(Restore::Speaker(reader.archived_speaker(speaker).unwrap().unwrap()));
    before.push(Restore::Session(session));
    write(before).unwrap();
    let refused = |change: &dyn Fn(&mut sayso::store::ArchivedEntry)| {
        let mut changed = entry.clone();
        change(&mut changed);
        let error: Error = write(vec![Restore::Entry(changed)]).unwrap_err();
        assert_eq!(copy.all().session(said.session).unwrap().unwrap().last_seq, 0);
        error.refusal().cloned().unwrap()
    };
    let changed = Refusal::NotAsWritten { session: said.session, seq: 1 };
    let words = |e: &mut sayso::store::ArchivedEntry, words: &str| match &mut e.entry.body {
        sayso::model::EntryBody::Turn(turn) => turn.parts[0].body = PartBody::Text(words.to_owned()),
        _ => unreachable!(),
    };
    assert_eq!(refused(&|e| words(e, "The plan falls.")), changed);
    assert_eq!(refused(&|e| e.salts[0] = None), changed);
    assert_eq!(refused(&|e| e.salts.clear()), changed);
    assert_eq!(refused(&|e| e.commitments[0] = sayso::model::Digest::ZERO), changed);
    assert_eq!(refused(&|e| e.entry.recorded_at.0 += 1), changed);
    assert_eq!(refused(&|e| e.entry.hash = sayso::model::Digest::ZERO), changed);
    assert_eq!(refused(&|e| e.entry.seq = 3), Refusal::HeadMoved { expected: 2, actual: 0 });
    write(vec![Restore::Entry(entry.clone())]).unwrap();
    assert_eq!(text(&copy.entry(&said)), "The plan stands.");
    assert_eq!(refused_now(&copy, &entry), Refusal::Diverged { session: said.session, seq: 1 });
}

fn refused_now(copy: &World, entry: &sayso::store::ArchivedEntry) -> Refusal {
    let mut other = entry.clone();
    other.entry.hash = sayso::model::Digest::ZERO;
    let commands = vec![Command::Restore(Box::new(Restore::Entry(other)))];
    copy.ledger.write(&Scope::All, commands).unwrap_err().refusal().cloned().unwrap()
}

#[test]
fn outputs_quotes_and_searches_are_the_same_in_a_copy() {
    let (world, copy) = (open(), elsewhere());
    let session = world.session("Acme", "Plan");
    let bytes: Vec<u8> = (0..200_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let blob = world.ledger.put_blob(&mut bytes.as_slice()).unwrap();
    let empty = world.ledger.put_blob(&mut [].as_slice()).unwrap();
    let output = world.ledger.fresh_output();
    let (out, err) = (StreamKind::Stdout, StreamKind::Stderr);
    let streams = vec![OutputStream { kind: out, blob, total: Some(300_000) }, OutputStream::new(err, empty)];
    let (tool, state, exit) = ("bash".to_owned(), OutputState::Capped, None);
    let mut order = ReadOrder::default();
    order.push(out, 7);
    let run = Run {
        command: Some("make\u{1}\nall".into()),
        signal: Some(9),
        timed_out: true,
        duration_ms: Some(2_000),
        pipe_held: true,
        charset: Some("euc-kr".into()),
        order,
    };
    let store = StoreOutput { id: output, session: session.id, tool, state, exit, streams, run };
    world.ledger.write(&Scope::All, vec![Command::StoreOutput(store)]).unwrap();
    let result = ToolResult {
        call_id: "c".into(),
        tool: "bash".into(),
        outcome: sayso::model::Outcome::Failed,
        text: "see the output".into(),
        output: Some(output),
    };
    let turn =
        NewTurn { parts: vec![(None, PartBody::ToolResult(result))], ..NewTurn::text(Tool, "bash", "") };
    let said = world.ledger.append(&session, turn).unwrap();
    let forward = world.forward(&said, "Beta/Build");
    let export = exported(&world);
    taken(&copy, &export);
    for kind in [out, err] {
        let read = |world: &World| {
            let mut bytes = Vec::new();
            assert!(world.all().read_output(output, kind, &mut bytes).unwrap());
            bytes
        };
        assert_eq!(read(&copy), read(&world));
    }
    assert_eq!(copy.all().output(output).unwrap(), world.all().output(output).unwrap());
    let there = copy.all().entry(forward.id).unwrap().unwrap();
    assert_eq!(quote(&there), quote(&forward));
    assert_eq!(copy.all().inbox(None).unwrap().len(), world.all().inbox(None).unwrap().len());
    let hits = copy.all().search(&Search::new("output")).unwrap();
    assert_eq!(hits.len(), 2, "the turn, and the quote of it");
    // What an import took away is not found any more, here as there.
    world.all().redact(said.id, Quotes::TakeAlong).unwrap();
    taken(&copy, &exported(&world));
    assert_eq!(copy.all().search(&Search::new("output")).unwrap(), []);
    assert_eq!(copy.all().output(output).unwrap(), None);
    taken(&copy, &export);
    assert_eq!(copy.all().output(output).unwrap(), None, "an older export brings no output back");
    assert_eq!(heads(&copy), heads(&world));
}

#[test]
fn a_session_that_was_renamed_moved_and_merged_comes_out_where_it_is() {
    let (world, copy) = (open(), elsewhere());
    let said = world.says("Acme/Plan", (Agent, "Rocky"), "The plan stands.");
    taken(&copy, &exported(&world));
    let (all, beta) = (world.all(), world.ledger.project(&Scope::All, "Beta").unwrap());
    let gamma = world.ledger.project(&Scope::All, "Gamma").unwrap();
    all.rename_session(said.session, "Roadmap").unwrap();
    all.move_session(said.session, beta.id).unwrap();
    all.merge_project(beta.id, gamma.id).unwrap();
    all.close_session(said.session).unwrap();
    taken(&copy, &exported(&world));
    let fresh = elsewhere();
    taken(&fresh, &exported(&world));
    let wanted = all.session(said.session).unwrap().unwrap();
    for copy in [&copy, &fresh] {
        let found = copy.all().session(said.session).unwrap().unwrap();
        assert_eq!((found.title.as_str(), found.project, found.closed), ("Roadmap", gamma.id, true));
        assert_eq!(copy.all().find_session("Gamma/Roadmap").unwrap().id, wanted.id);
        assert_eq!(copy.all().project(beta.id).unwrap().unwrap().name, "Gamma");
        assert_eq!(heads(copy), heads(&world));
    }
}
