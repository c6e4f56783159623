//! Outputs as rows.

use rusqlite::Connection;
use sayso_model::row::{self, OutputRow, RunRow, StreamRow};
use sayso_model::{Digest, OutputId, ProjectId, SessionId, UtcMs};
use sayso_store::{Blob, Output, OutputState, OutputStream, ReadOrder, Run, Scope, StreamKind};

use crate::cells::{Cells, Next, all, each, one};
use crate::fault::Fault;

/// An output's row without its streams, and the digest over both.
const OUTPUT: (&str, &str) = (
    "output",
    "SELECT o.id, s.project, o.session, o.tool, o.state, o.exit, o.recorded_at, o.digest, o.command, o.signal, \
     o.timed_out, o.duration, o.pipe_held, o.charset, o.read_order, \
     EXISTS (SELECT 1 FROM growing_stream g WHERE g.output = o.id) \
     FROM output o JOIN session s ON s.id = o.session WHERE o.id = ?1",
);
const STREAMS: (&str, &str) = (
    "output_stream",
    "SELECT kind, hash, bytes, total FROM output_stream WHERE output = ?1 \
     UNION ALL SELECT kind, hash, bytes, NULL FROM growing_stream WHERE output = ?1 ORDER BY kind DESC",
);
const GROWS: (&str, &str) = ("growing_stream", "SELECT 1 FROM growing_stream WHERE output = ?1");
const GROWING_BLOB: (&str, &str) =
    ("growing_stream", "SELECT blob FROM growing_stream WHERE output = ?1 AND kind = ?2");

/// An output and the digest of its rows.
pub(crate) struct OutputRecord {
    pub(crate) output: Output,
    pub(crate) digest: Digest,
}

impl OutputRecord {
    fn read(c: &mut Cells<'_>) -> Result<Self, Fault> {
        let mut output = Output {
            id: c.parse()?,
            project: c.parse()?,
            session: c.parse()?,
            tool: c.text()?,
            state: c.word(OutputState::parse)?,
            exit: c.number_opt()?,
            recorded_at: UtcMs(c.int()?),
            streams: Vec::new(),
            run: Run::default(),
            growing: false,
        };
        let digest = c.digest()?;
        output.run = run(c)?;
        output.growing = c.flag()?;
        Ok(Self { output, digest })
    }
}

/// Seven columns: how the tool was run.
fn run(c: &mut Cells<'_>) -> Result<Run, Fault> {
    let command = c.bytes_opt()?.map(|bytes| String::from_utf8(bytes.to_vec())).transpose();
    let command =
        command.map_err(|_| Fault::Damaged("the command line of an output is no UTF-8".to_owned()))?;
    Ok(Run {
        command,
        signal: c.number_opt()?,
        timed_out: c.flag()?,
        duration_ms: c.number_opt()?,
        pipe_held: c.flag()?,
        charset: c.text_opt()?,
        order: c.word_opt(ReadOrder::parse)?.unwrap_or_default(),
    })
}

/// Whether an output is still being written.
pub(crate) fn grows(conn: &Connection, id: OutputId) -> Result<bool, Fault> {
    one(conn, GROWS, [id.to_string()], |c| c.int()).map(|found| found.is_some())
}

/// The number of the blob that a growing stream is written into.
pub(crate) fn growing_blob(conn: &Connection, id: OutputId, kind: StreamKind) -> Result<Option<i64>, Fault> {
    one(conn, GROWING_BLOB, (id.to_string(), kind.as_str()), |c| c.int())
}

/// An output as it stands there.
pub(crate) fn record(conn: &Connection, id: OutputId) -> Result<Option<OutputRecord>, Fault> {
    let Some(mut record) = one(conn, OUTPUT, [id.to_string()], OutputRecord::read)? else { return Ok(None) };
    record.output.streams = all(conn, STREAMS, [id.to_string()], |c| {
        let kind = c.word(StreamKind::parse)?;
        let blob = Blob { hash: c.digest()?, bytes: c.number()? };
        Ok(OutputStream { kind, blob, total: c.number_opt()? })
    })?;
    Ok(Some(record))
}

