//! Taking texts away.

use std::collections::BTreeSet;

use sayso_model::{
    Address, Digest, Entry, EntryBody, EntryId, Kept, Mark, OutputId, PartBody, Quote, Seed, SessionId, Turn,
};

use super::apply::Write;
use super::state::{Gone, Record, State, forgotten};
use crate::command::{Done, Fate, Placed, Redact, Redaction};
use crate::content::kind;
use crate::error::Refusal;
use crate::title::Leaving;

impl Write<'_> {
    pub(super) fn redact(&mut self, c: &Redact, seed: &Seed) -> Result<Done, Refusal> {
        let found = self.state.entry(self.scope, c.of).map(|r| r.entry.clone());
        let entry = found.ok_or(Refusal::UnknownTurn(c.of))?;
        let fits = match (&entry.body, c.what) {
            (EntryBody::Turn(_) | EntryBody::Compaction(_), Redaction::Whole) => true,
            (EntryBody::Turn(turn), Redaction::Quote) => turn.quote.is_some(),
            _ => false,
        };
        if !fits {
            return Err(Refusal::NothingToRedact(c.of));
        }
        let known = self.redaction(c, entry.session);
        if let Some(known) = known {
            return Ok(Done::Entries(Fate::Known, vec![known]));
        }
        self.free_entry(c.id)?;
        self.state.wipe(c.of, c.what);
        let mark = Mark::new(c.what.mark(), Some(c.of), "");
        let placed = self.place(entry.session, c.id, EntryBody::Mark(mark), seed);
        Ok(Done::Entries(Fate::New, vec![placed]))
    }

    /// The first mark that says the same, or that everything was taken away.
    fn redaction(&self, c: &Redact, session: SessionId) -> Option<Placed> {
        let said = |kind| kind == c.what.mark() || kind == Redaction::Whole.mark();
        let mut entries = self.state.entries_of(self.scope, session);
        let mark = |e: &&Entry| matches!(&e.body, EntryBody::Mark(m) if m.of == Some(c.of) && said(m.kind));
        entries.find(mark).and_then(|e| self.state.placed(e.id))
    }
}

impl State {
    pub(super) fn wipe(&mut self, of: EntryId, what: Redaction) {
        self.take_titles(of, what);
        let named = self.entries.get(&of).map(|r| outputs_of(&r.entry.body)).unwrap_or_default();
        if let Some(record) = self.entries.get_mut(&of) {
            forget_salts(record, what);
            match (&mut record.entry.body, what) {
                (EntryBody::Turn(turn), Redaction::Whole) => wipe_turn(turn),
                (EntryBody::Turn(turn), Redaction::Quote) => {
                    turn.quote.iter_mut().for_each(|q| q.text.clear());
                }
                (EntryBody::Compaction(compaction), _) => {
                    compaction.summary.clear();
                    compaction.kept = Kept::Redacted;
                }
                (EntryBody::Mark(_) | EntryBody::Reinjection(_), _) => {}
            }
        }
        if what == Redaction::Whole {
            self.relay.wipe(of);
            self.forget_keys(of);
            self.drop_outputs(&named);
        }
    }

    /// Keeps of an entry's keys what outlives its words. So for those of re-injections: one of them may have been asked for with
    /// the words that go.
    pub(super) fn forget_keys(&mut self, of: EntryId) {
        let session = self.entries.get(&of).map(|r| r.entry.session);
        let asked =
            |(of, word, _): &(SessionId, &str, String)| Some(*of) == session && *word == kind::REINJECT;
        let theirs = self.keys.iter().filter(|(key, r)| (r.entry == of || asked(key)) && r.salt.is_some());
        let theirs: Vec<_> = theirs.map(|(key, _)| key.clone()).collect();
        for key in theirs {
            let Some(mut record) = self.keys.remove(&key) else { continue };
            record.salt = None;
            let (session, kind, value) = key;
            self.keys.entry((session, kind, forgotten(&value))).or_insert(record);
        }
    }

    /// Takes the titles along that repeat what is taken away, see [`crate::title`].
    fn take_titles(&mut self, of: EntryId, what: Redaction) {
        let Some(entry) = self.entries.get(&of).map(|r| r.entry.clone()) else { return };
        let leaving = Leaving::new(texts_of(&entry.body, what));
        let showing = self.showing(entry.session, entry.seq);
        for id in &showing {
            if let Some(session) = self.sessions.get_mut(id).filter(|s| leaving.repeated_in(&s.title)) {
                session.title.clear();
                self.beginnings.entry(*id).and_modify(|b| b.salt = None);
            }
        }
        self.session_aliases.retain(|(_, alias), owner| {
            !(showing.contains(owner) && alias.kind == "name" && leaving.repeated_in(&alias.value))
        });
        let turns: BTreeSet<EntryId> =
            self.order.iter().filter(|((s, _), _)| showing.contains(s)).map(|(_, id)| *id).collect();
        for record in self.entries.values_mut() {
            let id = record.entry.id;
            let goes = |title: &str| leaving.repeated_in(title);
            match &record.entry.body {
                EntryBody::Mark(Mark { title: Some(title), .. }) if turns.contains(&id) && goes(title) => {}
                EntryBody::Turn(Turn { quote: Some(q), .. })
                    if (id == of || quotes_one_of(q, &turns))
                        && q.session_title.as_deref().is_some_and(goes) => {}
                _ => continue,
            }
            take_title(record);
        }
    }

