//! Forwarded turns that wait for the session, as markers.

use std::collections::HashSet;

use sayso::Fate;
use sayso::model::{EntryId, MarkKind};
use sayso::store::{Command, Done, MarkEntry, Waiting};
use sayso::view::marker::{self, Message, Profile};

use super::program::Room;
use super::state::Offer;
use super::work::Work;
use crate::fail::Failure;

/// What stands between way and role in the route of an offer.
pub(crate) const AS: &str = " as ";

/// How often a turn is offered at most, where the transcript goes on without it.
const TIMES: u32 = 3;

/// Offers what waits, oldest first, as far as one answer may hold it; the rest waits for the next prompt. What was offered and
/// got lost is offered again. Gives the room that is left beside them.
pub(super) fn offer(work: &mut Work) -> Result<(Vec<String>, Room), Failure> {
    let waiting = work.reader().inbox(Some(work.session.id))?;
    let due = waiting.iter().filter(|w| w.state.is_none() || is_lost(work, w)).filter_map(rendered);
    let whole = work.program.room();
    let mut room = Some(whole);
    let fitting: Vec<(EntryId, String)> =
        due.take_while(|(_, marker)| fits(marker, whole, &mut room)).collect();
    let again: Vec<EntryId> = waiting.iter().filter(|w| w.state.is_some()).map(|w| w.entry.id).collect();
    // Marked before it is handed out: an offer that got lost is seen in the inbox, one that was repeated is not undone.
    let mut ours = ours(work, fitting, &again)?;
    if !note(work, &waiting, &ours) {
        // What cannot be counted would be repeated for ever.
        ours.retain(|(id, _)| !again.contains(id));
    }
    Ok((ours.into_iter().map(|(_, marker)| marker).collect(), room.unwrap_or(Room::Bytes(0))))
}

/// Whether a turn was offered by an earlier hook, and what was read of the transcript since does not show it.
fn is_lost(work: &Work, waiting: &Waiting) -> bool {
    if work.seen.offers.is_empty() {
        return false;
    }
    let id = waiting.entry.id.to_string();
    let Some(offer) = work.seen.offers.iter().find(|offer| offer.turn == id) else { return false };
    let read = work.seen.stamp.filter(|read| work.stamp().as_ref() == Some(read));
    offer.times < TIMES && read.is_some_and(|read| read.bytes > offer.bytes)
}

/// Notes what is handed out; whether that could be kept.
fn note(work: &mut Work, waiting: &[Waiting], ours: &[(EntryId, String)]) -> bool {
    if ours.is_empty() {
        return true;
    }
    let bytes = work.stamp().map_or(0, |stamp| stamp.bytes);
    let mut offers = std::mem::take(&mut work.seen.offers);
    let still: HashSet<String> = waiting.iter().map(|w| w.entry.id.to_string()).collect();
    offers.retain(|offer| still.contains(&offer.turn));
    for turn in ours.iter().map(|(id, _)| id.to_string()) {
        let times = offers.iter().find(|offer| offer.turn == turn).map_or(0, |offer| offer.times);
        offers.retain(|offer| offer.turn != turn);
        offers.push(Offer { turn, times: times + 1, bytes });
    }
    work.seen.offers = offers;
    work.keep()
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

/// Marks turns as offered and gives those that this call marked, of two hooks at once one offers, and those that are offered
/// again.
fn ours(
    work: &Work,
    fitting: Vec<(EntryId, String)>,
    again: &[EntryId],
) -> Result<Vec<(EntryId, String)>, Failure> {
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
    Ok(pairs.filter(|((id, _), done)| marked(done) || again.contains(id)).map(|(pair, _)| pair).collect())
}
