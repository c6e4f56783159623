//! `sayso forward`

use sayso::model::{Cut, Quote, TurnId};
use sayso::store::{Placed, Session};
use sayso::{Address, Destination, Error, ForwardRequest, Named, Reader, Selection, Titles};
use serde::Serialize;

use crate::args::{Forward, Global};
use crate::fail::Failure;
use crate::io::Out;
use crate::open;

#[derive(Serialize)]
struct Forwarded {
    turn: TurnId,
    address: Address,
    quote: QuoteFacts,
}

#[derive(Serialize)]
struct QuoteFacts {
    kept: u32,
    total: u64,
    cut: Cut,
    hops: usize,
    nested: u8,
}

impl QuoteFacts {
    fn of(quote: &Quote) -> Self {
        let nested = u8::from(quote.nested.is_some());
        Self { kept: quote.kept, total: quote.total, cut: quote.cut, hops: quote.hops.len(), nested }
    }
}

pub(crate) fn run(args: &Forward, global: &Global, out: &mut Out<'_>) -> Result<(), Failure> {
    let reader = open::reader(global)?;
    let turns = named(args, &reader)?;
    let titles = if args.hide_titles { Titles::Hidden } else { Titles::Shown };
    let (_, placed) = reader.forward(ForwardRequest {
        to: destination(args, &reader)?,
        by: args.by.clone().unwrap_or_else(open::owner),
        turns,
        selection: selection(args),
        what: args.what(),
        note: args.note.clone(),
        titles,
        key: args.key.clone(),
    })?;
    placed.iter().try_for_each(|p| print(p, &reader, out))
}

fn named(args: &Forward, reader: &Reader) -> Result<Vec<Named>, Failure> {
    let selects = args.select.is_some() || args.select_text.is_some();
    if selects && args.addresses.len() > 1 {
        return Err(Failure::request(
            "a selection belongs to one turn: forward that turn alone, or give each address its own #chars=START,LEN",
        ));
    }
    let turns = args.addresses.iter().map(|a| Ok(reader.find_turn(a)?));
    let turns: Vec<Named> = turns.collect::<Result<_, Failure>>()?;
    if selects && turns.iter().any(|t| t.span.is_some()) {
        return Err(Failure::request(
            "the address selects a part already: leave --select out, or the #chars=…",
        ));
    }
    Ok(turns)
}

fn selection(args: &Forward) -> Option<Selection> {
    let words = args.select_text.clone().map(Selection::Words);
    args.select.map(Selection::Span).or(words)
}

fn destination(args: &Forward, reader: &Reader) -> Result<Destination, Failure> {
    match reader.find_session(&args.to) {
        Ok(Session { id, .. }) => Ok(Destination::Session(id)),
        Err(Error::Unknown { .. }) if args.create => {
            let halves =
                args.to.split_once('/').filter(|(project, title)| !project.is_empty() && !title.is_empty());
            let (project, title) = halves.ok_or_else(|| {
                Failure::request("a new session needs its project: give --to PROJECT/SESSION")
            })?;
            Ok(Destination::New { project: project.to_owned(), title: title.to_owned() })
        }
        Err(Error::Unknown { what, given, near }) => Err(Failure::request(unknown(what, &given, &near))),
        Err(error) => Err(error.into()),
    }
}

fn unknown(what: &str, given: &str, near: &[String]) -> String {
    let near = if near.is_empty() { String::new() } else { format!("; near to it: {}", near.join(", ")) };
    format!("there is no {what} {given:?}{near}; --create makes PROJECT/SESSION")
}

fn print(placed: &Placed, reader: &Reader, out: &mut Out<'_>) -> Result<(), Failure> {
    let entry = reader.entry(placed.id)?;
    let Some(quote) = entry.as_ref().and_then(|e| e.turn()).and_then(|t| t.quote.as_ref()) else {
        return Err(Failure::request("the forwarded turn is gone: run `sayso verify`"));
    };
    let facts = QuoteFacts::of(quote);
    let forwarded = Forwarded { turn: placed.id, address: reader.address_of(placed), quote: facts };
    out.either(&forwarded, || forwarded.address.to_string())
}
