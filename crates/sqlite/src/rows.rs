//! Rows of projects, sessions and speakers: how they are read, and how they are checked.

use std::collections::HashMap;

use rusqlite::Connection;
use sayso_model::form::{self, Genesis};
use sayso_model::row::{self, SessionRow};
use sayso_model::{Digest, LedgerId, ProjectId, SessionId, Speaker, SpeakerId, SpeakerKind, UtcMs};
use sayso_store::{Project, Session};

use crate::cells::{Cells, Sealed, one};
use crate::fault::Fault;

/// A session's row. The session inside has no title yet: the title is sealed until it was checked.
#[derive(Debug, Clone)]
pub(crate) struct SessionRecord {
    pub(crate) session: Session,
    pub(crate) title: Sealed,
    pub(crate) first_project: ProjectId,
    pub(crate) first_title: Digest,
    /// The hash of the entry where it was forked off.
    pub(crate) fork_hash: Option<Digest>,
    pub(crate) genesis: Digest,
    pub(crate) digest: Digest,
}

/// The columns of a session's row, for a `SELECT` that calls the table `s`.
macro_rules! session_columns {
    () => {
        "s.id, s.project, s.kind, s.channel, s.title_salt, s.title_commitment, s.title, s.created_at, \
         s.first_project, s.first_title, s.parent, s.fork_seq, s.fork_hash, s.genesis, s.closed, s.turns, s.last_seq, s.head, s.last_at, s.origin, s.digest"
    };
}
pub(crate) use session_columns;

impl SessionRecord {
    pub(crate) fn read(c: &mut Cells<'_>) -> Result<Self, Fault> {
        let (id, project, kind, channel) = (c.parse()?, c.parse()?, c.parse()?, c.text_opt()?);
        let (title, created_at) = (c.sealed()?, UtcMs(c.int()?));
        let (first_project, first_title) = (c.parse()?, c.digest()?);
        let fork = c.fork()?;
        let (fork_hash, genesis) = (c.digest_opt()?, c.digest()?);
        let session = Session {
            id,
            project,
            fork,
            kind,
            channel,
            title: String::new(),
            created_at,
            closed: c.flag()?,
            turns: c.number()?,
            last_seq: c.number()?,
            head: c.digest()?,
            last_at: c.int_opt()?.map(UtcMs),
            origin: c.parse_opt()?,
        };
        Ok(Self { session, title, first_project, first_title, fork_hash, genesis, digest: c.digest()? })
    }

    pub(crate) fn row_digest(&self) -> Digest {
        let s = &self.session;
        row::session(&SessionRow {
            genesis: self.genesis,
            fork: s.fork.map(|f| (f.session, f.seq)),
            project: s.project,
            title: self.title.commitment,
            closed: s.closed,
            turns: s.turns,
            last_seq: s.last_seq,
            head: s.head,
            last_at: s.last_at,
        })
    }

    /// The hash of its beginning again; `ledger` is the one that it is read from.
    pub(crate) fn genesis_again(&self, ledger: LedgerId) -> Digest {
        form::genesis(&Genesis {
            ledger: self.session.origin.unwrap_or(ledger),
            project: self.first_project,
            session: self.session.id,
            kind: self.session.kind,
            channel: self.session.channel.as_deref(),
            title: self.first_title,
            created_at: self.session.created_at,
            fork: self.session.fork.zip(self.fork_hash).map(|(f, hash)| (f.session, f.seq, hash)),
        })
    }

    /// Checks the row and puts the title in its place.
    pub(crate) fn checked(mut self) -> Result<Self, Fault> {
        let id = self.session.id;
        if self.digest != self.row_digest() {
            return Err(Fault::Damaged(format!("the row of session {id} is not what was written")));
        }
        let title = self.title.clone().open_kept();
        let title = title
            .map_err(|_| Fault::Damaged(format!("the title of session {id} is not what was written")))?;
        // Whether it may be gone is looked at by whoever verifies.
        self.session.title = title.unwrap_or_default();
        Ok(self)
    }
}

pub(crate) const SESSION: (&str, &str) =
    ("session", concat!("SELECT ", session_columns!(), " FROM session s WHERE s.id = ?1 AND s.erasing = 0"));

/// A session's row, checked.
pub(crate) fn session(conn: &Connection, id: SessionId) -> Result<Option<SessionRecord>, Fault> {
    one(conn, SESSION, [id.to_string()], SessionRecord::read)?.map(SessionRecord::checked).transpose()
}

/// A project's row; the turns and the last time are those of its sessions.
#[derive(Debug)]
pub(crate) struct ProjectRecord {
    pub(crate) project: Project,
    pub(crate) name: Sealed,
    pub(crate) merged_into: Option<ProjectId>,
    pub(crate) digest: Digest,
}

/// The columns of a project's row, for a `SELECT` that calls the table `p`.
macro_rules! project_columns {
    () => {
        "p.id, p.name_salt, p.name_commitment, p.name, p.created_at, p.merged_into, p.digest, \
         (SELECT coalesce(sum(s.turns), 0) FROM session s WHERE s.project = p.id AND s.erasing = 0), \
         (SELECT max(s.last_at) FROM session s WHERE s.project = p.id AND s.erasing = 0)"
    };
}
pub(crate) use project_columns;

impl ProjectRecord {
    pub(crate) fn read(c: &mut Cells<'_>) -> Result<Self, Fault> {
        let (id, name, created_at) = (c.parse()?, c.sealed()?, UtcMs(c.int()?));
        let (merged_into, digest) = (c.parse_opt()?, c.digest()?);
        let project = Project {
            id,
            name: String::new(),
            created_at,
            turns: c.number()?,
            last_at: c.int_opt()?.map(UtcMs),
        };
        Ok(Self { project, name, merged_into, digest })
    }

