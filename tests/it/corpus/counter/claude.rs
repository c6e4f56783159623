//! The turns of a Claude Code transcript.
//!
//! Every record is counted once, in the order of the file: as a turn, as a compaction, as one
//! of the kinds that are passed over, or as unknown. The page of the importer says which. The
//! count keeps what each session said in its order, so that a turn in the wrong session or in
//! the wrong place shows as well as a wrong text.

mod kinds;
mod queue;
#[cfg(test)]
mod tests;
mod words;

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use self::queue::{Queue, words_of};
use self::words::{Part, Who, speaker, text_of};
use super::{Counts, Detail, digest, string};

/// What the operations on the queue are counted as.
const QUEUE: &str = "queue-operation";

/// Whether the first record of a file says that it is a transcript.
pub(super) fn opens(first: &Value) -> bool {
    let has = |key: &str| string(first, key).is_some();
    match string(first, "type") {
        None | Some("session_meta" | "session") => false,
        Some("user" | "assistant") => {
            has("sessionId") && first.get("message").and_then(|message| message.get("content")).is_some()
        }
        Some("file-history-snapshot") => {
            has("messageId") && first.get("snapshot").is_some_and(Value::is_object)
        }
        Some("summary") => has("summary") && has("leafUuid"),
        Some(_) => has("sessionId"),
    }
}

/// Counts a transcript. `of_agent` says that it is the file of a sub-agent.
pub(super) fn session(records: &[Value], of_agent: bool) -> Counts {
    let mut count = Count { of_agent, chains: vec![Vec::new()], ..Count::default() };
    for record in records {
        count.record(record);
    }
    count.finish()
}

/// A count under way.
#[derive(Default)]
struct Count {
    counts: Counts,
    detail: Detail,
    /// Whether the file is a sub-agent's.
    of_agent: bool,
    /// What each session said. The first is the session itself, the others are side chains.
    chains: Vec<Vec<String>>,
    /// The session of every record that has a `uuid`.
    places: HashMap<String, usize>,
    /// The side chains, by the `uuid` of the record that begins them.
    roots: HashMap<String, usize>,
    /// The side chain of the last record that had one.
    last_side: Option<usize>,
    queue: Queue,
    /// The records in or above which somebody but the program speaks.
    spoken: HashSet<String>,
    /// Whether anybody but the program has spoken.
    anybody: bool,
    /// Whether anybody but the program speaks in the record at hand.
    speaks: bool,
}

impl Count {
    fn record(&mut self, record: &Value) {
        let chain = self.place(record);
        self.speaks = self.is_behind_words(record);
        self.take(record, chain);
        let uuid = string(record, "uuid").filter(|_| self.speaks);
        self.spoken.extend(uuid.map(str::to_owned));
    }

    fn take(&mut self, record: &Value, chain: usize) {
        match string(record, "type") {
            Some("user") => self.user(record, chain),
            Some("assistant") => self.assistant(record, chain),
            Some(QUEUE) => self.operation(record),
            Some("attachment") => self.attachment(record, chain),
            Some("system") => self.system(record, chain),
            Some("progress") => {
                let kind = record.get("data").and_then(|data| string(data, "type"));
                self.pass("progress", kind, &kinds::PROGRESS);
            }
            Some(kind) if kinds::OTHER.contains(&kind) => self.skip(kind.to_owned()),
            _ => self.detail.unknown += 1,
        }
    }

    /// The session that a record belongs to.
    fn place(&mut self, record: &Value) -> usize {
        let mut chain = 0;
        if flag(record, "isSidechain") && !self.of_agent {
            let parent = string(record, "parentUuid").or_else(|| string(record, "logicalParentUuid"));
            let known = parent.map(|parent| self.places.get(parent).copied());
            chain = match (known, self.last_side) {
                (Some(Some(side)), _) if side > 0 => side,
                (Some(None), Some(last)) => last,
                _ => self.side_chain(record),
            };
            self.last_side = Some(chain);
        }
        if let Some(uuid) = string(record, "uuid") {
            self.places.entry(uuid.to_owned()).or_insert(chain);
        }
        chain
    }

