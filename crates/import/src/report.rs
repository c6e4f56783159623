//! What an import did.

use std::collections::BTreeMap;
use std::path::PathBuf;

use sayso_model::{ProjectId, SessionId};
use serde::Serialize;

use crate::error::ImportError;
use crate::formats::Format;
use crate::records::Damage;

/// Kinds of unknown records that are told apart at most: names come from the file.
const KINDS: usize = 64;
/// Characters of such a name at most.
const KIND_CHARS: usize = 80;

/// Damaged lines that are named at most.
const DAMAGED: usize = 64;
/// Files whose unknown records are named at most.
const UNKNOWN: usize = 64;

/// Adds what another report counted.
macro_rules! add_counts {
    ($to:expr, $from:expr) => {
        $to.records += $from.records;
        $to.turns_added += $from.turns_added;
        $to.turns_known += $from.turns_known;
        $to.changed += $from.changed;
        $to.compactions += $from.compactions;
        $to.marks += $from.marks;
        $to.left_out += $from.left_out;
        $to.unknown += $from.unknown;
        $to.repairs += $from.repairs;
        merge(&mut $to.skipped, $from.skipped);
        merge(&mut $to.unknown_kinds, $from.unknown_kinds);
    };
}

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
    /// Known turns that say something else in the file now: it was rewritten, and the ledger keeps them as it has them.
    pub changed: u64,
    /// Turns that were written behind known ones that follow them in the file: they were put in since, or taken away here.
    pub late: u64,
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
    /// Places that were changed in reading: sequences that were repaired to U+FFFD, and what JSON does not allow.
    pub repairs: u64,
    /// The first lines that could not be read, or not all of them; how many there are stands in `skipped`.
    pub damage: Vec<Damage>,
    /// Bytes read as complete records.
    pub bytes: u64,
    /// Bytes at the end that are no complete record yet.
    pub pending: u64,
    /// Sessions of an export that went on separately here and were not merged, in words.
    pub apart: Vec<String>,
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
            changed: 0,
            late: 0,
            compactions: 0,
            marks: 0,
            left_out: 0,
            skipped: BTreeMap::new(),
            unknown: 0,
            unknown_kinds: BTreeMap::new(),
            repairs: 0,
            damage: Vec::new(),
            bytes: 0,
            pending: 0,
            apart: Vec::new(),
        }
    }

    /// Adds what another session of the same file gave.
    pub(crate) fn join(&mut self, other: Self) {
        self.beside.extend(other.session.into_iter().chain(other.beside));
        if self.session.is_none() && !self.beside.is_empty() {
            self.session = Some(self.beside.remove(0));
            self.project = other.project;
        }
        add_counts!(self, other);
        self.late += other.late;
        self.apart.extend(other.apart);
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

/// A line that could not be read, or not all of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct DamagedLine {
    /// The file.
    pub file: PathBuf,
    /// The line, and how it is damaged.
    #[serde(flatten)]
    pub damage: Damage,
}

/// A file that was rewritten since it was imported before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rewritten {
    /// The file.
    pub file: PathBuf,
    /// Known turns that say something else now.
    pub turns: u64,
}

/// A file that holds records of unknown kinds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UnknownRecords {
    /// The file.
    pub file: PathBuf,
    /// How many of each kind; after many kinds, under `…`.
    pub kinds: BTreeMap<String, u64>,
}

/// A file of which turns were written behind known ones that follow them in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Late {
    /// The file.
    pub file: PathBuf,
    /// How many.
    pub turns: u64,
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
    /// Known turns that say something else in the file now: it was rewritten, and the ledger keeps them as it has them.
    pub changed: u64,
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
    /// Files whose session was erased here: nothing of them comes back.
    pub erased: Vec<Refused>,
    /// Places that were changed in reading: sequences that were repaired to U+FFFD, and what JSON does not allow.
    pub repairs: u64,
    /// The first lines that could not be read, or not all of them; how many there are stands in `skipped`.
    pub damaged: Vec<DamagedLine>,
    /// Files that were rewritten since they were imported before.
    pub rewritten: Vec<Rewritten>,
    /// Files of which turns were written behind known ones that follow them in it.
    pub late: Vec<Late>,
    /// The first files that hold records of unknown kinds.
    pub unknown_records: Vec<UnknownRecords>,
    /// The sessions that the files belong to, in the order of the files, each once.
    pub sessions: Vec<SessionId>,
}

impl Report {
    pub(crate) fn add(&mut self, path: PathBuf, file: FileReport) {
        self.files += 1;
        self.count(path, file);
    }

    fn count(&mut self, path: PathBuf, file: FileReport) {
        let room = DAMAGED.saturating_sub(self.damaged.len());
        let lines = file.damage.iter().take(room);
        self.damaged.extend(lines.map(|damage| DamagedLine { file: path.clone(), damage: *damage }));
        if file.unknown > 0 && self.unknown_records.len() < UNKNOWN {
            self.unknown_records
                .push(UnknownRecords { file: path.clone(), kinds: file.unknown_kinds.clone() });
        }
        if file.changed > 0 {
            self.rewritten.push(Rewritten { file: path.clone(), turns: file.changed });
        }
        if file.late > 0 {
            self.late.push(Late { file: path, turns: file.late });
        }
        add_counts!(self, file);
        for session in file.session.into_iter().chain(file.beside) {
            if !self.sessions.contains(&session) {
                self.sessions.push(session);
            }
        }
    }

    /// Counts what was written of a file that was refused further on.
    pub(crate) fn add_before(&mut self, path: PathBuf, error: &ImportError) {
        if let Some(before) = error.before() {
            self.count(path, before.clone());
        }
    }

    pub(crate) fn pass_over(&mut self, file: PathBuf, why: &str) {
        self.passed_over.push(Refused { file, why: why.to_owned() });
    }

    pub(crate) fn erased(&mut self, file: PathBuf) {
        self.erased
            .push(Refused { file, why: "its session was erased here, and does not come back".to_owned() });
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
