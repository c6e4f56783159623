//! Codex compacts in the middle of a run, and goes on with what it needs.

use anyhow::{Context, Result, ensure};
use serde_json::json;

use super::{FERRY, FILE, ISLAND, Scene};
use crate::live::agents::codex_id;
use crate::live::check::Report;
use crate::live::model::{Request, Step};

/// Tokens at which Codex compacts in these stages, and more.
const MANY: u64 = 90_000;

/// Runs all checks; a check that needs what an earlier one failed to give is left out.
pub(super) fn run(report: &mut Report, scene: &Scene<'_>) -> Option<()> {
    let requests = report.check("Codex compacts in mid-run", compact(scene))?;
    let (after, before) = requests.split_last()?;
    report.check("the whole output is stored though the model saw less", scene.stored(before));
    let behind = scene.behind_summary(after, &summary());
    report.check(
        "what the summary names stands right behind it, once",
        behind.and_then(|seen| {
            ensure!(seen.role == "developer", "in a message of the role {}", seen.role);
            Ok(())
        }),
    )?;
    let later =
        report.check("Codex answers a later prompt", prompt(scene, &format!("{ISLAND} 배는 언제야?")))?;
    report.check("a later prompt finds what it asks for, and repeats nothing", scene.once(&later));
    let last =
        report.check("Codex answers one more prompt", prompt(scene, &format!("{ISLAND} 다시 말해줘.")))?;
    report.check("one more prompt brings nothing again", scene.once(&last));
    report.check("what came back to Codex is no turn", scene.no_turns());
    Some(())
}

fn summary() -> String {
    format!("They read about ferries; see {FILE} for {FERRY}.")
}

fn compact(scene: &Scene<'_>) -> Result<Vec<Request>> {
    let folder = scene.stage.project("lantern")?;
    let look = Step {
        input_tokens: Some(MANY),
        ..Step::say("I look.").call("exec_command", json!({"cmd": format!("cat {FILE}")}))
    };
    scene.model.play(vec![look, Step::say("읽었습니다.")], vec![summary()]);
    let before = scene.model.requests().len();
    scene.stage.codex(scene.agents, &folder, None, "Read the log. 읽어줘.")?.ok()?;
    let requests = scene.model.requests().split_off(before);
    ensure!(requests.len() == 3, "{} requests instead of 3", requests.len());
    Ok(requests)
}

fn prompt(scene: &Scene<'_>, words: &str) -> Result<Request> {
    let folder = scene.stage.project("lantern")?;
    scene.model.play(vec![Step::say("네.")], Vec::new());
    let session = codex_id(&scene.stage.codex_session()?)?;
    scene.stage.codex(scene.agents, &folder, Some(&session), words)?.ok()?;
    scene.model.requests().pop().context("no request")
}
