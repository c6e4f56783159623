//! `sayso erase`

use sayso::{Address, Erased, Erasing, Error, Forks, Quotes, Reader, Target};
use serde::Serialize;

use crate::args::{Erase, Global};
use crate::cmd::redact::TITLE_TAKEN;
use crate::fail::Failure;
use crate::io::{Out, say};
use crate::open;

#[derive(Serialize)]
struct Answer {
    address: Option<Address>,
    state: &'static str,
    quotes: Vec<Address>,
    quotes_redacted: bool,
    title_taken: bool,
}

pub(crate) fn run(args: &Erase, global: &Global, out: &mut Out<'_>) -> Result<(), Failure> {
    let reader = open::reader(global)?;
    let Some(given) = &args.address else {
        let state = reader.go_on_erasing()?;
        return print(
            &answer(None, args, &Erased { state, quotes: Vec::new(), title_taken: false }, &reader),
            state,
            out,
        );
    };
    let (address, target) = target(given, &reader)?;
    let forks = if args.forks { Forks::TakeAlong } else { Forks::Refuse };
    let quotes = if args.quotes { Quotes::TakeAlong } else { Quotes::Keep };
    let done = reader.erase(target, forks, quotes)?;
    print(&answer(Some(address), args, &done, &reader), done.state, out)
}

/// Names are too easily mistyped for this: only addresses and ids of turns are taken.
fn target(given: &str, reader: &Reader) -> Result<(Address, Target), Failure> {
    match reader.address(given)? {
        Some(address @ Address::Project(..)) => {
            Ok((address, Target::Project(reader.find_project(given)?.id)))
        }
        Some(address @ Address::Session(..)) => {
            Ok((address, Target::Session(reader.find_session(given)?.id)))
        }
        _ => {
            let placed = match reader.find_turn(given) {
                Ok(named) => named.placed,
                Err(Error::Unknown { .. } | Error::MalformedId { .. }) if !Address::looks_like(given) => {
                    return Err(Failure::request(format!(
                        "{given:?} is no address: give one, as `sayso projects` and `sayso sessions` print it, so that \
                         nothing is erased by a mistyped name"
                    )));
                }
                Err(error) => return Err(error.into()),
            };
            Ok((reader.address_of(&placed), Target::Entry(placed.id)))
        }
    }
}

fn answer(address: Option<Address>, args: &Erase, done: &Erased, reader: &Reader) -> Answer {
    let state = match done.state {
        Erasing::Done => "done",
        Erasing::Pending => "pending",
        Erasing::Unfinished => "unfinished",
    };
    let quotes = done.quotes.iter().map(|quote| reader.address_of(quote)).collect();
    Answer { address, state, quotes, quotes_redacted: args.quotes, title_taken: done.title_taken }
}

fn print(answer: &Answer, state: Erasing, out: &mut Out<'_>) -> Result<(), Failure> {
    if state != Erasing::Done {
        say(
            "note: a program is reading the ledger, so the words may still stand in its log: run `sayso erase --resume` later",
        );
    }
    if answer.title_taken {
        say(TITLE_TAKEN);
    }
    if out.json() {
        return out.object(answer);
    }
    let address = answer.address.map(|a| format!("  {a}")).unwrap_or_default();
    let did = match (state, answer.address) {
        (Erasing::Done, Some(_)) => "erased",
        (Erasing::Done, None) => "nothing is left to erase",
        _ => answer.state,
    };
    out.line(format!("{did}{address}"))?;
    let word = if answer.quotes_redacted { "redacted" } else { "quoted in" };
    answer.quotes.iter().try_for_each(|quote| out.line(format!("{word}  {quote}")))
}
