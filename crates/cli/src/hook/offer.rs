//! Forwarded turns that wait for the session, as markers.

use sayso::Fate;
use sayso::model::{EntryId, MarkKind};
use sayso::store::{Command, Done, MarkEntry, Waiting};
use sayso::view::marker::{self, Message, Profile};

use super::program::Room;
use super::work::Work;
use crate::fail::Failure;

/// What stands between way and role in the route of an offer.
pub(crate) const AS: &str = " as ";

/// Offers what waits, oldest first, as far as one answer may hold it; the rest waits for the next prompt. Gives the room that
/// is left beside them.
pub(super) fn offer(work: &Work) -> Result<(Vec<String>, Room), Failure> {
    let reader = work.reader();
    let waiting = reader.inbox(Some(work.session.id))?;
    let fresh = waiting.iter().filter(|w| w.state.is_none()).filter_map(rendered);
    let whole = work.program.room();
    let mut room = Some(whole);
    let fitting: Vec<(EntryId, String)> =
        fresh.take_while(|(_, marker)| fits(marker, whole, &mut room)).collect();
    // Marked before it is handed out: an offer that got lost is seen in the inbox, one that was repeated is not undone.
    let markers = ours(work, fitting)?;
    Ok((markers, room.unwrap_or(Room::Bytes(0))))
}

/// Whether a marker fits; the first one is offered in any case.
fn fits(marker: &str, whole: Room, room: &mut Option<Room>) -> bool {
    let first = *room == Some(whole);
    *room = room.and_then(|room| room.behind(marker));
    first || room.is_some()
}

fn rendered(waiting: &Waiting) -> Option<(EntryId, String)> {
    let message = Message::of(&waiting.entry)?;
    Some((waiting.entry.id, marker::render(&message, Profile::V1)))
}

/// Marks turns as offered and gives the markers of those that this call marked: of two hooks at once, one offers.
fn ours(work: &Work, fitting: Vec<(EntryId, String)>) -> Result<Vec<String>, Failure> {
    let route = format!("{} {}{AS}{}", work.program.word(), work.event, work.program.role());
    let command = |(of, _): &(EntryId, String)| {
        Command::Mark(MarkEntry {
            id: work.ledger.fresh_entry(),
            session: work.session.id,
            kind: MarkKind::Offered,
            of: Some(*of),
            route: route.clone(),
        })
    };
    let commands: Vec<Command> = fitting.iter().map(command).collect();
    if commands.is_empty() {
        return Ok(Vec::new());
    }
    let done = work.ledger.write(work.reader().scope(), commands)?;
    let marked = |done: &Done| matches!(done, Done::Entries(Fate::New, _));
    let pairs = fitting.into_iter().zip(&done);
    Ok(pairs.filter(|(_, done)| marked(done)).map(|((_, marker), _)| marker).collect())
}
