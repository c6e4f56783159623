//! Outputs that are written while their tool runs, and bytes that nothing refers to.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use sayso_model::{Digest, OutputId, ProjectId, UtcMs};

use super::Oracle;
use super::state::State;
use crate::check;
use crate::error::{Refusal, StoreError};
use crate::grow::{EndOutput, GrowingOutput, StartOutput, refused};
use crate::query::{
    Blob, Collected, OpenStream, Output, OutputState, OutputStream, ReadOrder, Scope, StreamKind,
};

/// An output while its tool runs: its bytes are here, and in the ledger what was kept of them.
pub(super) struct Growing {
    oracle: Arc<Oracle>,
    start: StartOutput,
    order: ReadOrder,
    streams: BTreeMap<StreamKind, Vec<u8>>,
    kept: bool,
}

pub(super) fn start(oracle: Arc<Oracle>, start: StartOutput) -> Result<Box<dyn GrowingOutput>, StoreError> {
    check::start(&start).map_err(refused)?;
    project(&oracle.state(), &start).map_err(refused)?;
    let streams = BTreeMap::from([(StreamKind::Stdout, Vec::new())]);
    Ok(Box::new(Growing { oracle, start, order: ReadOrder::default(), streams, kept: false }))
}

impl GrowingOutput for Growing {
    fn write(&mut self, kind: StreamKind, bytes: &[u8]) -> Result<(), StoreError> {
        self.order.push(kind, bytes.len() as u64);
        if !bytes.is_empty() {
            self.streams.entry(kind).or_default().extend_from_slice(bytes);
        }
        Ok(())
    }

    fn keep(&mut self) -> Result<(), StoreError> {
        self.put(None).map_err(refused)
    }

    fn finish(&mut self, end: &EndOutput) -> Result<(), StoreError> {
        self.put(Some(end)).map_err(refused)
    }
}

impl Growing {
    fn put(&mut self, end: Option<&EndOutput>) -> Result<(), Refusal> {
        let oracle = Arc::clone(&self.oracle);
        let mut state = oracle.state();
        let output = self.output(&state, end)?;
        for stream in &output.streams {
            let bytes = self.streams.get(&stream.kind).cloned().unwrap_or_default();
            match end {
                Some(_) => state.blobs.insert(stream.blob.hash, bytes),
                None => state.growing.insert((output.id, stream.kind), bytes),
            };
        }
        if end.is_some() {
            state.growing.retain(|(id, _), _| *id != output.id);
        }
        state.outputs.insert(output.id, output);
        self.kept = true;
        Ok(())
    }

    fn output(&self, state: &State, end: Option<&EndOutput>) -> Result<Output, Refusal> {
        let mut output = self.rows(end);
        check::end(&output)?;
        output.project = project(state, &self.start)?;
        match state.outputs.get(&output.id) {
            Some(_) if !self.kept => Err(Refusal::IdTaken(output.id.to_string())),
            Some(there) if !there.growing => Err(Refusal::OutputEnded(output.id)),
            None if self.kept => Err(Refusal::OutputEnded(output.id)),
            _ => Ok(output),
        }
    }

    /// The output as it is to be, wherever its session is.
    fn rows(&self, end: Option<&EndOutput>) -> Output {
        let (start, order) = (&self.start, self.order.clone());
        let stream = |(kind, bytes): (&StreamKind, &Vec<u8>)| OutputStream {
            total: end.and_then(|end| end.total(*kind)),
            ..OutputStream::new(*kind, blob(bytes))
        };
        Output {
            id: start.id,
            project: ProjectId::from_u128(0),
            session: start.session,
            tool: start.tool.clone(),
            state: end.map_or(OutputState::Partial, |end| end.state),
            exit: end.and_then(|end| end.exit),
            recorded_at: start.at,
            streams: self.streams.iter().map(stream).collect(),
            run: match end {
                Some(end) => end.run(start, order),
                None => start.run(order),
            },
            growing: end.is_none(),
        }
    }
}

fn project(state: &State, start: &StartOutput) -> Result<ProjectId, Refusal> {
    let session = state.sessions.get(&start.session).filter(|s| start.scope.sees(s.project));
    session.map(|s| s.project).ok_or(Refusal::UnknownSession(start.session))
}

fn blob(bytes: &[u8]) -> Blob {
    Blob { hash: Digest(*blake3::hash(bytes).as_bytes()), bytes: bytes.len() as u64 }
}

impl State {
    pub(super) fn open_stream(&self, scope: &Scope, id: OutputId, kind: StreamKind) -> Option<OpenStream> {
        let output = self.output(scope, id)?;
        let blob = output.streams.iter().find(|s| s.kind == kind)?.blob;
        Some(OpenStream { output: id, kind, blob, checks: Vec::new() })
    }

    pub(super) fn read_stream(
        &self,
        scope: &Scope,
        stream: &OpenStream,
        from: u64,
        most: usize,
    ) -> Option<Vec<u8>> {
        let now = self.open_stream(scope, stream.output, stream.kind)?;
        let bytes = self.stream(scope, stream.output, stream.kind)?;
        let from = usize::try_from(from).unwrap_or(usize::MAX);
        let bytes = bytes.get(from..).unwrap_or_default().iter().take(most.max(1));
        (now.blob == stream.blob).then(|| bytes.copied().collect())
    }

    /// Deletes what nothing has referred to for so long.
    pub(super) fn collect(&mut self, now: UtcMs, grace: Duration) -> Collected {
        let grace = i64::try_from(grace.as_millis()).unwrap_or(i64::MAX);
        let finished = self.outputs.values().filter(|o| !o.growing);
        let named: Vec<Digest> = finished.flat_map(|o| &o.streams).map(|s| s.blob.hash).collect();
        let mut done = Collected::default();
        self.loose.retain(|hash, _| !named.contains(hash) && self.blobs.contains_key(hash));
        for (hash, bytes) in self.blobs.clone().into_iter().filter(|(hash, _)| !named.contains(hash)) {
            let since = self.loose.entry(hash).or_insert(now);
            since.0 = since.0.min(now.0);
            if now.0.saturating_sub(since.0) >= grace {
                self.blobs.remove(&hash);
                self.loose.remove(&hash);
                (done.blobs, done.bytes) = (done.blobs + 1, done.bytes + bytes.len() as u64);
            } else {
                (done.waiting, done.waiting_bytes) =
                    (done.waiting + 1, done.waiting_bytes + bytes.len() as u64);
            }
        }
        done
    }
}
