//! Outputs and blobs: rows against their digests, bytes against their hashes.

use sayso_model::OutputId;
use sayso_store::Blob;

use super::{Look, Where};
use crate::blob::CHUNKS;
use crate::blob::get::{Place, chunk_values, each_chunk};
use crate::cells::one;
use crate::fault::Fault;
use crate::read::output;

const OUTPUTS: (&str, &str) = ("output", "SELECT id FROM output ORDER BY id");
const BYTES: (&str, &str) = ("blob", "SELECT bytes FROM blob WHERE hash = ?1");
/// A blob without a hash is still being written by somebody.
const BLOBS: (&str, &str) = ("blob", "SELECT no, hash, bytes FROM blob WHERE hash IS NOT NULL ORDER BY no");
const GROWING: (&str, &str) =
    ("growing_stream", "SELECT blob, hash, bytes FROM growing_stream ORDER BY output, kind");

impl Look<'_> {
    pub(super) fn outputs(&mut self) -> Result<(), Fault> {
        self.rows(OUTPUTS, [], |look, c| {
            let id: OutputId = c.parse()?;
            // An output whose session is gone was named among the loose rows.
            let Some(record) = output::record(look.conn, id)? else { return Ok(()) };
            let at = Where::session(record.output.session);
            if record.digest != output::digest(&record.output) {
                look.problem(at, format!("the rows of output {id} are not what was written"));
            }
            // Those of a stream that grows are looked at with its bytes.
            let streams = record.output.streams.iter().filter(|_| !record.output.growing);
            for stream in streams {
                let bytes = one(look.conn, BYTES, [stream.blob.hash.0], |c| c.number::<u64>())?;
                if bytes != Some(stream.blob.bytes) {
                    let (kind, hash) = (stream.kind.as_str(), stream.blob.hash);
                    look.problem(at, format!("the {kind} of output {id} is missing: blob {hash}"));
                }
            }
            Ok(())
        })
    }

    pub(super) fn blobs(&mut self) -> Result<(), Fault> {
        self.rows(BLOBS, [], |look, c| {
            let (no, hash, bytes) = (c.int()?, c.digest()?, c.number()?);
            look.blob(&Place { no, blob: Blob { hash, bytes } })
        })?;
        self.rows(GROWING, [], |look, c| {
            let (no, hash, bytes) = (c.int()?, c.digest()?, c.number()?);
            look.blob(&Place { no, blob: Blob { hash, bytes } })
        })
    }

    fn blob(&self, place: &Place) -> Result<(), Fault> {
        chunk_values(self.conn, place, |_| {})?;
        each_chunk(self.conn, place, (0, CHUNKS - 1), |_| Ok(()))
    }
}
