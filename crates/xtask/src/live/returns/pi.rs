//! pi compacts before a prompt, and its extension gives back what the model needs.

use anyhow::{Context, Result, ensure};
use serde_json::json;

use super::{FERRY, FILE, ISLAND, Scene};
use crate::live::agents::Continued;
use crate::live::check::Report;
use crate::live::model::{Request, Step};

/// Tokens at which pi compacts in these stages, and more.
const MANY: u64 = 31_000;

/// Runs all checks; a check that needs what an earlier one failed to give is left out.
pub(super) fn run(report: &mut Report, scene: &Scene<'_>) -> Option<()> {
    let before = report.check("pi reads a long file", read(scene))?;
    report.check("the whole output is stored though pi's model saw less", scene.stored(&before));
    let after = report.check("pi compacts and answers", prompt(scene, "Go on. 계속해."))?;
    let behind = scene.behind_summary(&after, SUMMARY).map(|_| ());
    report.check("what the summary names stands right behind it in pi, once", behind)?;
    let later =
        report.check("pi answers a later prompt", prompt(scene, &format!("{ISLAND} 배는 언제야?")))?;
    report.check("a later prompt to pi finds what it asks for, and repeats nothing", scene.once(&later));
    let last =
        report.check("pi answers one more prompt", prompt(scene, &format!("{ISLAND} 다시 말해줘.")))?;
    report.check("one more prompt to pi brings nothing again", scene.once(&last));
    report.check("what came back to pi is no turn", scene.no_turns());
    Some(())
}

const SUMMARY: &str = "They read about ferries; see ferries.log for 우미나리.";

fn read(scene: &Scene<'_>) -> Result<Vec<Request>> {
    ensure!(SUMMARY.contains(FILE) && SUMMARY.contains(FERRY), "the summary names neither file nor ferry");
    let look = Step::say("I look.").call("bash", json!({"command": format!("cat {FILE}")}));
    let done = Step { input_tokens: Some(MANY), ..Step::say("읽었습니다.") };
    scene.model.play(vec![look, done], vec![SUMMARY.to_owned()]);
    let before = scene.model.requests().len();
    let folder = scene.stage.project("lantern")?;
    scene.stage.pi(scene.agents, &folder, Continued::No, "Read the log. 읽어줘.")?.ok()?;
    Ok(scene.model.requests().split_off(before))
}

fn prompt(scene: &Scene<'_>, words: &str) -> Result<Request> {
    let folder = scene.stage.project("lantern")?;
    scene.model.play(vec![Step::say("네.")], vec![SUMMARY.to_owned()]);
    scene.stage.pi(scene.agents, &folder, Continued::Yes, words)?.ok()?;
    scene.model.requests().pop().context("no request")
}
