//! The real agent programs: installed once from npm, run in a scratch home against the scripted model.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::json;

use super::model::MODEL;
use crate::shell::{self, Finished};

/// The Codex CLI, in the version that the recordings and checks were made with.
pub(crate) const CODEX: &str = "@openai/codex@0.169.0";
/// pi, likewise.
pub(crate) const PI: &str = "@mariozechner/pi-coding-agent@0.73.1";

pub(crate) const PROVIDER: &str = "rehearsal";
/// The file that says which versions are installed; written last.
const STAMP: &str = "installed";
const RUN_LIMIT: Duration = Duration::from_secs(120);

/// Whether npm's registry can be asked; the reason when not.
pub(crate) fn npm_answers(logs: &Path) -> Result<(), String> {
    let mut command = Command::new("npm");
    command.args(["view", "@openai/codex", "version"]);
    match shell::run(&mut command, logs, Duration::from_secs(20)) {
        Ok(finished) if finished.status.success() => Ok(()),
        _ => Err("npm does not answer".to_owned()),
    }
}

/// The events that call the program under test.
pub(crate) const HOOKS: [&str; 5] = ["SessionStart", "UserPromptSubmit", "PostToolUse", "PreCompact", "Stop"];

/// Where the programs are.
pub(crate) struct Agents {
    bin: PathBuf,
}

impl Agents {
    /// Where pi is.
    pub(crate) fn pi(&self) -> PathBuf {
        self.bin.join("pi")
    }

    /// Whether these versions of both programs are in `cache`.
    pub(crate) fn are_installed(cache: &Path) -> bool {
        std::fs::read_to_string(cache.join(STAMP)).is_ok_and(|found| found == wanted())
    }

    /// Installs both programs into `cache`, unless these versions are there already.
    pub(crate) fn install(cache: &Path) -> Result<Self> {
        let bin = cache.join("node_modules/.bin");
        if Self::are_installed(cache) {
            return Ok(Self { bin });
        }
        std::fs::create_dir_all(cache)?;
        eprintln!("installing {CODEX} and {PI}");
        let mut command = Command::new("npm");
        command
            .args(["install", "--no-audit", "--no-fund", "--silent", "--prefix"])
            .arg(cache)
            .args([CODEX, PI]);
        shell::run(&mut command, cache, Duration::from_secs(600))?.ok().context("npm install")?;
        std::fs::write(cache.join(STAMP), wanted())?;
        Ok(Self { bin })
    }
}

fn wanted() -> String {
    format!("{CODEX}\n{PI}\n")
}

/// A computer of its own for one run: a folder with a home and a place for temporary files.
pub(crate) struct Stage {
    root: PathBuf,
    environment: Vec<(String, PathBuf)>,
}

impl Stage {
    /// An empty stage at `root`; what stood there is removed.
    pub(crate) fn new(root: &Path) -> Result<Self> {
        if root.exists() {
            std::fs::remove_dir_all(root)?;
        }
        std::fs::create_dir_all(root.join("tmp"))?;
        let root = root.canonicalize()?;
        let stage = Self { root, environment: Vec::new() };
        std::fs::create_dir_all(stage.home().join(".codex"))?;
        std::fs::create_dir_all(stage.home().join(".pi/agent"))?;
        std::fs::write(
            stage.home().join(".gitconfig"),
            "[user]\n\tname = Mira\n\temail = mira@harbour.example\n[init]\n\tdefaultBranch = main\n",
        )?;
        Ok(stage)
    }

    /// The folder that stands for `/`.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The home folder of the person in the story.
    pub(crate) fn home(&self) -> PathBuf {
        self.root.join("home/mira")
    }

    /// Sets a variable for every program that runs here.
    pub(crate) fn set(&mut self, name: &str, value: &Path) {
        self.environment.push((name.to_owned(), value.to_owned()));
    }

    /// A folder of the home, made when it is missing.
    pub(crate) fn project(&self, name: &str) -> Result<PathBuf> {
        let folder = self.home().join(name);
        std::fs::create_dir_all(&folder)?;
        Ok(folder)
    }