    /// A session and the forks that show its entry at a place.
    fn showing(&self, session: SessionId, seq: u64) -> BTreeSet<SessionId> {
        let mut found = BTreeSet::from([session]);
        let mut more = true;
        while more {
            let forks = self.sessions.values().filter(|s| {
                s.fork.is_some_and(|f| found.contains(&f.session) && f.seq >= seq) && !found.contains(&s.id)
            });
            let forks: Vec<SessionId> = forks.map(|s| s.id).collect();
            more = !forks.is_empty();
            found.extend(forks);
        }
        found
    }

    /// Takes the titles away that quotes of some turns recorded.
    pub(super) fn take_recorded_titles(&mut self, turns: &BTreeSet<EntryId>) {
        let quoting = self.entries.values_mut().filter(|r| {
            let quote = r.entry.turn().and_then(|t| t.quote.as_ref());
            quote.is_some_and(|q| q.session_title.is_some() && quotes_one_of(q, turns))
        });
        quoting.for_each(take_title);
    }

    /// Drops those outputs that no text which is still there names, and bytes that no output holds any more.
    fn drop_outputs(&mut self, named: &BTreeSet<OutputId>) {
        let kept: BTreeSet<OutputId> =
            self.entries.values().flat_map(|r| outputs_of(&r.entry.body)).collect();
        self.drop_all_outputs(&named.difference(&kept).copied().collect());
    }

    pub(super) fn drop_all_outputs(&mut self, named: &BTreeSet<OutputId>) {
        self.erased.extend(named.iter().map(|id| Gone::Output(*id)));
        let gone: Vec<Digest> = named
            .iter()
            .filter_map(|id| self.outputs.remove(id))
            .filter(|output| !output.growing)
            .flat_map(|output| output.streams)
            .map(|stream| stream.blob.hash)
            .collect();
        for hash in gone {
            let mut streams = self.outputs.values().filter(|o| !o.growing).flat_map(|o| &o.streams);
            if !streams.any(|s| s.blob.hash == hash) {
                self.blobs.remove(&hash);
            }
        }
        self.growing.retain(|(id, _), _| !named.contains(id));
    }
}

/// The texts that a redaction takes away.
fn texts_of(body: &EntryBody, what: Redaction) -> Vec<String> {
    match (body, what) {
        (EntryBody::Turn(turn), _) => {
            let parts =
                turn.parts.iter().filter(|_| what == Redaction::Whole).map(|p| p.body.text().to_owned());
            parts.chain(turn.quote.iter().map(|q| q.text.clone())).collect()
        }
        (EntryBody::Compaction(compaction), _) => vec![compaction.summary.clone()],
        (EntryBody::Reinjection(_) | EntryBody::Mark(_), _) => Vec::new(),
    }
}

fn quotes_one_of(quote: &Quote, turns: &BTreeSet<EntryId>) -> bool {
    matches!(quote.origin.address, Address::Turn(_, _, _, turn, _) if turns.contains(&turn))
}

/// Takes the title of a renaming away, or that of the session that a quote came from; it is the last text of its entry.
fn take_title(record: &mut Record) {
    match &mut record.entry.body {
        EntryBody::Mark(mark) => mark.title.iter_mut().for_each(String::clear),
        EntryBody::Turn(turn) => {
            turn.quote.iter_mut().filter_map(|q| q.session_title.as_mut()).for_each(String::clear);
        }
        EntryBody::Compaction(_) | EntryBody::Reinjection(_) => {}
    }
    record.salts.iter_mut().last().into_iter().for_each(|salt| *salt = None);
}

/// The outputs that parts name whose texts are still there.
fn outputs_of(body: &EntryBody) -> BTreeSet<OutputId> {
    let EntryBody::Turn(turn) = body else { return BTreeSet::new() };
    let whole = turn.parts.iter().filter(|p| p.kept == Kept::Whole);
    let named = whole.filter_map(|part| match &part.body {
        PartBody::ToolResult(result) => result.output,
        PartBody::Attachment(attachment) => attachment.output,
        PartBody::Text(_) | PartBody::Reasoning(..) | PartBody::ToolCall(_) => None,
    });
    named.collect()
}

fn forget_salts(record: &mut Record, what: Redaction) {
    let quote = record.entry.turn().map_or(0, |turn| turn.parts.len());
    let gone = |at: usize| what == Redaction::Whole || at == quote;
    record.salts.iter_mut().enumerate().filter(|(at, _)| gone(*at)).for_each(|(_, salt)| *salt = None);
}

fn wipe_turn(turn: &mut Turn) {
    for part in &mut turn.parts {
        part.body.text_mut().clear();
        part.kept = Kept::Redacted;
    }
    turn.quote.iter_mut().for_each(|q| wipe_quote(q));
}

/// A title that was there stays as an empty one, since its commitment stays in the chain.
fn wipe_quote(quote: &mut Quote) {
    quote.text.clear();
    quote.project_title.iter_mut().chain(&mut quote.session_title).for_each(String::clear);
}
