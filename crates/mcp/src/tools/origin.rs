//! `origin`: where a quote comes from.

use sayso::model::Hop;
use sayso::model::OriginState;
use sayso::{OriginReport, Scope};

use super::{Answer, lines};
use crate::answer::{self, Passed, Who};
use crate::args::Origin;
use crate::bound::json_len;
use crate::cursor::{Request, stale};
use crate::entry::{Quotes, quote_shown};
use crate::fail::Fault;
use crate::page::{Page, Place};
use crate::room::Room;
use crate::words::{self, NOTICE};

pub(super) fn answer(room: &Room, args: &Origin) -> Result<Answer, Fault> {
    let reader = room.reader()?;
    let request = Request::new(reader.ledger().id(), "origin", &Origin { cursor: None, ..args.clone() });
    let start: Option<Place> =
        args.cursor.as_deref().map(|cursor| request.place(cursor)?.parse()).transpose()?;
    let turn = reader.find_turn(&args.address)?;
    let mut report = reader.origin(turn.placed.id)?;
    withhold(&mut report, reader.scope());
    let head = head(&report);
    let passed: Vec<Passed> = report.quote.hops.iter().map(passed).collect();
    let quote = quote_shown(&report.quote, Some(report.state));
    let now = report.now.map(|address| address.to_string());
    let mut page = Page::new(&reader, Quotes::Cards, json_len(&head).max(json_len(&(&quote, &passed, &now))));
    let next = around(&mut page, report, start)?.map(|place| request.cursor(&place.to_string()));
    let mut parts = vec![head];
    parts.append(&mut page.text);
    let text = lines(parts, "", next.as_deref());
    Ok(Answer::new(text, &answer::Origin { notice: NOTICE, quote, now, passed, around: page.entries, next }))
}

/// The titles of a place that the scope does not see.
fn withhold(report: &mut OriginReport, scope: &Scope) {
    if *scope != Scope::All && report.state == OriginState::Unavailable {
        (report.quote.project_title, report.quote.session_title) = (None, None);
    }
}

fn around(page: &mut Page<'_>, report: OriginReport, start: Option<Place>) -> Result<Option<Place>, Fault> {
    let from = start.map_or(0, |place| place.seq);
    let mut entries = report.neighbours.into_iter().filter(|entry| entry.seq >= from).peekable();
    if start.is_some() && entries.peek().is_none_or(|entry| entry.seq != from) {
        return Err(stale());
    }
    for entry in entries {
        let place = start.filter(|place| place.seq == entry.seq).unwrap_or(Place::of(entry.seq));
        if let Some(next) = page.add(entry, place)? {
            return Ok(Some(next));
        }
    }
    Ok(None)
}

fn head(report: &OriginReport) -> String {
    let quote = &report.quote;
    let mut lines = vec![
        format!("Said by {}, {}", words::speaker(&quote.speaker), words::said(quote.said_at)),
        format!("Origin ({}): {}", report.state, quote.origin.address),
    ];
    if let Some(now) = report.now.filter(|now| *now != quote.origin.address) {
        lines.push(format!("It is now {now}"));
    }
    lines.extend(
        quote.hops.iter().map(|hop| format!("Passed {}, forwarded there by {}", hop.address, short(hop))),
    );
    let by = words::speaker(&quote.forwarded_by);
    lines.push(format!("Forwarded here by {by}, {}", quote.forwarded_at.utc()));
    if report.neighbours.is_empty() {
        lines.push(
            "The origin cannot be read from here; the quote itself stays readable with show.".to_owned(),
        );
    }
    lines.join("\n")
}

/// Characters of a forwarder's name where many stand in one answer.
const SHORT: usize = 40;

fn short(hop: &Hop) -> String {
    let mut by = hop.by.clone();
    by.name = words::line(&by.name, SHORT);
    words::speaker(&by)
}

fn passed(hop: &Hop) -> Passed {
    let mut by = hop.by.clone();
    by.name = words::line(&by.name, SHORT);
    Passed { address: hop.address.to_string(), by: Who::from(&by), at: hop.at.utc() }
}
