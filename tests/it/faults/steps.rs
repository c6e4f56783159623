//! What is done to a ledger while its disk fails. Every step may be done again after it failed: it has keys, or looks first.

use std::path::Path;

use sayso::model::{Entry, EntryBody};
use sayso::store::{OutputState, Session, StreamKind, Target};
use sayso::{
    CompactRequest, Destination, Ended, Ending, Error, Forks, ForwardRequest, Ledger, NewOutput, NewTurn,
    Placed, Quotes, ReinjectRequest, Scope, SpeakerKind, Trigger,
};

use super::relay;

pub(super) type Step = fn(&Ledger) -> Result<(), Error>;

/// A ledger as it is before, and what is done then.
pub(super) struct Scenario {
    pub(super) name: &'static str,
    /// Makes the file as it is before; none where the ledger is made while the disk fails.
    pub(super) before: fn(&Path),
    pub(super) steps: &'static [Step],
    /// Words that stand in no file afterwards.
    pub(super) gone: Option<&'static str>,
}

pub(super) const ALL: &[Scenario] = &[
    Scenario { name: "make", before: |_| {}, steps: &[make, append::<1>], gone: None },
    Scenario { name: "append", before: told, steps: &[append::<1>, append::<2>, append::<3>], gone: None },
    Scenario { name: "batch", before: told, steps: &[batch::<1>, batch::<2>], gone: None },
    Scenario { name: "forward", before: told, steps: &[forward::<1>, forward::<2>], gone: None },
    Scenario { name: "output", before: told, steps: &[output::<1>, output::<2>], gone: None },
    Scenario { name: "compaction", before: worked, steps: &[compact, bring_back], gone: None },
    Scenario { name: "life", before: told, steps: &[edit, pin, rename, close, reopen, redact], gone: None },
    Scenario { name: "fork", before: told, steps: &[fork, append::<1>], gone: None },
    Scenario { name: "index", before: told, steps: &[append::<1>, index, append::<2>, index], gone: None },
    Scenario {
        name: "erase a session",
        before: worked,
        steps: &[erase_session, append::<1>],
        gone: Some("another xylophone"),
    },
    Scenario {
        name: "erase a turn",
        before: worked,
        steps: &[erase_turn, append::<1>],
        gone: Some("said before 3"),
    },
    Scenario { name: "checkpoint", before: worked, steps: &[large, append::<1>], gone: None },
    Scenario {
        name: "relay",
        before: told,
        steps: &[
            relay::accept,
            relay::claim,
            relay::started,
            relay::answer,
            relay::send,
            relay::receipt,
            relay::notice,
            relay::cancel,
        ],
        gone: None,
    },
    Scenario { name: "upgrade from schema 1", before: schema::<1>, steps: &[make, append::<1>], gone: None },
    Scenario { name: "upgrade from schema 2", before: schema::<2>, steps: &[make, append::<1>], gone: None },
    Scenario { name: "upgrade from schema 4", before: schema::<4>, steps: &[make, append::<1>], gone: None },
];

/// Words that are taken away by some scenario.
pub(super) const GONE: &str = "xylophone-4711";

pub(super) fn plan(ledger: &Ledger) -> Result<Session, Error> {
    ledger.session("Acme", "Plan")
}

fn keyed(text: impl Into<String>, key: &str) -> NewTurn {
    NewTurn::text(SpeakerKind::Owner, "Mira", text).with_key(key)
}

/// A ledger in which some things were said.
fn told(path: &Path) {
    let ledger = super::open(path).unwrap();
    let plan = plan(&ledger).unwrap();
    for n in 0..6 {
        ledger.append(&plan, keyed(format!("said before {n} 보고서"), &format!("before {n}"))).unwrap();
    }
    ledger.append(&plan, keyed(GONE, "gone")).unwrap();
    let other = ledger.session("Acme", "Other").unwrap();
    ledger.append(&other, keyed(format!("another {GONE}"), "other")).unwrap();
}

