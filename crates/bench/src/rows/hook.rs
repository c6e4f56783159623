//! What a hook costs: from the start of its process to its answer, beside a program by hand that opens a database, inserts
//! one row and closes it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command as Process, Stdio};

use anyhow::{Context, Result, ensure};
use sayso::model::MarkKind;
use sayso::store::{Command, MarkEntry};
use sayso::{Destination, ForwardRequest, Ledger, NewTurn, Options, Scope, SpeakerKind};
use serde_json::json;

use crate::clock::{micros, now};
use crate::ground::Ground;
use crate::report::{Goal, Report, short};
use crate::stats::{quantile, ratios};

const SESSION: &str = "01a22eaa-6f1c-7690-a0d1-000000abcdef";

const AT: &str = "2026-11-30T09:14:05.000Z";

/// One line of a rollout: a message of about 600 bytes.
fn said(turn: usize) -> String {
    let (role, kind) =
        if turn.is_multiple_of(2) { ("user", "input_text") } else { ("assistant", "output_text") };
    let text = crate::corpus::turn(crate::ground::SEED, turn as u64);
    let payload = json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]});
    format!("{}\n", json!({"timestamp": AT, "type": "response_item", "payload": payload}))
}

/// The programs and their files.
struct Side {
    sayso: PathBuf,
    bare: PathBuf,
    ledger: PathBuf,
    table: PathBuf,
    state: PathBuf,
}

/// Microseconds on the wall of one run each.
#[derive(Default)]
struct Costs {
    bare: Vec<f64>,
    idle: Vec<f64>,
    offer: Vec<f64>,
    tool: Vec<f64>,
}

/// What hooks take where a transcript grew by one turn, by the megabytes that it had before: milliseconds on the wall.
struct Grown {
    megabytes: usize,
    prompt: Vec<f64>,
    stop: Vec<f64>,
}

pub(crate) fn run(ground: &mut Ground, report: &mut Report) -> Result<()> {
    let beside = std::env::current_exe()?.parent().context("a program stands in a folder")?.to_owned();
    let file = |name: &str| beside.join(format!("{name}{}", std::env::consts::EXE_SUFFIX));
    let side = Side {
        sayso: file("sayso"),
        bare: file("bare"),
        ledger: ground.path("hook-ledger.db"),
        table: ground.path("hook-table.db"),
        state: ground.path("hook-state"),
    };
    if !side.sayso.is_file() || !side.bare.is_file() {
        let why = "sayso and bare are not built beside this program: use `cargo xtask bench`";
        report.skipped("hook", "a hook / a program by hand", why);
        return Ok(());
    }
    side.hook("SessionStart")?;
    let mut rounds = Costs::default();
    let mut all = Costs::default();
    for round in 0..=ground.rounds {
        let costs = side.round(ground.some(60))?;
        // The first round warms up.
        if round > 0 {
            rounds.bare.push(quantile(&costs.bare, 0.5));
            rounds.idle.push(quantile(&costs.idle, 0.5));
            rounds.offer.push(quantile(&costs.offer, 0.5));
            rounds.tool.push(quantile(&costs.tool, 0.5));
            all.bare.extend(costs.bare);
            all.idle.extend(costs.idle);
            all.offer.extend(costs.offer);
            all.tool.extend(costs.tool);
        }
    }
    tell(report, &rounds, &all);
    for megabytes in [1, 10, 50] {
        let grown = side.grown(ground, megabytes)?;
        for (event, ms) in [("a prompt", &grown.prompt), ("the end of a turn", &grown.stop)] {
            let what = format!("{event}, where the transcript of {} MB grew by a turn", grown.megabytes);
            report.figure(
                ("hook", &what),
                ms,
                Goal::None,
                " ms",
                "on the wall; a program by hand reads none",
            );
        }
    }
    Ok(())
}

fn tell(report: &mut Report, rounds: &Costs, all: &Costs) {
    let both = |values: &[f64]| [0.5, 0.99].map(|share| short(quantile(values, share))).join(" / ");
    let note = |ours: &[f64]| format!("p50 / p99 µs on the wall: {} beside {}", both(ours), both(&all.bare));
    let what = "a prompt with a forward to offer / open, insert, close by hand";
    report.ratio("hook", what, &ratios(&rounds.offer, &rounds.bare), Goal::AtMost(2.0), note(&all.offer));
    let what = "a prompt with nothing to offer / open, insert, close by hand";
    report.ratio("hook", what, &ratios(&rounds.idle, &rounds.bare), Goal::AtMost(2.0), note(&all.idle));
    let what = "after a tool, with nothing to read / open, insert, close by hand";
    report.ratio("hook", what, &ratios(&rounds.tool, &rounds.bare), Goal::AtMost(2.0), note(&all.tool));
    for (what, ours) in [("a forward to offer", &all.offer), ("nothing to offer", &all.idle)] {
        let what = format!("p99 of a prompt with {what} / p99 by hand");
        let ratio = quantile(ours, 0.99) / quantile(&all.bare, 0.99);
        report.ratio("hook", &what, &[ratio], Goal::AtMost(2.0), "over all rounds".to_owned());
    }
}

