//! `sayso verify`

use std::collections::BTreeMap;
use std::error::Error as _;
use std::path::Path;

use sayso::model::{Digest, SessionId};
use sayso::store::{Problem, Report};
use sayso::{Address, Error, HeadKept, Reader, StoreError};
use serde::Serialize;

use crate::args::{Global, Verify};
use crate::fail::{Chain, Failure};
use crate::io::{Out, counted};
use crate::open;

#[derive(Serialize)]
struct Verified {
    ok: bool,
    entries: u64,
    heads: BTreeMap<String, Head>,
    problems: Vec<Found>,
}

#[derive(Serialize, serde::Deserialize)]
struct Head {
    seq: u64,
    hash: String,
}

#[derive(Serialize)]
struct Found {
    session: Option<SessionId>,
    seq: Option<u64>,
    entry: Option<sayso::model::EntryId>,
    what: String,
}

pub(crate) fn run(args: &Verify, global: &Global, out: &mut Out<'_>) -> Result<(), Failure> {
    let verified = match looked(args, global) {
        Err(Failure::Ledger(Error::Store(error @ StoreError::Damaged { .. }))) => unreadable(&error),
        looked => looked?,
    };
    if out.json() {
        out.object(&verified)?;
    } else {
        print(&verified, out)?;
    }
    if verified.ok { Ok(()) } else { Err(Failure::Problems) }
}

fn looked(args: &Verify, global: &Global) -> Result<Verified, Failure> {
    let reader = open::reader(global)?;
    let kept = match &args.against {
        Some(path) => kept(path, &reader)?,
        None => BTreeMap::new(),
    };
    Ok(verified(reader.verify(&kept)?, &reader))
}

/// Damage that keeps the ledger from being opened is what was asked for, not a failure to look.
fn unreadable(error: &StoreError) -> Verified {
    let cause = error.source().map(|cause| format!(": {}", Chain(cause))).unwrap_or_default();
    let found = match error {
        StoreError::Damaged { what, .. } => what.clone(),
        other => other.to_string(),
    };
    let what =
        format!("{found}; reading failed at the file's beginning, and nothing in it could be checked{cause}");
    let problem = Found { session: None, seq: None, entry: None, what };
    Verified { ok: false, entries: 0, heads: BTreeMap::new(), problems: vec![problem] }
}

fn verified(report: Report, reader: &Reader) -> Verified {
    let ledger = reader.ledger().id();
    let heads = report.heads.iter().map(|h| {
        let address = Address::Session(ledger, h.project, h.session).to_string();
        (address, Head { seq: h.seq, hash: h.hash.to_string() })
    });
    Verified {
        ok: report.problems.is_empty(),
        entries: report.entries,
        heads: heads.collect(),
        problems: report.problems.into_iter().map(found).collect(),
    }
}

fn found(problem: Problem) -> Found {
    Found { session: problem.session, seq: problem.seq, entry: problem.entry, what: problem.what }
}

fn print(verified: &Verified, out: &mut Out<'_>) -> Result<(), Failure> {
    for (session, head) in &verified.heads {
        out.line(format!("{session}  {}  {}", head.seq, head.hash))?;
    }
    for problem in &verified.problems {
        let session = problem.session.map(|s| format!("session {s}, ")).unwrap_or_default();
        let seq = problem.seq.map(|s| format!("entry {s}: ")).unwrap_or_default();
        out.line(format!("PROBLEM {session}{seq}{}", problem.what))?;
    }
    let entries = counted(verified.entries, "entry", "entries");
    out.line(match verified.problems.len() {
        0 => format!("ok: {entries}, no problem found"),
        n => format!("{} in {entries}", counted(n as u64, "problem", "problems")),
    })
}

/// Reads kept heads: the JSON that `sayso verify --json` printed.
fn kept(path: &Path, reader: &Reader) -> Result<BTreeMap<SessionId, HeadKept>, Failure> {
    let shown = path.display();
    let text =
        std::fs::read_to_string(path).map_err(|e| Failure::io(format!("{shown} cannot be read"), e))?;
    let unreadable = |what: &str| {
        Failure::request(format!("{shown} holds no heads ({what}): give the output of `sayso verify --json`"))
    };
    #[derive(serde::Deserialize)]
    struct File {
        heads: BTreeMap<String, Head>,
    }
    let file: File = serde_json::from_str(&text).map_err(|e| unreadable(&e.to_string()))?;
    let head = |(address, head): (String, Head)| {
        let Some(Address::Session(_, _, session)) = reader.address(&address)? else {
            return Err(unreadable(&format!("{address:?} is no session's address")));
        };
        let hash = Digest::parse(&head.hash).ok_or_else(|| unreadable("a hash has 64 hexadecimal digits"))?;
        Ok((session, HeadKept { seq: head.seq, hash }))
    };
    if file.heads.is_empty() {
        return Err(unreadable("the list is empty"));
    }
    file.heads.into_iter().map(head).collect()
}
