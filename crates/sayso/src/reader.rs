//! Reading within a scope.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use sayso_model::{
    Compaction, Digest, Entry, EntryId, Mark, OutputId, ProjectId, SessionId, Speaker, SpeakerId,
};
use sayso_store::{
    Hit, KnownKeys, Output, Placed, Problem, Project, Report, Scope, Search, Session, Waiting,
};

use crate::error::Error;
use crate::ledger::Ledger;

/// Sees what its scope lets it see, and nothing else: what lies outside answers as what never existed.
#[derive(Debug, Clone)]
pub struct Reader {
    pub(crate) ledger: Ledger,
    pub(crate) scope: Scope,
}

/// The end of a session's chain as it was kept elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeadKept {
    /// The last entry's place then.
    pub seq: u64,
    /// The last entry's hash then.
    pub hash: Digest,
}

/// Entries that are read in one step of a walk.
const PAGE: usize = 512;

impl Reader {
    pub(crate) fn new(ledger: Ledger, scope: Scope) -> Self {
        Self { ledger, scope }
    }

    /// What it sees.
    #[must_use]
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// The ledger that it reads.
    #[must_use]
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The projects, by id.
    ///
    /// # Errors
    ///
    /// Storage errors.
    pub fn projects(&self) -> Result<Vec<Project>, Error> {
        Ok(self.ledger.store.projects(&self.scope)?)
    }

    /// One project.
    ///
    /// # Errors
    ///
    /// Storage errors.
    pub fn project(&self, id: ProjectId) -> Result<Option<Project>, Error> {
        Ok(self.ledger.store.project(&self.scope, id)?)
    }

    /// The sessions of a project, or all, by id.
    ///
    /// # Errors
    ///
    /// Storage errors.
    pub fn sessions(&self, project: Option<ProjectId>) -> Result<Vec<Session>, Error> {
        Ok(self.ledger.store.sessions(&self.scope, project)?)
    }

    /// One session.
    ///
    /// # Errors
    ///
    /// Storage errors.
    pub fn session(&self, id: SessionId) -> Result<Option<Session>, Error> {
        Ok(self.ledger.store.session(&self.scope, id)?)
    }

    /// The sessions with this alias, in whatever project: an agent program's session id is found though its project is
    /// not known.
    ///
    /// # Errors
    ///
    /// Storage errors.
    pub fn sessions_as(&self, alias: &sayso_store::Alias) -> Result<Vec<Session>, Error> {
        let lookup = sayso_store::Lookup::Alias(alias.clone());
        Ok(self.ledger.store.find_sessions(&self.scope, None, &lookup)?)
    }

    /// One speaker.
    ///
    /// # Errors
    ///
    /// Storage errors.
    pub fn speaker(&self, id: SpeakerId) -> Result<Option<Speaker>, Error> {
        Ok(self.ledger.store.speaker(&self.scope, id)?)
    }

    /// One entry, its texts checked.
    ///
    /// # Errors
    ///
    /// Storage errors, among them that a text is not what was written.
    pub fn entry(&self, id: EntryId) -> Result<Option<Entry>, Error> {
        Ok(self.ledger.store.entry(&self.scope, id)?)
    }

    /// At most `limit` entries of a session with `seq` greater than `after`, in order.
    ///
    /// # Errors
    ///
    /// As for [`Reader::entry`].
    pub fn entries(&self, session: SessionId, after: u64, limit: usize) -> Result<Vec<Entry>, Error> {
        Ok(self.ledger.store.entries(&self.scope, session, after, limit)?)
    }

    /// All entries of a session with `seq` greater than `after`, in order, read in pages.
    pub fn walk(&self, session: SessionId, after: u64) -> impl Iterator<Item = Result<Entry, Error>> {
        let mut from = Some(after);
        let pages = std::iter::from_fn(move || {
            let page = self.entries(session, from?, PAGE);
            from = page.as_ref().ok().and_then(|p| p.last()).map(|e| e.seq);
            Some(page)
        });
        pages.flat_map(|page| match page {
            Ok(entries) => entries.into_iter().map(Ok).collect::<Vec<_>>(),
            Err(error) => vec![Err(error)],
        })
    }

    /// The latest compaction of a session.
    ///
    /// # Errors
    ///
    /// As for [`Reader::entry`].
    pub fn latest_compaction(&self, session: SessionId) -> Result<Option<(Placed, Compaction)>, Error> {
        Ok(self.ledger.store.latest_compaction(&self.scope, session)?)
    }

