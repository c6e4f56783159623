//! Taking titles along that repeat words which are taken away.

use sayso_model::SessionId;
use sayso_store::title::Leaving;
use sayso_store::{Placed, Redaction};

use super::Write;
use crate::cells::{all, run};
use crate::fault::Fault;
use crate::read::clamp;

/// The texts of an entry.
const TEXTS: &[(&str, &str)] = &[
    ("part", "SELECT text FROM part WHERE no BETWEEN ?1 * 4096 AND ?1 * 4096 + 4095 AND text IS NOT NULL"),
    ("compaction", "SELECT text FROM compaction WHERE entry = ?1 AND text IS NOT NULL"),
    QUOTED,
];
const QUOTED: (&str, &str) = ("quote", "SELECT text FROM quote WHERE entry = ?1 AND text IS NOT NULL");
/// Forks that show the entry of their parent at a place.
pub(crate) const SHOWING: (&str, &str) =
    ("session", "SELECT id FROM session WHERE parent = ?1 AND fork_seq >= ?2 AND erasing = 0");
pub(crate) const RENAMINGS: (&str, &str) = (
    "mark",
    "SELECT entry, title FROM mark WHERE session = ?1 AND target IS NULL AND kind = 'renamed' AND title IS NOT NULL",
);
/// The titles that quotes of a session's turns recorded. The plus keeps the id from asking for a comparison as text, which
/// the index does not answer.
pub(crate) const RECORDED: (&str, &str) = (
    "quote",
    "SELECT q.entry, q.session_title FROM entry e CROSS JOIN quote q INDEXED BY quote_origin \
     ON substr(q.origin, -26) = +e.id WHERE e.session = ?1 AND q.session_title IS NOT NULL",
);
pub(crate) const NAMES: (&str, &str) =
    ("session_alias", "SELECT project, value FROM session_alias WHERE session = ?1 AND kind = 'name'");
const DROP_NAME: &str = "DELETE FROM session_alias WHERE project = ?1 AND kind = 'name' AND value = ?2";
const OWN: (&str, &str) =
    ("quote", "SELECT entry, session_title FROM quote WHERE entry = ?1 AND session_title IS NOT NULL");
/// Zeros first, as for every text.
const ZERO_SESSION: &str =
    "UPDATE session SET title = zeroblob(length(title)), title_salt = zeroblob(16) WHERE id = ?1";
const RENAMING: &[&str] = &[
    "UPDATE mark SET title = zeroblob(length(title)), title_salt = zeroblob(16) WHERE entry = ?1",
    "UPDATE mark SET title = NULL, title_salt = NULL WHERE entry = ?1",
];
const RECORD: &[&str] = &[
    "UPDATE quote SET session_title = zeroblob(length(session_title)), session_title_salt = zeroblob(16) \
     WHERE entry = ?1",
    "UPDATE quote SET session_title = NULL, session_title_salt = NULL WHERE entry = ?1",
];

impl Write<'_> {
    /// Takes the titles along that repeat what is about to be taken away from an entry, see [`sayso_store::title`].
    pub(super) fn take_titles(&mut self, no: i64, placed: &Placed, what: Redaction) -> Result<(), Fault> {
        let leaving = self.leaving_texts(no, what)?;
        if leaving.is_empty() {
            return Ok(());
        }
        self.take_repeating(OWN, no, &leaving, RECORD)?;
        for session in self.showing(placed.session, placed.seq)? {
            self.take_session_title(session, &leaving)?;
            self.take_names(session, &leaving)?;
            self.take_repeating(RENAMINGS, session.to_string(), &leaving, RENAMING)?;
            self.take_repeating(RECORDED, session.to_string(), &leaving, RECORD)?;
        }
        Ok(())
    }

    fn leaving_texts(&self, no: i64, what: Redaction) -> Result<Leaving, Fault> {
        let tables = if what == Redaction::Quote { &[QUOTED] } else { TEXTS };
        let mut found = Vec::new();
        for table in tables {
            found.extend(all(self.conn, *table, [no], |c| Ok(c.bytes()?.to_vec()))?);
        }
        Ok(Leaving::new(found.iter().map(|text| String::from_utf8_lossy(text).into_owned())))
    }

    /// A session and the forks that show its entry at a place.
    fn showing(&self, session: SessionId, seq: u64) -> Result<Vec<SessionId>, Fault> {
        let mut found = vec![session];
        let mut at = 0;
        while let Some(parent) = found.get(at).copied() {
            let forks = all(self.conn, SHOWING, (parent.to_string(), clamp(seq)), |c| c.parse())?;
            // Damage must not lead in a circle.
            let new: Vec<SessionId> = forks.into_iter().filter(|fork| !found.contains(fork)).collect();
            found.extend(new);
            at += 1;
        }
        Ok(found)
    }

    fn take_session_title(&mut self, id: SessionId, leaving: &Leaving) -> Result<(), Fault> {
        let record = self.session(id)?;
        if leaving.repeated_in(&record.session.title) {
            record.session.title.clear();
            (record.title.text, record.title.salt) = (None, None);
            self.changed.insert(id);
            run(self.conn, ZERO_SESSION, [id.to_string()])?;
        }
        Ok(())
    }

    fn take_names(&self, id: SessionId, leaving: &Leaving) -> Result<(), Fault> {
        let names = all(self.conn, NAMES, [id.to_string()], |c| Ok((c.text()?, c.text()?)))?;
        let mut repeating = names.into_iter().filter(|(_, name)| leaving.repeated_in(name));
        repeating.try_for_each(|row| run(self.conn, DROP_NAME, row).map(|_| ()))
    }

    fn take_repeating(
        &self,
        rows: (&'static str, &str),
        of: impl rusqlite::ToSql,
        leaving: &Leaving,
        take: &[&str],
    ) -> Result<(), Fault> {
        for (no, title) in all(self.conn, rows, [of], |c| Ok((c.int()?, c.bytes()?.to_vec())))? {
            if leaving.repeated_in(&String::from_utf8_lossy(&title)) {
                take.iter().try_for_each(|sql| run(self.conn, sql, [no]).map(|_| ()))?;
            }
        }
        Ok(())
    }
}
