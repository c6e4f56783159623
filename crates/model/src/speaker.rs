//! Who said it, and in what sort of session.

use serde::Serialize;

use crate::id::SpeakerId;

/// A text names no known kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{found:?} is no {what}: use one of {known}")]
pub struct UnknownKind {
    /// The text that was given.
    pub found: String,
    /// What was expected, in words.
    pub what: &'static str,
    /// The known ones.
    pub known: &'static str,
}

macro_rules! kinds {
    ($(#[$doc:meta])* $name:ident, $what:literal, $known:literal { $($(#[$vdoc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $($(#[$vdoc])* $variant,)* }

        impl $name {
            /// Every kind.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The kind's word, the same everywhere.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::speaker::UnknownKind;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Self::ALL.iter().copied().find(|k| k.as_str() == text).ok_or_else(|| $crate::speaker::UnknownKind {
                    found: text.to_owned(),
                    what: $what,
                    known: $known,
                })
            }
        }
    };
}
pub(crate) use kinds;

kinds! {
    /// What sort of speaker this is. Only an owner's words are instructions.
    SpeakerKind, "kind of speaker", "owner, person, agent, tool, system" {
        /// The person whose words are instructions here.
        Owner = "owner",
        /// Another person, such as a customer in a channel.
        Person = "person",
        /// A model.
        Agent = "agent",
        /// A program that the agent ran.
        Tool = "tool",
        /// Text that a harness put there.
        System = "system",
    }
}

kinds! {
    /// What sort of session this is.
    SessionKind, "kind of session", "thread, conversation, live" {
        /// A session that an app appended to or a transcript was imported into.
        Thread = "thread",
        /// A conversation with people in a channel.
        Conversation = "conversation",
        /// A session of an agent program that is running now.
        Live = "live",
    }
}

/// One speaker: a kind, an id, and the name as it was when the words were said. The name may be empty.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Speaker {
    /// The speaker's id in this ledger.
    pub id: SpeakerId,
    /// What sort of speaker.
    pub kind: SpeakerKind,
    /// The name as it was then; empty when there was none.
    pub name: String,
}

impl Speaker {
    /// Whether this speaker's words are instructions here.
    #[must_use]
    pub fn is_owner(&self) -> bool {
        self.kind == SpeakerKind::Owner
    }
}
