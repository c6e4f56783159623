//! Clearing up what may have arrived.

use sayso::model::limits::{MARKED_COPIES, RETRY_MOST_MS, SENDING_MS};
use sayso::model::relay::Ground;
use sayso::model::{Delivery, DeliveryState};
use sayso::store::RelayCommand;

use crate::error::Error;
use crate::flaw::{Flaw, Point};
use crate::port::{Ability, Blind, Probed, Receipt};
use crate::relay::{Ports, Relay, after};
use crate::words::short;

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
            let waits = d.uncertain && d.state == DeliveryState::Ready;
            match (d.state, d.late.first()) {
                (DeliveryState::Unknown | DeliveryState::Parked, Some(receipt)) => {
                    let receipt = receipt.clone();
                    self.resolve(&d, receipt)?;
                }
                (DeliveryState::Ready, Some(receipt)) if waits => self.resolve(&d, receipt.clone())?,
                (DeliveryState::Unknown, None) => self.clear(ports, &d)?,
                // It was to be sent again, and now that would be blind.
                (DeliveryState::Ready, None) if waits && self.is_blind(ports, &d)? => {
                    self.clear(ports, &d)?
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn is_blind(&self, ports: &Ports<'_>, d: &Delivery) -> Result<bool, Error> {
        let request = self.reader.request(d.request)?;
        let channel = request.and_then(|r| r.inlet).map(|inlet| inlet.channel);
        let sender = channel.and_then(|channel| ports.senders.get(&channel));
        Ok(sender.is_some_and(|sender| d.sendable(self.key_ttl_ms(&**sender), self.now()).is_err()))
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
                if self.now() < d.cleared_from() =>
            {
                Ok(())
            }
            Ability::Key { .. } => {
                let ttl_ms = self.key_ttl_ms(&**sender).unwrap_or_default();
                self.with_key(d, ttl_ms)
            }
            Ability::Probe => {
                self.flaws.at(Point::BeforeProbe);
                let probed = sender.probe(&outgoing);
                self.flaws.at(Point::AfterProbe);
                self.probed(d, probed)
            }
            Ability::Opaque(Blind::Park) => self.park(d, "the sink cannot tell whether it arrived"),
            Ability::Opaque(Blind::ResendMarked) if d.attempts >= MARKED_COPIES => {
                self.park(d, "it was repeated, and never confirmed")
            }
            Ability::Opaque(Blind::ResendMarked) => self.retry(d, Ground::Marked),
        }
    }

    fn with_key(&mut self, d: &Delivery, ttl_ms: u64) -> Result<(), Error> {
        match d.key_known(ttl_ms, self.now()) {
            Ok(()) => self.retry(d, Ground::Key { ttl_ms }),
            Err(_) => self.park(d, "the sink does not know its key any more"),
        }
    }

    fn probed(&mut self, d: &Delivery, probed: Probed) -> Result<(), Error> {
        let patience = after(d.first_sent_at.unwrap_or(d.created_at), SENDING_MS + RETRY_MOST_MS);
        match probed {
            Probed::Delivered(Receipt(receipt)) if !receipt.is_empty() => self.resolve(d, short(&receipt)),
            Probed::Delivered(_) => self.park(d, "the sink has it, and gave no receipt"),
            Probed::NotSent => self.retry(d, Ground::NotSent),
            Probed::CannotTell { why } if self.now() >= patience => self.park(d, &short(&why)),
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
