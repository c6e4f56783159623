//! Sending deliveries.

use sayso::model::limits::{RETRY_FOR_MS, SENDING_MS};
use sayso::model::relay::{Attempt, ReplyFate, reply_fate};
use sayso::model::{Delivery, DeliveryState, Request};
use sayso::store::relay::apply::goes_first;
use sayso::store::{Deliveries, RelayCommand};

use crate::error::Error;
use crate::flaw::{Flaw, Point};
use crate::follows::{Follows, TRIES, follows};
use crate::port::{Ability, Outgoing, Receipt, Sender, Sent};
use crate::relay::{Ports, Relay, after, again, step, won};
use crate::words::short;

impl Relay {
    /// Sends what is due, oldest first; whether something was.
    pub(crate) fn send(&mut self, ports: &mut Ports<'_>) -> Result<(), Error> {
        loop {
            let at = self.now();
            let open = self.open_deliveries()?;
            let due = open.iter().filter(|d| d.state == DeliveryState::Ready);
            let mut due =
                due.filter(|d| d.not_before.is_none_or(|then| then <= at) && goes_first(&open, d).is_none());
            let mut sent = false;
            for d in due.by_ref() {
                let Some(request) = self.reader.request(d.request)? else { continue };
                let there = request.inlet.as_ref().is_some_and(|i| ports.senders.contains_key(&i.channel));
                if there && self.send_one(ports, d, &request)? {
                    sent = true;
                    break;
                }
            }
            if !sent {
                return Ok(());
            }
        }
    }

    /// Claims, sends, records; whether it was this relay that did.
    fn send_one(&mut self, ports: &mut Ports<'_>, d: &Delivery, request: &Request) -> Result<bool, Error> {
        let at = self.now();
        let until = after(at, SENDING_MS);
        let Some(outgoing) = self.outgoing(d, request) else { return Ok(false) };
        let Some(sender) = ports.senders.get(&outgoing.channel) else { return Ok(false) };
        let key_ttl_ms = self.key_ttl_ms(&**sender);
        if d.sendable(key_ttl_ms, at).is_err() {
            // What becomes of it is for the clearing up.
            return Ok(false);
        }
        let claim = RelayCommand::ClaimDelivery { delivery: d.id, fence: d.fence, until, key_ttl_ms };
        let first = self.flaws.is(Flaw::NoMarkBeforeSending);
        if !first && !self.race(vec![claim.clone()])? {
            return Ok(false);
        }
        self.flaws.at(Point::BeforeSend);
        // Somebody who slept through the lease does not act on it any more.
        if self.now() >= until || d.sendable(key_ttl_ms, self.now()).is_err() {
            return Ok(false);
        }
        let Some(sender) = ports.senders.get_mut(&outgoing.channel) else { return Ok(false) };
        let sent = sender.send(&outgoing);
        self.flaws.at(Point::AfterSend);
        if first && !self.race(vec![claim])? {
            return Ok(false);
        }
        let mut claimed = d.clone();
        (claimed.fence, claimed.attempts) = (d.fence + 1, d.attempts + 1);
        self.sent(&claimed, sent)?;
        Ok(true)
    }

    /// For how long a sink knows a key, where it takes one.
    pub(crate) fn key_ttl_ms(&self, sender: &dyn Sender) -> Option<u64> {
        match sender.ability() {
            _ if self.flaws.is(Flaw::KeyForEver) || self.flaws.is(Flaw::BlindResend) => Some(u64::MAX),
            Ability::Key { ttl_ms } => Some(ttl_ms),
            Ability::Probe | Ability::Opaque(_) => None,
        }
    }

    pub(crate) fn outgoing(&self, d: &Delivery, request: &Request) -> Option<Outgoing> {
        let inlet = request.inlet.as_ref()?;
        let global = self.last.clone().filter(|_| self.flaws.is(Flaw::GlobalDestination));
        Some(Outgoing {
            delivery: d.id,
            key: d.id.to_string(),
            part: d.part,
            parts: d.parts,
            channel: inlet.channel.clone(),
            destination: global.unwrap_or_else(|| inlet.destination.clone()),
            reply_to: Some(inlet.message.clone()).filter(|id| !id.is_empty()),
            text: d.text.clone(),
            repeat_mark: d.repeat_mark,
        })
    }

