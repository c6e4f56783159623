//! What commands refer to.

use sayso_model::canon::commit;
use sayso_model::{Digest, EntryId, PartBody, ProjectId, Salt, SessionId, Speaker, SpeakerId, row};
use sayso_store::{Alias, Blob, Placed, Refusal};

use super::{Write, unknown_turn};
use crate::cells::one;
use crate::fault::Fault;
use crate::read;
use crate::read::turns::{place_columns, read_place};

const PROJECT: (&str, &str) = ("project", "SELECT 1 FROM project WHERE id = ?1");
const PROJECT_ALIAS: (&str, &str) =
    ("project_alias", "SELECT project FROM project_alias WHERE kind = ?1 AND value = ?2");
const ENTRY: (&str, &str) = ("entry", "SELECT session FROM entry WHERE id = ?1");
const BLOB: (&str, &str) = ("blob", "SELECT bytes FROM blob WHERE hash = ?1");
const KEY: (&str, &str) = (
    "caller_key",
    concat!(
        "SELECT k.salt, k.content, k.digest, ",
        place_columns!(),
        " FROM caller_key k \
         JOIN entry e ON e.no = k.entry JOIN session s ON s.id = e.session \
         WHERE k.session = ?1 AND k.kind = ?2 AND k.value = ?3"
    ),
);

impl Write<'_> {
    pub(super) fn project(&self, id: ProjectId) -> Result<(), Fault> {
        let there = one(self.conn, PROJECT, [id.to_string()], |c| c.int())?;
        match there.filter(|_| self.scope.sees(id)) {
            Some(_) => Ok(()),
            None => Err(Refusal::UnknownProject(id).into()),
        }
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
        let Some(found) = self.key_row(session, kind, key)? else { return Ok(None) };
        let (salt, commitment, placed) = found;
        if salt.is_some_and(|salt| commit(&salt, &content()) == commitment) {
            return Ok(Some(placed));
        }
        Err(Refusal::Conflict { key: key.to_owned(), written: placed.id }.into())
    }

    /// What was written under a key, whatever its content.
    pub(super) fn under_key(
        &self,
        session: SessionId,
        kind: &'static str,
        key: &str,
    ) -> Result<Option<Placed>, Fault> {
        Ok(self.key_row(session, kind, key)?.map(|(_, _, placed)| placed))
    }

    fn key_row(&self, session: SessionId, kind: &'static str, key: &str) -> Result<Option<KeyRow>, Fault> {
        let found = one(self.conn, KEY, (session.to_string(), kind, key), |c| {
            Ok((c.salt_opt()?, c.digest()?, c.digest()?, read_place(c)?))
        })?;
        let Some((salt, commitment, digest, placed)) = found else { return Ok(None) };
        check_key(session, (kind, key), commitment, digest, &placed)?;
        Ok(Some((salt, commitment, placed)))
    }
}

/// A key's salt, the commitment to its content, and what was written under it.
type KeyRow = (Option<Salt>, Digest, Placed);

/// A row that names another entry than was written would make a retry return a stranger's turn.
fn check_key(
    session: SessionId,
    (kind, key): (&str, &str),
    content: Digest,
    digest: Digest,
    placed: &Placed,
) -> Result<(), Fault> {
    if row::key(session, kind, key, content, placed.id) == digest && placed.session == session {
        return Ok(());
    }
    Err(Fault::Damaged(format!("the row of key {key:?} of session {session} is not what was written")))
}
