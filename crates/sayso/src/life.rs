//! What happens to projects and sessions after they were made: names, homes, opening and closing.

use sayso_model::{MarkKind, ProjectId, SessionId};
use sayso_store::{
    Alias, Command, Done, Fate, Lookup, MarkEntry, MergeProject, MoveSession, Placed, Project, Refusal,
    RenameProject, RenameSession, Scope, StoreError,
};

use crate::error::Error;
use crate::ledger::first;
use crate::reader::Reader;
use crate::resolve::unknown;

impl Reader {
    /// Gives a session another title. Its address stays, and so do the names that were typed for it.
    ///
    /// # Errors
    ///
    /// [`Error::Store`] with the refusal: the session is unknown, the title is too long; storage errors.
    pub fn rename_session(
        &self,
        session: SessionId,
        title: impl Into<String>,
    ) -> Result<(Fate, Placed), Error> {
        let (id, title) = (self.ledger.fresh_entry(), title.into());
        self.write_entry(Command::RenameSession(RenameSession { id, session, title }))
    }

    /// Closes a session: it takes no more turns. One that is closed stays so.
    ///
    /// # Errors
    ///
    /// [`Error::Store`] with the refusal: the session is unknown; storage errors.
    pub fn close_session(&self, session: SessionId) -> Result<(Fate, Placed), Error> {
        self.mark_session(session, MarkKind::Closed)
    }

    /// Opens a closed session again.
    ///
    /// # Errors
    ///
    /// [`Error::Store`] with the refusal: the session is unknown, or open; storage errors.
    pub fn reopen_session(&self, session: SessionId) -> Result<(Fate, Placed), Error> {
        self.mark_session(session, MarkKind::Reopened)
    }

    fn mark_session(&self, session: SessionId, kind: MarkKind) -> Result<(Fate, Placed), Error> {
        let id = self.ledger.fresh_entry();
        self.write_entry(Command::Mark(MarkEntry { id, session, kind, of: None, route: String::new() }))
    }

    /// Moves a session into another project; the scope must see both. Addresses keep leading to it.
    ///
    /// # Errors
    ///
    /// [`Error::Store`] with the refusal: session or project are unknown, the session is there already; storage errors.
    pub fn move_session(&self, session: SessionId, to: ProjectId) -> Result<(Fate, Placed), Error> {
        let id = self.ledger.fresh_entry();
        self.write_entry(Command::MoveSession(MoveSession { id, session, to }))
    }

    /// Gives a project another name, which no other project within the scope has.
    ///
    /// # Errors
    ///
    /// [`Error::Store`] with the refusal: the project is unknown, the name empty, too long or another's; storage errors.
    pub fn rename_project(&self, id: ProjectId, name: impl Into<String>) -> Result<Project, Error> {
        let name = name.into();
        let named = self.ledger.store.find_projects(&self.scope, &Lookup::Name(name.clone()))?;
        // An unknown project is refused as such, whatever the name.
        let here = self.project(id)?.map(|p| p.id);
        match named.iter().find(|p| here.is_some_and(|here| here != p.id)) {
            Some(other) => Err(refused(Refusal::ProjectAliasTaken { value: name, owner: other.id })),
            None => self.write_project(Command::RenameProject(RenameProject { id, name })),
        }
    }

    /// Gives a project one more name, path or other alias under which it is found. An alias belongs to one project of the
    /// whole ledger, so a reader that sees some of it only could find out what others are called: it may not.
    ///
    /// # Errors
    ///
    /// [`StoreError::NeedsWholeLedger`] in a narrower scope; [`Error::Store`] with the refusal: the project is unknown,
    /// another one has the alias; storage errors.
    pub fn add_alias(&self, project: ProjectId, alias: Alias) -> Result<Project, Error> {
        if self.scope != Scope::All {
            return Err(StoreError::NeedsWholeLedger.into());
        }
        self.write_project(Command::AddAlias(project, alias))
    }

    /// Makes a project part of another; the scope must see both. Its sessions, aliases and name lead there from now on,
    /// and so do addresses.
    ///
    /// # Errors
    ///
    /// [`Error::Store`] with the refusal: a project is unknown, or both are the same; storage errors.
    pub fn merge_project(&self, from: ProjectId, into: ProjectId) -> Result<Project, Error> {
        self.write_project(Command::MergeProject(MergeProject { from, into }))
    }

    pub(crate) fn write_entry(&self, command: Command) -> Result<(Fate, Placed), Error> {
        first(&self.ledger.write(&self.scope, vec![command])?)
    }

    fn write_project(&self, command: Command) -> Result<Project, Error> {
        let done = self.ledger.write(&self.scope, vec![command])?;
        let id = done.iter().find_map(|d| if let Done::Project(id) = d { Some(*id) } else { None });
        let found = id.map(|id| self.project(id)).transpose()?.flatten();
        found.ok_or_else(|| unknown("project", "", Vec::new()))
    }
}

fn refused(refusal: Refusal) -> Error {
    StoreError::Refused { index: 0, refusal }.into()
}
