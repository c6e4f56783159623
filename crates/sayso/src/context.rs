//! What a model is given next.

use sayso_model::limits::LOOK_BACK_ENTRIES;
use sayso_model::{Entry, SessionId};
use sayso_view::context::{Budget, Context, Provider, Scripts, context_with, looks_back};

use crate::error::Error;
use crate::reader::Reader;

/// Entries before the boundary that are read first; each further step reads as many as all before it.
const STEP: u64 = 64;

impl Reader {
    /// What a model would be given next: the latest compaction, the quotes it covers, what was brought back, and every turn
    /// after its boundary.
    /// Without a budget nothing is too much. Tokens are estimated by [`Scripts`].
    ///
    /// # Errors
    ///
    /// [`Error::NeedsCompaction`] where it does not fit the budget; storage errors.
    pub fn context(
        &self,
        session: SessionId,
        provider: Provider,
        budget: Option<u64>,
    ) -> Result<Context, Error> {
        let budget = Budget { tokens: budget.unwrap_or(u64::MAX), counter: &Scripts };
        self.context_within(session, provider, budget)
    }

    /// The same with a counter of the caller's.
    ///
    /// # Errors
    ///
    /// As for [`Reader::context`].
    pub fn context_within(
        &self,
        session: SessionId,
        provider: Provider,
        budget: Budget<'_>,
    ) -> Result<Context, Error> {
        let entries = self.context_entries(session)?;
        let ranges = self.ranges(&entries)?;
        Ok(context_with(&entries, &ranges, provider, budget)?)
    }

    /// The entries that a context is made of: the quotes that the summary covers, and all behind its boundary. Where that
    /// separates a call from its result, also what stands before it as far as the other half, within
    /// [`LOOK_BACK_ENTRIES`].
    pub(crate) fn context_entries(&self, session: SessionId) -> Result<Vec<Entry>, Error> {
        let through = self.latest_compaction(session)?.map_or(0, |(_, compaction)| compaction.through);
        let later = self.walk(session, through).collect::<Result<Vec<_>, _>>()?;
        let near = self.with_other_halves(session, through, later)?;
        let first = near.first().map_or(u64::MAX, |entry| entry.seq);
        let mut entries = if through == 0 { Vec::new() } else { self.quotes(session, through)? };
        entries.retain(|entry| entry.seq < first);
        entries.extend(near);
        Ok(entries)
    }

    fn with_other_halves(
        &self,
        session: SessionId,
        through: u64,
        mut entries: Vec<Entry>,
    ) -> Result<Vec<Entry>, Error> {
        let floor = through.saturating_sub(LOOK_BACK_ENTRIES);
        let mut from = through;
        while from > floor && looks_back(&entries) {
            let start = from.saturating_sub(STEP.max(through - from)).max(floor);
            let limit = usize::try_from(from - start).unwrap_or(usize::MAX);
            let mut earlier = self.entries(session, start, limit)?;
            earlier.append(&mut entries);
            (entries, from) = (earlier, start);
        }
        Ok(entries)
    }
}
