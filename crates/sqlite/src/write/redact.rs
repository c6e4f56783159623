//! Taking texts away. Everything that is derived from an entry's texts goes here as well.

use rusqlite::params;
use sayso_model::{Digest, EntryBody, EntryId, Mark, OutputId, Seed, SessionId};
use sayso_store::content::lasting;
use sayso_store::{Done, Fate, Placed, Redact, Redaction, Refusal};

use super::{Write, unknown_turn};
use crate::blob;
use crate::cells::{all, one, run};
use crate::erase::tombstone;
use crate::fault::Fault;
use crate::read::key;
use crate::read::turns::{place, place_columns, read_place};

const KIND: (&str, &str) = ("entry", "SELECT no, kind FROM entry WHERE id = ?1");
const FIRST_REDACTION: (&str, &str) = (
    "mark",
    concat!(
        "SELECT ",
        place_columns!(),
        " FROM mark m JOIN entry e ON e.no = m.entry JOIN session s ON s.id = e.session \
         WHERE m.target = ?1 AND m.kind IN ('redacted', ?2) ORDER BY m.seq LIMIT 1"
    ),
);
/// Zeros of the same size are written where a text stands; only then is it let go.
pub(crate) const WHOLE: &[&str] = &[
    "UPDATE part SET text = zeroblob(length(text)), salt = zeroblob(16) WHERE no BETWEEN ?1 * 4096 AND ?1 * 4096 + 4095",
    "UPDATE part SET text = NULL, salt = NULL WHERE no BETWEEN ?1 * 4096 AND ?1 * 4096 + 4095",
    "UPDATE compaction SET text = zeroblob(length(text)), salt = zeroblob(16) WHERE entry = ?1",
    "UPDATE compaction SET text = NULL, salt = NULL WHERE entry = ?1",
    "UPDATE quote SET text = zeroblob(length(text)), salt = zeroblob(16), \
     project_title = zeroblob(length(project_title)), project_title_salt = zeroblob(length(project_title_salt)), \
     session_title = zeroblob(length(session_title)), session_title_salt = zeroblob(length(session_title_salt)) \
     WHERE entry = ?1",
    "UPDATE quote SET text = NULL, salt = NULL, project_title = NULL, project_title_salt = NULL, \
     session_title = NULL, session_title_salt = NULL WHERE entry = ?1",
];
const QUOTE: &[&str] = &[
    "UPDATE quote SET text = zeroblob(length(text)), salt = zeroblob(16) WHERE entry = ?1",
    "UPDATE quote SET text = NULL, salt = NULL WHERE entry = ?1",
];
const KEYS: (&str, &str) = (
    "caller_key",
    "SELECT k.kind, k.value, k.content, k.entry, e.id FROM caller_key k JOIN entry e ON e.no = k.entry \
     WHERE k.session = ?1 AND (k.entry = ?2 OR k.kind = 'reinject') AND k.salt IS NOT NULL ORDER BY k.kind, k.value",
);
const ZERO_KEYS: &str = "UPDATE caller_key SET salt = zeroblob(16) \
     WHERE session = ?1 AND (entry = ?2 OR kind = 'reinject') AND salt IS NOT NULL";
const DROP_KEYS: &str = "DELETE FROM caller_key \
     WHERE session = ?1 AND (entry = ?2 OR kind = 'reinject') AND salt IS NOT NULL";
const FORGOTTEN_KEY: &str = "INSERT INTO caller_key (session, kind, value, salt, content, entry, digest) \
     VALUES (?1, ?2, ?3, NULL, ?4, ?5, ?6) ON CONFLICT (session, kind, value) DO NOTHING";
/// The outputs that the parts of an entry name, and no other part whose text is still there.
const OUTPUTS: (&str, &str) = (
    "part",
    "SELECT DISTINCT p.output FROM part p WHERE p.no BETWEEN ?1 * 4096 AND ?1 * 4096 + 4095 AND p.output IS NOT NULL \
     AND NOT EXISTS (SELECT 1 FROM part o WHERE o.output = p.output AND o.salt IS NOT NULL AND o.no >> 12 <> ?1)",
);
const STREAMS: (&str, &str) = ("output_stream", "SELECT hash FROM output_stream WHERE output = ?1");
const DROP_STREAMS: &str = "DELETE FROM output_stream WHERE output = ?1";
pub(crate) const ZERO_COMMAND: &str =
    "UPDATE output SET command = zeroblob(length(command)) WHERE id = ?1 AND command IS NOT NULL";