/// A ledger with an output that a turn names, and an index.
fn worked(path: &Path) {
    told(path);
    let ledger = super::open(path).unwrap();
    output::<7>(&ledger).unwrap();
    index(&ledger).unwrap();
}

fn schema<const N: usize>(path: &Path) {
    crate::together::schemas::load(N, path);
}

fn make(ledger: &Ledger) -> Result<(), Error> {
    plan(ledger).map(drop)
}

fn append<const N: usize>(ledger: &Ledger) -> Result<(), Error> {
    let text = format!("turn {N} {}", "요약 words ".repeat(300 * N));
    ledger.append(&plan(ledger)?, keyed(text, &format!("turn {N}"))).map(drop)
}

fn batch<const N: usize>(ledger: &Ledger) -> Result<(), Error> {
    let session = plan(ledger)?.id;
    let build = |plan: &mut sayso::Plan<'_>| {
        (0..3).try_for_each(|at| {
            plan.append(session, keyed(format!("{N} of a batch, {at}"), &format!("batch {N} {at}"))).map(drop)
        })
    };
    ledger.transact(&Scope::All, build).map(drop)
}

fn entries(ledger: &Ledger, session: &Session) -> Result<Vec<Entry>, Error> {
    ledger.reader(Scope::All).walk(session.id, 0).collect()
}

fn placed(entry: &Entry) -> Placed {
    Placed { project: entry.project, session: entry.session, id: entry.id, seq: entry.seq, hash: entry.hash }
}

fn first(ledger: &Ledger) -> Result<Entry, Error> {
    let all = entries(ledger, &plan(ledger)?)?;
    Ok(all.into_iter().find(|entry| entry.turn().is_some()).unwrap())
}

fn forward<const N: usize>(ledger: &Ledger) -> Result<(), Error> {
    let to = Destination::New { project: "Beta".to_owned(), title: format!("Review {N}") };
    let request = ForwardRequest::of(placed(&first(ledger)?), to)
        .by(SpeakerKind::Owner, "Mira")
        .note("look at this")
        .key(format!("forward {N}"));
    ledger.reader(Scope::All).forward(request).map(drop)
}

pub(super) fn noise(n: usize) -> Vec<u8> {
    let mut bytes = vec![0; 300_000];
    blake3::Hasher::new().update(&n.to_le_bytes()).finalize_xof().fill(&mut bytes);
    bytes
}

fn output<const N: usize>(ledger: &Ledger) -> Result<(), Error> {
    let session = plan(ledger)?;
    let tool = format!("tool {N}");
    let known = ledger.reader(Scope::All).archived_outputs(session.id, None, 100)?;
    if known.iter().any(|o| o.tool == tool && o.state == OutputState::Complete) {
        return Ok(());
    }
    let mut output = ledger.start_output(&session, NewOutput::of(tool))?;
    output.write(StreamKind::Stdout, &noise(N))?;
    output.write(StreamKind::Stderr, b"warning: none")?;
    output.keep()?;
    output.write(StreamKind::Stdout, format!("error: {GONE}\n").as_bytes())?;
    output.finish(Ended::by(Ending::Exit(1))).map(drop)
}

fn compact(ledger: &Ledger) -> Result<(), Error> {
    let request = CompactRequest::of(plan(ledger)?.id, "So far a plan was made.")
        .by(SpeakerKind::Agent, "Rocky")
        .key("compaction");
    ledger.reader(Scope::All).compact(&request).map(drop)
}

fn bring_back(ledger: &Ledger) -> Result<(), Error> {
    let request = ReinjectRequest::of(plan(ledger)?.id, Trigger::Compaction);
    ledger.reader(Scope::All).reinject(&request).map(drop)
}

fn edit(ledger: &Ledger) -> Result<(), Error> {
    let turn = first(ledger)?;
    ledger.reader(Scope::All).edit(turn.id, &keyed("said better", "edit")).map(drop)
}

