//! Bringing earlier tool output back into a context that a compaction took it out of.

mod choose;
mod cite;
mod gather;
mod passages;
mod ranges;

use sayso_model::limits::{REINJECTED_PERCENT, REINJECTED_TOKENS};
use sayso_model::{EntryBody, EntryId, Reinjection, SessionId};
use sayso_store::{Command, Fate, NewRange, Placed, Refusal, Reinject, StoreError};
use sayso_view::context::{Provider, Scripts, TokenCounter};

use crate::error::Error;
use crate::ledger::first;
use crate::reader::Reader;
use crate::resolve::unknown;

use choose::{Ask, choose};
pub use choose::{Considered, Verdict};

/// Tokens of a model's window, where nothing else is said and the context is not larger.
pub const WINDOW_TOKENS: u64 = 128_000;
/// Windows that models usually have. Of a context that is larger than one of these, the model that has it has a larger one.
const WINDOWS: [u64; 4] = [WINDOW_TOKENS, 200_000, 400_000, 1_000_000];
/// How often it is chosen again because the ledger changed meanwhile, or other words were asked for first.
const TRIES: usize = 8;

/// When output is brought back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trigger {
    /// Right after a compaction.
    Compaction,
    /// Before a user's turn with these words.
    UserTurn(String),
}

/// What to bring back, and how much.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReinjectRequest {
    /// The session.
    pub session: SessionId,
    /// When.
    pub trigger: Trigger,
    /// Tokens of the model's window. Where it is not said: [`WINDOW_TOKENS`], or the next of 200,000, 400,000 and 1,000,000 that
    /// holds what the context takes already.
    pub window: Option<u64>,
    /// Tokens at most; never more than 15 % of the free window, nor 20,000.
    pub budget: Option<u64>,
    /// The idempotency key. Without one, what is recorded right behind a compaction, or before one user turn for the same
    /// words, is recorded once.
    pub key: Option<String>,
}

impl ReinjectRequest {
    /// For a session at this moment, with a window that is not said.
    #[must_use]
    pub const fn of(session: SessionId, trigger: Trigger) -> Self {
        Self { session, trigger, window: None, budget: None, key: None }
    }

    /// The same with a window of this many tokens.
    #[must_use]
    pub const fn window(mut self, tokens: u64) -> Self {
        self.window = Some(tokens);
        self
    }

    fn words(&self) -> &str {
        match &self.trigger {
            Trigger::Compaction => "",
            Trigger::UserTurn(words) => words,
        }
    }
}

/// What would be brought back, and what it was chosen from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReinjectionPlan {
    /// Tokens of the model's window: what was said, or what was taken for it.
    pub window: u64,
    /// Tokens that the context takes without it, with the new words.
    pub used: u64,
    /// Tokens that it may take.
    pub budget: u64,
    /// Results that were looked at.
    pub looked_at: usize,
    /// Every range with a reason to come back: those that do come first, in their order.
    pub considered: Vec<Considered>,
    /// The compaction that it follows.
    of: Option<EntryId>,
}

impl ReinjectionPlan {
    /// Those that come back, in their order.
    pub fn chosen(&self) -> impl Iterator<Item = &Considered> {
        self.considered.iter().filter(|range| range.fate == Verdict::Chosen)
    }

    /// Tokens that they take together, with their labels; rather too many than too few.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        self.chosen().map(|range| range.tokens).sum()
    }

    fn items(&self) -> Vec<NewRange> {
        let item = |range: &Considered| {
            Some(NewRange {
                turn: range.turn,
                part: range.part,
                source: range.source,
                range: range.range?,
                why: range.why.first().copied()?,
                tool: range.tool.clone(),
            })
        };
        self.chosen().filter_map(item).collect()
    }
}

/// What was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BroughtBack {
    /// Whether it was recorded now.
    pub fate: Fate,
    /// Where it stands.
    pub placed: Placed,
    /// What it holds.
    pub reinjection: Reinjection,
}

impl Reader {
    /// What would be brought back, and why; nothing is written.
    ///
    /// # Errors
    ///
    /// [`Error::Unknown`] for an unknown session; [`Error::NoCompaction`]; storage errors.
    pub fn plan_reinjection(&self, request: &ReinjectRequest) -> Result<ReinjectionPlan, Error> {
        let counter = Scripts;
        let missing = || unknown("session", &request.session.to_string(), Vec::new());
        let session = self.session(request.session)?.ok_or_else(missing)?;
        let latest = self.latest_compaction(session.id)?;
        let of = match (&request.trigger, &latest) {
            (Trigger::Compaction, None) => {
                return Err(Error::NoCompaction { given: self.ledger.session_address(&session) });
            }
            (Trigger::Compaction, Some((placed, _))) => Some(placed.id),
            (Trigger::UserTurn(_), _) => None,
        };
        let shown = self.context_entries(session.id)?;
        let context = self.context(session.id, Provider::OpenAiResponses, None)?;
        let used = context.tokens.saturating_add(counter.count(request.words()));
        let window = request.window.unwrap_or_else(|| window_of(used));
        let budget = budget(window, used, request.budget);
        let summary = latest.map(|(_, compaction)| compaction.summary).unwrap_or_default();
        let candidates = gather::candidates(self, session.id, &shown, &summary)?;
        let ask = Ask { words: request.words(), tokens: budget, counter: &counter };
        let considered = choose(&candidates, &ask);
        Ok(ReinjectionPlan { window, used, budget, looked_at: candidates.len(), considered, of })
    }

