//! `search`: turns by their words, newest first.

use std::collections::HashMap;

use sayso::model::{EntryId, ProjectId, SaidAt, SessionId, UtcMs};
use sayso::store::search::{Found, Query};
use sayso::view::json_line;
use sayso::{Hit, Reader, Search};

use super::{Answer, lines};
use crate::answer::{self, HitShown, Who};
use crate::args;
use crate::bound::{FORM_BYTES, json_len};
use crate::cursor::{Request, stale};
use crate::fail::Fault;
use crate::room::Room;
use crate::words::{self, NOTICE};

pub(super) fn answer(room: &Room, args: &args::Search) -> Result<Answer, Fault> {
    if Query::new(&args.query).is_empty() {
        return Err(Fault::request("a search needs a letter or a digit: give a word of what was said"));
    }
    let reader = room.reader()?;
    let asked = args::Search { cursor: None, limit: None, ..args.clone() };
    let request = Request::new(reader.ledger().id(), "search", &asked);
    let mut search = search(&reader, args)?;
    if let Some(cursor) = &args.cursor {
        search.before = Some(before(&reader, request.place(cursor)?)?);
    }
    reader.ledger().catch_up();
    // One more tells whether there is more.
    search.limit = args.limit() + 1;
    let mut hits = reader.search(&search)?;
    let more = hits.len() > args.limit();
    hits.truncate(args.limit());
    page(&reader, &request, &hits, more)
}

fn search(reader: &Reader, args: &args::Search) -> Result<Search, Fault> {
    let project = args.project.as_deref().map(|name| reader.find_project(name)).transpose()?;
    let session = args.session.as_deref().map(|name| reader.find_session(name)).transpose()?;
    Ok(Search {
        project: project.map(|project| project.id),
        session: session.map(|session| session.id),
        speaker: args.speaker.map(Into::into),
        since: args.since.as_deref().map(since).transpose()?,
        outputs: args.outputs,
        ..Search::new(args.query.clone())
    })
}

fn since(text: &str) -> Result<UtcMs, Fault> {
    let day = || SaidAt::parse(&format!("{text}T00:00:00Z"));
    let at = SaidAt::parse(text).or_else(day).map(|at| UtcMs(at.ms()));
    at.ok_or_else(|| {
        Fault::request("since is a time or a date, such as 2026-11-30T18:14:05+09:00 or 2026-11-30")
    })
}

/// The turn of a cursor, which must be there: a search before an unknown turn finds nothing and would look like an end.
fn before(reader: &Reader, place: &str) -> Result<EntryId, Fault> {
    let id: EntryId = place.parse().map_err(|_| stale())?;
    reader.entry(id)?.map(|entry| entry.id).ok_or_else(stale)
}

fn page(reader: &Reader, request: &Request, hits: &[Hit], mut more: bool) -> Result<Answer, Fault> {
    let mut places = Places::new(reader)?;
    let (mut shown, mut text, mut left, mut last) = (Vec::new(), Vec::new(), FORM_BYTES, None);
    for hit in hits {
        let row = row(reader, &mut places, hit)?;
        let lines = row_lines(hit, &row);
        let cost = json_len(&row).max(json_len(&lines)) + 4;
        if cost > left {
            more = true;
            break;
        }
        left -= cost;
        last = Some(hit.placed.id);
        shown.push(row);
        text.push(lines);
    }
    let next = last.filter(|_| more).map(|id| request.cursor(&id.to_string()));
    let empty = "Nothing was found. Try fewer words, another spelling, or outputs: true.";
    let text = lines(text, empty, next.as_deref());
    Ok(Answer::new(text, &answer::Hits { notice: NOTICE, hits: shown, next }))
}

/// Names of projects and sessions, looked up once.
struct Places {
    projects: HashMap<ProjectId, String>,
    sessions: HashMap<SessionId, String>,
}

impl Places {
    fn new(reader: &Reader) -> Result<Self, Fault> {
        let named = |project: sayso::store::Project| (project.id, words::line(&project.name, TITLE));
        let projects = reader.projects()?.into_iter().map(named).collect();
        Ok(Self { projects, sessions: HashMap::new() })
    }

    fn name(&mut self, reader: &Reader, session: SessionId) -> Result<String, Fault> {
        if let Some(name) = self.sessions.get(&session) {
            return Ok(name.clone());
        }
        let name = reader.session(session)?.map_or(String::new(), |session| {
            let project = self.projects.get(&session.project).map_or("", String::as_str);
            format!("{project} / {}", words::line(&session.title, TITLE))
        });
        self.sessions.insert(session, name.clone());
        Ok(name)
    }
}

/// Characters of a title beside a hit.
const TITLE: usize = 80;

fn row(reader: &Reader, places: &mut Places, hit: &Hit) -> Result<HitShown, Fault> {
    let (found_in, output, stream) = match hit.text {
        Found::Text => ("text", None, None),
        Found::Quote => ("quote", None, None),
        Found::Output(id, stream) => ("output", Some(id.to_string()), Some(stream.as_str())),
    };
    Ok(HitShown {
        address: reader.address_of(&hit.placed).to_string(),
        session: places.name(reader, hit.placed.session)?,
        by: Who::from(&hit.speaker),
        said_at: answer::said(hit.said_at),
        recorded_at: hit.recorded_at.utc(),
        found_in,
        output,
        stream,
        excerpt: words::line(&hit.excerpt.text, usize::MAX),
        start: hit.excerpt.start,
        more: hit.excerpt.more,
    })
}

fn row_lines(hit: &Hit, row: &HitShown) -> String {
    let at = words::said(hit.said_at);
    let place = match row.found_in {
        "quote" => ", in a quote".to_owned(),
        "output" => format!(", in output {}", row.output.as_deref().unwrap_or_default()),
        _ => String::new(),
    };
    let (before, after) = (if row.start > 0 { "…" } else { "" }, if row.more { "…" } else { "" });
    let who = words::speaker(&hit.speaker);
    format!(
        "{who}, {at}, in {}{place}\n> {before}{}{after}\n{}",
        json_line(&row.session),
        row.excerpt,
        row.address
    )
}
