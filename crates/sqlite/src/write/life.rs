//! What happens to projects and sessions after they were made.

use sayso_model::canon::commit;
use sayso_model::{EntryBody, Mark, MarkKind, ProjectId, Seed, SessionId, row};
use sayso_store::{
    Alias, Done, Fate, MergeProject, MoveSession, Placed, Refusal, RenameProject, RenameSession,
};

use super::Write;
use crate::cells::{Sealed, all, one, run};
use crate::fault::Fault;
use crate::read::load::load_sound;
use crate::read::turns::{BY_ID, place_columns, read_place};
use crate::rows::{ProjectRecord, project_columns};

const PROJECT: (&str, &str) =
    ("project", concat!("SELECT ", project_columns!(), " FROM project p WHERE p.id = ?1"));
const CHANGED: &str = "UPDATE project SET name = ?2, name_salt = ?3, name_commitment = ?4, merged_into = ?5, \
     digest = ?6 WHERE id = ?1";
const SESSIONS: (&str, &str) =
    ("session", "SELECT id FROM session WHERE project = ?1 AND erasing = 0 ORDER BY id");
pub(crate) const FORKS: (&str, &str) =
    ("session", "SELECT id FROM session WHERE parent = ?1 AND erasing = 0 ORDER BY id");
const PROJECT_ALIASES: (&str, &str) =
    ("project_alias", "SELECT kind, value FROM project_alias WHERE project = ?1 ORDER BY kind, value");
const DROP_PROJECT_ALIASES: &str = "DELETE FROM project_alias WHERE project = ?1";
const SESSION_ALIASES: (&str, &str) =
    ("session_alias", "SELECT kind, value FROM session_alias WHERE session = ?1 ORDER BY kind, value");
const DROP_SESSION_ALIASES: &str = "DELETE FROM session_alias WHERE session = ?1";
const KEEP_SESSION_ALIAS: &str = "INSERT INTO session_alias (project, kind, value, session, digest) \
     VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (project, kind, value) DO NOTHING";
const FORGET_SEEN: &str = "DELETE FROM speaker_seen WHERE project = ?1";
/// Whoever stands in an entry of a session of the project.
const RECOUNT_SEEN: &str = "WITH own AS (SELECT e.no, e.speaker FROM session s JOIN entry e ON e.session = s.id \
     WHERE s.project = ?1 AND s.erasing = 0) \
     INSERT INTO speaker_seen (project, speaker) SELECT ?1, speaker FROM ( \
     SELECT speaker FROM own \
     UNION SELECT p.speaker FROM own JOIN part p ON p.no BETWEEN own.no * 4096 AND own.no * 4096 + 4095 \
     UNION SELECT q.speaker FROM own JOIN quote q ON q.entry = own.no \
     UNION SELECT q.forwarded_by FROM own JOIN quote q ON q.entry = own.no \
     UNION SELECT h.speaker FROM own JOIN hop h ON h.entry = own.no) WHERE speaker IS NOT NULL";
pub(crate) const LAST_RENAMING: (&str, &str) = (
    "mark",
    concat!(
        "SELECT ",
        place_columns!(),
        " FROM mark m JOIN entry e ON e.no = m.entry JOIN session s ON s.id = e.session \
         WHERE m.session = ?1 AND m.target IS NULL AND m.kind = 'renamed' ORDER BY m.seq DESC LIMIT 1"
    ),
);

