//! What a relay itself says to a person.

/// The words of a relay. Each is sent as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words {
    /// There is no answer yet, and one may come.
    pub fallback: String,
    /// The agent's turn broke off.
    pub interrupted: String,
    /// The message waits for the agent.
    pub queued: String,
    /// The message was not put in, and will not be.
    pub dead: String,
}

impl Default for Words {
    fn default() -> Self {
        Self {
            fallback: "There is no answer yet. If one comes, it will follow here.".to_owned(),
            interrupted: "The agent was interrupted while it worked on this, and nothing was run again. Please send the \
                          message again if it is still needed."
                .to_owned(),
            queued: "Your message is waiting: the agent is still busy with an earlier one.".to_owned(),
            dead: "Your message could not be handed to the agent, or nobody can tell whether it was. It is not tried again; \
                   please send it again if it is still needed."
                .to_owned(),
        }
    }
}

/// A reason, as long as the ledger keeps one.
pub(crate) fn short(why: &str) -> String {
    let end =
        (0..=why.len().min(sayso::model::limits::RELAY_BYTES)).rev().find(|at| why.is_char_boundary(*at));
    why.get(..end.unwrap_or(0)).unwrap_or_default().to_owned()
}
