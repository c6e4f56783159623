//! The context of the next model call, rendered from a session's entries.
//!
//! The latest compaction's summary comes first, with the quotes it covers by address and speaker, then every turn after
//! its boundary. Only the owner's words stand in a user message without a label; whoever else speaks there is named.
//! What looks like a marker or a label is escaped ([`crate::guard`]); a quote is rendered as its marker
//! ([`crate::marker`]), never stored as one. Reasoning and marks are left out.
//!
//! In user messages what hides is shown. An agent's own words and the arguments of its calls are replayed byte for byte (but
//! that half of a surrogate pair becomes U+FFFD, where that makes JSON of the arguments), and so is what a tool printed, but
//! for lines that look like a marker.
//!
//! # What was changed or taken back
//!
//! A turn that supersedes another stands in its place, unless a summary stands for the other: then it stands at its own. Turns
//! that were rolled back or abandoned are left out, with what superseded them, until they are restored.
//!
//! # Calls and their results
//!
//! Calls that were made side by side stand together, each with exactly one result right behind them, in every provider's
//! way. A result that came late, or was stored before its call, is moved to it. For a call without a result an error output is
//! made. Where the boundary of a compaction separates a call from its result, both are shown, where the first of them stands
//! that the summary does not cover. What answers no call is shown as words of its tool.
//!
//! # What was brought back
//!
//! A re-injection shows ranges of earlier tool output again, each as words in a user message with a label: whose output and
//! which call it was, why it is there, which range, how old it was then, and how to read all of it. It is never a tool's
//! result. One that was recorded right behind the latest compaction stands right behind the summary, every other one where
//! it was recorded. What its ranges hold is read anew for each rendering ([`Ranges`]); what is no longer there is named.
//!
//! # What does not change
//!
//! Appending entries never changes what was rendered before, so a provider's cache holds: the JSON but for the brackets
//! that close at its end is the beginning of every later one. The exceptions have names: a text that was redacted, erased
//! or superseded; a turn that was rolled back, abandoned or restored; a new compaction, and the re-injection that is recorded
//! right behind it; a result that came late: as long as a call has no result, an error output stands for
//! it, and from that output on the rendering may change when the result, or a parallel call right beside it, is appended;
//! and a result that was stored before its call, which stands there as words until the call is stored, and again where
//! another result of the call comes. Over budget nothing slides: [`NeedsCompaction`] says so.

mod anthropic;
mod carried;
mod chat;
mod current;
mod groups;
mod items;
mod label;
mod pairing;
mod responses;
mod returned;
mod summary;
#[cfg(test)]
mod tests;
mod tokens;

use std::str::FromStr;

use sayso_model::Entry;
use serde_json::Value;

pub use anthropic::anthropic;
pub use carried::{carried_ids, carried_quotes, carried_ranges};
pub use chat::openai_chat;
pub use groups::looks_back;
pub use items::shown_results;
pub use label::message;
pub use responses::openai_responses;
pub use returned::{RangeText, Ranges, block as range_block};
pub use tokens::{Scripts, TokenCounter};

/// Whose message format a context is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Provider {
    /// The `input` array of the OpenAI Responses API.
    OpenAiResponses,
    /// The `messages` array of the OpenAI Chat Completions API.
    OpenAiChat,
    /// The `messages` array of the Anthropic Messages API.
    Anthropic,
}

/// A text names no provider that context is made for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no context is made for the provider {found:?}: use one of {known}", known = Provider::KNOWN)]
pub struct UnknownProvider {
    /// The text that was given.
    pub found: String,
}

impl Provider {
    /// Every provider.
    pub const ALL: [Self; 3] = [Self::OpenAiResponses, Self::OpenAiChat, Self::Anthropic];

    /// Every provider's word, for help and messages.
    pub const KNOWN: &'static str = "openai-responses, openai-chat, anthropic";

    /// The provider's word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OpenAiResponses => "openai-responses",
            Self::OpenAiChat => "openai-chat",
            Self::Anthropic => "anthropic",
        }
    }
}

impl FromStr for Provider {
    type Err = UnknownProvider;

    fn from_str(text: &str) -> Result<Self, UnknownProvider> {
        let found = Self::ALL.into_iter().find(|provider| provider.as_str() == text);
        found.ok_or_else(|| UnknownProvider { found: text.to_owned() })
    }
}

/// How many tokens a context may have, and who counts them.
#[derive(Clone, Copy)]
pub struct Budget<'a> {
    /// Tokens at most.
    pub tokens: u64,
    /// Who counts.
    pub counter: &'a dyn TokenCounter,
}

/// The context does not fit. Nothing is left out silently: a compaction has to be recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the context needs about {needed} tokens and the budget is {budget}: record a compaction, or raise the budget"
)]
pub struct NeedsCompaction {
    /// Tokens it needs.
    pub needed: u64,
    /// Tokens it may have.
    pub budget: u64,
}

/// A rendered context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Context {
    /// What goes into the request, under the name that [`Provider`] tells: always an array.
    pub input: Value,
    /// About how many tokens that is.
    pub tokens: u64,
}

/// Renders a session's entries, in their order, for a provider. What re-injections brought back is said to be gone: use
/// [`context_with`] for sessions that have any.
///
/// ```
/// # use sayso_view::example;
/// use sayso_view::context::{Budget, Provider, Scripts, context};
/// let entries = [example::forward(1, "코드", "이거 확인해줘")];
/// let budget = Budget { tokens: 1_000, counter: &Scripts };
/// let context = context(&entries, Provider::OpenAiResponses, budget)?;
/// assert_eq!(context.input[0]["role"], "user");
/// # Ok::<(), sayso_view::context::NeedsCompaction>(())
/// ```
///
/// # Errors
///
/// [`NeedsCompaction`] where it does not fit the budget.
pub fn context(
    entries: &[Entry],
    provider: Provider,
    budget: Budget<'_>,
) -> Result<Context, NeedsCompaction> {
    context_with(entries, &Ranges::default(), provider, budget)
}

/// The same with what the ranges of re-injections hold.
///
/// # Errors
///
/// As for [`context`].
pub fn context_with(
    entries: &[Entry],
    ranges: &Ranges,
    provider: Provider,
    budget: Budget<'_>,
) -> Result<Context, NeedsCompaction> {
    let items = items::items(entries, ranges);
    let input = match provider {
        Provider::OpenAiResponses => responses::input(&items),
        Provider::OpenAiChat => chat::messages(items),
        Provider::Anthropic => anthropic::messages(items),
    };
    let needed = tokens::of(&input, budget.counter);
    if needed > budget.tokens {
        return Err(NeedsCompaction { needed, budget: budget.tokens });
    }
    Ok(Context { input, tokens: needed })
}
