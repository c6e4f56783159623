//! `sessions`: what there is, the last used first.

use sayso::Reader;
use sayso::model::UtcMs;
use sayso::store::{Project, Session};

use super::{Answer, lines};
use crate::answer::{self, SessionShown};
use crate::args::Sessions;
use crate::bound::{FORM_BYTES, json_len};
use crate::cursor::{Request, stale};
use crate::fail::Fault;
use crate::room::Room;
use crate::words::{self, NOTICE};

pub(super) fn answer(room: &Room, args: &Sessions) -> Result<Answer, Fault> {
    let (sessions, next) = page(room, args, "sessions")?;
    let text = lines(sessions.iter().map(line).collect(), "There is no session here.", next.as_deref());
    Ok(Answer::new(text, &answer::Sessions { notice: NOTICE, sessions, next }))
}

/// As many sessions as fit, and the cursor to the rest; `of` is what the cursor is for.
pub(crate) fn page(
    room: &Room,
    args: &Sessions,
    of: &str,
) -> Result<(Vec<SessionShown>, Option<String>), Fault> {
    let reader = room.reader()?;
    let request = Request::new(reader.ledger().id(), of, &Sessions { cursor: None, ..args.clone() });
    let after = args.cursor.as_deref().map(|cursor| place(request.place(cursor)?)).transpose()?;
    let project = args.project.as_deref().map(|name| reader.find_project(name)).transpose()?;
    let sessions = ordered(&reader, project.as_ref())?;
    let rest = sessions.iter().filter(|session| after.as_ref().is_none_or(|after| order(session) > *after));
    let projects = reader.projects()?;
    let (mut shown, mut left, mut last) = (Vec::new(), FORM_BYTES, None);
    for session in rest {
        let row = row(&reader, &projects, session);
        // A list of resources takes some more.
        let cost = json_len(&row).max(json_len(&line(&row))) + 128;
        if cost > left {
            return Ok((shown, last.map(|last| request.cursor(&to_text(&order(last))))));
        }
        left -= cost;
        last = Some(session);
        shown.push(row);
    }
    Ok((shown, None))
}

/// Sessions of a project or all, the last used first.
fn ordered(reader: &Reader, project: Option<&Project>) -> Result<Vec<Session>, Fault> {
    let mut sessions = reader.sessions(project.map(|project| project.id))?;
    sessions.sort_by_key(order);
    Ok(sessions)
}

type Order = (i64, String);

/// The later used, the smaller; never used come last.
fn order(session: &Session) -> Order {
    (session.last_at.map_or(i64::MAX, |UtcMs(at)| -at), session.id.to_string())
}

fn to_text((at, id): &Order) -> String {
    format!("{at}.{id}")
}

fn place(text: &str) -> Result<Order, Fault> {
    let (at, id) = text.split_once('.').ok_or_else(stale)?;
    Ok((at.parse().map_err(|_| stale())?, id.to_owned()))
}

fn row(reader: &Reader, projects: &[Project], session: &Session) -> SessionShown {
    let project = projects.iter().find(|project| project.id == session.project);
    SessionShown {
        address: reader.ledger().session_address(session).to_string(),
        project: words::name(project.map_or("", |project| &project.name)),
        title: words::name(&session.title),
        kind: session.kind.as_str(),
        closed: session.closed,
        turns: session.turns,
        last_seq: session.last_seq,
        last_at: session.last_at.map(UtcMs::utc),
    }
}

fn line(row: &SessionShown) -> String {
    let (project, title) = (sayso::view::json_line(&row.project), sayso::view::json_line(&row.title));
    let closed = if row.closed { ", closed" } else { "" };
    let last = row.last_at.as_deref().unwrap_or("never");
    format!("{project} / {title}: {}, {} turns, last {last}{closed}\n{}", row.kind, row.turns, row.address)
}
