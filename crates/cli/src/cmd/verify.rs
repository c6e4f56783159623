//! `sayso verify`

use std::collections::BTreeMap;
use std::path::Path;

use sayso::model::{Digest, SessionId};
use sayso::store::{Problem, Report};
use sayso::{Address, HeadKept, Reader};
use serde::Serialize;

use crate::args::{Global, Verify};
use crate::fail::Failure;
use crate::io::Out;
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
    let reader = open::reader(global)?;
    let kept = match &args.against {
        Some(path) => kept(path, &reader)?,
        None => BTreeMap::new(),
    };
    let verified = verified(reader.verify(&kept)?, &reader);
    if out.json() {
        out.object(&verified)?;
    } else {
        print(&verified, out)?;
    }
    if verified.ok { Ok(()) } else { Err(Failure::Problems) }
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
    let entries = verified.entries;
    out.line(match verified.problems.len() {
        0 => format!("ok: {entries} entries, no problem found"),
        n => format!("{n} problems in {entries} entries"),
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