    /// The side chain that begins with this record. Its `uuid` tells it from the others.
    fn side_chain(&mut self, record: &Value) -> usize {
        let root = string(record, "uuid").unwrap_or_default().to_owned();
        let next = self.chains.len();
        let chain = *self.roots.entry(root).or_insert(next);
        if chain == next {
            self.chains.push(Vec::new());
        }
        chain
    }

    fn user(&mut self, record: &Value, chain: usize) {
        let Some(message) = record.get("message").filter(|message| message.is_object()) else {
            self.detail.unknown += 1;
            return;
        };
        let content = message.get("content");
        if flag(record, "isCompactSummary") {
            self.counts.compactions += 1;
            self.somebody();
            let summary = words::plain(content).join("\n");
            self.say(chain, "compaction", &summary);
            return;
        }
        if chain == 0 {
            let shown = self.queue.show(content, false);
            self.taken_by(&shown);
        }
        let planned = string(record, "planContent").is_some_and(|plan| !plan.is_empty())
            || self.hands_on_a_plan(record, chain);
        let role = self.role(record, planned, chain);
        self.turn(chain, &role.parts(content), &role.who);
    }

    /// Whether a record hands a plan of the model on, or may do so: it can begin a conversation, and begins like
    /// one that does.
    fn hands_on_a_plan(&self, record: &Value, chain: usize) -> bool {
        let by_agent = chain > 0 || self.of_agent;
        let told = record.get("origin").is_some_and(Value::is_object);
        let content = record.get("message").and_then(|message| message.get("content"));
        !by_agent && !told && !self.is_behind_words(record) && words::plans(content)
    }

    /// Whether somebody but the program is known to have spoken above a record.
    fn is_behind_words(&self, record: &Value) -> bool {
        let parent = string(record, "parentUuid").filter(|parent| !parent.is_empty());
        let parent =
            parent.or_else(|| string(record, "logicalParentUuid").filter(|parent| !parent.is_empty()));
        match parent {
            Some(parent) => self.spoken.contains(parent),
            None => record.get("parentUuid").is_none() && self.anybody,
        }
    }

    /// Whose words a record holds where nothing else says it.
    fn role(&self, says: &Value, by_program: bool, chain: usize) -> Role {
        let origin = says.get("origin").filter(|origin| origin.is_object());
        let by_person = |origin: &Value| matches!(string(origin, "kind"), Some("human" | "cli"));
        if by_program || flag(says, "isMeta") {
            return Role { who: Who::Program, whole: true };
        }
        match origin {
            Some(origin) if by_person(origin) => Role { who: Who::Owner, whole: false },
            Some(origin) => Role { who: sender(origin), whole: true },
            None if chain > 0 || self.of_agent => Role { who: Who::claude_code(), whole: false },
            None => Role { who: Who::Owner, whole: false },
        }
    }

    fn assistant(&mut self, record: &Value, chain: usize) {
        let Some(message) = record.get("message").filter(|message| message.is_object()) else {
            self.detail.unknown += 1;
            return;
        };
        if chain == 0 {
            self.settle();
        }
        let model = string(message, "model");
        let by_program = model == Some("<synthetic>") || flag(record, "isApiErrorMessage");
        let who = if by_program { Who::Program } else { Who::Agent(model.unwrap_or_default().to_owned()) };
        let parts = words::parts(message.get("content"), &who, true);
        if !by_program {
            self.somebody();
        }
        self.said(chain, &parts, &who);
    }

    fn operation(&mut self, record: &Value) {
        let content = record.get("content");
        match string(record, "operation") {
            Some("enqueue") => {
                self.queue.put(content);
                self.skip(format!("{QUEUE}/enqueue"));
            }
            Some(name @ ("dequeue" | "remove")) => {
                if !self.queue.take(name) {
                    self.skip(format!("{QUEUE}/{name}"));
                }
            }
            Some("popAll") => {
                let given_back = self.queue.pull_back(&words_of(content));
                self.taken_by(&given_back);
                self.skip(format!("{QUEUE}/popAll"));
            }
            _ => self.detail.unknown += 1,
        }
    }

    /// Counts the operations that took something out which another record says.
    fn taken_by(&mut self, operations: &[String]) {
        operations.iter().for_each(|operation| self.skip(format!("{QUEUE}/{operation}")));
    }

