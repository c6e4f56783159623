//! Re-injections.

use rusqlite::params;
use sayso_model::{EntryBody, EntryId, Layout, Reinjected, Reinjection, Seed, SessionId};
use sayso_store::content::{self, kind};
use sayso_store::{Done, Fate, NewRange, Refusal, Reinject, reinject};

use super::insert::At;
use super::{Write, unknown_turn};
use crate::cells::run;
use crate::fault::Fault;
use crate::read::{self, clamp, turns};

const NEW_REINJECTION: &str =
    "INSERT INTO reinjection (entry, session, seq, compaction, layout) VALUES (?1, ?2, ?3, ?4, ?5)";
const NEW_RANGE: &str = "INSERT INTO reinjected (entry, place, turn, part, output, stream, unit, first, second, why, \
     call_id, tool, outcome, seq, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)";

impl Write<'_> {
    pub(super) fn reinject(&mut self, c: &Reinject, seed: &Seed) -> Result<Done, Fault> {
        self.session(c.session)?;
        let key = c.key.as_deref();
        if let Some(known) = self.known(c.session, kind::REINJECT, key, || content::reinject(c))? {
            return Ok(Done::Entries(Fate::Known, vec![known]));
        }
        self.open(c.session)?;
        self.latest(c.session, c.of)?;
        if c.items.is_empty() {
            return Err(Refusal::Missing { what: "the list of ranges to bring back" }.into());
        }
        let items = c.items.iter().map(|item| self.range(c.session, item)).collect::<Result<_, Fault>>()?;
        let body = EntryBody::Reinjection(Reinjection { of: c.of, layout: Layout::NEWEST, items });
        let at = self.place(c.session, c.id, &body, seed)?;
        self.remember(&at, kind::REINJECT, key, || content::reinject(c), seed)?;
        Ok(Done::Entries(Fate::New, vec![at.placed]))
    }

    /// The compaction that is named is the latest that the session shows.
    fn latest(&mut self, session: SessionId, of: Option<EntryId>) -> Result<(), Fault> {
        let Some(of) = of else { return Ok(()) };
        self.entry_in_view(session, Some(of))?;
        match turns::latest_compaction(self.conn, self.scope, session)? {
            Some((latest, _)) if latest.id == of => Ok(()),
            _ => Err(Refusal::NotTheLatest(of).into()),
        }
    }

    fn range(&mut self, session: SessionId, new: &NewRange) -> Result<Reinjected, Fault> {
        self.entry_in_view(session, Some(new.turn))?;
        let entry = turns::entry(self.conn, self.scope, new.turn)?.ok_or_else(|| unknown_turn(new.turn))?;
        let item = reinject::item(&entry, new)?;
        match (new.source.output(), new.source.stream()) {
            (Some(id), Some(stream))
                if read::output::stream(self.conn, self.scope, id, stream)?.is_none() =>
            {
                Err(Refusal::UnknownOutput(id).into())
            }
            _ => Ok(item),
        }
    }

    pub(super) fn insert_reinjection(&self, at: &At, reinjection: &Reinjection) -> Result<(), Fault> {
        let (session, seq) = (at.placed.session.to_string(), clamp(at.placed.seq));
        let of = reinjection.of.map(|id| id.to_string());
        run(self.conn, NEW_REINJECTION, params![at.no, session, seq, of, reinjection.layout.as_str()])?;
        for (place, item) in (0i64..).zip(&reinjection.items) {
            self.insert_range(at.no, place, item)?;
        }
        Ok(())
    }

    fn insert_range(&self, no: i64, place: i64, item: &Reinjected) -> Result<(), Fault> {
        let (unit, first, second) = item.range.parts();
        let row = params![
            no,
            place,
            item.turn.to_string(),
            item.part,
            item.source.output().map(|id| id.to_string()),
            item.source.stream().map(sayso_model::StreamKind::as_str),
            unit.as_str(),
            clamp(first),
            clamp(second),
            item.why.as_str(),
            item.call_id,
            item.tool,
            item.outcome.as_str(),
            clamp(item.seq),
            item.at.0,
        ];
        run(self.conn, NEW_RANGE, row).map(|_| ())
    }
}