    /// A command that sees only this stage: nothing of the caller's home or settings reaches it.
    pub(crate) fn command(&self, program: &Path, folder: &Path) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(folder)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home())
            .env("TMPDIR", self.root.join("tmp"))
            .env("LANG", "C.UTF-8")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("PI_OFFLINE", "1")
            .envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    /// Runs a command of this stage to its end.
    pub(crate) fn run(&self, command: &mut Command) -> Result<Finished> {
        shell::run(command, &self.root.join("tmp/logs"), RUN_LIMIT)
    }

    /// Writes the settings of both programs: the scripted model at `url`, and windows small enough to compact.
    pub(crate) fn configure(&self, url: &str) -> Result<()> {
        let codex = format!(
            r#"model = "{MODEL}"
model_provider = "{PROVIDER}"
approval_policy = "never"
sandbox_mode = "danger-full-access"
model_context_window = 100000
model_auto_compact_token_limit = 50000
check_for_update_on_startup = false

[model_providers.{PROVIDER}]
name = "{PROVIDER}"
base_url = "{url}"
wire_api = "responses"
"#
        );
        std::fs::write(self.home().join(".codex/config.toml"), codex)?;
        let free = json!({"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0});
        let model = json!({
            "id": MODEL, "name": MODEL, "reasoning": false, "input": ["text"],
            "contextWindow": 32000, "maxTokens": 4000, "cost": free,
        });
        let provider = json!({
            "baseUrl": url, "api": "openai-completions", "apiKey": "none", "models": [model],
        });
        let models = json!({"providers": {PROVIDER: provider}});
        let settings =
            json!({"compaction": {"enabled": true, "reserveTokens": 4000, "keepRecentTokens": 1850}});
        let pi = self.home().join(".pi/agent");
        std::fs::write(pi.join("models.json"), models.to_string())?;
        std::fs::write(pi.join("settings.json"), settings.to_string())?;
        Ok(())
    }

    /// One prompt to Codex, in a new session or in the one named by `session`.
    pub(crate) fn codex(
        &self,
        agents: &Agents,
        folder: &Path,
        session: Option<&str>,
        prompt: &str,
    ) -> Result<Finished> {
        let mut command = self.command(&agents.bin.join("codex"), folder);
        command.arg("exec");
        if session.is_some() {
            command.arg("resume");
        }
        // The hooks are the ones that this stage wrote itself a moment ago.
        command.args(["--skip-git-repo-check", "--dangerously-bypass-hook-trust"]);
        command.args(session).arg(prompt);
        self.run(&mut command)
    }

    /// One prompt to pi, in a new session or in the latest one of this folder.
    pub(crate) fn pi(
        &self,
        agents: &Agents,
        folder: &Path,
        continued: Continued,
        prompt: &str,
    ) -> Result<Finished> {
        let mut command = self.command(&agents.bin.join("pi"), folder);
        command.args(["--provider", PROVIDER, "--model", MODEL, "-p"]);
        if continued == Continued::Yes {
            command.arg("--continue");
        }
        command.arg(prompt);
        self.run(&mut command)
    }

    /// The only session file that Codex has written here.
    pub(crate) fn codex_session(&self) -> Result<PathBuf> {
        only_session(&self.home().join(".codex/sessions"))
    }

    /// The only session file that pi has written here.
    pub(crate) fn pi_session(&self) -> Result<PathBuf> {
        only_session(&self.home().join(".pi/agent/sessions"))
    }
}

/// Whether a prompt goes on in the session that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Continued {
    /// In the latest session of the folder.
    Yes,
    /// In a new session.
    No,
}

fn only_session(folder: &Path) -> Result<PathBuf> {
    let mut found = Vec::new();
    collect(folder, &mut found)?;
    ensure!(found.len() == 1, "{} holds {} sessions, not one", folder.display(), found.len());
    found.pop().context("no session file")
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, found)?;
        } else if path.extension().is_some_and(|ending| ending == "jsonl") {
            found.push(path);
        }
    }
    Ok(())
}

/// The id of a Codex session, which ends the name of its file.
pub(crate) fn codex_id(session: &Path) -> Result<String> {
    let stem = session.file_stem().and_then(|stem| stem.to_str());
    let stem = stem.context("a session file without a name")?;
    let from = stem.len().saturating_sub(36);
    Ok(stem.get(from..).unwrap_or(stem).to_owned())
}