    fn sent(&mut self, d: &Delivery, sent: Sent) -> Result<(), Error> {
        let at = self.now();
        let over = after(d.created_at, RETRY_FOR_MS) <= at;
        let attempt = match sent {
            Sent::Delivered(Receipt(receipt)) => return self.delivered(d, &receipt),
            Sent::Permanent { why } => Attempt::Failed { why: short(&why) },
            Sent::Temporary { why, .. } if over => Attempt::Failed { why: short(&why) },
            Sent::Temporary { why, retry_after_ms } => {
                Attempt::Retry { why: short(&why), not_before: again(at, d.attempts, retry_after_ms) }
            }
            Sent::Unknown { why } => Attempt::Unknown { why: short(&why) },
        };
        let mark = self.reader.ledger().fresh_entry();
        self.race(vec![RelayCommand::Attempted { delivery: d.id, fence: d.fence, attempt, mark }]).map(|_| ())
    }

    /// The sink took it: its receipt, that it was shown, and what it stands for, in one batch.
    fn delivered(&mut self, d: &Delivery, receipt: &str) -> Result<(), Error> {
        // What the sink gave back is short; a receipt that is none confirms nothing.
        let receipt = short(receipt);
        let attempt = match receipt.is_empty() {
            true => Attempt::Unknown { why: "the sink gave no receipt".to_owned() },
            false => Attempt::Delivered { receipt },
        };
        let confirms = matches!(attempt, Attempt::Delivered { .. });
        let (delivery, fence, mark) = (d.id, d.fence, self.reader.ledger().fresh_entry());
        let attempted = RelayCommand::Attempted { delivery, fence, attempt, mark };
        self.confirm(d, attempted, confirms)
    }

    /// Writes word of a delivery together with what follows from it. Where another relay changed what would follow, it is
    /// thought over again: the word itself must not get lost.
    pub(crate) fn confirm(&mut self, d: &Delivery, word: RelayCommand, confirms: bool) -> Result<(), Error> {
        let (at, session) = (self.now(), self.session);
        let apart = self.flaws.is(Flaw::HistoryApart);
        if apart && !self.race(vec![word.clone()])? {
            return Ok(());
        }
        for _ in 0..TRIES {
            let current = self.reader.delivery(d.id)?.is_some_and(|now| now.fence == d.fence);
            let follows =
                if confirms && current { follows(&self.reader, d, at)? } else { Follows::default() };
            if apart && follows.is_empty() {
                return Ok(());
            }
            let written = self.write(|plan| {
                if !apart {
                    plan.push(step(at, word.clone()));
                }
                follows.push(plan, session, at)
            });
            if won(written)? || follows.is_empty() {
                return Ok(());
            }
        }
        self.race(vec![word]).map(|_| ())
    }

    /// Lets held replies go, or drops them, as far as that is decided by now.
    pub(crate) fn decide_held(&mut self) -> Result<(), Error> {
        let at = self.now();
        for held in self.open_deliveries()?.into_iter().filter(|d| d.state == DeliveryState::Held) {
            if self.flaws.is(Flaw::SuppressOnIntent) {
                let (delivery, fence, why) = (held.id, held.fence, "something stands for it".to_owned());
                self.race(vec![RelayCommand::Cancel { delivery, fence, why }])?;
                continue;
            }
            let all = self.reader.deliveries(Deliveries::Of(held.request))?;
            let delivery = held.id;
            let step = match reply_fate(&all, held.held_until.unwrap_or(at), at) {
                ReplyFate::Hold => continue,
                ReplyFate::Release { repeat_mark } => RelayCommand::Release { delivery, repeat_mark },
                ReplyFate::Suppress { by } => RelayCommand::Suppress { delivery, by },
            };
            self.race(vec![step])?;
        }
        Ok(())
    }
}
