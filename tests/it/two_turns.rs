//! The two-turn matrix: a tool's result for one or two recipients at turn one, and a question about it at turn two.
//!
//! What an app does, with the ledger between the turns. The text for the model is the tool's result: its part's text is what the model
//! saw (the view of it, with the directive where the person surely saw the display), its output holds the bytes whole. The text for
//! the person is an attachment of the same turn with an output of its own: it is no word of the conversation, so no context and no search
//! repeats it, and its name says what it is and what became of it.

mod outbox;

use sayso::model::{Attachment, Outcome, OutputId, PartBody, ToolCall, ToolResult};
use sayso::store::{Session, StreamKind};
use sayso::view::context::Provider;
use sayso::{
    CompactRequest, Ended, Ending, Ledger, NewOutput, NewTurn, Options, ReinjectRequest, Scope, SpeakerKind,
    Trigger,
};
use sayso_output::envelope::{
    Decision, Delivery, Display, Envelope, ModelContext, Purpose, Received, Reply, decide,
};
use sayso_output::wire::{FrameReader, Nonce, Sections, frame};
use sayso_output::{Actions, Capture, Profile, Stream, present};

use crate::cli::Home;

/// Turn one and turn two of every cell. At turn one the person gets the display or the reply, once, or the reply marked as a possible
/// repeat. At turn two the model has the full text in its context, or a reference that one call reads whole; `+shown` where it is told
/// that the person saw the text.
///
/// length layers delivery frame | person at turn one | turn two before compaction | turn two after compaction
pub(crate) const MATRIX: &str = "
short two      delivered whole     | display      | full+shown      | full
short two      delivered truncated | reply        | full            | full
short two      failed    whole     | reply        | full            | full
short two      failed    truncated | reply        | full            | full
short two      unknown   whole     | reply marked | full            | full
short two      unknown   truncated | reply        | full            | full
short ordinary delivered whole     | reply        | full            | full
short ordinary delivered truncated | reply        | full            | full
short ordinary failed    whole     | reply        | full            | full
short ordinary failed    truncated | reply        | full            | full
short ordinary unknown   whole     | reply        | full            | full
short ordinary unknown   truncated | reply        | full            | full
long  two      delivered whole     | display      | reference+shown | reference
long  two      delivered truncated | reply        | reference       | reference
long  two      failed    whole     | reply        | reference       | reference
long  two      failed    truncated | reply        | reference       | reference
long  two      unknown   whole     | reply marked | reference       | reference
long  two      unknown   truncated | reply        | reference       | reference
long  ordinary delivered whole     | reply        | reference       | reference
long  ordinary delivered truncated | reply        | reference       | reference
long  ordinary failed    whole     | reply        | reference       | reference
long  ordinary failed    truncated | reply        | reference       | reference
long  ordinary unknown   whole     | reply        | reference       | reference
long  ordinary unknown   truncated | reply        | reference       | reference
";

/// What the person is shown where there are two layers.
pub(crate) const SHOWN: &str = "the harbour's news, newest first";

pub(crate) struct Cell<'a> {
    length: &'a str,
    layers: &'a str,
    pub(crate) delivery: Delivery,
    frame: &'a str,
}

impl<'a> Cell<'a> {
    fn parse(words: &'a str) -> Self {
        let words: Vec<&str> = words.split_whitespace().collect();
        let delivery = match words[2] {
            "delivered" => Delivery::Delivered,
            "failed" => Delivery::Failed,
            _ => Delivery::Unknown,
        };
        Self { length: words[0], layers: words[1], delivery, frame: words[3] }
    }

    /// What the tool has to say to the model; the question is about the entry in the middle.
    fn text(&self) -> String {
        let count = if self.length == "long" { 5_000 } else { 5 };
        let topic = |n| if n == count / 2 { "night ferry leaves quay 7 at 24:40" } else { "calm sea" };
        (1..=count).map(|n| format!("entry {n}: {}\n", topic(n))).collect()
    }