const DROP_OUTPUT: &str = "DELETE FROM output WHERE id = ?1";

impl Write<'_> {
    pub(super) fn redact(&mut self, c: &Redact, seed: &Seed) -> Result<Done, Fault> {
        let Some(placed) = place(self.conn, self.scope, c.of)? else { return Err(unknown_turn(c.of)) };
        let row = one(self.conn, KIND, [c.of.to_string()], |c| Ok((c.int()?, c.text()?)))?;
        let (no, kind) = row.ok_or_else(|| unknown_turn(c.of))?;
        let fits = match c.what {
            Redaction::Whole => ["turn", "forward", "compaction"].contains(&kind.as_str()),
            Redaction::Quote => kind == "forward",
        };
        if !fits {
            return Err(Refusal::NothingToRedact(c.of).into());
        }
        let word = c.what.mark().as_str();
        if let Some(known) = one(self.conn, FIRST_REDACTION, (c.of.to_string(), word), read_place)? {
            return Ok(Done::Entries(Fate::Known, vec![known]));
        }
        self.wipe(no, &placed, c.what)?;
        let mark = EntryBody::Mark(Mark::new(c.what.mark(), Some(c.of), ""));
        let at = self.place(placed.session, c.id, &mark, seed)?;
        Ok(Done::Entries(Fate::New, vec![at.placed]))
    }

    /// Takes the texts of an entry away, with their salts, titles that repeat them, its keys and the outputs that only it names.
    pub(super) fn wipe(&mut self, no: i64, placed: &Placed, what: Redaction) -> Result<(), Fault> {
        self.forgot.set(true);
        self.take_titles(no, placed, what)?;
        if what == Redaction::Quote {
            return QUOTE.iter().try_for_each(|sql| run(self.conn, sql, [no]).map(|_| ()));
        }
        let outputs = all(self.conn, OUTPUTS, [no], |c| c.parse::<OutputId>())?;
        WHOLE.iter().try_for_each(|sql| run(self.conn, sql, [no]).map(|_| ()))?;
        self.take_words(placed.id)?;
        self.forget_keys(no, placed)?;
        outputs.into_iter().try_for_each(|id| self.drop_output(id))
    }

    /// Also those of re-injections: one of them may have been asked for with the words that go.
    pub(super) fn forget_keys(&self, no: i64, placed: &Placed) -> Result<(), Fault> {
        let session: SessionId = placed.session;
        let at = (session.to_string(), no);
        let keys = all(self.conn, KEYS, at.clone(), |c| {
            Ok((c.text()?, c.text()?, c.digest()?, c.int()?, c.parse::<EntryId>()?))
        })?;
        if keys.is_empty() {
            return Ok(());
        }
        let secret = key::secret(self.conn)?;
        run(self.conn, ZERO_KEYS, at.clone())?;
        run(self.conn, DROP_KEYS, at)?;
        for (kind, value, content, no, entry) in keys {
            let value = key::forgotten(&secret, session, &kind, lasting(&value));
            let digest = sayso_model::row::key(session, &kind, &value, content, entry);
            let row = params![session.to_string(), kind, value, content.0, no, digest.0];
            run(self.conn, FORGOTTEN_KEY, row)?;
        }
        Ok(())
    }

    fn drop_output(&self, id: OutputId) -> Result<(), Fault> {
        tombstone::set(self.conn, &tombstone::output(id))?;
        let id = id.to_string();
        let hashes: Vec<Digest> = all(self.conn, STREAMS, [&id], |c| c.digest())?;
        run(self.conn, DROP_STREAMS, [&id])?;
        run(self.conn, ZERO_COMMAND, [&id])?;
        run(self.conn, DROP_OUTPUT, [&id])?;
        hashes.into_iter().try_for_each(|hash| blob::drop::unless_named(self.conn, hash))
    }
}
