//! What happens to projects and sessions after they were made.

use sayso_model::{EntryBody, Mark, MarkKind, ProjectId, Seed, SessionId};

use super::apply::Write;
use super::state::{Beginning, Gone};
use crate::command::{
    Alias, Done, Fate, ForkSession, MergeProject, MoveSession, RenameProject, RenameSession,
};
use crate::error::Refusal;
use crate::query::{ForkPoint, Session};

impl Write<'_> {
    pub(super) fn rename_project(&mut self, c: &RenameProject) -> Result<Done, Refusal> {
        let id = self.project(c.id)?;
        if let Some(project) = self.state.projects.get_mut(&id) {
            project.name.clone_from(&c.name);
        }
        Ok(Done::Project(id))
    }

    pub(super) fn merge_project(&mut self, c: &MergeProject) -> Result<Done, Refusal> {
        let (from, into) = (self.project(c.from)?, self.project(c.into)?);
        if from == into {
            return Err(Refusal::SameProject(into));
        }
        let sessions: Vec<SessionId> =
            self.state.sessions.values().filter(|s| s.project == from).map(|s| s.id).collect();
        sessions.into_iter().for_each(|session| self.change_project(session, into));
        let owners = self.state.project_aliases.values_mut();
        owners.filter(|owner| **owner == from).for_each(|owner| *owner = into);
        if let Some(project) = self.state.projects.get_mut(&from) {
            project.merged_into = Some(into);
            // Whoever types the old name means the project that it is part of now.
            let named = Alias::new("name", project.name.as_str());
            self.state.project_aliases.entry(named).or_insert(into);
        }
        Ok(Done::Project(into))
    }

    pub(super) fn rename_session(&mut self, c: &RenameSession, seed: &Seed) -> Result<Done, Refusal> {
        self.session(c.session)?;
        let titles =
            self.state.entries_of(&crate::query::Scope::All, c.session).filter_map(|e| match &e.body {
                EntryBody::Mark(mark) => Some((e.id, mark.title.as_ref()?)),
                EntryBody::Turn(_) | EntryBody::Compaction(_) | EntryBody::Reinjection(_) => None,
            });
        let last = titles.last().filter(|(_, title)| **title == c.title).map(|(id, _)| id);
        if let Some(known) = last.and_then(|id| self.state.placed(id)) {
            return Ok(Done::Entries(Fate::Known, vec![known]));
        }
        self.free_entry(c.id)?;
        let mark = Mark { title: Some(c.title.clone()), ..Mark::new(MarkKind::Renamed, None, "") };
        let placed = self.place(c.session, c.id, EntryBody::Mark(mark), seed);
        Ok(Done::Entries(Fate::New, vec![placed]))
    }

    pub(super) fn move_session(&mut self, c: &MoveSession, seed: &Seed) -> Result<Done, Refusal> {
        let from = self.session(c.session)?.project;
        let to = self.project(c.to)?;
        if from == to {
            return Err(Refusal::SameProject(to));
        }
        let session = self.session(c.session)?;
        if let Some(with) = self.shares_with(session) {
            return Err(Refusal::SharesBeginning { session: c.session, with });
        }
        self.free_entry(c.id)?;
        self.change_project(c.session, to);
        let mark = Mark { project: Some(to), ..Mark::new(MarkKind::Moved, None, "") };
        let placed = self.place(c.session, c.id, EntryBody::Mark(mark), seed);
        Ok(Done::Entries(Fate::New, vec![placed]))
    }

    pub(super) fn fork_session(&mut self, c: &ForkSession, seed: &Seed) -> Result<Done, Refusal> {
        let parent = self.session(c.parent)?.clone();
        let alias = c.alias.as_ref().map(|a| (parent.project, a.clone()));
        self.session_alias_free(alias.as_ref())?;
        let view = self.state.view_of(self.scope, c.parent);
        let point = view.iter().find(|e| e.seq == c.through);
        let refused = Refusal::NoForkPoint { through: c.through, last: parent.last_seq };
        let (owner, head) = point.map(|e| (e.session, e.hash)).ok_or(refused)?;
        self.not_erased(Gone::Session(c.id), c.id)?;
        self.free(self.state.sessions.contains_key(&c.id), c.id)?;
        let fork = Session {
            id: c.id,
            fork: Some(ForkPoint { session: owner, seq: c.through }),
            title: c.title.clone(),
            created_at: self.at,
            closed: false,
            turns: 0,
            last_seq: c.through,
            head,
            last_at: None,
            origin: None,
            ..parent
        };
        let begin = self.beginning(fork.project, &c.title, seed);
        self.state.beginnings.insert(c.id, Beginning { fork_hash: Some(head), ..begin });
        self.state.sessions.insert(c.id, fork);
        if let Some(alias) = alias {
            self.state.session_aliases.insert(alias, c.id);
        }
        Ok(Done::Session(c.id))
    }

    /// A session that shares entries with this one: its parent, or the first of its forks.
    fn shares_with(&self, session: &Session) -> Option<SessionId> {
        let forks = self.state.sessions.values().filter(|s| s.fork.is_some_and(|f| f.session == session.id));
        session.fork.map(|f| f.session).or_else(|| forks.map(|s| s.id).next())
    }

    /// Takes a session into another project, with its aliases but for those that are taken there.
    pub(super) fn change_project(&mut self, id: SessionId, to: ProjectId) {
        if let Some(session) = self.state.sessions.get_mut(&id) {
            session.project = to;
        }
        let entries = self.state.entries.values_mut().filter(|r| r.entry.session == id);
        entries.for_each(|r| r.entry.project = to);
        let outputs = self.state.outputs.values_mut().filter(|o| o.session == id);
        outputs.for_each(|o| o.project = to);
        let aliases = &mut self.state.session_aliases;
        let own: Vec<(ProjectId, Alias)> =
            aliases.iter().filter(|(_, owner)| **owner == id).map(|(alias, _)| alias.clone()).collect();
        for key in own {
            aliases.remove(&key);
            aliases.entry((to, key.1)).or_insert(id);
        }
    }
}
