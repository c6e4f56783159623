//! Imports transcripts that people already have into a ledger: Codex rollouts (both generations), pi sessions and Claude
//! Code sessions.
//!
//! A file is recognised by its first complete record, never by its name, and read one line at a time however long a
//! line is. Every record ends up as a turn, a compaction, a mark, a named skip or an `unknown` that is reported: nothing
//! is dropped in silence. Importing again adds only what is new, and a file that is still being written may be imported
//! at any moment: a last record that is not complete yet stays where it is.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("session.jsonl");
//! # std::fs::write(&path, "{\"type\":\"session\",\"id\":\"s1\",\"cwd\":\"/work/harbour\"}\n\
//! #   {\"type\":\"message\",\"id\":\"a\",\"message\":{\"role\":\"user\",\"content\":\"Is the plan ready?\"}}\n")?;
//! # let ledger = sayso::Ledger::over(
//! #     std::sync::Arc::new(sayso::store::Oracle::new(sayso::model::LedgerId::from_u128(1))),
//! #     std::sync::Arc::new(sayso::SystemHost),
//! # );
//! let report = sayso_import::import_file(&ledger, &path, &mut |_bytes| {})?;
//! assert_eq!((report.turns_added, report.unknown), (1, 0));
//! # Ok(())
//! # }
//! ```
//!
//! # Who said it
//!
//! Names of speakers: the owner's is given in [`Importer`]; an agent is named by its model where the transcript tells
//! it, else by its program; a tool by its name; what a program put between the words is by `system`, under the
//! program's name.
//!
//! # What rests on real files, and what does not
//!
//! Codex rollouts of 2025 and 2026, flat Codex files of August 2025 and pi sessions of versions 1 and 3 were seen as
//! people had published them. Codex compactions, rollbacks and forks, and branches in pi sessions, were seen in
//! constructed files and in the programs' sources only. Compressed rollouts (`.jsonl.zst`) are refused by name.

mod blocks;
mod claude;
mod codex;
mod draft;
mod error;
pub mod formats;
mod importer;
pub mod mapping;
mod markers;
mod pi;
pub mod records;
mod repair;
mod report;
mod session;
mod sink;
mod source;
#[cfg(test)]
mod tests;
mod tool;
mod values;
mod walk;

pub use error::ImportError;
pub use importer::{Importer, import_file, import_paths};
pub use report::{FileReport, Refused, Report};
