//! What a file holds beside one session that grows: other conversations, and the end of an archive.

use sayso::store::{Command, MarkEntry, RenameSession};
use sayso::{Error, Scope};
use sayso_model::MarkKind;

use super::Sink;
use super::track::{PARKED_BYTES, Track};
use crate::session::shortened;

impl Sink<'_> {
    /// Says that a program put the file aside: its session takes nothing more.
    pub(crate) fn archive(&mut self, why: &'static str) {
        self.archive = Some(why);
    }

    /// Writes to the conversation of this name beside the file's own from now on; to its own where there is no name.
    pub(crate) fn turn_to(&mut self, beside: Option<&str>) -> Result<(), Error> {
        let name = beside.unwrap_or_default();
        if self.track.name == name {
            return Ok(());
        }
        if self.track.bytes > PARKED_BYTES {
            self.flush()?;
        }
        let (next, fresh) = match self.parked.remove(name) {
            Some(track) => (track, false),
            None => {
                let mut track = Track::new(name.to_owned(), self.home.beside(name));
                track.source = Some(self.home.id().to_owned());
                (track, true)
            }
        };
        let before = std::mem::replace(&mut self.track, next);
        self.parked.insert(before.name.clone(), before);
        if fresh { self.look() } else { Ok(()) }
    }

    /// Writes what is queued in every conversation, though the file goes on.
    pub(crate) fn pause(&mut self) -> Result<(), Error> {
        for name in self.parked_names() {
            self.turn_to(Some(&name))?;
            self.flush()?;
        }
        self.turn_to(None)?;
        self.flush()
    }

    fn parked_names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.parked.keys().cloned().collect();
        names.sort();
        names
    }

    /// Writes what is queued in every conversation, at the end of the file.
    pub(crate) fn finish(&mut self) -> Result<(), Error> {
        for name in self.parked_names() {
            self.turn_to(Some(&name))?;
            self.derive()?;
            self.flush()?;
            self.report.late += self.track.late();
            self.call()?;
        }
        self.turn_to(None)?;
        self.derive()?;
        self.flush()?;
        self.report.late += self.track.late();
        self.call()?;
        self.put_aside()
    }

    /// Gives the session the title that the file tells, where it has none but the program's id. A title that a person gave
    /// stays.
    fn call(&mut self) -> Result<(), Error> {
        let (Some(session), Some(title)) = (&mut self.track.session, &self.track.title) else {
            return Ok(());
        };
        let title = shortened(title);
        if title.is_empty()
            || session.closed
            || !self.track.home.is_untitled(&session.title)
            || session.title == title
        {
            return Ok(());
        }
        let rename =
            RenameSession { id: self.ledger.fresh_entry(), session: session.id, title: title.to_owned() };
        self.ledger.write(&Scope::All, vec![Command::RenameSession(rename)])?;
        title.clone_into(&mut session.title);
        Ok(())
    }

    /// Closes the session of an archive.
    fn put_aside(&mut self) -> Result<(), Error> {
        match (self.archive, &self.track.session) {
            (Some(_), Some(session)) if !session.closed => self.state(MarkKind::Closed),
            _ => Ok(()),
        }
    }

    /// Opens or closes the session on behalf of an archive.
    pub(super) fn state(&mut self, kind: MarkKind) -> Result<(), Error> {
        let (Some(why), Some(session)) = (self.archive, &mut self.track.session) else { return Ok(()) };
        let route = format!("{} {why}", self.report.format.word());
        let id = self.ledger.fresh_entry();
        let mark = MarkEntry { id, session: session.id, kind, of: None, route };
        self.ledger.write(&Scope::All, vec![Command::Mark(mark)])?;
        session.closed = kind == MarkKind::Closed;
        Ok(())
    }
}
