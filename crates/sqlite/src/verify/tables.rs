//! Rows outside the chains: projects, aliases, speakers, keys.

use sayso_model::{ProjectId, SpeakerId, row};

use super::{Look, Where};
use crate::cells::{Broken, Next, each};
use crate::fault::Fault;
use crate::rows::{ProjectRecord, SpeakerRecord, project_columns};

const PROJECTS: (&str, &str) =
    ("project", concat!("SELECT ", project_columns!(), " FROM project p ORDER BY p.id"));
const PROJECT_ALIASES: (&str, &str) =
    ("project_alias", "SELECT project, kind, value, digest FROM project_alias ORDER BY kind, value");
const SESSION_ALIASES: (&str, &str) = (
    "session_alias",
    "SELECT project, session, kind, value, digest FROM session_alias ORDER BY project, kind, value",
);
const SPEAKERS: (&str, &str) = (
    "speaker",
    "SELECT id, kind, name_salt, name_commitment, coalesce(name, namesake), digest FROM speaker ORDER BY id",
);
const SEEN: (&str, &str) =
    ("speaker_seen", "SELECT project, speaker FROM speaker_seen ORDER BY project, speaker");
const KEYS: (&str, &str) = (
    "caller_key",
    "SELECT k.session, k.kind, k.value, k.content, k.digest, e.id, e.kind, e.session = k.session \
     FROM caller_key k LEFT JOIN entry e ON e.no = k.entry ORDER BY k.session, k.kind, k.value",
);

impl Look<'_> {
    pub(super) fn projects(&mut self) -> Result<(), Fault> {
        self.rows(PROJECTS, [], |look, c| {
            let record = ProjectRecord::read(c)?;
            let id = record.project.id;
            if record.digest != record.row_digest() {
                look.problem(Where::default(), format!("the row of project {id} is not what was written"));
            }
            if let Err(Broken) = record.name.open() {
                look.problem(Where::default(), format!("the name of project {id} is not what was written"));
            }
            Ok(())
        })
    }

    pub(super) fn aliases(&mut self) -> Result<(), Fault> {
        self.rows(PROJECT_ALIASES, [], |look, c| {
            let (project, kind, value) = (c.parse::<ProjectId>()?, c.text()?, c.text()?);
            if c.digest()? != row::project_alias(project, &kind, &value) {
                let what = format!("the alias {value:?} of project {project} is not what was written");
                look.problem(Where::default(), what);
            }
            Ok(())
        })?;
        self.rows(SESSION_ALIASES, [], |look, c| {
            let (project, session, kind, value) = (c.parse()?, c.parse()?, c.text()?, c.text()?);
            if c.digest()? != row::session_alias(project, session, &kind, &value) {
                let what = format!("the alias {value:?} of session {session} is not what was written");
                look.problem(Where::session(session), what);
            }
            Ok(())
        })
    }

    pub(super) fn speakers(&mut self) -> Result<(), Fault> {
        self.rows(SPEAKERS, [], |look, c| {
            let record = SpeakerRecord::read(c)?;
            let id = record.id;
            if record.digest != record.row_digest() {
                look.problem(Where::default(), format!("the row of speaker {id} is not what was written"));
            }
            if let Err(Broken) = record.name.open() {
                look.problem(Where::default(), format!("the name of speaker {id} is not what was written"));
            }
            Ok(())
        })
    }

    /// Compares who was found in entries with the rows that say so.
    pub(super) fn seen(&mut self) -> Result<(), Fault> {
        let mut expected = std::mem::take(&mut self.seen);
        let mut strangers = Vec::new();
        each(self.conn, SEEN, [], |c| {
            let row: (ProjectId, SpeakerId) = (c.parse()?, c.parse()?);
            if !expected.remove(&row) {
                strangers.push(row);
            }
            Ok(Next::Row)
        })?;
        for (project, speaker) in strangers {
            let what = format!("speaker {speaker} is listed in project {project}, where it never spoke");
            self.problem(Where::default(), what);
        }
        for (project, speaker) in expected {
            let what = format!("speaker {speaker} spoke in project {project} and is not listed there");
            self.problem(Where::default(), what);
        }
        Ok(())
    }

    pub(super) fn keys(&mut self) -> Result<(), Fault> {
        self.rows(KEYS, [], |look, c| {
            let (session, kind, value) = (c.parse()?, c.text()?, c.text()?);
            let (content, digest, entry) = (c.digest()?, c.digest()?, c.parse_opt()?);
            let fits = match c.text_opt()?.as_deref() {
                Some("compaction") => kind == "compact",
                Some("reinjection") => kind == "reinject",
                Some("erased") => true,
                Some(entry_kind) => kind == entry_kind,
                None => false,
            };
            let fits = fits && c.int_opt()? == Some(1);
            let sound = entry.is_some_and(|id| row::key(session, &kind, &value, content, id) == digest);
            if !(fits && sound) {
                let at = Where { session: Some(session), seq: None, entry };
                look.problem(at, format!("the row of key {value:?} is not what was written"));
            }
            Ok(())
        })
    }
}
