//! `sayso compact`

use std::path::Path;

use sayso::model::{EntryId, text};
use sayso::store::{Placed, Session};
use sayso::{Address, CompactRequest, Reader, SpeakerKind, SpeakerRef};
use serde::Serialize;

use crate::args::{Compact, Global};
use crate::fail::Failure;
use crate::io::{Out, read_input, say};
use crate::open;

#[derive(Serialize)]
struct Recorded {
    entry: EntryId,
    address: Address,
    seq: u64,
    through: u64,
}

pub(crate) fn run(args: &Compact, global: &Global, out: &mut Out<'_>) -> Result<(), Failure> {
    let reader = open::reader(global)?;
    let session = reader.find_session(&args.session)?;
    // Before the summary is read: what is appended while it is being written is not in it.
    let through = boundary(args, &reader, &session)?;
    let request = CompactRequest {
        session: session.id,
        summary: summary(&args.summary)?,
        through,
        by: args.by.clone().unwrap_or_else(|| SpeakerRef::new(SpeakerKind::Agent, "")),
        said_at: None,
        key: args.key.clone(),
    };
    let (_, compacted) = reader.compact(&request)?;
    let placed = compacted.placed;
    let address = reader.address_of(&placed);
    let recorded = Recorded { entry: placed.id, address, seq: placed.seq, through: compacted.through };
    out.either(&recorded, || recorded.address.to_string())
}

/// The entry that was named, else the last one that is there now. A retry asks for the boundary that was recorded first,
/// which the ledger knows by the key.
fn boundary(args: &Compact, reader: &Reader, session: &Session) -> Result<Option<Placed>, Failure> {
    match (&args.through, &args.key) {
        (Some(given), _) => Ok(Some(reader.find_turn(given)?.placed)),
        (None, Some(key)) if reader.known(session.id, key)?.is_some() => Ok(None),
        _ => last(reader, session),
    }
}

fn last(reader: &Reader, session: &Session) -> Result<Option<Placed>, Failure> {
    let last = reader.entries(session.id, session.last_seq.saturating_sub(1), 1)?.pop();
    Ok(last.map(|e| Placed { id: e.id, project: e.project, session: e.session, seq: e.seq, hash: e.hash }))
}

fn summary(from: &Path) -> Result<String, Failure> {
    let (summary, repairs) = text::repair(bytes(from)?);
    if summary.trim().is_empty() {
        return Err(Failure::request(
            "the summary is empty: give the words that stand for the earlier turns",
        ));
    }
    if repairs > 0 {
        say(format!("note: {repairs} byte sequences were not valid UTF-8; each was kept as U+FFFD"));
    }
    Ok(summary)
}

fn bytes(from: &Path) -> Result<Vec<u8>, Failure> {
    if from == Path::new("-") {
        return read_input();
    }
    std::fs::read(from).map_err(|e| Failure::io(format!("{} cannot be read", from.display()), e))
}
