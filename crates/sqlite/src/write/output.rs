//! Outputs.

use rusqlite::{Connection, params};
use sayso_model::{OutputId, UtcMs};
use sayso_store::{Done, Output, StoreOutput};

use super::{Write, taken};
use crate::blob;
use crate::cells::run;
use crate::fault::Fault;
use crate::read::{self, clamp};

const NEW_OUTPUT: &str = "INSERT INTO output (id, session, tool, state, exit, recorded_at, digest, command, signal, \
     timed_out, duration, pipe_held, charset, read_order) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14) ON CONFLICT (id) DO NOTHING";
const UPDATE: &str = "UPDATE output SET state = ?2, exit = ?3, digest = ?4, signal = ?5, timed_out = ?6, duration = ?7, \
     pipe_held = ?8, read_order = ?9 WHERE id = ?1";
const NEW_STREAM: &str =
    "INSERT INTO output_stream (output, kind, hash, bytes, total) VALUES (?1, ?2, ?3, ?4, ?5)";

impl Write<'_> {
    pub(super) fn store_output(&mut self, c: &StoreOutput) -> Result<Done, Fault> {
        let project = self.session(c.session)?.session.project;
        c.streams.iter().try_for_each(|s| self.blob(&s.blob))?;
        let mut streams = c.streams.clone();
        streams.sort_by_key(|s| s.kind);
        let output = Output {
            id: c.id,
            project,
            session: c.session,
            tool: c.tool.clone(),
            state: c.state,
            exit: c.exit,
            recorded_at: UtcMs(self.at.0),
            streams,
            run: c.run.clone(),
            growing: false,
        };
        insert(self.conn, &output)?;
        insert_streams(self.conn, &output)?;
        Ok(Done::Output(c.id))
    }

    pub(super) fn close_output(&self, id: OutputId) -> Result<Done, Fault> {
        blob::grow::close(self.conn, self.scope, id)?;
        Ok(Done::Output(id))
    }
}

/// The row of an output without its streams.
pub(crate) fn insert(conn: &Connection, o: &Output) -> Result<(), Fault> {
    let (digest, order) = (read::output::digest(o), order(o));
    let row = params![
        o.id.to_string(),
        o.session.to_string(),
        o.tool,
        o.state.as_str(),
        o.exit,
        o.recorded_at.0,
        digest.0,
        o.run.command.as_ref().map(|c| c.as_bytes()),
        o.run.signal,
        o.run.timed_out,
        o.run.duration_ms.map(clamp),
        o.run.pipe_held,
        o.run.charset,
        order,
    ];
    if run(conn, NEW_OUTPUT, row)? == 0 { Err(taken(o.id)) } else { Ok(()) }
}

/// The row of an output that is written while its tool runs: what changes of it.
pub(crate) fn update(conn: &Connection, o: &Output) -> Result<(), Fault> {
    let (digest, order) = (read::output::digest(o), order(o));
    let row = params![
        o.id.to_string(),
        o.state.as_str(),
        o.exit,
        digest.0,
        o.run.signal,
        o.run.timed_out,
        o.run.duration_ms.map(clamp),
        o.run.pipe_held,
        order,
    ];
    run(conn, UPDATE, row).map(|_| ())
}

/// The rows of an output's streams.
pub(crate) fn insert_streams(conn: &Connection, o: &Output) -> Result<(), Fault> {
    let id = o.id.to_string();
    for s in &o.streams {
        let (bytes, total) = (clamp(s.blob.bytes), s.total.map(clamp));
        run(conn, NEW_STREAM, params![id, s.kind.as_str(), s.blob.hash.0, bytes, total])?;
    }
    Ok(())
}

fn order(o: &Output) -> Option<String> {
    Some(o.run.order.to_text()).filter(|order| !order.is_empty())
}
