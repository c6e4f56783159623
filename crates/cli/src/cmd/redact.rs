//! `sayso redact` and `sayso pin`

use sayso::{Address, Quotes};
use serde::Serialize;

use crate::args::{Global, Pin, Redact};
use crate::fail::Failure;
use crate::io::{Out, say};
use crate::open;

#[derive(Serialize)]
struct Answer {
    address: Address,
    mark: Address,
    quotes: Vec<Address>,
    quotes_redacted: bool,
    title_taken: bool,
    purged: bool,
}

pub(crate) const TITLE_TAKEN: &str = "The title of the session repeated those words and was taken along: `sayso session rename` gives it another.";

pub(crate) fn redact(args: &Redact, global: &Global, out: &mut Out<'_>) -> Result<(), Failure> {
    let reader = open::reader(global)?;
    let turn = reader.find_turn(&args.address)?.placed;
    let quotes = if args.quotes { Quotes::TakeAlong } else { Quotes::Keep };
    let done = reader.redact(turn.id, quotes)?;
    let answer = Answer {
        address: reader.address_of(&turn),
        mark: reader.address_of(&done.mark),
        quotes: done.quotes.iter().map(|quote| reader.address_of(quote)).collect(),
        quotes_redacted: args.quotes,
        title_taken: done.title_taken,
        purged: done.purged,
    };
    if !done.purged {
        say(
            "note: a program is reading the ledger, so the words may still stand in its log: run the same command again later",
        );
    }
    if done.title_taken {
        say(TITLE_TAKEN);
    }
    if out.json() { out.object(&answer) } else { print(&answer, out) }
}

fn print(answer: &Answer, out: &mut Out<'_>) -> Result<(), Failure> {
    out.line(format!("redacted  {}", answer.address))?;
    let word = if answer.quotes_redacted { "redacted too" } else { "quoted in" };
    for quote in &answer.quotes {
        out.line(format!("{word}  {quote}"))?;
    }
    if !answer.quotes.is_empty() && !answer.quotes_redacted {
        say("The quotes of it keep their words: run the same command with --quotes to take those away too.");
    }
    Ok(())
}

#[derive(Serialize)]
struct Pinned {
    address: Address,
    pinned: bool,
}

pub(crate) fn pin(args: &Pin, global: &Global, out: &mut Out<'_>) -> Result<(), Failure> {
    let reader = open::reader(global)?;
    let turn = reader.find_turn(&args.address)?.placed;
    if args.off {
        reader.unpin(turn.id)?
    } else {
        reader.pin(turn.id)?
    };
    let pinned = Pinned { address: reader.address_of(&turn), pinned: !args.off };
    let word = if args.off { "unpinned" } else { "pinned" };
    out.either(&pinned, || format!("{word}  {}", pinned.address))
}
