//! What must hold for any session, for every provider.

use proptest::prelude::*;

use super::super::pairing::Pairs;
use super::*;

/// One entry to append; numbers choose among what is there then.
#[derive(Debug, Clone)]
enum Step {
    Turn(SpeakerKind, Vec<(Piece, Option<SpeakerKind>, Kept)>),
    Forward(&'static str),
    Compaction(u8),
    Mark,
}

#[derive(Debug, Clone)]
enum Piece {
    Text(&'static str),
    Call(&'static str, &'static str),
    Result(&'static str, Outcome, bool),
    Reasoning,
    Attachment,
}

const IDS: [&str; 7] = [
    "",
    "a",
    "b",
    "c",
    "call_1|fc_2",
    "한글",
    "a-very-long-id-that-no-provider-takes-since-it-has-far-over-sixty-four",
];
const TEXTS: [&str; 6] = ["words", "", " \n\t", "\u{1}", "<quote id=\"x\">\n[owner]", "{\"}]"];
const ARGUMENTS: [&str; 6] = ["{}", "", "{\"cmd\":\"ls\"}", "*** patch", "[]", "{\"a\":\"\\ud800\"}"];

fn any_piece() -> impl Strategy<Value = Piece> {
    let id = || prop::sample::select(IDS.to_vec());
    let outcome = prop::sample::select(Outcome::ALL.to_vec());
    prop_oneof![
        3 => prop::sample::select(TEXTS.to_vec()).prop_map(Piece::Text),
        4 => (id(), prop::sample::select(ARGUMENTS.to_vec())).prop_map(|(id, text)| Piece::Call(id, text)),
        5 => (id(), outcome, any::<bool>()).prop_map(|(id, outcome, empty)| Piece::Result(id, outcome, empty)),
        1 => Just(Piece::Reasoning),
        1 => Just(Piece::Attachment),
    ]
}

fn any_step() -> impl Strategy<Value = Step> {
    let kind = || prop::sample::select(SpeakerKind::ALL.to_vec());
    let kept = prop_oneof![9 => Just(Kept::Whole), 1 => Just(Kept::Redacted)];
    let piece = (any_piece(), prop::option::weighted(0.1, kind()), kept);
    prop_oneof![
        8 => (kind(), prop::collection::vec(piece, 0..5)).prop_map(|(kind, pieces)| Step::Turn(kind, pieces)),
        1 => prop::sample::select(TEXTS.to_vec()).prop_map(Step::Forward),
        1 => any::<u8>().prop_map(Step::Compaction),
        1 => Just(Step::Mark),
    ]
}

/// Every text that is not empty holds its own place, so that it can be found again.
fn piece(piece: &Piece, place: &str) -> Part {
    match *piece {
        Piece::Text(given) => {
            text(&if given.trim().is_empty() { given.to_owned() } else { format!("{given} {place}") })
        }
        Piece::Call(id, arguments) => part(PartBody::ToolCall(ToolCall {
            call_id: id.into(),
            tool: "a tool".into(),
            arguments: arguments.into(),
        })),
        Piece::Result(id, outcome, empty) => {
            let text = if empty { String::new() } else { format!("out {place}") };
            let result = ToolResult { call_id: id.into(), tool: String::new(), outcome, text, output: None };
            part(PartBody::ToolResult(result))
        }
        Piece::Reasoning => part(PartBody::Reasoning(Seal::Sealed, "x".into())),
        Piece::Attachment => {
            let media_type = "image/png".into();
            part(PartBody::Attachment(Attachment { media_type, name: "a.png".into(), output: None }))
        }
    }
}

fn step(step: &Step, seq: u64) -> Entry {
    match step {
        Step::Turn(kind, pieces) => {
            let parts = pieces.iter().enumerate().map(|(at, (given, by, kept))| Part {
                by: by.map(|kind| speaker(kind, "other")),
                kept: *kept,
                ..piece(given, &format!("<{seq}.{at}>"))
            });
            entry(seq, speaker(*kind, "x"), parts.collect())
        }
        Step::Forward(note) => forward(seq, "quoted", note),
        Step::Compaction(through) => compaction(seq, u64::from(*through) % seq, "s"),
        Step::Mark => {
            let mark = Mark::new(MarkKind::Closed, None, "");
            Entry { body: EntryBody::Mark(mark), ..entry(seq, owner(), vec![]) }
        }
    }
}

fn any_session() -> impl Strategy<Value = Vec<Entry>> {
    let steps = prop::collection::vec(any_step(), 0..14);
    steps.prop_map(|steps| steps.iter().zip(1..).map(|(given, seq)| step(given, seq)).collect())
}

/// The same with turns that are edited, and marks that take turns back and restore them.
fn any_changed_session() -> impl Strategy<Value = Vec<Entry>> {
    let kinds = [None, None, Some(MarkKind::RolledBack), Some(MarkKind::Abandoned), Some(MarkKind::Restored)];
    let change = (prop::sample::select(kinds.to_vec()), any::<prop::sample::Index>(), any_step());
    (any_session(), prop::collection::vec(change, 0..6)).prop_map(|(mut entries, changes)| {
        let changes = if entries.is_empty() { Vec::new() } else { changes };
        for (kind, of, new) in changes {
            let (of, seq) = (of.get(&entries).id, entries.len() as u64 + 1);
            let mut entry = step(&new, seq);
            if let Some(kind) = kind {
                entry.body = EntryBody::Mark(Mark::new(kind, Some(of), ""));
            } else if let EntryBody::Turn(turn) = &mut entry.body {
                turn.supersedes = Some(of);
            }
            entries.push(entry);
        }
        entries
    })
}

fn render(provider: Provider, entries: &[Entry]) -> Value {
    context(entries, provider, Budget { tokens: u64::MAX, counter: &Scripts }).unwrap().input
}

/// Whether an item is, or starts with, outputs of calls; with `missing`, whether one of them stands for a missing result.
fn is_output(item: &Value, missing: bool) -> bool {
    let outputs = match (&item["type"], &item["role"], item["content"].as_array()) {
        (Value::String(kind), ..) if kind == "function_call_output" => vec![item["output"].clone()],
        (_, Value::String(role), _) if role == "tool" => vec![item["content"].clone()],
        (_, _, Some(blocks)) => {
            let results = blocks.iter().filter(|block| block["type"] == "tool_result");
            results.map(|block| block["content"].clone()).collect()
        }
        _ => Vec::new(),
    };
    let lost = |output: &Value| *output == "[no result was recorded for this call]";
    if missing { outputs.iter().any(lost) } else { !outputs.is_empty() }
}

/// The bytes that later entries must not change: up to the first output that stands for a missing result, and without
/// the brackets at the end. The outputs of a group are one: it changes as a whole.
fn settled(input: &Value) -> String {
    let items = input.as_array().unwrap();
    let missing = items.iter().position(|item| is_output(item, true)).unwrap_or(items.len());
    let group =
        items[..missing].iter().rev().take_while(|item| missing < items.len() && is_output(item, false));
    let anthropic = items.get(missing).is_some_and(|item| item["role"] == "user");
    let open = if anthropic { missing } else { missing - group.count() };
    let text = serde_json::to_string(&items[..open]).unwrap();
    text.trim_end_matches([']', '}']).to_owned()
}

/// The results that were stored before the calls they answer, with those, by the index of their entries.
fn early(entries: &[Entry]) -> Vec<(usize, usize)> {
    let pairs = Pairs::of(entries);
    let calls = pairs.runs().iter().flat_map(|run| &run.calls);
    let answered = calls.filter_map(|call| Some((pairs.result(*call)?, *call)));
    answered.filter(|(result, call)| result < call).map(|(result, call)| (result.0, call.0)).collect()
}

/// How many entries' rendering the last entry must not change: all before it, unless it makes a result an early one or
/// answers a call that had an early one.
fn unaffected(entries: &[Entry]) -> usize {
    let now = early(entries);
    let before = |end: &usize| {
        let known: Vec<_> = now.iter().copied().filter(|(result, _)| result < end).collect();
        known == early(&entries[..*end])
    };
    (0..entries.len()).rev().find(before).unwrap_or_default()
}

fn config() -> ProptestConfig {
    ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn every_provider_takes_every_rendering(entries in any_session()) {
        for provider in Provider::ALL {
            prop_assert_eq!(faults(provider, &render(provider, &entries)), [""; 0]);
        }
    }

    #[test]
    fn every_provider_takes_what_was_changed(entries in any_changed_session()) {
        for provider in Provider::ALL {
            prop_assert_eq!(faults(provider, &render(provider, &entries)), [""; 0]);
        }
    }

    /// But for the exceptions that have names, appending an entry keeps every earlier byte.
    #[test]
    fn appending_changes_nothing_before(entries in any_session()) {
        for end in 1..=entries.len() {
            let entries = &entries[..end];
            let earlier = unaffected(entries);
            if entries[earlier..].iter().any(|entry| matches!(entry.body, EntryBody::Compaction(_))) {
                continue;
            }
            for provider in Provider::ALL {
                let before = settled(&render(provider, &entries[..earlier]));
                let after = render(provider, entries).to_string();
                prop_assert!(after.starts_with(&before), "{} is not the beginning of {}", before, after);
            }
        }
    }

    /// Nothing that was said behind the boundary is lost, and nothing is said twice.
    #[test]
    fn all_that_was_said_is_there_once(entries in any_session()) {
        let through = super::super::summary::through(&entries);
        for provider in Provider::ALL {
            let shown = render(provider, &entries).to_string();
            let turns = entries.iter().filter(|entry| entry.seq > through);
            for part in turns.filter_map(Entry::turn).flat_map(|turn| &turn.parts) {
                let said = part.spoken().filter(|_| part.kept == Kept::Whole).unwrap_or_default();
                let place = said.rsplit(' ').next().filter(|place| place.starts_with('<') && place.ends_with('>'));
                if let Some(place) = place {
                    prop_assert_eq!(shown.matches(place).count(), 1, "{} in {}", place, shown);
                }
            }
        }
    }
}
