//! Whole files imported into the in-memory ledger.

mod claude;
mod claude_queue;
mod claude_whole;
mod codex;
mod corpus;
mod files;
mod growth;
mod hostile;
mod marking;
mod openclaw;
mod pi;
mod standing;
mod whole;

use std::sync::Arc;

use sayso::store::Oracle;
use sayso::{Entry, Ledger, Scope, SpeakerKind, SystemHost};
use sayso_model::{EntryBody, LedgerId, MarkKind, PartBody, Turn};

use crate::{FileReport, ImportError, Importer};

pub(crate) fn ledger() -> Ledger {
    Ledger::over(Arc::new(Oracle::new(LedgerId::from_u128(1))), Arc::new(SystemHost))
}

/// A folder with one file, which may be written again.
pub(crate) struct Sample {
    folder: tempfile::TempDir,
    pub(crate) ledger: Ledger,
}

impl Sample {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), ledger: ledger() }
    }

    pub(crate) fn path(&self) -> std::path::PathBuf {
        self.folder.path().join("session.jsonl")
    }

    pub(crate) fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }

    pub(crate) fn try_import(&self, bytes: &[u8]) -> Result<FileReport, ImportError> {
        std::fs::write(self.path(), bytes).unwrap();
        Importer::new("Mira").import_file(&self.ledger, &self.path(), &mut |_| {})
    }

    pub(crate) fn import(&self, text: &str) -> FileReport {
        let report = self.try_import(text.as_bytes()).unwrap();
        assert_counted(&report);
        report
    }

    pub(crate) fn entries(&self) -> Vec<Entry> {
        let reader = self.ledger.reader(Scope::All);
        let sessions = reader.sessions(None).unwrap();
        sessions.iter().flat_map(|s| reader.entries(s.id, 0, 10_000).unwrap()).collect()
    }

    pub(crate) fn turns(&self) -> Vec<Turn> {
        let bodies = self.entries().into_iter().map(|e| e.body);
        bodies
            .filter_map(|body| match body {
                EntryBody::Turn(turn) => Some(turn),
                _ => None,
            })
            .collect()
    }

    /// Speaker kind, speaker name and text of every turn.
    pub(crate) fn said(&self) -> Vec<(SpeakerKind, String, String)> {
        let said = |t: Turn| (t.speaker.kind, t.speaker.name.clone(), t.text());
        self.turns().into_iter().map(said).collect()
    }

    /// Kind, text of the entry it is of, and route of every mark.
    pub(crate) fn marks(&self) -> Vec<(MarkKind, Option<String>, String)> {
        let entries = self.entries();
        let text = |id| entries.iter().find(|e| e.id == id).and_then(Entry::turn).map(Turn::text);
        let marks = entries.iter().filter_map(|e| match &e.body {
            EntryBody::Mark(mark) => Some((mark.kind, mark.of.and_then(text), mark.route.clone())),
            _ => None,
        });
        marks.collect()
    }

    pub(crate) fn title(&self) -> String {
        self.ledger.reader(Scope::All).sessions(None).unwrap()[0].title.clone()
    }
}

/// Imports lines at once and gives the turns: kind, name, text.
pub(crate) fn said(lines: &[String]) -> Vec<(SpeakerKind, String, String)> {
    let sample = Sample::new();
    sample.import(&lines.join("\n"));
    sample.said()
}

/// Nothing is lost in silence: every record is counted in exactly one place.
pub(crate) fn assert_counted(report: &FileReport) {
    let no_records = ["broken_line", "unreadable"];
    let skipped: u64 =
        report.skipped.iter().filter(|(k, _)| !no_records.contains(&k.as_str())).map(|(_, n)| n).sum();
    let header = u64::from(report.format.has_header());
    let counted =
        header + report.turns_added + report.turns_known + report.compactions + skipped + report.unknown;
    assert_eq!(counted, report.records, "{report:?}");
}

/// The speakers of a turn's parts and the words for the parts.
pub(crate) fn parts(turn: &Turn) -> Vec<(SpeakerKind, &'static str, String)> {
    let word = |body: &PartBody| match body {
        PartBody::Text(_) => "text",
        PartBody::Reasoning(seal, _) => seal.as_str(),
        PartBody::ToolCall(_) => "call",
        PartBody::ToolResult(_) => "result",
        PartBody::Attachment(_) => "attachment",
    };
    turn.parts.iter().map(|p| (turn.speaker_of(p).kind, word(&p.body), p.body.text().to_owned())).collect()
}
