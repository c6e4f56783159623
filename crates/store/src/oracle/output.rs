//! Outputs whose bytes are stored.

use sayso_model::OutputId;

use super::apply::{Write, ordered};
use crate::command::{Done, StoreOutput};
use crate::error::Refusal;
use crate::query::Output;

impl Write<'_> {
    pub(super) fn store_output(&mut self, c: &StoreOutput) -> Result<Done, Refusal> {
        let project = self.session(c.session)?.project;
        c.streams.iter().try_for_each(|s| self.blob(&s.blob))?;
        self.free(self.state.outputs.contains_key(&c.id), c.id)?;
        let output = Output {
            id: c.id,
            project,
            session: c.session,
            tool: c.tool.clone(),
            state: c.state,
            exit: c.exit,
            recorded_at: self.at,
            streams: ordered(&c.streams),
            run: c.run.clone(),
            growing: false,
        };
        self.state.outputs.insert(c.id, output);
        Ok(Done::Output(c.id))
    }

    pub(super) fn close_output(&mut self, id: OutputId) -> Result<Done, Refusal> {
        self.state.output(self.scope, id).ok_or(Refusal::UnknownOutput(id))?;
        if let Some(output) = self.state.outputs.get_mut(&id).filter(|o| o.growing) {
            output.growing = false;
            for stream in &output.streams {
                let bytes = self.state.growing.remove(&(id, stream.kind)).unwrap_or_default();
                self.state.blobs.insert(stream.blob.hash, bytes);
            }
        }
        Ok(Done::Output(id))
    }
}
