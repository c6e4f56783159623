//! What comes back in real sessions that were compacted.

use std::fmt::Write as _;
use std::sync::Arc;

use sayso::model::{EntryBody, SessionId, SpeakerKind};
use sayso::view::context::Provider;
use sayso::view::rules::faults;
use sayso::{Fate, Ledger, Options, Reader, ReinjectRequest, Scope, Trigger, Verdict};
use sayso_import::Importer;

use super::{SKIPPED, files, root, say};
use crate::support::TestHost;

/// The owner's first words behind the latest compaction, without what stands beside them.
fn question(reader: &Reader, session: SessionId) -> String {
    let compaction = reader.latest_compaction(session).unwrap().map_or(0, |(placed, _)| placed.seq);
    let later = reader.walk(session, compaction).map(Result::unwrap);
    let mut own = later.filter_map(|entry| {
        let turn = entry.turn().filter(|turn| turn.speaker.kind == SpeakerKind::Owner)?;
        Some(turn.joined(|part| turn.speaker_of(part).is_owner())).filter(|text| !text.trim().is_empty())
    });
    own.next().unwrap_or_else(|| "what failed, and where?".to_owned())
}

fn contexts(reader: &Reader, session: SessionId) -> Vec<String> {
    let shown = |provider| {
        let input = reader.context(session, provider, None).unwrap().input;
        assert_eq!(faults(provider, &input), [""; 0]);
        input.to_string()
    };
    Provider::ALL.map(shown).to_vec()
}

/// A line for a session that was compacted; whether anything came back.
fn session(reader: &Reader, id: SessionId, page: &mut String) -> bool {
    let results = reader
        .walk(id, 0)
        .map(Result::unwrap)
        .filter(|e| matches!(&e.body, EntryBody::Turn(t) if t.speaker.kind == SpeakerKind::Tool));
    let results = results.count();
    let mut any = false;
    for trigger in [Trigger::Compaction, Trigger::UserTurn(question(reader, id))] {
        let word = if trigger == Trigger::Compaction { "compaction" } else { "question" };
        let request = ReinjectRequest::of(id, trigger);
        let plan = reader.plan_reinjection(&request).unwrap();
        assert!(plan.tokens() <= plan.budget);
        assert_eq!(reader.plan_reinjection(&request).unwrap(), plan);
        assert!(plan.used < plan.window, "a context is in a window that holds it");
        // What has no room in a full context has some in a larger window.
        if plan.chosen().count() == 0 && plan.considered.iter().any(|c| c.fate == Verdict::NoRoom) {
            let wide = reader.plan_reinjection(&request.clone().window(1_000_000)).unwrap();
            assert!(wide.chosen().count() > 0, "{id} gets nothing back in a wide window either");
        }
        let before = contexts(reader, id);
        let done = reader.reinject(&request).unwrap();
        assert_eq!(done.as_ref().map_or(0, |d| d.reinjection.items.len()), plan.chosen().count());
        let once = contexts(reader, id);
        if let Some(done) = &done {
            let again = reader.reinject(&request).unwrap().unwrap();
            assert_eq!((again.fate, again.placed), (Fate::Known, done.placed));
            assert_eq!(contexts(reader, id), once, "twice the same");
            assert_ne!(once, before);
            any = true;
        }
        let whys: Vec<String> =
            plan.chosen().map(|c| c.why.iter().map(|w| w.as_str()).collect::<Vec<_>>().join("+")).collect();
        let (looked, used, tokens) = (plan.looked_at, plan.used, plan.tokens());
        writeln!(page, "{id} {word}: {results} tool turns, {looked} looked at, {used} of {} in context, returns {tokens} tokens for {whys:?} of {}", plan.window, plan.considered.len()).unwrap();
    }
    any
}

#[test]
fn compacted_sessions_get_output_back() {
    let Some(root) = root() else { return say(SKIPPED).unwrap() };
    let folder = tempfile::tempdir().unwrap();
    let host = Arc::new(TestHost::default());
    let ledger = Ledger::open_with(&folder.path().join("ledger.db"), &Options::default(), host).unwrap();
    let importer = Importer::new("owner");
    for file in files(&root) {
        // What is no session is counted elsewhere.
        let _ = importer.import_file(&ledger, &file, &mut |_| {});
    }
    let reader = ledger.reader(Scope::All);
    let (mut compacted, mut with, mut page) = (0, 0, String::new());
    for found in reader.sessions(None).unwrap() {
        if found.closed || reader.latest_compaction(found.id).unwrap().is_none() {
            continue;
        }
        compacted += 1;
        with += u32::from(session(&reader, found.id, &mut page));
    }
    say(&format!("{page}{compacted} compacted sessions, {with} get output back")).unwrap();
    assert!(with > 0, "none of {compacted} compacted sessions gets anything back:\n{page}");
    assert_eq!(reader.verify(&Default::default()).unwrap().problems, []);
}
