//! Ways to get it wrong, built for tests alone: a check that finds none of them is worth nothing.
#![cfg_attr(not(feature = "flaws"), allow(dead_code, unreachable_pub))]

/// A way to get it wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flaw {
    /// That a session settled is taken for an answer.
    AnswerOnSettle,
    /// What may have arrived is sent again as it is.
    BlindResend,
    /// Answers go to where the last message came from.
    GlobalDestination,
    /// A reply is dropped when something stands for it that nobody confirmed.
    SuppressOnIntent,
    /// A request is put in while the session is in the middle of something.
    InjectWhileBusy,
    /// A request that was taken up once is not taken up again.
    DedupeOnSighting,
    /// That something was shown is recorded after its receipt.
    HistoryApart,
    /// A delivery is sent before that is written down.
    NoMarkBeforeSending,
    /// The time for an answer runs from when the message came in.
    DeadlineFromAccept,
    /// Text beside a tool call is taken for the answer.
    AnyTextIsFinal,
    /// A sink is taken to know a key for ever.
    KeyForEver,
    /// Which request something belongs to is not read.
    NamesUnread,
    /// What names no request is for the one that was started last, whoever else waits for an answer.
    LastIsMeant,
}

impl Flaw {
    /// Every flaw.
    pub const ALL: [Self; 13] = [
        Self::AnswerOnSettle,
        Self::BlindResend,
        Self::GlobalDestination,
        Self::SuppressOnIntent,
        Self::InjectWhileBusy,
        Self::DedupeOnSighting,
        Self::HistoryApart,
        Self::NoMarkBeforeSending,
        Self::DeadlineFromAccept,
        Self::AnyTextIsFinal,
        Self::KeyForEver,
        Self::NamesUnread,
        Self::LastIsMeant,
    ];
}

/// A moment at which a process may die.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Point {
    /// A batch is about to be written.
    BeforeWrite,
    /// It was written.
    AfterWrite,
    /// A part is about to be sent.
    BeforeSend,
    /// The sink answered.
    AfterSend,
    /// A request is about to be put in.
    BeforeInject,
    /// The session answered.
    AfterInject,
    /// A sink, or the session, is about to be asked what it knows.
    BeforeProbe,
    /// It answered.
    AfterProbe,
    /// The bytes of a text for a person are about to be kept.
    BeforeKeep,
    /// They are kept, and nothing refers to them yet.
    AfterKeep,
}

/// What a test does at each point.
pub type Look = Box<dyn FnMut(Point)>;

/// What a test asks for.
#[derive(Default)]
pub(crate) struct Flaws {
    #[cfg(feature = "flaws")]
    pub(crate) flaw: Option<Flaw>,
    #[cfg(feature = "flaws")]
    pub(crate) look: Option<Look>,
}

impl Flaws {
    /// Whether it is to be wrong in this way.
    pub(crate) fn is(&self, flaw: Flaw) -> bool {
        #[cfg(feature = "flaws")]
        return self.flaw == Some(flaw);
        #[cfg(not(feature = "flaws"))]
        {
            let _ = flaw;
            false
        }
    }

    pub(crate) fn at(&mut self, point: Point) {
        #[cfg(feature = "flaws")]
        if let Some(look) = &mut self.look {
            look(point);
        }
        #[cfg(not(feature = "flaws"))]
        let _ = point;
    }
}
