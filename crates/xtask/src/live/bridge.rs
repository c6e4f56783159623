//! People write to the real pi through `sayso bridge` and a Bot API server on loopback.

use std::collections::hash_map::RandomState;
use std::fs::File;
use std::hash::{BuildHasher, Hasher};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use sayso_bridge::rehearsal::{Act, BotServer};
use serde_json::json;

use super::agents::{Agents, PROVIDER, Stage};
use super::check::Report;
use super::model::{MODEL, Model, Request, Step};
use super::sayso::Sayso;

const TOKEN: &str = "4711:rehearsal";
const OWNER: i64 = 7;
const CHAT: i64 = 5;
/// How long pi may take for an answer.
const LIMIT: Duration = Duration::from_secs(120);

/// What the tool has for the person.
const LIST: &str = "150 departures, the next ones first";
/// What the model says when it has seen the tool's result.
const REPLY: &str = "There are 150 departures.";

/// A tool with two recipients: the model gets every entry, and among them a word that stands nowhere else.
const TOOL: &str = r#"set -eu
seq -f 'departure %g: calm sea' 150 >all
echo 'departure 151: the WORD ferry, quay 7, 24:40' >>all
{ cat all; printf 'LIST'; } | "$SAYSO_PROGRAM" emit --purpose listing --model-bytes "$(($(wc -c <all)))"
"#;

/// Runs all checks.
pub(super) fn run(report: &mut Report, agents: &Agents, sayso: &Sayso, model: &Model, scratch: &Path) {
    let made = Rehearsal::new(agents, sayso, model, &scratch.join("bridge"));
    let Some(mut rehearsal) = report.check("a bridge for pi is set up", made) else { return };
    let shown = rehearsal.shown();
    report.check("what a tool has for the person is delivered at once, and the reply is suppressed", shown);
    report.check("the model saw the full text, not the person's", rehearsal.model_saw());
    report.check(
        "a follow-up question is answered from the full text",
        rehearsal.follow_up("And the last one?"),
    );
    report.check("the doctor lists the bridge", rehearsal.listed());
    report.check("after a crash the bridge and pi go on where they were", rehearsal.crash());
    report.check("where the server refuses what is for the person, the reply arrives", rehearsal.refused());
    report.check("the bridge stops when it is asked to", rehearsal.stop());
    report.check("everything stands in the ledger", rehearsal.recorded());
}

struct Rehearsal<'a> {
    sayso: &'a Sayso,
    model: &'a Model,
    stage: Stage,
    server: BotServer,
    word: String,
    bridge: Option<Child>,
}

impl<'a> Rehearsal<'a> {
    fn new(agents: &Agents, sayso: &'a Sayso, model: &'a Model, root: &Path) -> Result<Self> {
        let mut stage = Stage::new(root)?;
        let ledger = stage.root().join("ledger.db");
        stage.set("SAYSO_LEDGER", &ledger);
        stage.set("BOT", Path::new(TOKEN));
        stage.configure(&model.url())?;
        let word = format!("w{:016x}", RandomState::new().build_hasher().finish());
        let harbour = stage.project("harbour")?;
        std::fs::write(harbour.join("departures.sh"), TOOL.replace("WORD", &word).replace("LIST", LIST))?;
        let server = BotServer::start(TOKEN)?;
        std::fs::write(stage.root().join("bridge.toml"), config(agents, &stage, &harbour, &server))?;
        let mut rehearsal = Self { sayso, model, stage, server, word, bridge: None };
        rehearsal.start()?;
        Ok(rehearsal)
    }

    fn start(&mut self) -> Result<()> {
        let config = self.stage.root().join("bridge.toml");
        let mut command = self.stage.command(self.sayso.path(), self.stage.root());
        let said = File::options().create(true).append(true).open(self.stage.root().join("bridge.log"))?;
        command.args(["bridge", "--config"]).arg(config);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(said);
        self.bridge = Some(command.spawn().context("sayso bridge")?);
        Ok(())
    }

    /// A person asks, and sees one more message: this one.
    fn asks(&self, question: &str, steps: Vec<Step>, sees: &str) -> Result<Vec<Request>> {
        let (before, expected, seen) = (self.model.requests().len(), steps.len(), self.server.seen().len());
        self.model.play(steps, Vec::new());
        self.server.says(CHAT, OWNER, question);
        let came = self.server.waits_for(LIMIT, |messages, _| messages.len() > seen);
        let log = std::fs::read_to_string(self.stage.root().join("bridge.log")).unwrap_or_default();
        ensure!(came, "nothing came: {log}");
        let texts = self.server.texts();
        ensure!(
            texts.get(seen).is_some_and(|text| text == sees),
            "the person sees {:?}: {log}",
            texts.last()
        );
        ensure!(texts.len() == seen + 1, "more than one message came: {texts:?}");
        // What a tool has for the person may arrive before the agent asks the model for the rest.
        ensure!(
            self.model.waits_for(before + expected, LIMIT),
            "the model was not asked {expected} times: {log}"
        );
        let requests = self.model.requests().split_off(before);
        Ok(requests)
    }

