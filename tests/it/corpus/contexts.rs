//! The contexts of imported sessions: what each provider takes, and the same for a file's first half and for all of it.

use std::path::Path;

use sayso::model::{Entry, EntryBody, SessionId};
use sayso::view::context::Provider;
use sayso::view::rules::faults;
use sayso::{CompactRequest, Ledger, Scope};

use super::compare::{Scratch, shipped};
use super::{SKIPPED, files, root, say};

/// What stands for a result that has not come.
const NO_RESULT: &str = "[no result was recorded for this call]";

/// Checks the contexts of one file; how many there were.
fn check(name: &str, file: &Path) -> usize {
    let scratch = Scratch::new();
    let length = usize::try_from(file.metadata().expect("the file is there").len()).expect("it fits");
    let half = scratch.start_of(file, length / 2);
    let halves = match scratch.import(&half) {
        Ok(_) => contexts(name, &scratch.ledger),
        Err(_) => Vec::new(),
    };
    let whole = scratch.start_of(file, length);
    if scratch.import(&whole).is_err() {
        return 0;
    }
    let wholes = contexts(name, &scratch.ledger);
    for before in halves {
        let after =
            wholes.iter().find(|after| after.session == before.session && after.provider == before.provider);
        before.goes_on_in(name, after.expect("a session stays"));
    }
    let reader = scratch.ledger.reader(Scope::All);
    for session in reader.sessions(None).expect("sessions can be listed") {
        reader.compact(&CompactRequest::of(session.id, "what was said")).expect("a compaction is recorded");
    }
    wholes.len() + contexts(name, &scratch.ledger).len()
}

/// What a provider would be given.
struct Given {
    session: SessionId,
    provider: Provider,
    /// How many entries the session has.
    entries: usize,
    json: String,
    ledger: Ledger,
}

/// The contexts of every session for every provider; each would be taken.
fn contexts(name: &str, ledger: &Ledger) -> Vec<Given> {
    let reader = ledger.reader(Scope::All);
    let mut given = Vec::new();
    for session in reader.sessions(None).expect("sessions can be listed") {
        for provider in Provider::ALL {
            let context = reader.context(session.id, provider, None).expect("a context without a budget");
            assert_eq!(faults(provider, &context.input), [""; 0], "{name}: {}", provider.as_str());
            let entries = entries(ledger, session.id).len();
            let (session, json, ledger) = (session.id, context.input.to_string(), ledger.clone());
            given.push(Given { session, provider, entries, json, ledger });
        }
    }
    given
}

fn entries(ledger: &Ledger, session: SessionId) -> Vec<Entry> {
    ledger.reader(Scope::All).walk(session, 0).collect::<Result<_, _>>().expect("entries can be read")
}

impl Given {
    /// What was given before is the beginning of what is given now, with the exceptions that have names.
    fn goes_on_in(&self, name: &str, after: &Self) {
        let before = self.json.trim_end_matches(']');
        let same = before.bytes().zip(after.json.bytes()).take_while(|(a, b)| a == b).count();
        // What is made for a call without a result changes when that comes.
        let starts = ["{\"role\":", "{\"type\":\"function_call_output\""];
        let made = before
            .find(NO_RESULT)
            .map(|at| starts.iter().filter_map(|start| before[..at].rfind(start)).max());
        let made = made.flatten();
        let stable = made.unwrap_or(before.len());
        let later = entries(&self.ledger, self.session).split_off(self.entries);
        let changes = later.iter().any(|entry| match &entry.body {
            EntryBody::Compaction(_) => true,
            EntryBody::Mark(mark) => mark.kind.is_standing(),
            EntryBody::Turn(_) | EntryBody::Reinjection(_) => false,
        });
        // The brackets that close the last message, or a group of calls, may close it later.
        let closes = before[same.min(stable)..stable].chars().all(|c| matches!(c, ']' | '}' | ','));
        assert!(
            changes || closes,
            "{name}: {} changes at {same} of {stable}: {:?} became {:?}",
            self.provider.as_str(),
            String::from_utf8_lossy(&before.as_bytes()[same.saturating_sub(80)..before.len().min(same + 80)]),
            String::from_utf8_lossy(
                &after.json.as_bytes()[same.saturating_sub(80)..after.json.len().min(same + 80)]
            ),
        );
    }
}

#[test]
fn contexts_of_the_shipped_sessions_are_taken_and_stay() {
    for name in ["codex.jsonl", "pi.jsonl"] {
        assert_eq!(check(name, &shipped(name)), 6, "{name}");
    }
}

#[test]
fn contexts_of_the_corpus_are_taken_and_stay() {
    let Some(root) = root() else {
        say(SKIPPED).expect("standard error can be written");
        return;
    };
    let counted: usize = files(&root).iter().map(|file| check(&file.display().to_string(), file)).sum();
    say(&format!("{counted} contexts of the corpus were checked\n")).expect("standard error can be written");
    assert!(counted > 0);
}
