//! What an import did.

use std::collections::BTreeMap;
use std::path::PathBuf;

use sayso_model::{ProjectId, SessionId};
use serde::Serialize;

use crate::formats::Format;

/// Kinds of unknown records that are told apart at most: names come from the file.
const KINDS: usize = 64;
/// Characters of such a name at most.
const KIND_CHARS: usize = 80;

/// What importing one file did.
///
/// Every complete record is counted once: it is the header, or among `turns_added`, `turns_known`, `compactions`,
/// `skipped` (except the kinds `broken_line` and `unreadable`, which were no records) or `unknown`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileReport {
    /// The format that was recognised.
    pub format: Format,
    /// The session; `None` while the file holds nothing to store.
    pub session: Option<SessionId>,
    /// Sessions of conversations beside it in the same file, such as those of old sub-agents.
    pub beside: Vec<SessionId>,
    /// The session's project.
    pub project: Option<ProjectId>,
    /// Complete records read.
    pub records: u64,
    /// Turns that were written.
    pub turns_added: u64,
    /// Turns that were there before.
    pub turns_known: u64,
    /// Compactions read, new or known.
    pub compactions: u64,
    /// Forwarded turns that are marked as in the context now.
    pub marks: u64,
    /// Turns that are marked as rolled back or abandoned now.
    pub left_out: u64,
    /// What holds no turn, by kind.
    pub skipped: BTreeMap<String, u64>,
    /// Records of a kind that the importer does not know.
    pub unknown: u64,
    /// The same, by kind; after many kinds, under `…`.
    pub unknown_kinds: BTreeMap<String, u64>,
    /// Sequences that were repaired to U+FFFD.
    pub repairs: u64,
    /// Bytes read as complete records.
    pub bytes: u64,
    /// Bytes at the end that are no complete record yet.
    pub pending: u64,
}

impl FileReport {
    pub(crate) fn new(format: Format) -> Self {
        Self {
            format,
            session: None,
            beside: Vec::new(),
            project: None,
            records: 0,
            turns_added: 0,
            turns_known: 0,
            compactions: 0,
            marks: 0,
            left_out: 0,
            skipped: BTreeMap::new(),
            unknown: 0,
            unknown_kinds: BTreeMap::new(),
            repairs: 0,
            bytes: 0,
            pending: 0,
        }
    }

    /// Adds what another session of the same file gave.
    pub(crate) fn join(&mut self, other: Self) {
        self.beside.extend(other.session.into_iter().chain(other.beside));
        if self.session.is_none() && !self.beside.is_empty() {
            self.session = Some(self.beside.remove(0));
            self.project = other.project;
        }
        self.records += other.records;
        self.turns_added += other.turns_added;
        self.turns_known += other.turns_known;
        self.compactions += other.compactions;
        self.marks += other.marks;
        self.left_out += other.left_out;
        self.unknown += other.unknown;
        self.repairs += other.repairs;
        self.bytes += other.bytes;
        self.pending += other.pending;
        merge(&mut self.skipped, other.skipped);
        merge(&mut self.unknown_kinds, other.unknown_kinds);
    }

    /// Counts a record that is known to hold no turn.
    pub(crate) fn skip(&mut self, kind: &str) {
        self.skip_many(kind, 1);
    }

    pub(crate) fn skip_many(&mut self, kind: &str, count: u64) {
        if count > 0 {
            *self.skipped.entry(kind.to_owned()).or_default() += count;
        }
    }

    /// Counts a record of an unknown kind.
    pub(crate) fn unknown(&mut self, kind: &str) {
        self.unknown += 1;
        let mut kind: String = kind.chars().take(KIND_CHARS).collect();
        if self.unknown_kinds.len() >= KINDS && !self.unknown_kinds.contains_key(&kind) {
            kind = "…".to_owned();
        }
        *self.unknown_kinds.entry(kind).or_default() += 1;
    }
}

/// A file that was not imported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Refused {
    /// The file.
    pub file: PathBuf,
    /// Why, with every cause.
    pub why: String,
}

/// What importing several files did.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Report {
    /// Files that were imported.
    pub files: u64,
    /// Complete records read.
    pub records: u64,
    /// Turns that were written.
    pub turns_added: u64,
    /// Turns that were there before.
    pub turns_known: u64,
    /// Compactions read, new or known.
    pub compactions: u64,
    /// Forwarded turns that are marked as in the context now.
    pub marks: u64,
    /// Turns that are marked as rolled back or abandoned now.
    pub left_out: u64,
    /// What holds no turn, by kind.
    pub skipped: BTreeMap<String, u64>,
    /// Records of a kind that the importer does not know.
    pub unknown: u64,
    /// The same, by kind.
    pub unknown_kinds: BTreeMap<String, u64>,
    /// Files that were not imported.
    pub refused: Vec<Refused>,
    /// Files that stand beside transcripts and add nothing to them.
    pub passed_over: Vec<Refused>,
    /// Sequences that were repaired to U+FFFD.
    pub repairs: u64,
    /// The sessions that the files belong to, in the order of the files, each once.
    pub sessions: Vec<SessionId>,
}

impl Report {
    pub(crate) fn add(&mut self, file: FileReport) {
        self.files += 1;
        self.records += file.records;
        self.turns_added += file.turns_added;
        self.turns_known += file.turns_known;
        self.compactions += file.compactions;
        self.marks += file.marks;
        self.left_out += file.left_out;
        self.unknown += file.unknown;
        self.repairs += file.repairs;
        merge(&mut self.skipped, file.skipped);
        merge(&mut self.unknown_kinds, file.unknown_kinds);
        for session in file.session.into_iter().chain(file.beside) {
            if !self.sessions.contains(&session) {
                self.sessions.push(session);
            }
        }
    }

    pub(crate) fn pass_over(&mut self, file: PathBuf, why: &str) {
        self.passed_over.push(Refused { file, why: why.to_owned() });
    }

    pub(crate) fn refuse(&mut self, file: PathBuf, error: &dyn std::error::Error) {
        let mut why = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            why.push_str(": ");
            why.push_str(&error.to_string());
            cause = error.source();
        }
        self.refused.push(Refused { file, why });
    }
}

fn merge(all: &mut BTreeMap<String, u64>, more: BTreeMap<String, u64>) {
    for (kind, count) in more {
        *all.entry(kind).or_default() += count;
    }
}
