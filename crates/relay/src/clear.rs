//! Clearing up what may have arrived.

use sayso::model::limits::{RETRY_FIRST_MS, RETRY_MOST_MS, SENDING_MS};
use sayso::model::relay::Ground;
use sayso::model::{Delivery, DeliveryState};
use sayso::store::RelayCommand;

use crate::error::Error;
use crate::flaw::Flaw;
use crate::port::{Ability, Blind, Outgoing, Probed, Receipt, UtcMs};
use crate::relay::{Ports, Relay, after};
use crate::words::short;

/// How often something is sent at most where nobody ever says whether it arrived: once, and repeats that say what they are.
const MARKED_MOST: u32 = 3;

/// When a delivery that may have arrived is cleared up: the more attempts there were, the later.
pub(crate) fn looked_after(d: &Delivery) -> UtcMs {
    let doubled = (1_i64 << d.attempts.min(20)).saturating_sub(1).saturating_mul(RETRY_FIRST_MS);
    let most = RETRY_MOST_MS.saturating_mul(i64::from(d.attempts));
    after(d.first_sent_at.unwrap_or(d.created_at), doubled.min(most))
}

impl Relay {
    /// What was being sent by somebody whose time is over, or may have arrived, is cleared up as far as the sinks allow.
    pub(crate) fn clear_deliveries(&mut self, ports: &mut Ports<'_>) -> Result<(), Error> {
        let at = self.now();
        for d in self.open_deliveries()? {
            if d.state == DeliveryState::Sending && d.lease_until.is_some_and(|until| until <= at) {
                self.race(vec![RelayCommand::ExpireDelivery { delivery: d.id, fence: d.fence }])?;
            }
        }
        for d in self.open_deliveries()? {
            match (d.state, d.late.first()) {
                (DeliveryState::Unknown | DeliveryState::Parked, Some(receipt)) => {
                    let receipt = receipt.clone();
                    self.resolve(&d, receipt)?;
                }
                (DeliveryState::Unknown, None) => self.clear(ports, &d)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn resolve(&mut self, d: &Delivery, receipt: String) -> Result<(), Error> {
        let (delivery, fence, mark) = (d.id, d.fence, self.reader.ledger().fresh_entry());
        self.confirm(d, RelayCommand::Resolve { delivery, fence, receipt, mark }, true)
    }

    fn clear(&mut self, ports: &mut Ports<'_>, d: &Delivery) -> Result<(), Error> {
        let Some(request) = self.reader.request(d.request)? else { return Ok(()) };
        let Some(outgoing) = self.outgoing(d, &request) else { return Ok(()) };
        let Some(sender) = ports.senders.get_mut(&outgoing.channel) else { return Ok(()) };
        if self.flaws.is(Flaw::BlindResend) {
            return self.retry(d, Ground::Key { ttl_ms: u64::MAX });
        }
        match sender.ability() {
            // A sink that takes and never confirms must not be asked, nor given the same again, in every round.
            Ability::Key { .. } | Ability::Probe | Ability::Opaque(Blind::ResendMarked)
                if self.now() < looked_after(d) =>
            {
                Ok(())
            }
            Ability::Key { ttl_ms } => self.with_key(d, ttl_ms),
            Ability::Probe => {
                let probed = sender.probe(&outgoing);
                self.probed(d, &outgoing, probed)
            }
            Ability::Opaque(Blind::Park) => self.park(d, "the sink cannot tell whether it arrived"),
            Ability::Opaque(Blind::ResendMarked) if d.attempts >= MARKED_MOST => {
                self.park(d, "it was repeated, and never confirmed")
            }
            Ability::Opaque(Blind::ResendMarked) => self.retry(d, Ground::Marked),
        }
    }

    fn with_key(&mut self, d: &Delivery, ttl_ms: u64) -> Result<(), Error> {
        let since = d.first_sent_at.unwrap_or(d.created_at);
        // The attempt itself must not last past the end of what the sink remembers.
        let until = after(since, i64::try_from(ttl_ms).unwrap_or(i64::MAX));
        match self.now() < until {
            true => self.retry(d, Ground::Key { ttl_ms }),
            false => self.park(d, "the sink does not know its key any more"),
        }
    }

    fn probed(&mut self, d: &Delivery, outgoing: &Outgoing, probed: Probed) -> Result<(), Error> {
        let patience = after(d.first_sent_at.unwrap_or(d.created_at), SENDING_MS + RETRY_MOST_MS);
        match probed {
            Probed::Delivered(Receipt(receipt)) if !receipt.is_empty() => self.resolve(d, short(&receipt)),
            Probed::Delivered(_) => self.park(d, "the sink has it, and gave no receipt"),
            Probed::NotSent => self.retry(d, Ground::NotSent),
            Probed::CannotTell { why } if self.now() >= patience => {
                let _ = outgoing;
                self.park(d, &short(&why))
            }
            Probed::CannotTell { .. } => Ok(()),
        }
    }

    fn retry(&mut self, d: &Delivery, ground: Ground) -> Result<(), Error> {
        self.race(vec![RelayCommand::Retry { delivery: d.id, fence: d.fence, ground }]).map(|_| ())
    }

    fn park(&mut self, d: &Delivery, why: &str) -> Result<(), Error> {
        let why = why.to_owned();
        self.race(vec![RelayCommand::Park { delivery: d.id, fence: d.fence, why }]).map(|_| ())
    }
}
