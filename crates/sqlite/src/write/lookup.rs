//! What commands refer to.

use sayso_model::canon::commit;
use sayso_model::{EntryId, PartBody, ProjectId, SessionId, Speaker, SpeakerId};
use sayso_store::{Alias, Blob, Placed, Refusal};

use super::{Write, unknown_turn};
use crate::cells::one;
use crate::fault::Fault;
use crate::read;
use crate::read::turns::{self, PLACE, read_place};
use crate::rows;

const PROJECT_ALIAS: (&str, &str) =
    ("project_alias", "SELECT project FROM project_alias WHERE kind = ?1 AND value = ?2");
const ENTRY: (&str, &str) = ("entry", "SELECT session FROM entry WHERE id = ?1");
const BLOB: (&str, &str) = ("blob", "SELECT bytes FROM blob WHERE hash = ?1");
impl Write<'_> {
    /// A project that the scope sees: the one that an id leads to.
    pub(super) fn project(&self, given: ProjectId) -> Result<ProjectId, Fault> {
        let found = rows::resolve(self.conn, given)?.filter(|id| self.scope.sees(*id));
        found.ok_or_else(|| Refusal::UnknownProject(given).into())
    }

    pub(super) fn project_alias_free(&self, alias: &Alias, project: ProjectId) -> Result<(), Fault> {
        match self.project_alias(alias)? {
            Some(owner) if owner != project => {
                Err(Refusal::ProjectAliasTaken { value: alias.value.clone(), owner }.into())
            }
            _ => Ok(()),
        }
    }

    pub(super) fn project_alias(&self, alias: &Alias) -> Result<Option<ProjectId>, Fault> {
        one(self.conn, PROJECT_ALIAS, (&alias.kind, &alias.value), |c| c.parse())
    }

    pub(super) fn speaker(&mut self, id: SpeakerId) -> Result<Speaker, Fault> {
        let found = self.speakers.find(self.conn, id)?;
        found.ok_or_else(|| Refusal::UnknownSpeaker(id).into())
    }

    pub(super) fn entry_of(&self, session: SessionId, id: Option<EntryId>) -> Result<(), Fault> {
        let Some(id) = id else { return Ok(()) };
        let found = one(self.conn, ENTRY, [id.to_string()], |c| c.parse::<SessionId>())?;
        if found == Some(session) { Ok(()) } else { Err(unknown_turn(id)) }
    }

    /// An entry of the session, or of the beginning that it shares.
    pub(super) fn entry_in_view(&mut self, session: SessionId, id: Option<EntryId>) -> Result<(), Fault> {
        let Some(id) = id else { return Ok(()) };
        if self.session(session)?.session.fork.is_none() {
            return self.entry_of(session, Some(id));
        }
        let found = one(self.conn, PLACE, [id.to_string()], read_place)?;
        let found = found.map(|p| Ok::<_, Fault>((p.session, turns::at(self.conn, session, p.seq)?)));
        match found.transpose()? {
            Some((there, Some((owner, _)))) if there == owner => Ok(()),
            _ => Err(unknown_turn(id)),
        }
    }

    /// An output that a part names must be one of a visible project.
    pub(super) fn output_of(&self, body: &PartBody) -> Result<(), Fault> {
        let named = match body {
            PartBody::ToolResult(result) => result.output,
            PartBody::Attachment(attachment) => attachment.output,
            PartBody::Text(_) | PartBody::Reasoning(..) | PartBody::ToolCall(_) => None,
        };
        match named {
            Some(id) if !read::output::visible(self.conn, self.scope, id)? => {
                Err(Refusal::UnknownOutput(id).into())
            }
            Some(id) if read::output::grows(self.conn, id)? => Err(Refusal::OutputGrowing(id).into()),
            _ => Ok(()),
        }
    }

    pub(super) fn blob(&self, blob: &Blob) -> Result<(), Fault> {
        let bytes = one(self.conn, BLOB, [blob.hash.0], |c| c.number::<u64>())?;
        if bytes == Some(blob.bytes) { Ok(()) } else { Err(Refusal::UnknownBlob(blob.hash).into()) }
    }

    /// What was written under a key before, if the content is the same.
    pub(super) fn known(
        &self,
        session: SessionId,
        kind: &'static str,
        key: Option<&str>,
        content: impl FnOnce() -> Vec<u8>,
    ) -> Result<Option<Placed>, Fault> {
        let Some(key) = key else { return Ok(None) };
        let Some(found) = read::key::find(self.conn, session, kind, key)? else { return Ok(None) };
        // Where the text was taken away, nothing is left to compare with.
        if found.salt.is_none_or(|salt| commit(&salt, &content()) == found.content) {
            return Ok(Some(found.placed));
        }
        Err(Refusal::Conflict { key: key.to_owned(), written: found.placed.id }.into())
    }

    /// What was written under a key, whatever its content.
    pub(super) fn under_key(
        &self,
        session: SessionId,
        kind: &'static str,
        key: &str,
    ) -> Result<Option<Placed>, Fault> {
        Ok(read::key::find(self.conn, session, kind, key)?.map(|found| found.placed))
    }
}
