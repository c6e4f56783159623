//! `sayso origin`

use sayso::model::{Entry, Hop, OriginState, SaidAt, SessionKind, Span, SpeakerKind, UtcMs};
use sayso::{Address, OriginReport, Reader};
use serde::Serialize;
use serde_json::Value;

use crate::args::{Global, One};
use crate::cmd::show;
use crate::fail::Failure;
use crate::io::Out;
use crate::open;

#[derive(Serialize)]
struct Answer<'a> {
    state: OriginState,
    origin: Origin<'a>,
    neighbours: Vec<Value>,
}

#[derive(Serialize)]
struct Origin<'a> {
    address: Address,
    now: Option<Address>,
    speaker: Who<'a>,
    said_at: Option<SaidAt>,
    project: Option<&'a str>,
    session: Option<&'a str>,
    session_kind: SessionKind,
    channel: Option<&'a str>,
    span: Option<Span>,
    hops: Vec<Passed<'a>>,
    nested: Option<Address>,
}

#[derive(Serialize)]
struct Who<'a> {
    kind: SpeakerKind,
    name: &'a str,
}

#[derive(Serialize)]
struct Passed<'a> {
    address: Address,
    by: Who<'a>,
    at: UtcMs,
}

pub(crate) fn run(args: &One, global: &Global, out: &mut Out<'_>) -> Result<(), Failure> {
    let reader = open::reader(global)?;
    let turn = reader.find_turn(&args.address)?;
    let report = reader.origin(turn.placed.id)?;
    if out.json() {
        return out.object(&answer(&report, &reader));
    }
    print(&report, &reader, out)
}

fn answer<'a>(report: &'a OriginReport, reader: &Reader) -> Answer<'a> {
    let quote = &report.quote;
    let ledger = reader.ledger().id();
    let json =
        |entry: &Entry| sayso::view::turn::Show { ledger, entry, state: None, superseded_by: None }.json();
    Answer {
        state: report.state,
        origin: Origin {
            address: quote.origin.address,
            now: report.now,
            speaker: Who { kind: quote.speaker.kind, name: &quote.speaker.name },
            said_at: quote.said_at,
            project: quote.project_title.as_deref(),
            session: quote.session_title.as_deref(),
            session_kind: quote.origin.session_kind,
            channel: quote.origin.channel.as_deref(),
            span: quote.span,
            hops: quote.hops.iter().map(passed).collect(),
            nested: quote.nested,
        },
        neighbours: report.neighbours.iter().map(json).collect(),
    }
}

fn passed(hop: &Hop) -> Passed<'_> {
    Passed { address: hop.address, by: Who { kind: hop.by.kind, name: &hop.by.name }, at: hop.at }
}

fn print(report: &OriginReport, reader: &Reader, out: &mut Out<'_>) -> Result<(), Failure> {
    out.line(format!("{}  {}", report.state, report.quote.origin.address))?;
    if let Some(now) = report.now.filter(|now| *now != report.quote.origin.address) {
        out.line(format!("now at {now}"))?;
    }
    for hop in &report.quote.hops {
        out.line(format!("passed {}", hop.address))?;
    }
    if report.neighbours.is_empty() {
        return out.line("It lies outside what this reader sees, or is not in this ledger; the quote itself stays readable.");
    }
    for entry in &report.neighbours {
        out.line("")?;
        show::print(entry, None, reader, out)?;
    }
    Ok(())
}