impl Side {
    fn round(&self, runs: usize) -> Result<Costs> {
        let mut costs = Costs::default();
        for _ in 0..runs {
            costs.bare.push(self.by_hand()?);
            let (took, answer) = self.hook("UserPromptSubmit")?;
            ensure!(answer.is_empty(), "nothing waits, yet the hook says {answer:.80}");
            costs.idle.push(took);
            self.forward()?;
            let (took, answer) = self.hook("UserPromptSubmit")?;
            ensure!(answer.contains("<quote id="), "no marker in {answer:.80}");
            costs.offer.push(took);
            costs.tool.push(self.hook("PostToolUse")?.0);
        }
        Ok(costs)
    }

    /// One forward that waits, written by a ledger that is closed again.
    fn forward(&self) -> Result<()> {
        let ledger = Ledger::open(&self.ledger, &Options::default())?;
        let plan = ledger.session("Acme", "Plan")?;
        let said = ledger.append(&plan, NewTurn::text(SpeakerKind::Agent, "Rocky", "The plan stands."))?;
        let reader = ledger.reader(Scope::All);
        let alias = sayso::store::Alias::new("codex", SESSION);
        let to = reader.sessions_as(&alias)?.into_iter().next().context("the hook registered no session")?;
        // What was offered before is in the context by now, as an import of the transcript says.
        for offered in reader.inbox(Some(to.id))? {
            ledger.write(
                reader.scope(),
                vec![Command::Mark(MarkEntry {
                    id: ledger.fresh_entry(),
                    session: to.id,
                    kind: MarkKind::InContext,
                    of: Some(offered.entry.id),
                    route: "codex".to_owned(),
                })],
            )?;
        }
        reader.forward(ForwardRequest::of(said, Destination::Session(to.id)))?;
        Ok(())
    }

    fn hook(&self, event: &str) -> Result<(f64, String)> {
        self.hook_on(event, SESSION, None)
    }

    fn hook_on(&self, event: &str, session: &str, transcript: Option<&Path>) -> Result<(f64, String)> {
        let mut command = Process::new(&self.sayso);
        command.args(["hook", "codex", event]);
        command.env("SAYSO_LEDGER", &self.ledger).env("SAYSO_STATE", &self.state);
        let input = json!({
            "session_id": session, "cwd": "/home/mira/lantern", "hook_event_name": event,
            "transcript_path": transcript, "prompt": "What now?", "source": "startup",
        });
        ran(&mut command, &input.to_string())
    }

    /// A transcript of about so many megabytes is imported, and then grows before each hook.
    fn grown(&self, ground: &Ground, megabytes: usize) -> Result<Grown> {
        let session = format!("01a22eaa-6f1c-7690-a0d1-{megabytes:012}");
        let path = ground.path(&format!("hook-{megabytes}.jsonl"));
        let mut file = std::fs::File::create(&path)?;
        let about = json!({"id": session, "cwd": "/home/mira/lantern"});
        writeln!(file, "{}", json!({"timestamp": AT, "type": "session_meta", "payload": about}))?;
        let mut turns = 0;
        while file.metadata()?.len() < (megabytes as u64) << 20 {
            let many: String = (turns..turns + 200).map(said).collect();
            file.write_all(many.as_bytes())?;
            turns += 200;
        }
        let mut import = Process::new(&self.sayso);
        ran(import.arg("import").arg(&path).env("SAYSO_LEDGER", &self.ledger), "")?;
        let mut grown = Grown { megabytes, prompt: Vec::new(), stop: Vec::new() };
        for round in 0..=ground.rounds {
            for event in ["UserPromptSubmit", "Stop"] {
                file.write_all(said(turns).as_bytes())?;
                turns += 1;
                let took = self.hook_on(event, &session, Some(&path))?.0 / 1e3;
                let all = if event == "Stop" { &mut grown.stop } else { &mut grown.prompt };
                // The first round warms up.
                all.extend((round > 0).then_some(took));
            }
        }
        Ok(grown)
    }

    fn by_hand(&self) -> Result<f64> {
        Ok(ran(Process::new(&self.bare).arg(&self.table as &Path), "What now?")?.0)
    }
}

/// Microseconds from the start of a program to its end, and what it printed.
fn ran(command: &mut Process, input: &str) -> Result<(f64, String)> {
    let started = now();
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    child.stdin.take().context("its input is piped")?.write_all(input.as_bytes())?;
    let output = child.wait_with_output()?;
    let took = micros(started.elapsed());
    ensure!(output.status.success(), "it ended with {}", output.status);
    Ok((took, String::from_utf8(output.stdout)?))
}
