//! `sayso show`

use sayso::model::{Address, Entry, EntryBody, SessionId, hidden};
use sayso::store::Alias;
use sayso::view::card::Card;
use sayso::view::marker::{Message, Profile, render, render_json};
use sayso::view::turn::Show as Shown;
use sayso::{Error, Reader};

use crate::args::{Form, Global, Show};
use crate::fail::Failure;
use crate::io::{Out, is_terminal, width};
use crate::open;

pub(crate) fn run(args: &Show, global: &Global, out: &mut Out<'_>) -> Result<(), Failure> {
    let reader = open::reader(global)?;
    match target(&args.address, &reader)? {
        Target::Session(session) => {
            let entries = reader.walk(session, start(args, session, &reader)?);
            for (index, entry) in entries.take(args.limit.unwrap_or(usize::MAX)).enumerate() {
                separate(index, args.form, out)?;
                print(&entry?, args.form, &reader, out)?;
            }
            Ok(())
        }
        Target::Entry(_) if is_part(args) => Err(Failure::request(
            "--last, --from, --after and --limit choose among the entries of a session: name the session, and a turn behind \
             --from or --after",
        )),
        Target::Entry(entry) => print(&entry, args.form, &reader, out),
    }
}

const fn is_part(args: &Show) -> bool {
    args.last.is_some() || args.from.is_some() || args.after.is_some() || args.limit.is_some()
}

/// The place after which entries are shown.
fn start(args: &Show, session: SessionId, reader: &Reader) -> Result<u64, Failure> {
    if let Some(last) = args.last {
        let there = reader.session(session)?.map_or(0, |s| s.last_seq);
        return Ok(there.saturating_sub(last));
    }
    match (&args.from, &args.after) {
        (Some(from), _) => Ok(place(from, session, reader)?.saturating_sub(1)),
        (None, Some(after)) => place(after, session, reader),
        (None, None) => Ok(0),
    }
}

/// The place of a turn in what a session shows.
fn place(given: &str, session: SessionId, reader: &Reader) -> Result<u64, Failure> {
    let turn = reader.find_turn(given)?.placed;
    let there = reader.entries(session, turn.seq.saturating_sub(1), 1)?;
    match there.first() {
        Some(entry) if entry.id == turn.id => Ok(turn.seq),
        _ => Err(Failure::request(format!(
            "the turn {given} stands in another session: show that one, or name a turn of this session"
        ))),
    }
}

enum Target {
    Session(SessionId),
    Entry(Box<Entry>),
}

/// A turn, or a session; a text that names neither is reported as no turn, the more common case.
fn target(given: &str, reader: &Reader) -> Result<Target, Failure> {
    if let Some(Address::Session(..)) = reader.address(given)? {
        return Ok(Target::Session(reader.find_session(given)?.id));
    }
    // A name is found by its index; the end of an id only by looking at all of them.
    if !looks_like_id(given) && !reader.sessions_as(&Alias::new("name", given))?.is_empty() {
        return Ok(Target::Session(reader.find_session(given)?.id));
    }
    match reader.find_turn(given) {
        Ok(named) => {
            let entry = reader.entry(named.placed.id)?;
            let gone = || Failure::request(format!("there is no turn {given:?}"));
            Ok(Target::Entry(Box::new(entry.ok_or_else(gone)?)))
        }
        Err(unknown @ (Error::Unknown { .. } | Error::MalformedId { .. })) => {
            match reader.find_session(given) {
                Ok(session) => Ok(Target::Session(session.id)),
                Err(session @ (Error::Ambiguous { .. } | Error::Unknown { .. })) if !looks_like_id(given) => {
                    Err(session.into())
                }
                Err(_) => Err(unknown.into()),
            }
        }
        Err(error) => Err(error.into()),
    }
}

fn looks_like_id(given: &str) -> bool {
    given.len() == 26 && given.bytes().all(|b| b.is_ascii_alphanumeric())
}

/// An empty line between two entries for people; data has none.
fn separate(index: usize, form: Option<Form>, out: &mut Out<'_>) -> Result<(), Failure> {
    let data = matches!(form, Some(Form::Json | Form::MarkerJson)) || (form.is_none() && out.json());
    if index > 0 && !data { out.line("") } else { Ok(()) }
}

/// Prints one entry in the form that was asked for, else in the one that suits it.
pub(crate) fn print(
    entry: &Entry,
    form: Option<Form>,
    reader: &Reader,
    out: &mut Out<'_>,
) -> Result<(), Failure> {
    let quote = entry.turn().and_then(|t| t.quote.as_deref());
    let state = quote.map(|q| reader.origin_state(q)).transpose()?;
    let superseded_by = reader.superseded_by(entry.id)?.map(|placed| reader.address_of(&placed));
    let shown = Shown { ledger: reader.ledger().id(), entry, state, superseded_by };
    let card = || Card::of(reader.ledger().id(), entry, state);
    let marker = || {
        Message::of(entry).ok_or_else(|| {
            Failure::request(
                "the turn holds no quote, so it has no marker: forward it first, or choose another form",
            )
        })
    };
    let form = form.unwrap_or(if out.json() { Form::Json } else { Form::Card });
    match form {
        Form::Json => out.object(&shown.json()),
        Form::Marker => out.line(render(&marker()?, Profile::V1)),
        Form::MarkerJson => out.line(render_json(&marker()?)),
        Form::Markdown => block(out, &card().map_or_else(|| shown.markdown(), |c| c.markdown())),
        Form::Html => block(out, &card().map_or_else(|| shown.html(), |c| c.html())),
        Form::Card => block(out, &card().map_or_else(|| shown.terminal(width()), |c| c.terminal(width()))),
        Form::Text => words(entry, out),
    }
}

/// The turn's text alone: exact for a program that reads it, with what hides shown in a terminal.
fn words(entry: &Entry, out: &mut Out<'_>) -> Result<(), Failure> {
    let text = match &entry.body {
        EntryBody::Turn(turn) => turn.text(),
        EntryBody::Compaction(compaction) => compaction.summary.clone(),
        EntryBody::Mark(_) | EntryBody::Reinjection(_) => String::new(),
    };
    if is_terminal() { block(out, &hidden::show(&text)) } else { out.bytes(text.as_bytes()) }
}

/// A block of text that ends with exactly one line end.
fn block(out: &mut Out<'_>, text: &str) -> Result<(), Failure> {
    out.line(text.trim_end_matches('\n'))
}
