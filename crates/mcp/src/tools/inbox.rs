//! `inbox`: forwarded turns that their agent has not seen yet.

use sayso::Reader;
use sayso::model::{MarkKind, SessionId};

use super::{Answer, lines};
use crate::answer::{self, WaitingShown};
use crate::args::Inbox;
use crate::cursor::{Request, stale};
use crate::entry::Quotes;
use crate::fail::Fault;
use crate::page::{Page, Place};
use crate::room::Room;
use crate::words::NOTICE;

pub(super) fn answer(room: &Room, args: &Inbox) -> Result<Answer, Fault> {
    let reader = room.reader()?;
    let request = Request::new(reader.ledger().id(), "inbox", &Inbox { cursor: None, ..args.clone() });
    let start = args.cursor.as_deref().map(|cursor| place(request.place(cursor)?)).transpose()?;
    let sessions = match &args.session {
        Some(session) => vec![reader.find_session(session)?.id],
        None => reader.sessions(None)?.iter().map(|session| session.id).collect(),
    };
    let (mut page, mut states) = (Page::new(&reader, Quotes::Markers, 0), Vec::new());
    let next = fill(&mut page, &mut states, &reader, &sessions, start)?;
    let next = next.map(|(session, place)| request.cursor(&format!("{session}.{place}")));
    let text = lines(page.text, "Nothing waits: every forwarded turn has been seen.", next.as_deref());
    let waiting = states.into_iter().zip(page.entries).map(|(state, turn)| WaitingShown { state, turn });
    Ok(Answer::new(text, &answer::Waiting { notice: NOTICE, waiting: waiting.collect(), next }))
}

type Start = (SessionId, Place);

fn place(text: &str) -> Result<Start, Fault> {
    let (session, place) = text.split_once('.').ok_or_else(stale)?;
    Ok((session.parse().map_err(|_| stale())?, place.parse()?))
}

/// Session by session, so that what waits elsewhere is not read for nothing.
fn fill(
    page: &mut Page<'_>,
    states: &mut Vec<&'static str>,
    reader: &Reader,
    sessions: &[SessionId],
    start: Option<Start>,
) -> Result<Option<Start>, Fault> {
    let first = match start {
        Some((session, _)) => sessions.iter().position(|known| *known == session).ok_or_else(stale)?,
        None => 0,
    };
    for session in sessions.iter().skip(first) {
        let from = start.filter(|(first, _)| first == session).map(|(_, place)| place);
        if let Some(place) = fill_from(page, states, reader, *session, from)? {
            return Ok(Some((*session, place)));
        }
    }
    Ok(None)
}

fn fill_from(
    page: &mut Page<'_>,
    states: &mut Vec<&'static str>,
    reader: &Reader,
    session: SessionId,
    from: Option<Place>,
) -> Result<Option<Place>, Fault> {
    let waiting = reader.inbox(Some(session))?;
    for one in waiting.into_iter().filter(|one| from.is_none_or(|place| one.entry.seq >= place.seq)) {
        let seq = one.entry.seq;
        let place = from.filter(|place| place.seq == seq).unwrap_or(Place::of(seq));
        let before = page.entries.len();
        let next = page.add(one.entry, place)?;
        if page.entries.len() > before {
            states.push(one.state.map_or("recorded", MarkKind::as_str));
        }
        if next.is_some() {
            return Ok(next);
        }
    }
    Ok(None)
}