fn pin(ledger: &Ledger) -> Result<(), Error> {
    let turn = entries(ledger, &plan(ledger)?)?.remove(1);
    ledger.reader(Scope::All).pin(turn.id).map(drop)
}

/// The session that is renamed, closed and opened again; found also under its new name.
fn other(ledger: &Ledger) -> Result<Session, Error> {
    let all = ledger.reader(Scope::All).sessions(None)?;
    Ok(all.into_iter().find(|s| s.title == "Other" || s.title == "Renamed").unwrap())
}

fn rename(ledger: &Ledger) -> Result<(), Error> {
    ledger.reader(Scope::All).rename_session(other(ledger)?.id, "Renamed").map(drop)
}

fn close(ledger: &Ledger) -> Result<(), Error> {
    ledger.reader(Scope::All).close_session(other(ledger)?.id).map(drop)
}

fn reopen(ledger: &Ledger) -> Result<(), Error> {
    ledger.reader(Scope::All).reopen_session(other(ledger)?.id).map(drop)
}

/// The turn that begins with these words, while it has them.
fn goes(ledger: &Ledger, words: &str) -> Result<Option<Entry>, Error> {
    let all = entries(ledger, &plan(ledger)?)?;
    Ok(all.into_iter().find(|entry| entry.turn().is_some_and(|turn| turn.text().starts_with(words))))
}

fn redact(ledger: &Ledger) -> Result<(), Error> {
    match goes(ledger, GONE)? {
        Some(turn) => ledger.reader(Scope::All).redact(turn.id, Quotes::TakeAlong).map(drop),
        None => Ok(()),
    }
}

fn fork(ledger: &Ledger) -> Result<(), Error> {
    let all = ledger.reader(Scope::All).sessions(None)?;
    if all.iter().any(|session| session.title == "Fork") {
        return Ok(());
    }
    ledger.reader(Scope::All).fork(plan(ledger)?.id, None, "Fork").map(drop)
}

fn index(ledger: &Ledger) -> Result<(), Error> {
    while ledger.index(3)?.left > 0 {}
    Ok(())
}

fn erase_session(ledger: &Ledger) -> Result<(), Error> {
    let all = ledger.reader(Scope::All).sessions(None)?;
    if let Some(session) = all.iter().find(|s| s.title == "Other") {
        let target = Target::Session(session.id);
        ledger.reader(Scope::All).erase(target, Forks::Refuse, Quotes::TakeAlong)?;
    }
    ledger.reader(Scope::All).go_on_erasing().map(drop)
}

fn erase_turn(ledger: &Ledger) -> Result<(), Error> {
    if let Some(turn) = goes(ledger, "said before 3")? {
        ledger.reader(Scope::All).erase(Target::Entry(turn.id), Forks::Refuse, Quotes::TakeAlong)?;
    }
    ledger.reader(Scope::All).go_on_erasing().map(drop)
}

/// So much that SQLite moves the log into the file on the way.
fn large(ledger: &Ledger) -> Result<(), Error> {
    let session = plan(ledger)?;
    let text = "0123456789abcdef".repeat(330_000);
    ledger.append(&session, keyed(text, "large")).map(drop)
}

/// Words that stand in the log and not in the file yet.
pub(super) fn said_last(ledger: &Ledger) {
    append::<1>(ledger).unwrap();
    append::<2>(ledger).unwrap();
}

/// One entry in words.
pub(super) fn words(entry: &Entry) -> String {
    match &entry.body {
        EntryBody::Turn(turn) => {
            let text = turn.text();
            let begins: String = text.chars().take(20).collect();
            format!("turn {} {begins} {}", turn.quote.is_some(), blake3::hash(text.as_bytes()))
        }
        other => format!("{other:?}").split([' ', '(']).next().unwrap_or_default().to_owned(),
    }
}
