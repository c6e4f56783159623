//! Turns, compactions and marks.

use sayso_model::{
    Compaction, EntryBody, EntryId, Kept, Mark, MarkKind, Part, Seed, SessionId, SpeakerId, Turn,
};
use sayso_store::content::{self, kind};
use sayso_store::{AppendTurn, Compact, Done, Edit, Fate, MarkEntry, NewPart, Placed, Refusal};

use super::{Write, unknown_turn};
use crate::cells::one;
use crate::fault::Fault;
use crate::read::turns::{SUPERSEDING, place_columns, read_place};

pub(crate) const FIRST_MARK: (&str, &str) = (
    "mark",
    concat!(
        "SELECT ",
        place_columns!(),
        " FROM mark m JOIN entry e ON e.no = m.entry JOIN session s ON s.id = e.session \
         WHERE m.target = ?1 AND m.kind = ?2 ORDER BY m.seq LIMIT 1"
    ),
);
/// The last mark that says whether a turn is part of the conversation, if it says this.
pub(crate) const SAME_STANDING: (&str, &str) = (
    "mark",
    concat!(
        "SELECT ",
        place_columns!(),
        " FROM mark m JOIN entry e ON e.no = m.entry JOIN session s ON s.id = e.session \
         WHERE m.kind = ?2 AND m.entry = (SELECT l.entry FROM mark l WHERE l.target = ?1 \
         AND l.kind IN ('rolled_back', 'abandoned', 'restored') ORDER BY l.seq DESC LIMIT 1)"
    ),
);
pub(crate) const FIRST_DERIVED: (&str, &str) = (
    "mark",
    concat!(
        "SELECT ",
        place_columns!(),
        " FROM mark m JOIN entry e ON e.no = m.entry JOIN session s ON s.id = e.session \
         WHERE m.session = ?1 AND m.target IS NULL AND m.kind = 'derived' ORDER BY m.seq LIMIT 1"
    ),
);
pub(crate) const LAST_CLOSING: (&str, &str) = (
    "mark",
    concat!(
        "SELECT ",
        place_columns!(),
        " FROM mark m JOIN entry e ON e.no = m.entry JOIN session s ON s.id = e.session \
         WHERE m.session = ?1 AND m.target IS NULL AND m.kind = 'closed' ORDER BY m.seq DESC LIMIT 1"
    ),
);

const LAST_PIN_KIND: (&str, &str) = (
    "mark",
    "SELECT kind FROM mark WHERE target = ?1 AND kind IN ('pinned', 'unpinned') ORDER BY seq DESC LIMIT 1",
);
const LAST_PIN: (&str, &str) = (
    "mark",
    concat!(
        "SELECT ",
        place_columns!(),
        " FROM mark m JOIN entry e ON e.no = m.entry JOIN session s ON s.id = e.session \
         WHERE m.target = ?1 AND m.kind = 'pinned' ORDER BY m.seq DESC LIMIT 1"
    ),
);
const EDITED: (&str, &str) = ("entry", "SELECT session, kind, speaker FROM entry WHERE id = ?1");