impl Write<'_> {
    pub(super) fn rename_project(&mut self, c: &RenameProject, seed: &Seed) -> Result<Done, Fault> {
        let id = self.project(c.id)?;
        let mut record = self.project_row(id)?;
        let salt = seed.salt(0);
        let (text, commitment) = (c.name.as_bytes().to_vec(), commit(&salt, c.name.as_bytes()));
        record.name = Sealed { text: Some(text), salt: Some(salt), commitment };
        self.write_project(&record)?;
        Ok(Done::Project(id))
    }

    pub(super) fn merge_project(&mut self, c: &MergeProject) -> Result<Done, Fault> {
        let (from, into) = (self.project(c.from)?, self.project(c.into)?);
        if from == into {
            return Err(Refusal::SameProject(into).into());
        }
        self.flush()?;
        for session in all(self.conn, SESSIONS, [from.to_string()], |c| c.parse::<SessionId>())? {
            self.change_project(session, into)?;
        }
        self.flush()?;
        for alias in self.take_aliases(PROJECT_ALIASES, DROP_PROJECT_ALIASES, &from.to_string())? {
            self.insert_project_alias(into, &alias)?;
        }
        let mut record = self.project_row(from)?;
        // Whoever types the old name means the project that it is part of now.
        let name = record.name.clone().open().unwrap_or_default();
        self.insert_project_alias(into, &Alias::new("name", name))?;
        record.merged_into = Some(into);
        self.write_project(&record)?;
        self.recount_seen(&[from, into])?;
        Ok(Done::Project(into))
    }

    pub(super) fn rename_session(&mut self, c: &RenameSession, seed: &Seed) -> Result<Done, Fault> {
        self.session(c.session)?;
        if let Some(known) = self.same_title(c)? {
            return Ok(Done::Entries(Fate::Known, vec![known]));
        }
        let mark = Mark { title: Some(c.title.clone()), ..Mark::new(MarkKind::Renamed, None, "") };
        let at = self.place(c.session, c.id, &EntryBody::Mark(mark), seed)?;
        Ok(Done::Entries(Fate::New, vec![at.placed]))
    }

    /// The last renaming, if it gave this title.
    fn same_title(&mut self, c: &RenameSession) -> Result<Option<Placed>, Fault> {
        let Some(last) = one(self.conn, LAST_RENAMING, [c.session.to_string()], read_place)? else {
            return Ok(None);
        };
        let found = load_sound(self.conn, &BY_ID, &[&last.id.to_string()], &mut self.speakers)?.pop();
        let same = found.is_some_and(
            |l| matches!(&l.entry.body, EntryBody::Mark(m) if m.title.as_deref() == Some(&c.title)),
        );
        Ok(same.then_some(last))
    }

    pub(super) fn move_session(&mut self, c: &MoveSession, seed: &Seed) -> Result<Done, Fault> {
        let from = self.session(c.session)?.session.project;
        let to = self.project(c.to)?;
        if from == to {
            return Err(Refusal::SameProject(to).into());
        }
        if let Some(with) = self.shares_with(c.session)? {
            return Err(Refusal::SharesBeginning { session: c.session, with }.into());
        }
        self.change_project(c.session, to)?;
        let mark = Mark { project: Some(to), ..Mark::new(MarkKind::Moved, None, "") };
        let at = self.place(c.session, c.id, &EntryBody::Mark(mark), seed)?;
        self.flush()?;
        self.recount_seen(&[from, to])?;
        Ok(Done::Entries(Fate::New, vec![at.placed]))
    }

    /// A session that shares entries with this one: its parent, or the first of its forks.
    fn shares_with(&mut self, session: SessionId) -> Result<Option<SessionId>, Fault> {
        match self.session(session)?.session.fork {
            Some(fork) => Ok(Some(fork.session)),
            None => one(self.conn, FORKS, [session.to_string()], |c| c.parse()),
        }
    }

    /// Takes a session into another project, with its aliases but for those that are taken there.
    pub(super) fn change_project(&mut self, id: SessionId, to: ProjectId) -> Result<(), Fault> {
        self.session(id)?.session.project = to;
        self.changed.insert(id);
        for alias in self.take_aliases(SESSION_ALIASES, DROP_SESSION_ALIASES, &id.to_string())? {
            let digest = row::session_alias(to, id, &alias.kind, &alias.value);
            let row = (to.to_string(), alias.kind, alias.value, id.to_string(), digest.0);
            run(self.conn, KEEP_SESSION_ALIAS, row)?;
        }
        Ok(())
    }

    fn take_aliases(&self, list: (&'static str, &str), drop: &str, owner: &str) -> Result<Vec<Alias>, Fault> {
        let aliases = all(self.conn, list, [owner], |c| Ok(Alias::new(c.text()?, c.text()?)))?;
        run(self.conn, drop, [owner])?;
        Ok(aliases)
    }

    fn project_row(&self, id: ProjectId) -> Result<ProjectRecord, Fault> {
        let found = one(self.conn, PROJECT, [id.to_string()], ProjectRecord::read)?;
        let record = found.ok_or_else(|| Fault::from(Refusal::UnknownProject(id)))?;
        // What was edited by hand must not get a digest that fits it.
        if record.digest != record.row_digest() {
            return Err(Fault::Damaged(format!("the row of project {id} is not what was written")));
        }
        Ok(record)
    }

    fn write_project(&self, record: &ProjectRecord) -> Result<(), Fault> {
        let row = (
            record.project.id.to_string(),
            record.name.text.as_deref(),
            record.name.salt.map(|s| s.0),
            record.name.commitment.0,
            record.merged_into.map(|id| id.to_string()),
            record.row_digest().0,
        );
        run(self.conn, CHANGED, row).map(|_| ())
    }

    /// Finds out again who stands in entries of some projects.
    pub(super) fn recount_seen(&mut self, projects: &[ProjectId]) -> Result<(), Fault> {
        self.seen.clear();
        self.recounted = true;
        for project in projects {
            run(self.conn, FORGET_SEEN, [project.to_string()])?;
            run(self.conn, RECOUNT_SEEN, [project.to_string()])?;
        }
        Ok(())
    }
}
