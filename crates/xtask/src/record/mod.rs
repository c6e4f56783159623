//! `cargo xtask record`: plays the stories on the real programs and keeps the session files that they write.

mod mask;
mod story;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::live::agents::{self, Agents, Continued, Stage};
use crate::live::model::Model;
use crate::workspace;
use story::{Program, Story};

pub(crate) use story::long_text;

/// A fixture larger than this does not belong into a repository.
const LARGEST: usize = 150 * 1024;

/// Records both demo sessions anew.
pub(crate) fn record() -> Result<()> {
    let scratch = workspace::target().join("live");
    let agents = Agents::install(&scratch.join("npm"))?;
    let demo = workspace::root().join("crates/cli/demo");
    for output in outputs(&demo)? {
        std::fs::remove_file(output)?;
    }
    for (name, file) in [("pi.toml", "pi.jsonl"), ("codex.toml", "codex.jsonl")] {
        let story = Story::read(name)?;
        let stage = Stage::new(&scratch.join("record").join(&story.project))?;
        let session = play(&agents, &stage, &story).with_context(|| format!("playing {name}"))?;
        keep(&stage, &session, &demo.join(file))?;
        keep_outputs(&stage.root().join("tmp"), &demo)?;
    }
    Ok(())
}

/// Plays one story from beginning to end; the session file is what the program wrote.
fn play(agents: &Agents, stage: &Stage, story: &Story) -> Result<PathBuf> {
    let folder = stage.project(&story.project)?;
    copy(&story::folder().join(&story.project), &folder)?;
    first_commit(stage, &folder)?;
    let model = Model::start(&stage.root().join("tmp/requests.jsonl"))?;
    stage.configure(&model.url())?;
    let (steps, summaries) = story.script();
    model.play(steps, summaries);
    for (number, prompt) in story.prompts().enumerate() {
        let finished = match story.program {
            Program::Codex if number == 0 => stage.codex(agents, &folder, None, prompt),
            Program::Codex => {
                let session = agents::codex_id(&stage.codex_session()?)?;
                stage.codex(agents, &folder, Some(&session), prompt)
            }
            Program::Pi if number == 0 => stage.pi(agents, &folder, Continued::No, prompt),
            Program::Pi => stage.pi(agents, &folder, Continued::Yes, prompt),
        };
        finished?.ok()?;
    }
    model.finished()?;
    match story.program {
        Program::Codex => stage.codex_session(),
        Program::Pi => stage.pi_session(),
    }
}

fn first_commit(stage: &Stage, folder: &Path) -> Result<()> {
    for arguments in
        [&["init", "--quiet"][..], &["add", "--all"], &["commit", "--quiet", "--message", "As it stands"]]
    {
        let mut command = stage.command(Path::new("git"), folder);
        stage.run(command.args(arguments))?.ok()?;
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}

/// Masks a recording, looks at what it must hold, and puts it where the demo finds it.
fn keep(stage: &Stage, session: &Path, target: &Path) -> Result<()> {
    let recording = std::fs::read_to_string(session)?;
    let root = stage.root().to_str().context("a path that is not text")?;
    let masked = mask::mask(&recording, root)?;
    ensure!(masked.len() < LARGEST, "{} bytes are too many", masked.len());
    ensure!(
        masked.contains("\"compaction\"") || masked.contains("\"compacted\""),
        "the program did not compact"
    );
    std::fs::write(target, &masked)?;
    println!("{}: {} records, {} bytes", target.display(), masked.lines().count(), masked.len());
    Ok(())
}

/// Keeps the outputs that pi wrote beside its session because they were too long for the model.
fn keep_outputs(from: &Path, to: &Path) -> Result<()> {
    for output in outputs(from)? {
        let name = output.file_name().context("an output without a name")?;
        std::fs::copy(&output, to.join(name))?;
    }
    Ok(())
}

fn outputs(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with("pi-bash-") {
            found.push(entry.path());
        }
    }
    Ok(found)
}
