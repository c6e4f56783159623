//! Projects, aliases, sessions and speakers.

use rusqlite::params;
use sayso_model::canon::commit;
use sayso_model::{Digest, ProjectId, Seed, SessionId, SpeakerId, form, row};
use sayso_store::{
    Alias, CreateProject, CreateSession, CreateSpeaker, Done, ForkPoint, ForkSession, Refusal, Session,
};

use super::{Write, taken};
use crate::cells::{Sealed, one, run};
use crate::erase::tombstone;
use crate::fault::Fault;
use crate::read::{self, turns};
use crate::rows::SessionRecord;

const NEW_PROJECT: &str = "INSERT INTO project (id, name, name_salt, name_commitment, created_at, digest) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (id) DO NOTHING";
const NEW_PROJECT_ALIAS: &str = "INSERT INTO project_alias (kind, value, project, digest) \
     VALUES (?1, ?2, ?3, ?4) ON CONFLICT (kind, value) DO NOTHING";
const SESSION_ALIAS: (&str, &str) =
    ("session_alias", "SELECT session FROM session_alias WHERE project = ?1 AND kind = ?2 AND value = ?3");
const NEW_SESSION: &str = "INSERT INTO session (id, project, kind, channel, title, title_salt, \
     title_commitment, created_at, first_project, first_title, genesis, closed, turns, last_seq, head, last_at, digest, \
     parent, fork_seq, fork_hash, origin) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?16, ?17, ?9, 0, 0, ?11, ?12, NULL, \
     ?10, ?13, ?14, ?15, ?18) ON CONFLICT (id) DO NOTHING";
const NEW_SESSION_ALIAS: &str = "INSERT INTO session_alias (project, kind, value, session, digest) \
     VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (project, kind, value) DO NOTHING";
pub(super) const SPEAKER_NAMED: (&str, &str) =
    ("speaker", "SELECT id FROM speaker WHERE kind = ?1 AND name = ?2");
const NEW_SPEAKER: &str = "INSERT INTO speaker (id, kind, name, name_salt, name_commitment, digest) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (id) DO NOTHING";

