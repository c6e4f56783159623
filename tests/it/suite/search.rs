//! What a search finds, and what it does not.

use sayso::model::{Outcome, OutputId, PartBody, SaidAt, ToolResult, UtcMs};
use sayso::store::search::Found;
use sayso::store::{Command, OutputState, OutputStream, Run, Session, StoreOutput, StreamKind};
use sayso::{Hit, NewTurn, Reader, Scope, Search, SpeakerKind, SpeakerKind::*, SpeakerRef};

use super::open;
use crate::support::{START, World};

fn found(reader: &Reader, search: &Search) -> Vec<Hit> {
    reader.search(search).unwrap()
}

fn texts(world: &World, query: &str) -> Vec<String> {
    found(&world.all(), &Search::new(query)).into_iter().map(|h| h.excerpt.text).collect()
}

/// A world in which these were said, one after the other.
fn said(all: &[&str]) -> World {
    let world = open();
    for text in all {
        world.says("Acme/Plan", (Agent, "Rocky"), text);
    }
    world
}

/// Checks before and after the index has taken everything in.
fn both(world: &World, check: impl Fn()) {
    check();
    while world.ledger.index(1).unwrap().left > 0 {
        check();
    }
    check();
}

#[test]
fn words_are_whole_and_dense_runs_are_found_inside() {
    let world = said(&["월간 보고서입니다", "The PLAN stands", "planning", "定例会議の資料", "데이터ﾃﾞｰﾀ"]);
    both(&world, || {
        assert_eq!(texts(&world, "보고서"), ["월간 보고서입니다"]);
        assert_eq!(texts(&world, "고서"), ["월간 보고서입니다"]);
        assert_eq!(texts(&world, "고"), ["월간 보고서입니다"]);
        assert_eq!(texts(&world, "plan"), ["The PLAN stands"]);
        assert_eq!(texts(&world, "会議"), ["定例会議の資料"]);
        assert_eq!(texts(&world, "料"), ["定例会議の資料"]);
        assert_eq!(texts(&world, "データ"), ["데이터ﾃﾞｰﾀ"]);
        assert_eq!(texts(&world, "stands the"), ["The PLAN stands"]);
        for nothing in ["", "…", "고월", "간보", "lan", "stand"] {
            assert_eq!(texts(&world, nothing), Vec::<String>::new(), "{nothing:?}");
        }
    });
}

#[test]
fn two_words_that_overlap_are_not_found_in_one() {
    let world = said(&["보고서", "보고서와 고서", "보고 고서"]);
    both(&world, || assert_eq!(texts(&world, "보고 고서"), ["보고 고서", "보고서와 고서"]));
}

#[test]
fn pages_go_from_the_newest_to_the_oldest() {
    let all: Vec<String> = (0..7).map(|n| format!("report {n}")).collect();
    let world = said(&all.iter().map(String::as_str).collect::<Vec<_>>());
    both(&world, || {
        let mut search = Search { limit: 3, ..Search::new("report") };
        let mut pages = Vec::new();
        loop {
            let hits = found(&world.all(), &search);
            let Some(last) = hits.last() else { break };
            search.before = Some(last.placed.id);
            pages.push(hits.iter().map(|h| h.excerpt.text.clone()).collect::<Vec<_>>().join(", "));
        }
        assert_eq!(pages, ["report 6, report 5, report 4", "report 3, report 2, report 1", "report 0"]);
    });
}

#[test]
fn what_is_out_of_scope_influences_nothing() {
    let world = said(&["report one"]);
    let outside = world.says("Beta/Build", (Agent, "Rocky"), "report two");
    both(&world, || {
        let hits = |reader: &Reader, search: &Search| -> Vec<String> {
            found(reader, search).into_iter().map(|h| h.excerpt.text).collect()
        };
        let one = Search { limit: 1, ..Search::new("report") };
        assert_eq!(hits(&world.only("Acme"), &one), ["report one"]);
        assert_eq!(hits(&world.ledger.reader(Scope::Projects(Vec::new())), &one), Vec::<String>::new());
        let before = Search { before: Some(outside.id), ..one.clone() };
        assert_eq!(hits(&world.all(), &before), ["report one"]);
        assert_eq!(hits(&world.only("Acme"), &before), Vec::<String>::new(), "it is not known there");
        let beta = Search { project: Some(outside.project), ..one.clone() };
        assert_eq!(hits(&world.all(), &beta), ["report two"]);
        assert_eq!(hits(&world.only("Acme"), &beta), Vec::<String>::new());
        let session = Search { session: Some(outside.session), ..one.clone() };
        assert_eq!(hits(&world.all(), &session), ["report two"]);
        assert_eq!(hits(&world.only("Acme"), &session), Vec::<String>::new());
    });
}

