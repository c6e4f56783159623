//! Outputs that are written while their tool runs.
//!
//! Each transaction leaves an output that is whole in itself: its rows, its digest over them, and for each stream the bytes
//! so far under the hash of just these. So there is nothing to mend after a crash. A stream that grows has a blob without a
//! name: the same bytes may grow twice at once.

use std::sync::Arc;

use rusqlite::{Connection, params};
use sayso_model::{OutputId, ProjectId};
use sayso_store::grow::refused;
use sayso_store::{
    Blob, EndOutput, GrowingOutput, Output, OutputState, OutputStream, ReadOrder, Refusal, Scope,
    StartOutput, StoreError, StreamKind, check,
};

use super::drop;
use super::put::abandon;
use super::upload::{Finished, Staged, Upload, Whole, name, named};
use crate::SqliteStore;
use crate::cells::{all, one, run};
use crate::fault::Fault;
use crate::read::{clamp, find, output};
use crate::write::output::{insert, update};

const CONTEXT: &str = "storing an output";
const GROWS: (&str, &str) = ("growing_stream", "SELECT 1 FROM growing_stream WHERE output = ?1");
const PUT_STREAM: &str = "INSERT INTO growing_stream (output, kind, blob, hash, bytes) VALUES (?1, ?2, ?3, ?4, ?5) \
     ON CONFLICT (output, kind) DO UPDATE SET hash = ?4, bytes = ?5";
const STREAMS: (&str, &str) = (
    "growing_stream",
    "SELECT kind, blob, hash, bytes FROM growing_stream WHERE output = ?1 ORDER BY kind DESC",
);
const DROP_STREAMS: &str = "DELETE FROM growing_stream WHERE output = ?1";
const NEW_STREAM: &str = "INSERT INTO output_stream (output, kind, hash, bytes) VALUES (?1, ?2, ?3, ?4)";

/// An output while its tool runs.
struct Growing {
    store: Arc<SqliteStore>,
    start: StartOutput,
    order: ReadOrder,
    /// Standard output first; there always is one.
    streams: Vec<(StreamKind, Upload)>,
    kept: bool,
}

pub(crate) fn start(
    store: Arc<SqliteStore>,
    start: StartOutput,
) -> Result<Box<dyn GrowingOutput>, StoreError> {
    check::start(&start).map_err(refused)?;
    store.read_with(CONTEXT, |conn| project(conn, &start))?;
    let streams = vec![(StreamKind::Stdout, Upload::new()?)];
    Ok(Box::new(Growing { store, start, order: ReadOrder::default(), streams, kept: false }))
}

fn project(conn: &Connection, start: &StartOutput) -> Result<ProjectId, Fault> {
    let session = find::session(conn, &start.scope, start.session)?;
    session.map(|s| s.project).ok_or_else(|| no(Refusal::UnknownSession(start.session)))
}

fn no(refusal: Refusal) -> Fault {
    refused(refusal).into()
}

impl GrowingOutput for Growing {
    fn write(&mut self, kind: StreamKind, mut bytes: &[u8]) -> Result<(), StoreError> {
        self.order.push(kind, bytes.len() as u64);
        if bytes.is_empty() {
            return Ok(());
        }
        while !bytes.is_empty() {
            let upload = self.stream(kind)?;
            let taken = upload.take(bytes)?;
            bytes = bytes.get(taken..).unwrap_or_default();
        }
        // What could not be kept is taken by a later call.
        if self.stream(kind)?.is_full() { self.keep() } else { Ok(()) }
    }

    fn keep(&mut self) -> Result<(), StoreError> {
        let mut work = Work::of(&self.start, &self.order, &mut self.streams, None)?;
        work.kept = self.kept;
        let staged = self.store.write_with(CONTEXT, |conn| work.keep(conn))?;
        for ((_, upload), staged) in self.streams.iter_mut().zip(&staged) {
            upload.settle(staged);
        }
        self.kept = true;
        Ok(())
    }

    fn finish(&mut self, end: &EndOutput) -> Result<(), StoreError> {
        let mut work = Work::of(&self.start, &self.order, &mut self.streams, Some(end))?;
        work.kept = self.kept;
        let finished = self.store.write_with(CONTEXT, |conn| work.finish(conn))?;
        for ((_, upload), finished) in self.streams.iter().zip(finished) {
            if finished == Finished::There {
                abandon(&self.store, upload.staged());
            }
        }
        self.kept = true;
        Ok(())
    }
}