    /// What was taken out of the queue and stands nowhere else is said here.
    fn settle(&mut self) {
        for content in self.queue.settle() {
            let who = if self.of_agent { Who::claude_code() } else { Who::Owner };
            let parts = words::parts(content.as_ref(), &who, false);
            self.said(0, &parts, &speaker(&parts, &who));
        }
    }

    fn attachment(&mut self, record: &Value, chain: usize) {
        let attachment = record.get("attachment").unwrap_or(&Value::Null);
        match string(attachment, "type") {
            Some("queued_command") => {
                let content = attachment.get("prompt");
                if chain == 0 {
                    let shown = self.queue.show(content, true);
                    self.taken_by(&shown);
                }
                let notice = string(attachment, "commandMode") == Some("task-notification");
                let role = self.role(attachment, notice, chain);
                self.turn(chain, &role.parts(content), &role.who);
            }
            Some("teammate_mailbox") => {
                let parts = words::letters(attachment.get("messages"));
                match parts.first().map(|part| part.by().clone()) {
                    Some(sender) => self.turn(chain, &parts, &sender),
                    None => self.skip("attachment/teammate_mailbox".to_owned()),
                }
            }
            Some(kind) => self.pass("attachment", Some(kind), &kinds::ATTACHMENT),
            None => self.detail.unknown += 1,
        }
    }

    fn system(&mut self, record: &Value, chain: usize) {
        match string(record, "subtype") {
            Some("local_command") => {
                let role = Role { who: Who::Owner, whole: false };
                self.turn(chain, &role.parts(record.get("content")), &role.who);
            }
            kind => self.pass("system", kind, &kinds::SYSTEM),
        }
    }

    /// A record that holds no turn: one of the known kinds, else an unknown one.
    fn pass(&mut self, of: &str, kind: Option<&str>, known: &[&str]) {
        match kind {
            None => self.skip(of.to_owned()),
            Some(kind) if known.contains(&kind) => self.skip(format!("{of}/{kind}")),
            Some(_) => self.detail.unknown += 1,
        }
    }

    fn skip(&mut self, kind: String) {
        *self.detail.skipped.entry(kind).or_default() += 1;
    }

    /// Counts a turn whose speaker follows from its parts.
    fn turn(&mut self, chain: usize, parts: &[Part], role: &Who) {
        let who = speaker(parts, role);
        if who != Who::Program {
            self.somebody();
        }
        self.said(chain, parts, &who);
    }

    fn somebody(&mut self) {
        (self.speaks, self.anybody) = (true, true);
    }

    /// Counts a turn of this speaker.
    fn said(&mut self, chain: usize, parts: &[Part], who: &Who) {
        let text = text_of(parts);
        self.counts.tally(who.kind()).add(&text);
        self.say(chain, who.kind(), &text);
        let spoken = parts.iter().filter_map(|part| Some((part.by().kind(), part.text()?)));
        for (kind, text) in spoken {
            self.detail.parts.push(format!("{kind} {}", digest(text)));
        }
    }

    fn say(&mut self, chain: usize, what: &str, text: &str) {
        if let Some(chain) = self.chains.get_mut(chain) {
            chain.push(format!("{what} {}", digest(text)));
        }
    }

    fn finish(mut self) -> Counts {
        self.settle();
        self.detail.parts.sort();
        self.detail.sessions = self.chains.into_iter().filter(|chain| !chain.is_empty()).collect();
        self.detail.sessions.sort();
        self.counts.detail = Some(self.detail);
        self.counts
    }
}

/// Whose words the texts of a record are where they do not say it themselves.
struct Role {
    who: Who,
    /// Whether that holds for all that the texts say.
    whole: bool,
}

impl Role {
    fn parts(&self, content: Option<&Value>) -> Vec<Part> {
        words::parts(content, &self.who, self.whole)
    }
}

/// The agent that an origin names, or the program.
fn sender(origin: &Value) -> Who {
    string(origin, "from").map_or(Who::Program, |name| Who::Agent(name.to_owned()))
}

/// Whether the value under `key` is true.
fn flag(value: &Value, key: &str) -> bool {
    value.get(key) == Some(&Value::Bool(true))
}
