//! The commands of a batch.

use std::fs::File;
use std::io::Read;

use sayso::Error;
use sayso::store::{AppendTurn, Command, MarkEntry, NewPart, OutputStream, Run, StoreOutput};
use sayso_model::{EntryId, OutputId, PartBody, SessionId};

use super::Sink;
use super::track::{Of, Step};
use crate::draft::{Draft, DraftPart, Source, Whole};
use crate::session::within;

impl Sink<'_> {
    /// The commands that write these steps, with their bytes stored.
    pub(super) fn batch(&mut self, steps: &[Step]) -> Result<Vec<Command>, Error> {
        let session = self.session()?;
        let mut commands = Vec::new();
        for step in steps {
            match step {
                Step::Turn(draft, index) => self.append(session, draft, *index, &mut commands)?,
                Step::Mark(kind, of, route) => commands.push(Command::Mark(MarkEntry {
                    id: self.ledger.fresh_entry(),
                    session,
                    kind: *kind,
                    of: match of {
                        Of::Entry(id) => Some(*id),
                        Of::Place(index) => Some(self.entry_id(*index)),
                        Of::Session => None,
                    },
                    route: route.clone(),
                })),
            }
        }
        Ok(commands)
    }

    fn append(
        &mut self,
        session: SessionId,
        draft: &Draft,
        index: usize,
        commands: &mut Vec<Command>,
    ) -> Result<(), Error> {
        let mut parts = Vec::new();
        for part in &draft.parts {
            let by = part.by.as_ref().filter(|by| **by != draft.speaker);
            let by = by.map(|who| self.speaker(who)).transpose()?;
            let body = self.body(session, part, commands)?;
            parts.push(NewPart { by, body });
        }
        commands.push(Command::AppendTurn(AppendTurn {
            id: self.entry_id(index),
            session,
            speaker: self.speaker(&draft.speaker)?,
            said_at: draft.meta.said_at,
            reply_to: draft.meta.answers.map(|index| self.entry_id(index)),
            repairs: u32::try_from(draft.meta.repairs).unwrap_or(u32::MAX),
            parts,
            key: Some(draft.meta.key.clone()),
            expected_head: None,
        }));
        Ok(())
    }

    pub(super) fn entry_id(&self, index: usize) -> EntryId {
        let place = self.track.places.get(index);
        place.map_or_else(|| self.ledger.fresh_entry(), |place| place.id)
    }

    fn body(
        &self,
        session: SessionId,
        part: &DraftPart,
        commands: &mut Vec<Command>,
    ) -> Result<PartBody, Error> {
        let mut body = part.body.clone();
        let Some(whole) = &part.whole else { return Ok(body) };
        let (tool, link) = match &mut body {
            PartBody::ToolResult(result) => (result.tool.clone(), &mut result.output),
            PartBody::Attachment(attachment) => (String::new(), &mut attachment.output),
            PartBody::Text(_) | PartBody::Reasoning(..) | PartBody::ToolCall(_) => return Ok(body),
        };
        *link = self.store(session, &tool, whole, commands)?;
        Ok(body)
    }

    /// Stores bytes and adds the command that records them; `None` where a named file went away meanwhile.
    fn store(
        &self,
        session: SessionId,
        tool: &str,
        whole: &Whole,
        commands: &mut Vec<Command>,
    ) -> Result<Option<OutputId>, Error> {
        let mut streams = Vec::new();
        for (kind, source) in &whole.streams {
            let mut bytes: Box<dyn Read> = match source {
                Source::Bytes(bytes) => Box::new(bytes.as_slice()),
                Source::File(path) => match File::open(path) {
                    Ok(file) => Box::new(file),
                    Err(_) => continue,
                },
            };
            streams.push(OutputStream::new(*kind, self.ledger.put_blob(&mut bytes)?));
        }
        if streams.is_empty() {
            return Ok(None);
        }
        let id = self.ledger.fresh_output();
        let tool = within(tool).to_owned();
        commands.push(Command::StoreOutput(StoreOutput {
            id,
            session,
            tool,
            state: whole.state,
            exit: whole.exit,
            streams,
            run: Run::default(),
        }));
        Ok(Some(id))
    }
}