    /// What comes of the tool over the wire.
    pub(crate) fn received(&self) -> Received {
        let plain = Envelope::plain(ModelContext::new(self.text()).unwrap());
        let two = self.layers == "two";
        let envelope = if two { plain.with_presentation(SHOWN, Purpose::Listing) } else { plain };
        let user = envelope.user_presentation().unwrap_or_default().into();
        let sections = Sections { model: envelope.model_context().into(), user, purpose: Purpose::Listing };
        let (nonce, mut bytes) = (Nonce::of([7; 16]), Vec::new());
        frame(&sections, &nonce, &mut bytes).unwrap();
        if self.frame == "truncated" {
            // The tool was killed: the last words for the person, or the end alone, never came.
            bytes.truncate(bytes.len() - 45);
        }
        let mut around = Vec::new();
        let mut reader = FrameReader::new(nonce, &mut around);
        reader.feed(&bytes).unwrap();
        let found = reader.finish().unwrap();
        assert!(around.is_empty() && found.len() == 1);
        found[0].received()
    }
}

/// An app with a ledger, a model and a person.
pub(crate) struct App<'h> {
    home: &'h Home,
    pub(crate) ledger: Ledger,
    pub(crate) session: Session,
}

impl<'h> App<'h> {
    fn new(home: &'h Home) -> Self {
        let ledger = Ledger::open(&home.ledger(), &Options::default()).unwrap();
        let session = ledger.session("harbour", "ferries").unwrap();
        Self { home, ledger, session }
    }

    fn store(&self, text: &str) -> OutputId {
        let mut writer = self.ledger.start_output(&self.session, NewOutput::of("news")).unwrap();
        writer.write(StreamKind::Stdout, text.as_bytes()).unwrap();
        writer.finish(Ended::by(Ending::Exit(0))).unwrap()
    }

    fn append(&self, kind: SpeakerKind, parts: Vec<PartBody>) {
        let parts = parts.into_iter().map(|part| (None, part)).collect();
        self.ledger.append(&self.session, NewTurn { parts, ..NewTurn::text(kind, "x", "") }).unwrap();
    }

    /// What came, with the text for the model within a view's limit; the whole is stored.
    pub(crate) fn bounded(&self, received: Received) -> (Received, OutputId) {
        let view = |text: &str, id: OutputId| {
            let mut capture = Capture::of("news", Stream::whole(&text), sayso_output::Ending::Exit(0));
            capture.id = Some(id.to_string());
            let view =
                present(&capture, &Profile { actions: Actions::sayso(), ..Profile::default() }).unwrap();
            if view.cut() { view.to_string() } else { text.to_owned() }
        };
        match received {
            Received::Whole(envelope) => {
                let id = self.store(envelope.model_context());
                (Received::Whole(envelope.rewrap(Display::Pass, |text| view(text, id)).unwrap()), id)
            }
            Received::Truncated(text) => {
                let id = self.store(&text);
                (Received::Truncated(view(&text, id)), id)
            }
        }
    }