    /// The turns of a session that hold a quote, up to a place.
    ///
    /// # Errors
    ///
    /// As for [`Reader::entry`].
    pub fn quotes(&self, session: SessionId, through: u64) -> Result<Vec<Entry>, Error> {
        Ok(self.ledger.store.quotes(&self.scope, session, through)?)
    }

    /// Forwarded turns of a session, or of all, that are not yet in the context of their agent.
    ///
    /// # Errors
    ///
    /// As for [`Reader::entry`].
    pub fn inbox(&self, session: Option<SessionId>) -> Result<Vec<Waiting>, Error> {
        Ok(self.ledger.store.waiting(&self.scope, session)?)
    }

    /// The marks of an entry, in order.
    ///
    /// # Errors
    ///
    /// Storage errors.
    pub fn marks(&self, of: EntryId) -> Result<Vec<Mark>, Error> {
        Ok(self.ledger.store.marks(&self.scope, of)?)
    }

    /// What was written under a key of a session.
    ///
    /// # Errors
    ///
    /// Storage errors.
    pub fn known(&self, session: SessionId, key: &str) -> Result<Option<Placed>, Error> {
        Ok(self.ledger.store.known(&self.scope, session, key)?)
    }

    /// Every key of a session with what was written under it, for who asks for many; `None` where there are more than `most`,
    /// or the scope does not see the session.
    ///
    /// # Errors
    ///
    /// As for [`Reader::known`].
    pub fn known_keys(&self, session: SessionId, most: usize) -> Result<Option<KnownKeys>, Error> {
        Ok(self.ledger.store.known_keys(&self.scope, session, most)?)
    }

    /// The turns whose texts have the words of a query, the last appended first; every committed turn is looked at. What is
    /// found, and where, is defined in [`sayso_store::search`].
    ///
    /// # Errors
    ///
    /// As for [`Reader::entry`].
    pub fn search(&self, search: &Search) -> Result<Vec<Hit>, Error> {
        Ok(self.ledger.store.search(&self.scope, search)?)
    }

    /// One output.
    ///
    /// # Errors
    ///
    /// Storage errors.
    pub fn output(&self, id: OutputId) -> Result<Option<Output>, Error> {
        Ok(self.ledger.store.output(&self.scope, id)?)
    }

    /// Copies the ledger into a new file while it is in use: one state of it, with nothing half written. Needs scope all.
    ///
    /// # Errors
    ///
    /// Storage errors: the file is there already, or cannot be made; a narrower scope.
    pub fn backup(&self, to: &Path) -> Result<(), Error> {
        Ok(self.ledger.store.backup(&self.scope, to)?)
    }

    /// Looks at everything and compares with heads that were kept elsewhere, by session; needs scope all.
    ///
    /// Without kept heads this finds damage and partial edits. Only against them does it show that a session was
    /// rewritten as a whole, shortened or removed.
    ///
    /// # Errors
    ///
    /// Storage errors that keep it from looking; a narrower scope.
    pub fn verify(&self, against: &BTreeMap<SessionId, HeadKept>) -> Result<Report, Error> {
        let mut report = self.ledger.store.verify(&self.scope)?;
        let there: BTreeSet<SessionId> = report.heads.iter().map(|h| h.session).collect();
        for (session, kept) in against {
            let differs = match there.contains(session) {
                true => self.differs(*session, *kept),
                false => Some("the session of a kept head is gone".to_owned()),
            };
            let (session, seq) = (Some(*session), Some(kept.seq));
            report.problems.extend(differs.map(|what| Problem { session, seq, entry: None, what }));
        }
        Ok(report)
    }

    /// How a session differs from its kept head. That it cannot be read is a difference too: the report must stand.
    fn differs(&self, session: SessionId, kept: HeadKept) -> Option<String> {
        match self.ledger.store.hash_at(&self.scope, session, kept.seq) {
            Ok(Some(hash)) if hash == kept.hash => None,
            // A session's beginning is not kept apart once it has entries; its first entry's chain was checked against it.
            Ok(None) if kept.seq == 0 => None,
            Ok(None) => Some(format!("the session ends before entry {} of the kept head", kept.seq)),
            Ok(Some(_)) => Some(format!(
                "the session was rewritten: entry {} has another hash than the kept head",
                kept.seq
            )),
            Err(error) => Some(format!("the session cannot be compared with its kept head: {error}")),
        }
    }
}
