//! `sayso append` and `sayso edit`

use sayso::model::{PartBody, TurnId, text};
use sayso::{Address, NewTurn};
use serde::Serialize;

use crate::args::{Append, Edit, Global};
use crate::fail::Failure;
use crate::io::{Out, read_input, say};
use crate::open;

#[derive(Serialize)]
struct Appended {
    turn: TurnId,
    address: Address,
    seq: u64,
}

pub(crate) fn run(args: &Append, global: &Global, out: &mut Out<'_>) -> Result<(), Failure> {
    let (text, repairs) = words()?;
    for (option, value) in [("--project", &args.project), ("--session", &args.session)] {
        if value.is_empty() {
            return Err(Failure::request(format!("{option} is empty: give a name")));
        }
    }
    let reader = open::reader_of(global, open::Missing::Make)?;
    let reply_to = args.reply_to.as_deref().map(|a| reader.find_turn(a)).transpose()?;
    let turn = NewTurn {
        speaker: args.speaker.clone(),
        said_at: args.said_at,
        reply_to: reply_to.map(|named| named.placed.id),
        parts: vec![(None, PartBody::Text(text))],
        key: args.key.clone(),
        repairs,
    };
    let (_, placed) = reader.ledger().append_to(reader.scope(), &args.project, &args.session, &turn)?;
    repaired(repairs);
    let appended = Appended { turn: placed.id, address: reader.address_of(&placed), seq: placed.seq };
    out.either(&appended, || appended.address.to_string())
}

#[derive(Serialize)]
struct Edited {
    turn: TurnId,
    address: Address,
    seq: u64,
    supersedes: Address,
}

pub(crate) fn edit(args: &Edit, global: &Global, out: &mut Out<'_>) -> Result<(), Failure> {
    let (text, repairs) = words()?;
    let reader = open::reader(global)?;
    let of = reader.find_turn(&args.address)?.placed;
    let turn = NewTurn {
        speaker: args.speaker.clone().unwrap_or_else(open::owner),
        said_at: args.said_at,
        reply_to: None,
        parts: vec![(None, PartBody::Text(text))],
        key: args.key.clone(),
        repairs,
    };
    let (_, placed) = reader.edit(of.id, &turn)?;
    repaired(repairs);
    let (address, supersedes) = (reader.address_of(&placed), reader.address_of(&of));
    let edited = Edited { turn: placed.id, address, seq: placed.seq, supersedes };
    out.either(&edited, || edited.address.to_string())
}

/// The words on standard input, and how many sequences of bytes were repaired.
fn words() -> Result<(String, u32), Failure> {
    let (text, repairs) = text::repair(read_input()?);
    if text.is_empty() {
        return Err(Failure::request("there is no text on standard input: pipe the turn's text in"));
    }
    Ok((text, repairs))
}

fn repaired(repairs: u32) {
    if repairs > 0 {
        say(format!(
            "note: {repairs} byte sequences were not valid UTF-8; each was kept as U+FFFD and counted"
        ));
    }
}
