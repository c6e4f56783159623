//! Whether a turn is still part of its conversation, and where a session comes from.

use sayso::Error;
use sayso::store::Alias;
use sayso_model::{EntryId, MarkKind};

use super::Sink;
use super::track::{Of, Sort, Step};
use crate::session::within;

impl Sink<'_> {
    /// Says that the track's session comes from another one, by the id that the program gave that.
    pub(crate) fn comes_from(&mut self, source: &str) {
        if !source.is_empty() {
            self.track.source = Some(source.to_owned());
        }
    }

    /// Whether what has this key was copied from the session that the track's comes from, as far as that is known.
    pub(crate) fn was_copied(&self, key: &str) -> Result<bool, Error> {
        let Some(source) = &self.track.source else { return Ok(false) };
        let alias = Alias::new(self.report.format.word(), source);
        let Some(session) = self.reader.sessions_as(&alias)?.into_iter().next() else { return Ok(false) };
        Ok(self.reader.known(session.id, key)?.is_some())
    }

    /// Takes the owner's last so many turns back, with everything that followed them.
    pub(crate) fn roll_back(&mut self, turns: u64) -> Result<(), Error> {
        let places = self.track.places.iter().enumerate().rev();
        let mut owners =
            places.filter(|(_, place)| place.sort == Sort::Owner && !place.gone).map(|(at, _)| at);
        let Some(back) = usize::try_from(turns).ok().and_then(|turns| turns.checked_sub(1)) else {
            return Ok(());
        };
        // More than there are takes all of them.
        let from = owners.nth(back).or_else(|| self.first_of_the_owner());
        for at in from.unwrap_or(usize::MAX)..self.track.places.len() {
            let Some(place) = self.track.places.get_mut(at) else { continue };
            if place.is_turn() && !std::mem::replace(&mut place.gone, true) {
                self.stand(at, MarkKind::RolledBack)?;
            }
        }
        Ok(())
    }

    fn first_of_the_owner(&self) -> Option<usize> {
        self.track.places.iter().position(|place| place.sort == Sort::Owner)
    }

    /// Marks one of the track's turns as taken back, since the model was never shown it.
    pub(crate) fn unseen(&mut self, at: usize) -> Result<(), Error> {
        self.stand_by(at, MarkKind::RolledBack, format!("{} excluded", self.report.format.word()))
    }

    /// Marks one of the track's turns, unless it stands so already. What never left is not restored.
    pub(crate) fn stand(&mut self, at: usize, kind: MarkKind) -> Result<(), Error> {
        self.stand_by(at, kind, self.report.format.word().to_owned())
    }

    fn stand_by(&mut self, at: usize, kind: MarkKind, route: String) -> Result<(), Error> {
        let Some(place) = self.track.places.get(at).copied().filter(|place| place.is_turn()) else {
            return Ok(());
        };
        let marks = if place.seq > 0 { self.reader.marks(place.id)? } else { Vec::new() };
        let now = marks.iter().rev().map(|mark| mark.kind).find(|kind| kind.is_standing());
        if now.unwrap_or(MarkKind::Restored) == kind {
            return Ok(());
        }
        self.report.left_out += u64::from(kind != MarkKind::Restored);
        self.step(kind, Of::Place(at), route)
    }

    /// Marks an entry of the session as taken back, since it was imported by a speaker who did not say it.
    pub(super) fn take_back(&mut self, of: EntryId) -> Result<(), Error> {
        let marks = self.reader.marks(of)?;
        if marks.iter().any(|mark| mark.kind == MarkKind::RolledBack) {
            return Ok(());
        }
        self.report.left_out += 1;
        self.step(MarkKind::RolledBack, Of::Entry(of), format!("{} corrected", self.report.format.word()))
    }

    /// Marks the session as coming from another one: once it is known where its own words start, if any were copied.
    pub(super) fn derive(&mut self) -> Result<(), Error> {
        let own_words = self.track.copied.is_none_or(|copied| copied + 1 < self.track.places.len());
        let Some(source) = self.track.source.clone().filter(|_| own_words && !self.track.places.is_empty())
        else {
            return Ok(());
        };
        let of = self.track.copied.map_or(Of::Session, Of::Place);
        // Asking the ledger for what it knows would write nothing, and cost a transaction each time.
        if !self.track.grew && !self.lacks_source()? {
            return Ok(());
        }
        let route = format!("{} {source}", self.report.format.word());
        self.step(MarkKind::Derived, of, within(&route).to_owned())
    }

    /// Whether the last copied turn, if any was, does not say yet that it is.
    fn lacks_source(&self) -> Result<bool, Error> {
        let copied = self.track.copied.and_then(|at| self.track.places.get(at));
        let marks = copied.map(|place| self.reader.marks(place.id)).transpose()?;
        Ok(marks.is_some_and(|marks| marks.iter().all(|mark| mark.kind != MarkKind::Derived)))
    }

    fn step(&mut self, kind: MarkKind, of: Of, route: String) -> Result<(), Error> {
        self.room(1, 0)?;
        self.track.queue.push(Step::Mark(kind, of, route));
        Ok(())
    }
}
