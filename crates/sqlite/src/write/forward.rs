//! Forwards: the quote is taken from the source turn as it is stored, never from what a caller supplies.

use sayso_model::form;
use sayso_model::limits::FORWARD_CHARS;
use sayso_model::{
    Address, EntryBody, Kept, Part, PartBody, Quote, Seed, Source, Speaker, TakeRequest, Turn, take,
};
use sayso_store::content::{self, kind};
use sayso_store::{Done, Fate, Forward, ForwardItem, Placed, Refusal, Scope};

use super::{Write, unknown_turn};
use crate::fault::Fault;
use crate::read::load::{Loaded, load_sound};
use crate::read::turns::{BY_ID, place};
use crate::read::{self};

impl Write<'_> {
    pub(super) fn forward(&mut self, c: &Forward, seed: &Seed) -> Result<Done, Fault> {
        self.session(c.session)?;
        let by = self.speaker(c.by)?;
        let known = self.known_items(c)?;
        if known.len() == c.items.len() {
            return Ok(Done::Entries(Fate::Known, known));
        }
        self.expect_head(c.session, c.expected_head)?;
        self.open(c.session)?;
        let quotes: Vec<Quote> =
            c.items.iter().map(|item| self.quote(item, c, &by)).collect::<Result<_, _>>()?;
        let chars = quotes.iter().map(|q| q.kept as usize).sum();
        if chars > FORWARD_CHARS {
            return Err(Refusal::ForwardTooLong { chars, limit: FORWARD_CHARS }.into());
        }
        let mut placed = Vec::with_capacity(quotes.len());
        for (index, (item, quote)) in c.items.iter().zip(quotes).enumerate() {
            let seed = seed.child(index as u64);
            let body = holding(&by, c.item_note(index), quote);
            let at = self.place(c.session, item.id, &body, &seed)?;
            let key = c.item_key(index);
            self.remember(&at, kind::FORWARD, key.as_deref(), || content::forward(c, index), &seed)?;
            placed.push(at.placed);
        }
        Ok(Done::Entries(Fate::New, placed))
    }

    /// The items written before under this key: all of them or none, since they were one batch.
    fn known_items(&self, c: &Forward) -> Result<Vec<Placed>, Fault> {
        for key in c.other_keys() {
            if let Some(placed) = self.under_key(c.session, kind::FORWARD, &key)? {
                let key = c.key.clone().unwrap_or_default();
                return Err(Refusal::Conflict { key, written: placed.id }.into());
            }
        }
        let found: Vec<Option<Placed>> = (0..c.items.len())
            .map(|i| {
                let key = c.item_key(i);
                self.known(c.session, kind::FORWARD, key.as_deref(), || content::forward(c, i))
            })
            .collect::<Result<_, _>>()?;
        let known: Vec<Placed> = found.iter().flatten().copied().collect();
        match known.first() {
            Some(first) if known.len() < found.len() => {
                let key = c.key.clone().unwrap_or_default();
                Err(Refusal::Conflict { key, written: first.id }.into())
            }
            _ => Ok(known),
        }
    }

    fn quote(&mut self, item: &ForwardItem, c: &Forward, by: &Speaker) -> Result<Quote, Fault> {
        let Loaded { entry, commitments, .. } = self.source(item)?;
        let EntryBody::Turn(turn) = &entry.body else { return Err(unknown_turn(item.source)) };
        let project = read::find::project(self.conn, &Scope::All, entry.project)?;
        let (ledger, at) = (self.ledger, self.at);
        let session = &self.session(entry.session)?.session;
        let source = Source {
            address: Address::Turn(ledger, entry.project, entry.session, entry.id, None),
            session_kind: session.kind,
            channel: session.channel.as_deref(),
            project_title: project.as_ref().map_or("", |p| &p.name),
            session_title: &session.title,
            turn,
            digest: form::source(&commitments),
        };
        let request =
            TakeRequest { selection: item.selection, what: item.what, titles: c.titles, by: by.clone(), at };
        take(&source, request).map_err(|reason| Refusal::Quote { source_turn: item.source, reason }.into())
    }

    fn source(&mut self, item: &ForwardItem) -> Result<Loaded, Fault> {
        if place(self.conn, self.scope, item.source)?.is_none() {
            return Err(unknown_turn(item.source));
        }
        let id = item.source.to_string();
        let found = load_sound(self.conn, &BY_ID, &[&id], &mut self.speakers)?.pop();
        found.ok_or_else(|| unknown_turn(item.source))
    }
}

fn holding(by: &Speaker, note: Option<&str>, quote: Quote) -> EntryBody {
    let note = note.map(|n| Part { by: None, body: PartBody::Text(n.to_owned()), kept: Kept::Whole });
    EntryBody::Turn(Turn {
        speaker: by.clone(),
        said_at: None,
        reply_to: None,
        supersedes: None,
        repairs: 0,
        parts: note.into_iter().collect(),
        quote: Some(Box::new(quote)),
    })
}