    pub(crate) fn row_digest(&self) -> Digest {
        form::project_row(self.project.id, self.name.commitment, self.project.created_at, self.merged_into)
    }

    /// Checks the row and puts the name in its place.
    pub(crate) fn checked(mut self) -> Result<Project, Fault> {
        let id = self.project.id;
        if self.digest != self.row_digest() {
            return Err(Fault::Damaged(format!("the row of project {id} is not what was written")));
        }
        let name = self.name.open();
        let name =
            name.map_err(|_| Fault::Damaged(format!("the name of project {id} is not what was written")))?;
        self.project.name = name;
        Ok(self.project)
    }
}

pub(crate) const MERGED: (&str, &str) =
    ("project", "SELECT merged_into FROM project WHERE id = ?1 AND erasing = 0");

/// The project that an id leads to: its own, or the one that it was merged into; `None` for an id that was never one.
pub(crate) fn resolve(conn: &Connection, id: ProjectId) -> Result<Option<ProjectId>, Fault> {
    let mut found = id;
    // A damaged row could lead in a circle.
    for _ in 0..MERGES {
        match one(conn, MERGED, [found.to_string()], |c| c.parse_opt::<ProjectId>())? {
            Some(Some(into)) => found = into,
            Some(None) => return Ok(Some(found)),
            None => return Ok(None),
        }
    }
    Err(Fault::Damaged(format!("project {id} was merged in a circle")))
}

/// Merges that are followed at most.
const MERGES: usize = 10_000;

/// A speaker's row.
#[derive(Debug)]
pub(crate) struct SpeakerRecord {
    pub(crate) id: SpeakerId,
    pub(crate) kind: SpeakerKind,
    pub(crate) name: Sealed,
    pub(crate) digest: Digest,
}

impl SpeakerRecord {
    pub(crate) fn read(c: &mut Cells<'_>) -> Result<Self, Fault> {
        Ok(Self { id: c.parse()?, kind: c.parse()?, name: c.sealed()?, digest: c.digest()? })
    }

    pub(crate) fn row_digest(&self) -> Digest {
        form::speaker_row(self.id, self.kind, self.name.commitment)
    }

    fn checked(self) -> Result<Voice, Fault> {
        let (id, kind, commitment) = (self.id, self.kind, self.name.commitment);
        let row = self.digest == self.row_digest();
        match self.name.open() {
            Ok(name) if row => Ok(Voice { speaker: Speaker { id, kind, name }, commitment }),
            _ => Err(Fault::Damaged(format!("the row of speaker {id} is not what was written"))),
        }
    }

    /// The speaker as it stands there, right or wrong.
    fn unchecked(self) -> Voice {
        let name = self.name.text.and_then(|n| String::from_utf8(n).ok()).unwrap_or_default();
        let speaker = Speaker { id: self.id, kind: self.kind, name };
        Voice { speaker, commitment: self.name.commitment }
    }
}

/// A speaker and the commitment to the name.
#[derive(Debug, Clone)]
pub(crate) struct Voice {
    pub(crate) speaker: Speaker,
    pub(crate) commitment: Digest,
}

/// Whether what is read must be right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trust {
    /// What is wrong is an error.
    Checked,
    /// What is wrong is found elsewhere; this goes on.
    AsItStands,
}

/// Speakers by id.
pub(crate) type Voices = HashMap<SpeakerId, Voice>;

/// Speakers that one read or one batch meets, each read once.
#[derive(Debug)]
pub(crate) struct Speakers<'a> {
    trust: Trust,
    /// Those that were met before: a speaker never changes.
    before: Option<&'a Voices>,
    known: Voices,
}

pub(crate) const SPEAKER: (&str, &str) = (
    "speaker",
    "SELECT id, kind, name_salt, name_commitment, coalesce(name, namesake), digest FROM speaker WHERE id = ?1",
);

impl<'a> Speakers<'a> {
    pub(crate) fn new(trust: Trust) -> Self {
        Self { trust, before: None, known: HashMap::new() }
    }

    /// For a writer, which keeps what it learns for the batches that follow.
    pub(crate) fn after(before: &'a Voices) -> Self {
        Self { trust: Trust::Checked, before: Some(before), known: HashMap::new() }
    }

    /// Those that were not met before.
    pub(crate) fn learned(self) -> Voices {
        self.known
    }

    fn voice(&self, id: SpeakerId) -> Option<&Voice> {
        self.known.get(&id).or_else(|| self.before?.get(&id))
    }

    /// A speaker, if there is one.
    pub(crate) fn find(&mut self, conn: &Connection, id: SpeakerId) -> Result<Option<Speaker>, Fault> {
        if let Some(voice) = self.voice(id) {
            return Ok(Some(voice.speaker.clone()));
        }
        let Some(record) = one(conn, SPEAKER, [id.to_string()], SpeakerRecord::read)? else {
            return Ok(None);
        };
        let voice = match self.trust {
            Trust::Checked => record.checked()?,
            Trust::AsItStands => record.unchecked(),
        };
        Ok(Some(self.known.entry(id).or_insert(voice).speaker.clone()))
    }

    /// A speaker that a row names.
    pub(crate) fn named(&mut self, conn: &Connection, id: SpeakerId) -> Result<Speaker, Fault> {
        let found = self.find(conn, id)?;
        found.ok_or_else(|| Fault::Damaged(format!("the row of speaker {id} is missing")))
    }

    /// The commitment to the name of a speaker that was read before.
    pub(crate) fn commitment(&self, id: SpeakerId) -> Digest {
        self.voice(id).map_or(Digest::ZERO, |voice| voice.commitment)
    }
}