impl Write<'_> {
    /// Appends a turn: a new one, or one that supersedes another.
    pub(super) fn append_turn(
        &mut self,
        c: &AppendTurn,
        edit: Option<&Edit>,
        seed: &Seed,
    ) -> Result<Done, Fault> {
        self.session(c.session)?;
        let speaker = self.speaker(c.speaker)?;
        let parts: Vec<Part> = c.parts.iter().map(|p| self.part(p)).collect::<Result<_, _>>()?;
        let key = c.key.as_deref();
        let content = || edit.map_or_else(|| content::turn(c), content::edit);
        if let Some(known) = self.known(c.session, kind::TURN, key, content)? {
            return Ok(Done::Entries(Fate::Known, vec![known]));
        }
        self.expect_head(c.session, c.expected_head)?;
        self.open(c.session)?;
        self.entry_in_view(c.session, c.reply_to)?;
        parts.iter().try_for_each(|p| self.output_of(&p.body))?;
        edit.map_or(Ok(()), |edit| self.editable(edit))?;
        let turn = Turn {
            speaker,
            said_at: c.said_at,
            reply_to: c.reply_to,
            supersedes: edit.map(|edit| edit.of),
            repairs: c.repairs,
            parts,
            quote: None,
        };
        let at = self.place(c.session, c.id, &EntryBody::Turn(turn), seed)?;
        self.remember(&at, kind::TURN, key, content, seed)?;
        Ok(Done::Entries(Fate::New, vec![at.placed]))
    }

    fn editable(&self, edit: &Edit) -> Result<(), Fault> {
        let found = one(self.conn, EDITED, [edit.of.to_string()], |c| {
            Ok((c.parse::<SessionId>()?, c.text()?, c.parse_opt::<SpeakerId>()?))
        })?;
        let Some((session, kind, speaker)) = found else { return Err(unknown_turn(edit.of)) };
        if session != edit.turn.session || !["turn", "forward"].contains(&kind.as_str()) {
            return Err(unknown_turn(edit.of));
        }
        if speaker != Some(edit.turn.speaker) {
            return Err(Refusal::NotTheSpeaker(edit.of).into());
        }
        if kind == "forward" {
            return Err(Refusal::HoldsQuote(edit.of).into());
        }
        match one(self.conn, SUPERSEDING, [edit.of.to_string()], read_place)? {
            Some(by) => Err(Refusal::Superseded { of: edit.of, by: by.id }.into()),
            None => Ok(()),
        }
    }

    fn part(&mut self, part: &NewPart) -> Result<Part, Fault> {
        let by = part.by.map(|id| self.speaker(id)).transpose()?;
        Ok(Part { by, body: part.body.clone(), kept: Kept::Whole })
    }

    pub(super) fn compact(&mut self, c: &Compact, seed: &Seed) -> Result<Done, Fault> {
        let last = self.session(c.session)?.session.last_seq;
        let speaker = self.speaker(c.speaker)?;
        let key = c.key.as_deref();
        if let Some(known) = self.known(c.session, kind::COMPACT, key, || content::compact(c))? {
            return Ok(Done::Entries(Fate::Known, vec![known]));
        }
        self.open(c.session)?;
        if c.through > last {
            return Err(Refusal::BoundaryPastEnd { through: c.through, last }.into());
        }
        let compaction = Compaction {
            speaker,
            said_at: c.said_at,
            through: c.through,
            summary: c.summary.clone(),
            kept: Kept::Whole,
        };
        let at = self.place(c.session, c.id, &EntryBody::Compaction(compaction), seed)?;
        self.remember(&at, kind::COMPACT, key, || content::compact(c), seed)?;
        Ok(Done::Entries(Fate::New, vec![at.placed]))
    }

    pub(super) fn mark(&mut self, c: &MarkEntry, seed: &Seed) -> Result<Done, Fault> {
        let closed = self.session(c.session)?.session.closed;
        self.entry_of(c.session, c.of)?;
        if c.kind == MarkKind::Reopened && !closed {
            return Err(Refusal::NotClosed(c.session).into());
        }
        if let Some(of) = c.of.filter(|_| c.kind == MarkKind::Unpinned)
            && !self.is_pinned(of)?
        {
            return Err(Refusal::NotPinned(of).into());
        }
        if let Some(known) = self.same_mark(c, closed)? {
            return Ok(Done::Entries(Fate::Known, vec![known]));
        }
        let mark = Mark::new(c.kind, c.of, c.route.as_str());
        let at = self.place(c.session, c.id, &EntryBody::Mark(mark), seed)?;
        Ok(Done::Entries(Fate::New, vec![at.placed]))
    }

    fn is_pinned(&self, of: EntryId) -> Result<bool, Fault> {
        let last = one(self.conn, LAST_PIN_KIND, [of.to_string()], |c| c.parse::<MarkKind>())?;
        Ok(last == Some(MarkKind::Pinned))
    }

    /// The mark that this one repeats: the first of the same kind and entry; of a closed session, the last closing; of a
    /// pinned entry, the last pin; of a turn's place in the conversation, the last if it says the same.
    fn same_mark(&self, c: &MarkEntry, closed: bool) -> Result<Option<Placed>, Fault> {
        let session = c.session.to_string();
        match (c.kind, c.of) {
            (MarkKind::Offered | MarkKind::InContext | MarkKind::Derived | MarkKind::Settled, Some(of)) => {
                one(self.conn, FIRST_MARK, (of.to_string(), c.kind.as_str()), read_place)
            }
            (MarkKind::RolledBack | MarkKind::Abandoned | MarkKind::Restored, Some(of)) => {
                one(self.conn, SAME_STANDING, (of.to_string(), c.kind.as_str()), read_place)
            }
            (MarkKind::Pinned, Some(of)) if self.is_pinned(of)? => {
                one(self.conn, LAST_PIN, [of.to_string()], read_place)
            }
            (MarkKind::Derived, None) => one(self.conn, FIRST_DERIVED, [session], read_place),
            (MarkKind::Closed, _) if closed => one(self.conn, LAST_CLOSING, [session], read_place),
            _ => Ok(None),
        }
    }
}
