//! Marking that the agent's turn settled.

use sayso::model::{EntryId, MarkKind};
use sayso::store::{Command, MarkEntry};

use super::work::Work;
use crate::fail::Failure;

/// Entries that are read at once on the way back to the last turn.
const PAGE: usize = 16;

/// Marks the last turn of the session as the one at which the agent's work ended. Where it is marked already, nothing is added.
pub(super) fn settle(work: &Work) -> Result<(), Failure> {
    let Some(of) = last_turn(work)? else { return Ok(()) };
    // Nobody who writes has to be waited for where there is nothing to add.
    if work.reader().marks(of)?.iter().any(|mark| mark.kind == MarkKind::Settled) {
        return Ok(());
    }
    let mark = MarkEntry {
        id: work.ledger.fresh_entry(),
        session: work.session.id,
        kind: MarkKind::Settled,
        of: Some(of),
        route: format!("{} {}", work.program.word(), work.event),
    };
    work.ledger.write(work.reader().scope(), vec![Command::Mark(mark)])?;
    Ok(())
}

/// The last turn of the session itself: one of the beginning that it shares with another is that one's.
fn last_turn(work: &Work) -> Result<Option<EntryId>, Failure> {
    let (reader, session) = (work.reader(), work.session.id);
    let mut through = reader.session(session)?.map_or(0, |session| session.last_seq);
    while through > 0 {
        let after = through.saturating_sub(PAGE as u64);
        let entries = reader.entries(session, after, PAGE)?;
        let own = entries.iter().filter(|entry| entry.session == session && entry.seq <= through);
        if let Some(turn) = own.rev().find(|entry| entry.turn().is_some()) {
            return Ok(Some(turn.id));
        }
        through = after;
    }
    Ok(None)
}