    /// Turn one: who gets what, and what is recorded. What the person got, once each.
    fn turn_one(&self, cell: &Cell<'_>) -> Vec<&'static str> {
        self.append(SpeakerKind::Owner, vec![PartBody::Text("What is new at the harbour?".into())]);
        let call = ToolCall { call_id: "c1".into(), tool: "news".into(), arguments: "{}".into() };
        self.append(SpeakerKind::Agent, vec![PartBody::ToolCall(call)]);
        let (received, output) = self.bounded(cell.received());
        let Decision { model, person, reply } = decide(&received, Delivery::Pending);
        // The display goes out, and word of it comes back; without one there is nothing to hear of.
        let (sent, decided) = match person {
            Some(display) => {
                assert_eq!((display.as_str(), reply), (SHOWN, Reply::Hold));
                (true, decide(&received, cell.delivery))
            }
            None => (false, Decision { model, person, reply }),
        };
        let result = ToolResult {
            call_id: "c1".into(),
            tool: "news".into(),
            outcome: Outcome::Ok,
            text: decided.model,
            output: Some(output),
        };
        let presentation = sent.then(|| self.presentation(&received, cell.delivery));
        self.append(
            SpeakerKind::Tool,
            std::iter::once(PartBody::ToolResult(result)).chain(presentation).collect(),
        );
        let arrived = sent && cell.delivery == Delivery::Delivered;
        let mut got: Vec<&str> = arrived.then_some("display").into_iter().collect();
        match decided.reply {
            Reply::Suppress => {}
            Reply::Release => got.push("reply"),
            Reply::ReleaseMarked => got.push("reply marked"),
            Reply::Hold => panic!("nobody waits for ever"),
        }
        if decided.reply != Reply::Suppress {
            self.append(SpeakerKind::Agent, vec![PartBody::Text("There is news.".into())]);
        }
        got
    }

    fn presentation(&self, received: &Received, delivery: Delivery) -> PartBody {
        let Received::Whole(envelope) = received else { panic!("a truncated frame has no display") };
        let became = match delivery {
            Delivery::Delivered => "shown to the person",
            Delivery::Failed => "not shown to the person",
            Delivery::Pending | Delivery::Unknown => "perhaps shown to the person",
        };
        PartBody::Attachment(Attachment {
            media_type: "text/plain".into(),
            name: format!("{}, {became}", envelope.purpose().unwrap()),
            output: Some(self.store(envelope.user_presentation().unwrap())),
        })
    }

    /// The context of turn two, with every string as it was before it became JSON.
    fn context(&self) -> String {
        let reader = self.ledger.reader(Scope::All);
        let texts = |provider| {
            let mut all = String::new();
            strings(&reader.context(self.session.id, provider, None).unwrap().input, &mut all);
            all
        };
        let [first, rest @ ..] = Provider::ALL.map(texts);
        for other in rest {
            assert_eq!(first.contains("24:40"), other.contains("24:40"));
        }
        first
    }

    /// What the context of turn two has of the text.
    fn has(&self, cell: &Cell<'_>) -> String {
        let (context, whole) = (self.context(), came(cell));
        let text = cell.text();
        assert!(
            !context.contains(SHOWN) || cell.frame == "truncated",
            "the display is no word of the conversation"
        );
        let has = match context.contains(text.trim_end()) {
            true => "full",
            false if self.reads_whole(&context, &whole) => "reference",
            false => "nothing",
        };
        let shown = context.contains(Purpose::Listing.directive());
        format!("{has}{}", if shown { "+shown" } else { "" })
    }

    /// What the model has when it is asked, before a compaction and after one.
    fn turn_two(&self, cell: &Cell<'_>) -> [String; 2] {
        let asks = |question: &str| self.append(SpeakerKind::Owner, vec![PartBody::Text(question.into())]);
        asks("When does the night ferry leave?");
        let before = self.has(cell);
        let reader = self.ledger.reader(Scope::All);
        reader.compact(&CompactRequest::of(self.session.id, "They talked about the harbour.")).unwrap();
        assert!(!self.context().contains("24:40"), "the summary does not say it");
        let question = "From which quay does the night ferry leave?";
        reader.reinject(&ReinjectRequest::of(self.session.id, Trigger::UserTurn(question.into()))).unwrap();
        asks(question);
        assert!(self.context().contains("night ferry leaves quay 7 at 24:40"), "what was asked for is there");
        [before, self.has(cell)]
    }

    /// Whether one call that the context names gives everything that came.
    fn reads_whole(&self, context: &str, whole: &str) -> bool {
        let named = regex::Regex::new(r"sayso output (\w{26})").unwrap();
        named
            .captures(context)
            .is_some_and(|id| self.home.run(&["output", &id[1]]).stdout == whole.as_bytes())
    }
}

/// Everything that came for the model.
fn came(cell: &Cell<'_>) -> String {
    match cell.received() {
        Received::Whole(envelope) => envelope.model_context().to_owned(),
        Received::Truncated(text) => text,
    }
}

fn strings(value: &serde_json::Value, all: &mut String) {
    match value {
        serde_json::Value::String(text) => *all += &format!("{text}\n"),
        serde_json::Value::Array(values) => values.iter().for_each(|v| strings(v, all)),
        serde_json::Value::Object(fields) => fields.values().for_each(|v| strings(v, all)),
        _ => {}
    }
}

/// Runs every cell and gives the table as it came out: turn one by `one`, then a question, a compaction, and another question.
pub(crate) fn table(one: impl Fn(&App<'_>, &Cell<'_>) -> Vec<&'static str>) -> String {
    let mut table = String::from("\n");
    for line in MATRIX.lines().filter(|line| !line.is_empty()) {
        let words = line.split('|').next().unwrap();
        let (home, cell) = (Home::new(), Cell::parse(words));
        let app = App::new(&home);
        let got = one(&app, &cell).join(" and ");
        let [before, after] = app.turn_two(&cell);
        table += format!("{}| {got:12} | {before:15} | {after}", words).trim_end();
        table.push('\n');
    }
    table
}

#[test]
fn every_cell_before_and_after_compaction() {
    assert_eq!(table(|app, cell| app.turn_one(cell)), MATRIX);
}
