//! `sayso demo`: the whole road once, on a throwaway ledger.

use std::fs;
use std::path::{Path, PathBuf};

use sayso::model::{Entry, EntryBody, SessionId, SpeakerKind};
use sayso::view::context::Provider;
use sayso::{Destination, ForwardRequest, Ledger, Options, Placed, Reader, Scope};
use sayso_import::Importer;
use serde_json::Value;

use crate::args::{Demo, Form};
use crate::cmd::show;
use crate::fail::Failure;
use crate::io::Out;

const CODEX: &str = include_str!("../../demo/codex.jsonl");
const PI: &str = include_str!("../../demo/pi.jsonl");
/// The whole output of one command, which the pi session names.
const PI_OUTPUT: (&str, &str) =
    ("pi-bash-9a65ded034bedaea.log", include_str!("../../demo/pi-bash-9a65ded034bedaea.log"));
const NOTE: &str = "이거 확인해줘. Does our page agree with this plan?";

pub(crate) fn run(args: &Demo, out: &mut Out<'_>) -> Result<(), Failure> {
    let folder = scratch()?;
    let path = folder.join("ledger.db");
    let ledger = Ledger::open(&path, &Options::default())?;
    let demo = Told { reader: ledger.reader(Scope::All), folder, path };
    demo.introduce(out)?;
    let harbour = demo.import(args.pi.as_deref(), "pi.jsonl", PI, out)?;
    let lantern = demo.import(args.codex.as_deref(), "codex.jsonl", CODEX, out)?;
    let plan = demo.longest(harbour)?;
    let forwarded = demo.forward(&plan, lantern, out)?;
    demo.show(&forwarded, out)?;
    demo.context(lantern, out)?;
    demo.origin(&forwarded, out)?;
    demo.verify(out)?;
    demo.farewell(&plan, &forwarded, out)
}

fn scratch() -> Result<PathBuf, Failure> {
    let folder = tempfile::Builder::new().prefix("sayso-demo-").tempdir();
    let folder = folder.map_err(|e| Failure::io("no scratch folder can be made", e))?;
    Ok(folder.keep())
}

/// The story and where it takes place.
struct Told {
    reader: Reader,
    folder: PathBuf,
    path: PathBuf,
}

impl Told {
    fn introduce(&self, out: &mut Out<'_>) -> Result<(), Failure> {
        heading(out, "A ledger")?;
        out.line(format!("A new ledger at {}", self.path.display()))?;
        out.line("Two sessions come with this program: one was written by pi, the other by Codex.")
    }

    fn import(
        &self,
        given: Option<&Path>,
        name: &str,
        text: &str,
        out: &mut Out<'_>,
    ) -> Result<SessionId, Failure> {
        let file = match given {
            Some(path) => path.to_owned(),
            None => self.unpack(name, text)?,
        };
        let importer = Importer::new("Mira");
        let report = importer.import_paths(self.reader.ledger(), std::slice::from_ref(&file), &mut |_| {});
        if let Some(refused) = report.refused.first() {
            return Err(Failure::request(format!("{}: {}", file.display(), refused.why)));
        }
        let session = report.sessions.first().copied();
        let session =
            session.ok_or_else(|| Failure::request(format!("{} holds no session", file.display())))?;
        out.line(format!("imported {name}: {} records, {} turns", report.records, report.turns_added))?;
        Ok(session)
    }

    fn unpack(&self, name: &str, text: &str) -> Result<PathBuf, Failure> {
        let write = |name: &str, text: &str| {
            let path = self.folder.join(name);
            fs::write(&path, text)
                .map(|()| path)
                .map_err(|e| Failure::io("the session cannot be unpacked", e))
        };
        write(PI_OUTPUT.0, PI_OUTPUT.1)?;
        write(name, text)
    }

    /// The longest thing an agent said in a session.
    fn longest(&self, session: SessionId) -> Result<Entry, Failure> {
        let mut longest: Option<(usize, Entry)> = None;
        for entry in self.reader.walk(session, 0) {
            let entry = entry?;
            let turn = entry.turn().filter(|t| t.speaker.kind == SpeakerKind::Agent);
            let length = turn.map_or(0, |t| t.text().chars().count());
            if length > longest.as_ref().map_or(0, |(most, _)| *most) {
                longest = Some((length, entry));
            }
        }
        longest
            .map(|(_, entry)| entry)
            .ok_or_else(|| Failure::request("no agent says anything in the session"))
    }

