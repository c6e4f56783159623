//! What a relay is given from outside: where messages come from, where answers go, the agent's session, and the clock.
//!
//! None of these may write to the ledger. A port that cannot tell what happened says so (`Unknown`, `CannotTell`): what
//! follows from that is decided by the relay, never by a port.

use std::time::Duration;

pub use sayso::model::{DeliveryId, Outcome, OutputId, RequestId, SaidAt, SpeakerKind, UtcMs};
pub use sayso_output::envelope::Received;

/// What time it is.
pub trait Clock {
    /// The time of the system's clock, which somebody may set.
    fn now(&self) -> UtcMs;

    /// How long it is since some fixed moment of this process; setting the clock does not change it.
    fn elapsed(&self) -> Duration;
}

/// One part of a delivery, to be sent now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgoing {
    /// The delivery.
    pub delivery: DeliveryId,
    /// The same for every attempt at this part, and for nothing else: an idempotency key where the sink takes one.
    pub key: String,
    /// Which part, from 0.
    pub part: u32,
    /// How many parts there are.
    pub parts: u32,
    /// The channel that the message came by, such as `telegram`.
    pub channel: String,
    /// Where to: what the source gave with the message, unread.
    pub destination: String,
    /// The id of the message that is answered, as its source gave it.
    pub reply_to: Option<String>,
    /// The text.
    pub text: String,
    /// Whether to say visibly that this may be a repeat.
    pub repeat_mark: bool,
}

/// What a sink gave back for what it took: a message's id, as JSON or plain text; unread, never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt(pub String);

/// What became of an attempt to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sent {
    /// The sink took it.
    Delivered(Receipt),
    /// It surely did not arrive, and would not the next time.
    Permanent {
        /// Why, for people.
        why: String,
    },
    /// It surely did not arrive, and may the next time.
    Temporary {
        /// Why, for people.
        why: String,
        /// How long the sink asks to wait, in milliseconds.
        retry_after_ms: Option<u64>,
    },
    /// It may or may not have arrived.
    Unknown {
        /// Why, for people.
        why: String,
    },
}

/// What can be done about a sink where nobody knows whether something arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ability {
    /// The sink knows [`Outgoing::key`] again for so long after the first attempt, in milliseconds: sent again it arrives once.
    Key {
        /// How long.
        ttl_ms: u64,
    },
    /// The sink can be asked, see [`Sender::probe`].
    Probe,
    /// Neither.
    Opaque(Blind),
}

/// What becomes of a delivery to a sink that neither knows keys nor can be asked, where nobody knows whether it arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Blind {
    /// It waits for a person's decision: `sayso deliveries resolve`, `retry` or `cancel`.
    #[default]
    Park,
    /// It is sent again, with a visible mark that it may be a repeat.
    ResendMarked,
}

/// What a sink said when it was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Probed {
    /// It has it.
    Delivered(Receipt),
    /// It surely has it not.
    NotSent,
    /// It cannot tell now.
    CannotTell {
        /// Why, for people.
        why: String,
    },
}

/// A sink for one channel.
pub trait Sender {
    /// What can be done where nobody knows whether something arrived.
    fn ability(&self) -> Ability;

    /// The text in parts that the sink takes, in order; at least one. Joined they need not be the text again.
    fn split(&self, text: &str) -> Vec<String>;

    /// Sends one part. Blocks until there is an answer, or none is to be expected.
    fn send(&mut self, what: &Outgoing) -> Sent;

    /// Asks whether a part arrived; only where [`Sender::ability`] is [`Ability::Probe`].
    fn probe(&mut self, what: &Outgoing) -> Probed;
}

/// A message that came in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Incoming {
    /// The source's own id of this update: the same again is the same message. Scoped to the account.
    pub update: String,
    /// The id of the message, for answering it.
    pub message: String,
    /// Where an answer goes, unread: JSON or plain text.
    pub destination: String,
    /// `owner` or `person`.
    pub speaker_kind: SpeakerKind,
    /// The source's own id of who said it; unread.
    pub speaker_id: String,
    /// The name as it was then; may be empty.
    pub speaker_name: String,
    /// When it was said, where known.
    pub said_at: Option<SaidAt>,
    /// The words.
    pub text: String,
    /// How many sequences of the words were repaired to U+FFFD.
    pub repairs: u32,
    /// Where reading goes on after this update.
    pub cursor: Option<String>,
}

/// Where messages come from.
pub trait Source {
    /// The account that reads, such as a bot's name; never a secret.
    fn account(&self) -> String;

    /// The channel: the name of the sink that answers leave by.
    fn channel(&self) -> String;

