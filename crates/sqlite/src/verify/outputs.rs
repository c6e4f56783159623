//! Outputs and blobs: rows against their digests, bytes against their hashes.

use sayso_model::OutputId;
use sayso_store::Blob;

use super::{Look, Where};
use crate::blob::get::{check_values, each_chunk};
use crate::blob::range;
use crate::cells::one;
use crate::fault::Fault;
use crate::read::output;

const OUTPUTS: (&str, &str) = ("output", "SELECT id FROM output ORDER BY id");
const BYTES: (&str, &str) = ("blob", "SELECT bytes FROM blob WHERE hash = ?1");
/// A blob without a hash is still being written by somebody.
const BLOBS: (&str, &str) = ("blob", "SELECT no, hash, bytes FROM blob WHERE hash IS NOT NULL ORDER BY no");

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
            for stream in &record.output.streams {
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
            let chunks = check_values(look.conn, no, &Blob { hash, bytes })?;
            each_chunk(look.conn, range(no), hash, chunks == 1, |_| Ok(()))
        })
    }
}