    fn forward(&self, source: &Entry, to: SessionId, out: &mut Out<'_>) -> Result<Entry, Failure> {
        heading(out, "A forward")?;
        let placed = Placed {
            id: source.id,
            project: source.project,
            session: source.session,
            seq: source.seq,
            hash: source.hash,
        };
        out.line(format!("source  {}", self.reader.address_of(&placed)))?;
        let request = ForwardRequest::of(placed, Destination::Session(to))
            .by(SpeakerKind::Owner, "Mira")
            .note(NOTE)
            .key("demo");
        let (_, placed) = self.reader.forward(request)?;
        let placed = placed.first().copied();
        let placed = placed.ok_or_else(|| Failure::request("nothing was forwarded"))?;
        out.line(format!("forward {}", self.reader.address_of(&placed)))?;
        let entry = self.reader.entry(placed.id)?;
        entry.ok_or_else(|| Failure::request("the forwarded turn is gone"))
    }

    fn show(&self, forwarded: &Entry, out: &mut Out<'_>) -> Result<(), Failure> {
        heading(out, "The card, for people")?;
        show::print(forwarded, Some(Form::Card), &self.reader, out)?;
        heading(out, "The marker, for the model")?;
        show::print(forwarded, Some(Form::Marker), &self.reader, out)
    }

    fn context(&self, session: SessionId, out: &mut Out<'_>) -> Result<(), Failure> {
        heading(out, "What the model is given next")?;
        let context = self.reader.context(session, Provider::OpenAiResponses, None)?;
        let items = context.input.as_array().map(Vec::as_slice).unwrap_or_default();
        for item in items {
            out.line(brief(item))?;
        }
        out.line(format!("({} items, each cut to a line here)", items.len()))
    }

    fn origin(&self, forwarded: &Entry, out: &mut Out<'_>) -> Result<(), Failure> {
        heading(out, "Where it comes from")?;
        let report = self.reader.origin(forwarded.id)?;
        out.line(format!("{}  {}", report.state, report.quote.origin.address))?;
        report.neighbours.iter().try_for_each(|entry| out.line(beside(entry)))
    }

    fn verify(&self, out: &mut Out<'_>) -> Result<(), Failure> {
        heading(out, "Verified")?;
        let report = self.reader.verify(&std::collections::BTreeMap::new())?;
        out.line(format!("{} entries, {} problems", report.entries, report.problems.len()))?;
        if report.problems.is_empty() { Ok(()) } else { Err(Failure::Problems) }
    }

    fn farewell(&self, source: &Entry, forwarded: &Entry, out: &mut Out<'_>) -> Result<(), Failure> {
        heading(out, "Now you")?;
        let ledger = self.path.display();
        out.line(format!("The ledger stays at {ledger}"))?;
        for command in [
            format!("show {}", forwarded.id),
            format!("show {} --as markdown", source.id),
            "sessions".to_owned(),
            "verify".to_owned(),
        ] {
            out.line(format!("  sayso --ledger {ledger} {command}"))?;
        }
        out.line("Before the program is installed, `cargo run --release --` stands for `sayso`.")?;
        out.line(format!("Remove it with: rm -r {}", self.folder.display()))
    }
}

fn heading(out: &mut Out<'_>, text: &str) -> Result<(), Failure> {
    out.line(format!("\n── {text} {}", "─".repeat(72usize.saturating_sub(text.chars().count()))))
}

/// One entry beside the origin on one line.
fn beside(entry: &Entry) -> String {
    let (who, text) = match &entry.body {
        EntryBody::Turn(turn) => (turn.speaker.kind.as_str(), turn.text()),
        EntryBody::Compaction(compaction) => ("summary", compaction.summary.clone()),
        EntryBody::Reinjection(_) => ("re-injection", String::new()),
        EntryBody::Mark(mark) => (mark.kind.as_str(), String::new()),
    };
    cut(&format!("  {:>3} {who:<8} {}", entry.seq, crate::io::one_line(&text)))
}

/// One item of a context on one line.
fn brief(item: &Value) -> String {
    let kind = item.get("role").or_else(|| item.get("type")).and_then(Value::as_str).unwrap_or("?");
    let texts = item.get("content").and_then(Value::as_array).map(|blocks| {
        let texts = blocks.iter().filter_map(|b| b.get("text").and_then(Value::as_str));
        texts.collect::<Vec<_>>().join(" ")
    });
    let plain = || ["content", "arguments", "output"].iter().find_map(|key| item.get(key)?.as_str());
    let text = texts.or_else(|| plain().map(str::to_owned)).unwrap_or_default();
    cut(&format!("{kind:<20} {}", crate::io::one_line(&text)))
}

fn cut(text: &str) -> String {
    let at = sayso::model::text::cut(text, 100);
    let kept = text.get(..at.bytes).unwrap_or_default();
    if at.bytes < text.len() { format!("{kept}…") } else { kept.to_owned() }
}
