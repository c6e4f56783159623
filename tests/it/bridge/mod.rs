//! `sayso bridge` with a Bot API server on loopback and an agent that is a shell script; `cargo xtask live` has the real pi.

mod bad_input;
mod doctor;
mod everyday;
mod failures;
mod two_turns;

use std::fs::File;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use sayso_bridge::rehearsal::BotServer;
use serde_json::Value;

use crate::cli::Home;

pub(crate) const TOKEN: &str = "4711:not_a-secret";
pub(crate) const OWNER: i64 = 7;
/// Within which something has to happen that nothing else waits for.
pub(crate) const SOON: Duration = Duration::from_secs(60);

/// An agent that speaks lines. It has seen what stands in the file `started`, and does what the file of its name says: `$id` is the request,
/// `$text` the words as JSON.
const AGENT: &str = r#"
field() { printf '%s' "$line" | sed "s/.*\"$1\":\"\([^\"]*\)\".*/\1/"; }
while read -r line; do
  id=$(field request); text=$(field text)
  case "$line" in
    *'"type":"probe"'*)
      seen=false; grep -q "$id" started 2>/dev/null && seen=true
      echo "{\"type\":\"seen\",\"request\":\"$id\",\"seen\":$seen}" ;;
    *'"type":"message"'*)
      echo "{\"type\":\"accepted\",\"request\":\"$id\"}"
      echo "$id" >>started
      echo "{\"type\":\"started\",\"request\":\"$id\"}"
      . ./does
      echo '{"type":"settled"}'; echo '{"type":"idle"}' ;;
  esac
done
"#;

/// Says the words again.
pub(crate) const ECHO: &str =
    r#"echo "{\"type\":\"ended\",\"texts\":[\"You said: $text\"],\"stop\":\"stop\"}""#;
/// Says that it has seen it.
pub(crate) const SEEN: &str = r#"echo '{"type":"ended","texts":["seen"],"stop":"stop"}'"#;
/// Calls a tool that has a list for the person, then answers.
pub(crate) const NEWS: &str = r#"
echo '{"type":"ended","texts":["I look."],"calls":[{"id":"'$id'-c1","tool":"news","arguments":"{}"}],"stop":"tool_call"}'
echo '{"type":"tool_result","call":"'$id'-c1","tool":"news","ok":true,"text":"the night ferry leaves at 24:40","user":"the list","purpose":"listing"}'
echo '{"type":"ended","texts":["There is news."],"stop":"stop"}'
"#;

/// A home with a bridge's config, its agent and its server.
pub(crate) struct Place {
    pub(crate) home: Home,
    pub(crate) server: BotServer,
}

impl Place {
    /// The agent does what `does` says.
    pub(crate) fn new(does: &str) -> Self {
        let place = Self { home: Home::new(), server: BotServer::start(TOKEN).unwrap() };
        std::fs::write(place.home.path("agent.sh"), AGENT).unwrap();
        place.agent_does(does);
        place.config(&place.standard());
        place
    }

    pub(crate) fn agent_does(&self, does: &str) {
        std::fs::write(self.home.path("does"), does).unwrap();
    }

    pub(crate) fn standard(&self) -> String {
        format!(
            "[session]\nproject = \"harbour\"\ntitle = \"telegram\"\n\
             [source]\nkind = \"telegram\"\ntoken_env = \"BOT\"\nbase_url = \"{}\"\nowners = [{OWNER}]\n\
             [agent]\nkind = \"lines\"\nname = \"Rocky\"\ncommand = [\"/bin/sh\", \"agent.sh\"]\n",
            self.server.url()
        )
    }

    pub(crate) fn config(&self, text: &str) {
        std::fs::write(self.home.path("bridge.toml"), text).unwrap();
    }

    pub(crate) fn command(&self) -> Command {
        let mut command = self.home.command();
        command.args(["bridge", "--config", "bridge.toml"]).env("BOT", TOKEN).env("PATH", "/usr/bin:/bin");
        command
    }

    /// Starts the bridge; what it says goes into the file `said`.
    pub(crate) fn start(&self) -> Running {
        self.start_as(&mut self.command())
    }

    pub(crate) fn start_as(&self, command: &mut Command) -> Running {
        let said = self.home.path("said");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(File::create(&said).unwrap());
        Running { child: command.spawn().unwrap(), said }
    }

    /// What the bridge's session holds: kind of the speaker, and the words.
    pub(crate) fn turns(&self) -> Vec<(String, String)> {
        let entries = self.home.run(&["show", "harbour/telegram", "--json"]).lines();
        let turns = entries.iter().filter(|entry| entry["kind"] == "turn");
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        turns.map(|turn| (text(&turn["speaker"]["kind"]), text(&turn["text"]))).collect()
    }
}

/// A bridge that runs. It is killed when it is dropped.
pub(crate) struct Running {
    pub(crate) child: Child,
    said: PathBuf,
}

impl Running {
    pub(crate) fn said(&self) -> String {
        std::fs::read_to_string(&self.said).unwrap()
    }

    pub(crate) fn signal(&self, signal: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
    }

    /// Asks it to end, and waits for it.
    #[track_caller]
    pub(crate) fn stop(self) -> String {
        self.stop_by("-TERM")
    }

    /// Sends it a signal that asks it to end, and waits for it.
    #[track_caller]
    pub(crate) fn stop_by(mut self, signal: &str) -> String {
        self.signal(signal);
        let status: ExitStatus = self.child.wait().unwrap();
        let said = self.said();
        assert!(status.success(), "{status}: {said}");
        said
    }

    /// Waits until it has said these words.
    #[track_caller]
    pub(crate) fn says(&mut self, words: &str) {
        while !self.said().contains(words) {
            if let Some(status) = self.child.try_wait().unwrap() {
                panic!("it ended, {status}: {}", self.said());
            }
            std::thread::yield_now();
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until a person sees these texts.
#[track_caller]
pub(crate) fn sees(place: &Place, texts: &[&str]) {
    let there = place.server.waits_for(SOON, |seen, _| seen.len() >= texts.len());
    let said = std::fs::read_to_string(place.home.path("said")).unwrap_or_default();
    assert!(there, "only {:?}\n{said}", place.server.texts());
    assert_eq!(place.server.texts(), texts, "{said}");
}