    /// Brings earlier tool output back into the context: ranges of results that the summary names, that failed and did not
    /// work later, that were read again before, that are pinned or, before a user's turn, that have words of it. At most 5,
    /// within 15 % of the free window and 20,000 tokens; nothing that the context shows. Recorded are references: the text is
    /// read for each context. `None` where nothing comes back.
    ///
    /// The order of calls in an app: [`Reader::compact`], this, [`Reader::context`]; and before each user turn: this with its
    /// words, the turn itself, [`Reader::context`].
    ///
    /// ```
    /// use sayso::model::{Outcome, PartBody, ToolCall, ToolResult};
    /// use sayso::view::context::Provider;
    /// use sayso::{CompactRequest, Ledger, NewTurn, Options, ReinjectRequest, Scope, SpeakerKind, Trigger};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// # let ledger = Ledger::open(&folder.path().join("ledger.db"), &Options::default())?;
    /// let session = ledger.session("harbour", "ferries")?;
    /// let call = ToolCall { call_id: "c1".into(), tool: "read".into(), arguments: "{\"path\":\"ferries.md\"}".into() };
    /// let result = ToolResult {
    ///     call_id: "c1".into(),
    ///     tool: "read".into(),
    ///     outcome: Outcome::Ok,
    ///     text: "The night ferry to Solseom leaves at 24:40.".into(),
    ///     output: None,
    /// };
    /// for (kind, part) in
    ///     [(SpeakerKind::Agent, PartBody::ToolCall(call)), (SpeakerKind::Tool, PartBody::ToolResult(result))]
    /// {
    ///     let turn = NewTurn { parts: vec![(None, part)], ..NewTurn::text(kind, "Rocky", "") };
    ///     ledger.append(&session, turn)?;
    /// }
    /// let reader = ledger.reader(Scope::All);
    /// reader.compact(&CompactRequest::of(session.id, "They read about ferries."))?;
    ///
    /// let question = "When does the night ferry leave?";
    /// reader.reinject(&ReinjectRequest::of(session.id, Trigger::UserTurn(question.into())))?;
    /// ledger.append(&session, NewTurn::text(SpeakerKind::Owner, "Mira", question))?;
    /// let context = reader.context(session.id, Provider::OpenAiChat, None)?;
    /// assert!(context.input.to_string().contains("24:40"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// As for [`Reader::plan_reinjection`]; [`Error::Store`] with the refusal: the session is closed, the key was used for
    /// other words; storage errors.
    pub fn reinject(&self, request: &ReinjectRequest) -> Result<Option<BroughtBack>, Error> {
        let (mut number, mut tries) = (0, 0);
        loop {
            let plan = self.plan_reinjection(request)?;
            let key = self.key(request, &plan, number)?;
            let items = plan.items();
            let nothing = items.is_empty() && !key.is_empty();
            let command = Reinject {
                id: self.ledger.fresh_entry(),
                session: request.session,
                of: plan.of,
                asked: request.words().to_owned(),
                items,
                key: Some(key),
            };
            match self.ledger.write(&self.scope, vec![Command::Reinject(command)]) {
                Ok(done) => return self.brought_back(first(&done)?).map(Some),
                Err(Error::Store(StoreError::Refused { refusal, index })) => match refusal {
                    Refusal::Missing { .. } if nothing => return Ok(None),
                    // Other words were asked for before the same turn.
                    Refusal::Conflict { .. } if request.key.is_none() && number < TRIES => number += 1,
                    // Something was taken away meanwhile.
                    Refusal::UnknownOutput(_)
                    | Refusal::NothingToReinject { .. }
                    | Refusal::NotTheLatest(_)
                        if tries < TRIES =>
                    {
                        tries += 1;
                    }
                    refusal => return Err(StoreError::Refused { refusal, index }.into()),
                },
                Err(other) => return Err(other),
            }
        }
    }

    fn key(&self, request: &ReinjectRequest, plan: &ReinjectionPlan, number: usize) -> Result<String, Error> {
        if let Some(key) = &request.key {
            return Ok(key.clone());
        }
        if let Some(of) = plan.of {
            return Ok(key_behind(of));
        }
        let last = gather::last_said(self, request.session)?;
        let last = last.map_or_else(|| "the beginning".to_owned(), |id| id.to_string());
        Ok(format!("before the turn after {last}/{number}"))
    }

    fn brought_back(&self, (fate, placed): (Fate, Placed)) -> Result<BroughtBack, Error> {
        match self.entry(placed.id)?.map(|entry| entry.body) {
            Some(EntryBody::Reinjection(reinjection)) => Ok(BroughtBack { fate, placed, reinjection }),
            _ => Err(unknown("turn", &placed.id.to_string(), Vec::new())),
        }
    }
}

/// The key of what is brought back right behind a compaction.
pub(crate) fn key_behind(compaction: EntryId) -> String {
    format!("behind compaction {compaction}")
}

/// 15 % of what is free of the window, 20,000, or what was asked for: the least of these.
fn budget(window: u64, used: u64, asked: Option<u64>) -> u64 {
    let free = window.saturating_sub(used);
    let part = free / 100 * REINJECTED_PERCENT + free % 100 * REINJECTED_PERCENT / 100;
    part.min(REINJECTED_TOKENS).min(asked.unwrap_or(u64::MAX))
}

/// The window of a model whose context takes so many tokens.
fn window_of(used: u64) -> u64 {
    WINDOWS.into_iter().find(|window| *window > used).unwrap_or(used)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_context_that_is_larger_than_a_window_is_one_of_a_larger_window() {
        let windows = [0, 127_999, 128_000, 168_018, 200_000, 999_999, 2_000_000].map(window_of);
        assert_eq!(windows, [128_000, 128_000, 200_000, 200_000, 400_000, 1_000_000, 2_000_000]);
        assert_eq!(budget(200_000, 168_000, None), 4_800);
        assert_eq!(budget(128_000, 168_000, None), 0);
        assert_eq!(budget(1_000_000, 0, None), 20_000);
    }
}