impl Growing {
    fn stream(&mut self, kind: StreamKind) -> Result<&mut Upload, StoreError> {
        let at = match self.streams.iter().position(|(of, _)| *of == kind) {
            Some(at) => at,
            None => {
                self.streams.push((kind, Upload::new()?));
                self.streams.len() - 1
            }
        };
        let missing = || StoreError::Damaged { what: "a stream is missing".to_owned(), cause: None };
        self.streams.get_mut(at).map(|(_, upload)| upload).ok_or_else(missing)
    }
}

/// What one transaction writes, made ready before it begins: hashing and compressing keep nobody else from writing.
struct Work<'a> {
    start: &'a StartOutput,
    output: Output,
    wholes: Vec<Whole<'a>>,
    kept: bool,
}

impl<'a> Work<'a> {
    fn of(
        start: &'a StartOutput,
        order: &ReadOrder,
        streams: &'a mut [(StreamKind, Upload)],
        end: Option<&EndOutput>,
    ) -> Result<Self, StoreError> {
        let (mut wholes, mut rows) = (Vec::new(), Vec::new());
        for (kind, upload) in streams {
            let whole = upload.whole()?;
            let total = end.and_then(|end| end.total(*kind));
            rows.push(OutputStream { kind: *kind, blob: whole.blob, total });
            wholes.push(whole);
        }
        let output = output_of(start, order.clone(), rows, end);
        check::end(&output).map_err(refused)?;
        Ok(Self { start, output, wholes, kept: false })
    }

    /// The output's rows without its streams.
    fn rows(&mut self, conn: &Connection) -> Result<(), Fault> {
        self.output.project = project(conn, self.start)?;
        let id = self.output.id;
        if !self.kept {
            return insert(conn, &self.output);
        }
        if one(conn, GROWS, [id.to_string()], |c| c.int())?.is_none() {
            return Err(no(Refusal::OutputEnded(id)));
        }
        update(conn, &self.output)
    }

    fn keep(&mut self, conn: &Connection) -> Result<Vec<Staged>, Fault> {
        self.rows(conn)?;
        let id = self.output.id.to_string();
        let mut all = Vec::new();
        for (whole, stream) in self.wholes.iter().zip(&self.output.streams) {
            let (blob, staged) = whole.keep(conn)?;
            let Blob { hash, bytes } = stream.blob;
            run(conn, PUT_STREAM, params![id, stream.kind.as_str(), blob, hash.0, clamp(bytes)])?;
            all.push(staged);
        }
        Ok(all)
    }

    fn finish(&mut self, conn: &Connection) -> Result<Vec<Finished>, Fault> {
        self.rows(conn)?;
        run(conn, DROP_STREAMS, [self.output.id.to_string()])?;
        let finished: Result<Vec<_>, _> = self.wholes.iter().map(|whole| whole.finish(conn)).collect();
        let finished = finished?;
        crate::write::output::insert_streams(conn, &self.output)?;
        Ok(finished)
    }
}

fn output_of(
    start: &StartOutput,
    order: ReadOrder,
    streams: Vec<OutputStream>,
    end: Option<&EndOutput>,
) -> Output {
    Output {
        id: start.id,
        project: ProjectId::from_u128(0),
        session: start.session,
        tool: start.tool.clone(),
        state: end.map_or(OutputState::Partial, |end| end.state),
        exit: end.and_then(|end| end.exit),
        recorded_at: start.at,
        streams,
        run: match end {
            Some(end) => end.run(start, order),
            None => start.run(order),
        },
        growing: end.is_none(),
    }
}

/// Ends an output whose writer is gone, as it is. Its rows say the same before and after, so their digest stays.
pub(crate) fn close(conn: &Connection, scope: &Scope, id: OutputId) -> Result<(), Fault> {
    if !output::visible(conn, scope, id)? {
        return Err(Refusal::UnknownOutput(id).into());
    }
    let id = id.to_string();
    let streams = all(conn, STREAMS, [&id], |c| {
        let (kind, no) = (c.text()?, c.int()?);
        Ok((kind, no, Blob { hash: c.digest()?, bytes: c.number()? }))
    })?;
    run(conn, DROP_STREAMS, [&id])?;
    for (kind, no, blob) in streams {
        match named(conn, blob.hash)? {
            // What one step leaves, a collection finds.
            Some(_) => drop::some(conn, no).map(|_| ())?,
            None => name(conn, no, blob)?,
        }
        run(conn, NEW_STREAM, params![id, kind, blob.hash.0, clamp(blob.bytes)])?;
    }
    Ok(())
}
