//! `show`: a turn whole, or a session turn by turn.

use sayso::model::{Address, Entry, SessionId};
use sayso::{Error, Reader};

use super::{Answer, lines};
use crate::answer::Entries;
use crate::args::Show;
use crate::cursor::{Request, stale};
use crate::entry::Quotes;
use crate::fail::Fault;
use crate::page::{Page, Place};
use crate::room::Room;
use crate::words::NOTICE;

pub(super) fn answer(room: &Room, args: &Show) -> Result<Answer, Fault> {
    let reader = room.reader()?;
    let request = Request::new(reader.ledger().id(), "show", &Show { cursor: None, ..args.clone() });
    let place = args.cursor.as_deref().map(|cursor| request.place(cursor)?.parse()).transpose()?;
    let target = target(&args.address, &reader)?;
    page(&reader, &request, target, place, args.from)
}

/// The first page of what an address names.
pub(crate) fn first_page(room: &Room, address: &str) -> Result<Answer, Fault> {
    let args = Show { address: address.to_owned(), from: None, cursor: None };
    answer(room, &args)
}

fn page(
    reader: &Reader,
    request: &Request,
    target: Target,
    place: Option<Place>,
    from: Option<u64>,
) -> Result<Answer, Fault> {
    let quotes = if matches!(target, Target::Entry(_)) { Quotes::Markers } else { Quotes::Cards };
    let mut page = Page::new(reader, quotes, 0);
    let next = match target {
        Target::Entry(_) if from.is_some() => {
            return Err(Fault::request("from belongs to a session: leave it out to read a turn"));
        }
        Target::Entry(entry) => one(&mut page, *entry, place)?,
        Target::Session(session) => {
            let start = place.unwrap_or_else(|| Place::of(from.unwrap_or(1)));
            many(&mut page, reader, session, start)?
        }
    };
    let next = next.map(|place| request.cursor(&place.to_string()));
    let text = lines(page.text, "There is no entry here.", next.as_deref());
    Ok(Answer::new(text, &Entries { notice: NOTICE, entries: page.entries, next }))
}

fn one(page: &mut Page<'_>, entry: Entry, place: Option<Place>) -> Result<Option<Place>, Fault> {
    let place = place.unwrap_or(Place::of(entry.seq));
    if place.seq != entry.seq {
        return Err(stale());
    }
    page.add(entry, place)
}

/// Entries one at a time: each may be large.
fn many(
    page: &mut Page<'_>,
    reader: &Reader,
    session: SessionId,
    start: Place,
) -> Result<Option<Place>, Fault> {
    let mut place = start;
    loop {
        let Some(entry) = reader.entries(session, place.seq.saturating_sub(1), 1)?.pop() else {
            return Ok(None);
        };
        if entry.seq != place.seq {
            place = Place::of(entry.seq);
        }
        if let Some(next) = page.add(entry, place)? {
            return Ok(Some(next));
        }
        place = Place::of(place.seq + 1);
    }
}

enum Target {
    Session(SessionId),
    Entry(Box<Entry>),
}

/// A turn, or a session; a text that names neither is reported as no turn or session.
fn target(given: &str, reader: &Reader) -> Result<Target, Fault> {
    if let Some(Address::Session(..)) = reader.address(given)? {
        return Ok(Target::Session(reader.find_session(given)?.id));
    }
    match reader.find_turn(given) {
        Ok(named) => entry(reader, given, named.placed.id),
        Err(unknown @ (Error::Unknown { .. } | Error::MalformedId { .. })) => {
            match reader.find_session(given) {
                Ok(session) => Ok(Target::Session(session.id)),
                Err(other @ Error::Ambiguous { .. }) => Err(other.into()),
                Err(session @ Error::Unknown { .. }) if !is_id(given) => Err(session.into()),
                Err(_) => Err(unknown.into()),
            }
        }
        Err(error) => Err(error.into()),
    }
}

fn entry(reader: &Reader, given: &str, id: sayso::model::EntryId) -> Result<Target, Fault> {
    let gone = || Error::Unknown { what: "turn", given: given.to_owned(), near: Vec::new() };
    Ok(Target::Entry(Box::new(reader.entry(id)?.ok_or_else(gone)?)))
}

fn is_id(given: &str) -> bool {
    given.len() == 26 && given.bytes().all(|b| b.is_ascii_alphanumeric())
}