    fn departures(&self, question: &str, sees: &str) -> Result<()> {
        let look = Step::say("I look.").call("bash", json!({"command": "sh departures.sh"}));
        self.asks(question, vec![look, Step::say(REPLY)], sees).map(drop)
    }

    fn shown(&self) -> Result<()> {
        self.departures("Which ferries leave?", LIST)?;
        // The next answer shows that the reply before it does not follow.
        self.asks("Thank you.", vec![Step::say("You are welcome.")], "You are welcome.").map(drop)
    }

    fn model_saw(&self) -> Result<()> {
        let requests = self.model.requests();
        let last = requests.last().context("no request")?.body.to_string();
        ensure!(last.contains(&self.word), "the model was not shown the word");
        ensure!(!last.contains(LIST), "the model was shown the person's text");
        ensure!(last.contains(REPLY), "the reply is not in the conversation");
        Ok(())
    }

    fn follow_up(&self, question: &str) -> Result<()> {
        let answer = format!("The {} ferry, at 24:40.", self.word);
        ensure!(!self.server.texts().concat().contains(&self.word), "the person saw the word before");
        let requests = self.asks(question, vec![Step::say(answer.clone())], &answer)?;
        let body = requests.first().context("no request")?.body.to_string();
        ensure!(body.contains(question) && body.contains(&self.word), "the full text is not in the request");
        Ok(())
    }

    fn listed(&self) -> Result<()> {
        let checks = self.sayso.doctor(&self.stage)?;
        let bridge = checks.iter().find(|check| check["check"] == "bridge").context("no bridge")?;
        let detail = bridge["detail"].as_str().unwrap_or_default();
        ensure!(bridge["ok"] == true && detail.contains("telegram:4711 for harbour/telegram"), "{bridge}");
        Ok(())
    }

    fn crash(&mut self) -> Result<()> {
        self.signal("-KILL")?;
        self.bridge.take().context("no bridge")?.wait()?;
        self.server.forgets_what_was_confirmed();
        self.start()?;
        let requests = self.asks("Again, please?", vec![Step::say("24:40.")], "24:40.")?;
        let body = requests.first().context("no request")?.body.to_string();
        ensure!(body.contains(&self.word), "pi began another session");
        ensure!(body.matches("Which ferries leave?").count() == 1, "a message was put in twice");
        Ok(())
    }

    fn refused(&self) -> Result<()> {
        self.server.acts([Act::Refuse(400, "Bad Request: not this one", None)]);
        self.departures("Which ferries leave now?", REPLY)
    }

    fn signal(&self, signal: &str) -> Result<()> {
        let id = self.bridge.as_ref().context("no bridge")?.id().to_string();
        let status = Command::new("kill").args([signal, &id]).status()?;
        ensure!(status.success(), "kill {signal}: {status}");
        Ok(())
    }

    fn stop(&mut self) -> Result<()> {
        self.signal("-TERM")?;
        let status = self.bridge.take().context("no bridge")?.wait()?;
        ensure!(status.success(), "{status}");
        let checks = self.sayso.doctor(&self.stage)?;
        ensure!(!checks.iter().any(|check| check["check"] == "bridge"), "it did not give its account back");
        Ok(())
    }

    fn recorded(&self) -> Result<()> {
        let turns = self.sayso.turns(&self.stage, "harbour/telegram")?;
        for (kind, text) in [("owner", "Which ferries leave?"), ("agent", REPLY), ("owner", "Again, please?")]
        {
            ensure!(
                turns.iter().any(|turn| turn.speaker.kind == kind && turn.text == text),
                "{kind}: {text}"
            );
        }
        ensure!(
            turns.iter().filter(|turn| turn.text == "Which ferries leave?").count() == 1,
            "taken in twice"
        );
        Ok(())
    }
}

impl Drop for Rehearsal<'_> {
    fn drop(&mut self) {
        if let Some(mut bridge) = self.bridge.take() {
            drop(bridge.kill());
            drop(bridge.wait());
        }
    }
}

fn config(agents: &Agents, stage: &Stage, harbour: &Path, server: &BotServer) -> String {
    let command = json!([agents.pi(), "--provider", PROVIDER, "--model", MODEL]);
    let (folder, sessions) = (json!(harbour), json!(stage.root().join("pi-sessions")));
    format!(
        "[session]\nproject = \"harbour\"\ntitle = \"telegram\"\n\
         [source]\nkind = \"telegram\"\ntoken_env = \"BOT\"\nbase_url = \"{}\"\nowners = [{OWNER}]\n\
         [agent]\nkind = \"pi\"\ncommand = {command}\nfolder = {folder}\nsession_folder = {sessions}\n",
        server.url()
    )
}