#[test]
fn a_quote_is_found_as_the_words_of_who_said_them() {
    let world = said(&["the harbour plan"]);
    let source = world.all().search(&Search::new("harbour")).unwrap().remove(0).placed;
    let mut request = world.request(&source, "Beta/Build");
    request.note = Some("look at this".into());
    let forwarded = world.forward_with(request);
    both(&world, || {
        let hits = found(&world.only("Beta"), &Search::new("harbour"));
        let [hit] = hits.as_slice() else { panic!("{hits:?}") };
        assert_eq!((hit.placed.id, hit.text), (forwarded.id, Found::Quote));
        assert_eq!((hit.speaker.kind, hit.speaker.name.as_str()), (Agent, "Rocky"));
        let by = |query: &str, kind| {
            let search = Search { speaker: Some(kind), ..Search::new(query) };
            found(&world.only("Beta"), &search).len()
        };
        assert_eq!((by("harbour", Agent), by("harbour", Owner)), (1, 0));
        assert_eq!((by("look", Agent), by("look", Owner)), (0, 1));
        assert_eq!(by("look harbour", Owner), 0, "words of two texts are not one");
    });
}

#[test]
fn parts_count_for_their_own_speakers() {
    let world = open();
    let session = world.session("Acme", "Plan");
    let mut turn = NewTurn::text(Owner, "Mira", "Please tidy up.");
    let reminder = PartBody::Text("never ask".into());
    turn.parts.push((Some(SpeakerRef::new(System, "harness")), reminder));
    turn.parts.push((None, PartBody::Reasoning(sayso::model::Seal::Open, "secret".into())));
    world.ledger.append(&session, turn).unwrap();
    both(&world, || {
        let by = |query: &str, speaker: Option<SpeakerKind>| {
            let hits = found(&world.all(), &Search { speaker, ..Search::new(query) });
            hits.into_iter().map(|h| h.speaker.kind).collect::<Vec<_>>()
        };
        assert_eq!(by("never", None), [System]);
        assert_eq!(by("never", Some(System)), [System]);
        assert_eq!(by("never", Some(Owner)), []);
        assert_eq!(by("tidy never", None), [Owner]);
        assert_eq!(by("tidy never", Some(Owner)), []);
        assert_eq!(by("secret", None), []);
    });
}

#[test]
fn since_counts_from_when_it_was_said_or_else_recorded() {
    let world = said(&["report now"]);
    let session = world.session("Acme", "Plan");
    let mut old = NewTurn::text(Agent, "Rocky", "report then");
    old.said_at = SaidAt::new(START - 1_000_000, 540);
    world.ledger.append(&session, old).unwrap();
    both(&world, || {
        let since =
            |at| found(&world.all(), &Search { since: Some(UtcMs(at)), ..Search::new("report") }).len();
        assert_eq!((since(START - 1_000_000), since(START), since(START + 1_000_000)), (2, 1, 0));
    });
}

/// A turn whose tool result names an output with these bytes.
fn with_output(world: &World, session: &Session, shown: &str, bytes: &[u8]) -> OutputId {
    let id = world.ledger.fresh_output();
    let blob = world.ledger.put_blob(&mut { bytes }).unwrap();
    let command = Command::StoreOutput(StoreOutput {
        id,
        session: session.id,
        tool: "bash".into(),
        state: OutputState::Complete,
        exit: Some(0),
        streams: vec![OutputStream::new(StreamKind::Stdout, blob)],
        run: Run::default(),
    });
    world.ledger.write(&Scope::All, vec![command]).unwrap();
    let result = ToolResult {
        call_id: "c".into(),
        tool: "bash".into(),
        outcome: Outcome::Ok,
        text: shown.into(),
        output: Some(id),
    };
    let mut turn = NewTurn::text(Tool, "bash", "");
    turn.parts = vec![(None, PartBody::ToolResult(result))];
    world.ledger.append(session, turn).unwrap();
    id
}

#[test]
fn outputs_are_searched_when_they_are_asked_for() {
    let world = open();
    let session = world.session("Acme", "Plan");
    let long = format!("{} 보고서 needle", "line of a log\n".repeat(20_000));
    let id = with_output(&world, &session, "shown", long.as_bytes());
    with_output(&world, &session, "binary", b"\x7FELF needle");
    let beyond = format!("{} needle", "x".repeat(sayso::model::limits::SEARCHED_BYTES));
    with_output(&world, &session, "beyond", beyond.as_bytes());
    both(&world, || {
        assert_eq!(texts(&world, "needle"), Vec::<String>::new());
        assert_eq!(texts(&world, "shown"), ["shown"]);
        for query in ["needle", "고서 NEEDLE"] {
            let hits = found(&world.all(), &Search { outputs: true, ..Search::new(query) });
            let [hit] = hits.as_slice() else { panic!("{hits:?}") };
            assert_eq!((hit.text, hit.speaker.kind), (Found::Output(id, StreamKind::Stdout), Tool));
            assert!(hit.excerpt.text.ends_with("보고서 needle"), "{}", hit.excerpt.text);
        }
        let shown = found(&world.all(), &Search { outputs: true, ..Search::new("shown") });
        assert_eq!(shown.len(), 1);
    });
}

#[test]
fn an_index_takes_in_what_it_is_told_and_says_what_is_left() {
    let world = said(&["one", "two", "three"]);
    let mut steps = Vec::new();
    while world.ledger.index(2).is_ok_and(|p| p.left > 0) {
        steps.push(());
    }
    assert!(steps.len() <= 1);
    assert_eq!(world.ledger.index(2).unwrap().left, 0);
    assert_eq!(texts(&world, "two"), ["two"]);
}