    /// What came after a cursor, in order. Waits for so long when there is nothing, and before it says that it may work the
    /// next time: nobody else does.
    ///
    /// # Errors
    ///
    /// See [`SourceFail`].
    fn poll(&mut self, after: Option<&str>, wait: Duration) -> Result<Vec<Incoming>, SourceFail>;
}

/// Why nothing could be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SourceFail {
    /// It may work the next time.
    #[error("the source cannot be read now: {why}")]
    Temporary {
        /// Why, for people.
        why: String,
        /// How long the source asks to wait, in milliseconds.
        retry_after_ms: Option<u64>,
    },
    /// Another program reads this account.
    #[error("another program reads this account: {why}")]
    Conflict {
        /// Why, for people.
        why: String,
    },
    /// The source does not let this account read.
    #[error("the source refuses this account: {why}")]
    Refused {
        /// Why, for people.
        why: String,
    },
    /// An update that cannot be understood.
    #[error("an update of the source cannot be read: {why}")]
    Malformed {
        /// Why, for people.
        why: String,
        /// Where reading goes on after it.
        cursor: Option<String>,
    },
}

/// A message to put into the session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Injection {
    /// The request; the session's started message carries its id.
    pub request: RequestId,
    /// The words as the model is to see them.
    pub text: String,
}

/// What became of an injection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Injecting {
    /// The session took it. It is not injected before [`SessionEvent::Started`] with the request's id.
    Accepted,
    /// The session is in the middle of something, and took nothing.
    Busy,
    /// The session took nothing.
    Refused {
        /// Why, for people.
        why: String,
    },
    /// The session may have taken it.
    Unknown {
        /// Why, for people.
        why: String,
    },
}

/// What a session said when it was asked for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// A started message carries its id.
    Seen,
    /// None does, and none will.
    NotSeen,
    /// It cannot tell now.
    CannotTell,
}

/// Why a message of the agent ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// The agent was done: its text answers.
    Stop,
    /// It calls tools.
    ToolCall,
    /// The model or its provider failed.
    Error,
    /// Somebody stopped it.
    Aborted,
}

/// A call that the agent makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The call's id.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// The arguments, usually JSON.
    pub arguments: String,
}

/// Something that happened in the session.
///
/// `request` is the request whose turn it belongs to, where the session knows, and `None` where it does not say. What names a request
/// is for that one, however late. What names none is for the one that was started last, unless the session still owes an earlier one
/// its answer: then it goes to nobody by itself, and a person decides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionEvent {
    /// A user's message was started.
    Started {
        /// The request whose id it carries; `None` for a message that came another way.
        request: Option<RequestId>,
    },
    /// A message of the agent ended.
    Ended {
        /// The request that it belongs to.
        request: Option<RequestId>,
        /// The session's own id of the message, where it has one: the same again is the same message.
        message: Option<String>,
        /// Its texts, in order; together they are one text.
        text_parts: Vec<String>,
        /// The tools that it calls.
        calls: Vec<Call>,
        /// Why it ended.
        stop: Stop,
    },
    /// A part of an answer that the person is to see at once, and that is not the answer.
    Progress {
        /// The request that it belongs to.
        request: Option<RequestId>,
        /// The session's own id of it, where it has one: the same again is the same message.
        message: Option<String>,
        /// The text.
        text: String,
    },
    /// A tool answered.
    ToolResult {
        /// The request that it belongs to.
        request: Option<RequestId>,
        /// The call's id.
        call: String,
        /// The tool.
        tool: String,
        /// Whether it worked.
        outcome: Outcome,
        /// What came of it, for its two recipients.
        result: Received,
        /// The stored output that holds all of it, where somebody stored one.
        output: Option<OutputId>,
    },
    /// The session has nothing more to do for a request; that is no answer.
    Settled {
        /// The request.
        request: Option<RequestId>,
    },
    /// The session would take a message now.
    Idle,
    /// The turn broke off.
    Failed {
        /// The request that it belongs to.
        request: Option<RequestId>,
        /// Why, for people.
        why: String,
    },
    /// The session ended, and nothing more comes of it.
    Gone,
}

/// An agent's session.
pub trait AgentSession {
    /// The agent's name.
    fn name(&self) -> String;

    /// By which way messages go in, such as `pi rpc`.
    fn route(&self) -> String;

    /// Puts a message in.
    fn inject(&mut self, what: &Injection) -> Injecting;

    /// Asks whether a request was started.
    fn probe(&mut self, request: RequestId) -> Seen;

    /// Whether it would take a message now.
    fn idle(&mut self) -> bool;

    /// The next thing that happened; waits for at most so long. Whoever asks has done with the one before: a session that
    /// outlives its relay tells the last one again where nobody asked after it.
    fn next(&mut self, wait: Duration) -> Option<SessionEvent>;

    /// Stops what it is doing.
    fn interrupt(&mut self);
}