/// The digest of an output's rows.
pub(crate) fn digest(output: &Output) -> Digest {
    let (run, order) = (&output.run, output.run.order.to_text());
    let stream = |s: &OutputStream| StreamRow {
        kind: s.kind.as_str(),
        hash: s.blob.hash,
        bytes: s.blob.bytes,
        total: s.total,
    };
    let streams: Vec<_> = output.streams.iter().map(stream).collect();
    row::output(&OutputRow {
        id: output.id,
        session: output.session,
        tool: &output.tool,
        state: output.state.as_str(),
        exit: output.exit,
        recorded_at: output.recorded_at,
        streams: &streams,
        run: RunRow {
            command: run.command.as_deref(),
            signal: run.signal,
            timed_out: run.timed_out,
            duration: run.duration_ms,
            pipe_held: run.pipe_held,
            charset: run.charset.as_deref(),
            order: &order,
        },
    })
}

pub(crate) fn output(conn: &Connection, scope: &Scope, id: OutputId) -> Result<Option<Output>, Fault> {
    if !visible(conn, scope, id)? {
        return Ok(None);
    }
    match record(conn, id)? {
        Some(found) if found.digest != digest(&found.output) => {
            Err(Fault::Damaged(format!("the rows of output {id} are not what was written")))
        }
        found => Ok(found.map(|r| r.output)),
    }
}

const PROJECT_OF: (&str, &str) = (
    "output",
    "SELECT s.project FROM output o JOIN session s ON s.id = o.session \
     WHERE o.id = ?1 AND s.erasing = 0",
);

/// Whether the scope sees an output.
pub(crate) fn visible(conn: &Connection, scope: &Scope, id: OutputId) -> Result<bool, Fault> {
    let project = one(conn, PROJECT_OF, [id.to_string()], |c| c.parse::<ProjectId>())?;
    Ok(project.is_some_and(|p| scope.sees(p)))
}

const ENDING: (&str, &str) = (
    "output",
    "SELECT o.id, s.project FROM output o CROSS JOIN session s ON s.id = o.session \
     WHERE s.erasing = 0 AND (?2 = 0 OR substr(o.id, -?2) = ?1) ORDER BY o.id",
);

pub(crate) fn find_outputs(
    conn: &Connection,
    scope: &Scope,
    suffix: &str,
    limit: usize,
) -> Result<Vec<OutputId>, Fault> {
    let mut found = Vec::new();
    each(conn, ENDING, (suffix, suffix.chars().count() as i64), |c| {
        if found.len() >= limit {
            return Ok(Next::Stop);
        }
        let (id, project) = (c.parse()?, c.parse()?);
        if scope.sees(project) {
            found.push(id);
        }
        Ok(Next::Row)
    })?;
    Ok(found)
}

pub(crate) const OF_SESSION: (&str, &str) =
    ("output", "SELECT id FROM output WHERE session = ?1 AND id > ?2 ORDER BY id LIMIT ?3");

/// The outputs of a session, by id, after one.
pub(crate) fn of_session(
    conn: &Connection,
    scope: &Scope,
    session: SessionId,
    after: Option<OutputId>,
    limit: usize,
) -> Result<Vec<Output>, Fault> {
    let after = after.map(|id| id.to_string()).unwrap_or_default();
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let ids = all(conn, OF_SESSION, (session.to_string(), after, limit), |c| c.parse())?;
    let found = ids.into_iter().filter_map(|id| output(conn, scope, id).transpose());
    found.collect()
}

/// The blob of one stream of an output that is no longer written, if the scope sees it.
pub(crate) fn stream(
    conn: &Connection,
    scope: &Scope,
    id: OutputId,
    kind: StreamKind,
) -> Result<Option<Blob>, Fault> {
    let output = output(conn, scope, id)?;
    Ok(output.and_then(|o| o.streams.into_iter().find(|s| s.kind == kind)).map(|s| s.blob))
}
