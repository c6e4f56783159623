//! Where a quote comes from, as far as the scope allows.

use sayso_model::{Address, Entry, OriginState, Quote, TurnId};

use crate::error::Error;
use crate::reader::Reader;
use crate::resolve::unknown;

/// What can be told of a quote's origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OriginReport {
    /// How the origin stands now.
    pub state: OriginState,
    /// The quote.
    pub quote: Quote,
    /// Where the origin is now; `None` where it is not available.
    pub now: Option<Address>,
    /// The entries around it, at most two before and two after, with the origin itself; empty where not available.
    pub neighbours: Vec<Entry>,
}

impl Reader {
    /// Where the quote of a turn comes from.
    ///
    /// # Errors
    ///
    /// [`Error::Unknown`] for an unknown turn, [`Error::NoQuote`] where it holds none; storage errors.
    pub fn origin(&self, turn: TurnId) -> Result<OriginReport, Error> {
        let holder = self.entry(turn)?.ok_or_else(|| unknown("turn", &turn.to_string(), Vec::new()))?;
        let given = Address::Turn(self.ledger.id(), holder.project, holder.session, turn, None);
        let quote = holder.turn().and_then(|t| t.quote.clone()).ok_or(Error::NoQuote { given })?;
        let source = self.source(&quote)?;
        Ok(OriginReport {
            state: self.state(&quote, source.as_ref())?,
            now: source
                .as_ref()
                .map(|e| Address::Turn(self.ledger.id(), e.project, e.session, e.id, quote.span)),
            neighbours: self.around(source.as_ref())?,
            quote: *quote,
        })
    }

    /// How the origin of a quote stands now.
    ///
    /// # Errors
    ///
    /// Storage errors.
    pub fn origin_state(&self, quote: &Quote) -> Result<OriginState, Error> {
        self.state(quote, self.source(quote)?.as_ref())
    }

    fn source(&self, quote: &Quote) -> Result<Option<Entry>, Error> {
        match quote.origin.address {
            Address::Turn(ledger, _, _, id, _)
                if ledger == self.ledger.id() || self.came_here(&quote.origin.address)? =>
            {
                self.entry(id)
            }
            _ => Ok(None),
        }
    }

    fn state(&self, quote: &Quote, source: Option<&Entry>) -> Result<OriginState, Error> {
        if self.was_erased(&quote.origin.address)? {
            return Ok(OriginState::Deleted);
        }
        let Some(entry) = source else { return Ok(OriginState::Unavailable) };
        let redacted = entry.turn().is_some_and(sayso_model::Turn::is_redacted);
        let changed = redacted || self.superseded_by(entry.id)?.is_some();
        Ok(match quote.origin.address {
            _ if changed => OriginState::Changed,
            Address::Turn(_, project, session, ..)
                if (project, session) != (entry.project, entry.session) =>
            {
                OriginState::Moved
            }
            _ => OriginState::Same,
        })
    }

    fn around(&self, source: Option<&Entry>) -> Result<Vec<Entry>, Error> {
        match source {
            Some(entry) => self.entries(entry.session, entry.seq.saturating_sub(3), 5),
            None => Ok(Vec::new()),
        }
    }
}
