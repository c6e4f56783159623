//! What commands refer to.

use sayso_model::{EntryId, OutputId, PartBody, ProjectId, SessionId, Speaker, SpeakerId};

use super::apply::Write;
use crate::error::Refusal;
use crate::query::{Blob, Session};

impl Write<'_> {
    /// A project that the scope sees: the one that an id leads to.
    pub(super) fn project(&self, given: ProjectId) -> Result<ProjectId, Refusal> {
        let id = self.state.resolve(given);
        let there = self.state.projects.contains_key(&id) && self.scope.sees(id);
        if there { Ok(id) } else { Err(Refusal::UnknownProject(given)) }
    }

    pub(super) fn session(&self, id: SessionId) -> Result<&Session, Refusal> {
        let session = self.state.sessions.get(&id).filter(|s| self.scope.sees(s.project));
        session.ok_or(Refusal::UnknownSession(id))
    }

    pub(super) fn speaker(&self, id: SpeakerId) -> Result<Speaker, Refusal> {
        let speaker = self.state.speakers.get(&id).map(|(s, _)| s.clone());
        speaker.ok_or(Refusal::UnknownSpeaker(id))
    }

    pub(super) fn entry_of(&self, session: SessionId, id: Option<EntryId>) -> Result<(), Refusal> {
        match id {
            Some(id) if self.state.entries.get(&id).is_none_or(|r| r.entry.session != session) => {
                Err(Refusal::UnknownTurn(id))
            }
            _ => Ok(()),
        }
    }

    /// An entry of the session, or of the beginning that it shares.
    pub(super) fn entry_in_view(&self, session: SessionId, id: Option<EntryId>) -> Result<(), Refusal> {
        match id {
            Some(id) if !self.state.view_of(self.scope, session).iter().any(|e| e.id == id) => {
                Err(Refusal::UnknownTurn(id))
            }
            _ => Ok(()),
        }
    }

    /// An output that a part names must be one of a visible project.
    pub(super) fn output_of(&self, body: &PartBody) -> Result<(), Refusal> {
        let named: Option<OutputId> = match body {
            PartBody::ToolResult(result) => result.output,
            PartBody::Attachment(attachment) => attachment.output,
            PartBody::Text(_) | PartBody::Reasoning(..) | PartBody::ToolCall(_) => None,
        };
        match named {
            Some(id) => match self.state.output(self.scope, id) {
                None => Err(Refusal::UnknownOutput(id)),
                Some(output) if output.growing => Err(Refusal::OutputGrowing(id)),
                Some(_) => Ok(()),
            },
            _ => Ok(()),
        }
    }

    pub(super) fn blob(&self, blob: &Blob) -> Result<(), Refusal> {
        let there = self.state.blobs.get(&blob.hash).is_some_and(|b| b.len() as u64 == blob.bytes);
        if there { Ok(()) } else { Err(Refusal::UnknownBlob(blob.hash)) }
    }
}
