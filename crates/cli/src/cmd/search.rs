//! `sayso search`

use sayso::model::{Address, SaidAt};
use sayso::store::search::{Found, Query};
use sayso::view::card::Who;
use sayso::{Hit, Reader, Search};
use serde::Serialize;

use crate::args::{Find, Global};
use crate::fail::Failure;
use crate::io::{Out, one_line, say};
use crate::open;

#[derive(Serialize)]
struct Row {
    address: Address,
    speaker: Who,
    said_at: Option<SaidAt>,
    snippet: String,
}

pub(crate) fn run(args: &Find, global: &Global, out: &mut Out<'_>) -> Result<(), Failure> {
    let query = args.query.join(" ");
    if Query::new(&query).is_empty() {
        return Err(Failure::request("a search needs a letter or a digit: give a word of what was said"));
    }
    let reader = open::reader(global)?;
    let search = search(query, args, &reader)?;
    reader.ledger().catch_up();
    let hits = reader.search(&search)?;
    for hit in &hits {
        let address = reader.ledger().address(&hit.placed);
        let row =
            Row { address, speaker: Who::from(&hit.speaker), said_at: hit.said_at, snippet: snippet(hit) };
        out.either(&row, || text(hit, &row))?;
    }
    talk(&search, &hits, out);
    Ok(())
}

fn search(query: String, args: &Find, reader: &Reader) -> Result<Search, Failure> {
    let project = args.project.as_deref().map(|p| reader.find_project(p)).transpose()?;
    let session = args.session.as_deref().map(|s| reader.find_session(s)).transpose()?;
    let before = args.before.as_deref().map(|a| reader.find_turn(a)).transpose()?;
    Ok(Search {
        project: project.map(|p| p.id),
        session: session.map(|s| s.id),
        speaker: args.speaker,
        since: args.since,
        outputs: args.outputs,
        limit: args.limit,
        before: before.map(|b| b.placed.id),
        ..Search::new(query)
    })
}

/// The words on one line, with what stands around them.
fn snippet(hit: &Hit) -> String {
    let excerpt = &hit.excerpt;
    let before = if excerpt.start > 0 { "…" } else { "" };
    let after = if excerpt.more { "…" } else { "" };
    format!("{before}{}{after}", one_line(&excerpt.text))
}

fn text(hit: &Hit, row: &Row) -> String {
    let at = hit.said_at.map_or_else(|| format!("recorded {}", hit.recorded_at.utc()), SaidAt::local);
    let place = match hit.text {
        Found::Text => String::new(),
        Found::Quote => ", in a quote".to_owned(),
        Found::Output(id, stream) => format!(", in {} of output {id}", stream.as_str()),
    };
    let name = one_line(&hit.speaker.name);
    let dot = if name.is_empty() { "" } else { " · " };
    format!("{}{dot}{name}, {at}{place}\n  {}\n  {}", hit.speaker.kind, row.snippet, row.address)
}

fn talk(search: &Search, hits: &[Hit], out: &Out<'_>) {
    if out.json() {
        return;
    }
    if hits.is_empty() {
        let outputs = if search.outputs { "" } else { " or --outputs" };
        say(format!("Nothing was found. Try fewer words, another spelling{outputs}."));
    } else if hits.len() == search.limit {
        say("There may be more: --limit N shows more, --before ADDRESS goes on from the last one.");
    }
}