impl Write<'_> {
    pub(super) fn create_project(&mut self, c: &CreateProject, seed: &Seed) -> Result<Done, Fault> {
        if let Some(alias) = &c.alias {
            self.project_alias_free(alias, c.id)?;
        }
        self.not_erased(&tombstone::project(c.id), c.id)?;
        let salt = seed.salt(0);
        let name = commit(&salt, c.name.as_bytes());
        let digest = form::project_row(c.id, name, self.at, None);
        let row = params![c.id.to_string(), c.name.as_bytes(), salt.0, name.0, self.at.0, digest.0];
        if run(self.conn, NEW_PROJECT, row)? == 0 {
            return Err(taken(c.id));
        }
        if let Some(alias) = &c.alias {
            self.insert_project_alias(c.id, alias)?;
        }
        Ok(Done::Project(c.id))
    }

    pub(super) fn not_erased(&self, name: &tombstone::Name, id: impl std::fmt::Display) -> Result<(), Fault> {
        match tombstone::stands(self.conn, name)? {
            true => Err(Refusal::Erased(id.to_string()).into()),
            false => Ok(()),
        }
    }

    pub(super) fn add_alias(&mut self, project: ProjectId, alias: &Alias) -> Result<Done, Fault> {
        let project = self.project(project)?;
        self.project_alias_free(alias, project)?;
        self.insert_project_alias(project, alias)?;
        Ok(Done::Project(project))
    }

    /// An alias that is taken stays where it is.
    pub(super) fn insert_project_alias(&self, project: ProjectId, alias: &Alias) -> Result<(), Fault> {
        let digest = row::project_alias(project, &alias.kind, &alias.value);
        let row = params![alias.kind, alias.value, project.to_string(), digest.0];
        run(self.conn, NEW_PROJECT_ALIAS, row).map(|_| ())
    }

    pub(super) fn create_session(&mut self, c: &CreateSession, seed: &Seed) -> Result<Done, Fault> {
        let project = self.project(c.project)?;
        self.session_alias_free(project, c.alias.as_ref())?;
        let title = self.new_title(&c.title, seed);
        let session = Session {
            id: c.id,
            project,
            fork: None,
            kind: c.kind,
            channel: c.channel.clone(),
            title: c.title.clone(),
            created_at: self.at,
            closed: false,
            turns: 0,
            last_seq: 0,
            head: title.commitment,
            last_at: None,
            origin: None,
        };
        self.insert_session(session, title, None, c.alias.as_ref())
    }

    pub(super) fn fork_session(&mut self, c: &ForkSession, seed: &Seed) -> Result<Done, Fault> {
        let parent = self.session(c.parent)?.session.clone();
        self.session_alias_free(parent.project, c.alias.as_ref())?;
        let point = turns::at(self.conn, c.parent, c.through)?;
        let refused = || Fault::from(Refusal::NoForkPoint { through: c.through, last: parent.last_seq });
        let (owner, hash) = point.ok_or_else(refused)?;
        let title = self.new_title(&c.title, seed);
        let session = Session {
            id: c.id,
            fork: Some(ForkPoint { session: owner, seq: c.through }),
            title: c.title.clone(),
            created_at: self.at,
            closed: false,
            turns: 0,
            last_seq: c.through,
            head: hash,
            last_at: None,
            origin: None,
            ..parent
        };
        self.insert_session(session, title, Some(hash), c.alias.as_ref())
    }

    fn session_alias_free(&self, project: ProjectId, alias: Option<&Alias>) -> Result<(), Fault> {
        let Some(alias) = alias else { return Ok(()) };
        let key = (project.to_string(), &alias.kind, &alias.value);
        match one(self.conn, SESSION_ALIAS, key, |cells| cells.parse())? {
            Some(owner) => Err(Refusal::SessionAliasTaken { value: alias.value.clone(), owner }.into()),
            None if tombstone::stands(self.conn, &tombstone::alias(alias))? => {
                Err(Refusal::Erased(format!("the session {}", alias.value)).into())
            }
            None => Ok(()),
        }
    }

    fn new_title(&self, title: &str, seed: &Seed) -> Sealed {
        let salt = seed.salt(0);
        let commitment = commit(&salt, title.as_bytes());
        Sealed { text: Some(title.as_bytes().to_vec()), salt: Some(salt), commitment }
    }

    fn insert_session(
        &mut self,
        session: Session,
        title: Sealed,
        fork_hash: Option<Digest>,
        alias: Option<&Alias>,
    ) -> Result<Done, Fault> {
        let (id, project) = (session.id, session.project);
        self.not_erased(&tombstone::session(id), id)?;
        let record = self.new_session(session, title, fork_hash);
        self.insert_session_row(&record)?;
        if let Some(alias) = alias {
            self.insert_session_alias(project, id, alias)?;
        }
        self.sessions.insert(id, record);
        Ok(Done::Session(id))
    }

    pub(super) fn insert_session_row(&self, record: &SessionRecord) -> Result<(), Fault> {
        let s = &record.session;
        let row = params![
            s.id.to_string(),
            s.project.to_string(),
            s.kind.as_str(),
            s.channel,
            record.title.text,
            record.title.salt.map(|s| s.0),
            record.title.commitment.0,
            s.created_at.0,
            record.genesis.0,
            record.digest.0,
            read::clamp(s.last_seq),
            s.head.0,
            s.fork.map(|f| f.session.to_string()),
            s.fork.map(|f| read::clamp(f.seq)),
            record.fork_hash.map(|hash| hash.0),
            record.first_project.to_string(),
            record.first_title.0,
            s.origin.map(|ledger| ledger.to_string()),
        ];
        if run(self.conn, NEW_SESSION, row)? == 0 { Err(taken(s.id)) } else { Ok(()) }
    }

    /// An alias that is taken stays where it is.
    pub(super) fn insert_session_alias(
        &self,
        project: ProjectId,
        id: SessionId,
        alias: &Alias,
    ) -> Result<(), Fault> {
        let digest = row::session_alias(project, id, &alias.kind, &alias.value);
        let row = params![project.to_string(), alias.kind, alias.value, id.to_string(), digest.0];
        run(self.conn, NEW_SESSION_ALIAS, row).map(|_| ())
    }

    fn new_session(&self, session: Session, title: Sealed, fork_hash: Option<Digest>) -> SessionRecord {
        let commitment = title.commitment;
        let mut record = SessionRecord {
            first_project: session.project,
            session,
            title,
            first_title: commitment,
            fork_hash,
            genesis: commitment,
            digest: commitment,
        };
        // Each of these is taken over what stands above it.
        record.genesis = record.genesis_again(self.ledger);
        record.session.head = fork_hash.unwrap_or(record.genesis);
        record.digest = record.row_digest();
        record
    }

    pub(super) fn create_speaker(&mut self, c: &CreateSpeaker, seed: &Seed) -> Result<Done, Fault> {
        let named = (c.kind.as_str(), c.name.as_bytes());
        if let Some(found) = one(self.conn, SPEAKER_NAMED, named, |cells| cells.parse::<SpeakerId>())? {
            return Err(Refusal::SpeakerTaken(found).into());
        }
        let salt = seed.salt(0);
        let name = commit(&salt, c.name.as_bytes());
        let digest = form::speaker_row(c.id, c.kind, name);
        let row = params![c.id.to_string(), c.kind.as_str(), c.name.as_bytes(), salt.0, name.0, digest.0];
        if run(self.conn, NEW_SPEAKER, row)? == 0 {
            return Err(taken(c.id));
        }
        Ok(Done::Speaker(c.id))
    }
}
