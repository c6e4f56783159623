//! Imports transcripts that people already have into a ledger: Codex rollouts (both generations), sessions of pi, OpenClaw
//! and Claude Code, and OpenClaw's database. Also writes and imports exports of ledgers themselves ([`archive`]). What becomes of every record stands in [`mapping`].
//!
//! A file is recognised by its first complete record; its name and place tell what a program put aside, and OpenClaw's
//! sessions from pi's, which look the same. It is read one line at a time, however long a line is. Every record ends up as
//! a turn, a compaction, a mark, a named skip or an `unknown` that is reported: nothing is dropped in silence. Lines that
//! break off are named, and so are files that were rewritten: what the ledger has of them stays. Importing again adds only what is new, and a file that is still being written may be imported
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
//! # What no longer counts, and where a session comes from
//!
//! Turns that a person took back (Codex) or left for another branch (pi, OpenClaw) are imported and marked: `rolled_back`,
//! `abandoned`, and `restored` once they are back. With Codex, taking back N turns takes the owner's last N turns and
//! everything after them. With pi, what counts is the branch of the last record; what stands behind a missing parent is left
//! as it is, since nobody knows.
//!
//! A session that was forked from another one, or that another one started (a sub-agent, a side chain), has a mark `derived`,
//! whose route is the format and the id that the program gave that other session. The mark is of the last turn that was
//! copied from there, if any was. With Codex, those are the records that were written within two seconds from the copied
//! header on; with pi, the ones that the other session has too, where that is in the ledger.
//!
//! # What rests on real files, and what does not
//!
//! Codex rollouts of 2025 and 2026, flat Codex files of August 2025, pi sessions of versions 1 and 3 and Claude Code
//! sessions of versions 1.0 to 2.1 were seen as people had published them. Codex compactions, rollbacks and forks, branches
//! in pi sessions, and what OpenClaw adds to them, were seen in constructed files and in the programs' sources only.

pub mod archive;
mod blocks;
mod claude;
mod codex;
mod database;
mod draft;
mod error;
pub mod formats;
mod importer;
mod json;
pub mod mapping;
mod markers;
mod names;
mod openclaw;
mod pi;
mod places;
mod reading;
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
mod watch;

pub use error::ImportError;
pub use importer::{Importer, Reach, import_file, import_paths};
pub use places::{Place, places};
pub use report::{DamagedLine, FileReport, Late, Refused, Report, Rewritten, UnknownRecords};
pub use session::placeholder;
pub use watch::{Changed, Watch};
