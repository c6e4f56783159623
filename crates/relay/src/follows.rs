//! What follows once it is known that a person has something: what the model is told, and the reply that it stands for.

use sayso::model::relay::{ReplyFate, reply_fate};
use sayso::model::{
    Delivery, DeliveryId, DeliveryKind, DeliveryState, SessionId, SpeakerKind, TurnId, UtcMs,
};
use sayso::store::{Deliveries, RelayCommand};
use sayso::{NewTurn, Plan, Reader};

use crate::relay::{is_late, step};
use crate::tool::directive;

/// How often what follows from a confirmation is thought over.
pub(crate) const TRIES: usize = 8;

/// What is written together with a confirmation.
#[derive(Debug, Default)]
pub(crate) struct Follows {
    /// What the model is told, and about which turn.
    told: Option<(&'static str, TurnId)>,
    /// The parts of the reply that it stands for, and the key.
    suppressed: Vec<(DeliveryId, String)>,
}

impl Follows {
    pub(crate) fn is_empty(&self) -> bool {
        self.told.is_none() && self.suppressed.is_empty()
    }

    pub(crate) fn push(
        &self,
        plan: &mut Plan<'_>,
        session: SessionId,
        at: UtcMs,
    ) -> Result<(), sayso::Error> {
        if let Some((told, turn)) = self.told {
            let turn = NewTurn { reply_to: Some(turn), ..NewTurn::text(SpeakerKind::System, "relay", told) };
            plan.append(session, turn)?;
        }
        for (delivery, by) in &self.suppressed {
            plan.push(step(at, RelayCommand::Suppress { delivery: *delivery, by: by.clone() }));
        }
        Ok(())
    }
}

/// What follows once this part is confirmed.
pub(crate) fn follows(reader: &Reader, d: &Delivery, at: UtcMs) -> Result<Follows, sayso::Error> {
    if d.kind != DeliveryKind::Direct {
        return Ok(Follows::default());
    }
    let mut all = reader.deliveries(Deliveries::Of(d.request))?;
    all.iter_mut().filter(|other| other.id == d.id).for_each(|d| d.state = DeliveryState::Delivered);
    let mut parts = all.iter().filter(|o| o.kind == d.kind && o.key == d.key);
    let whole = parts.all(|o| o.state == DeliveryState::Delivered);
    let told = directive(&d.key).filter(|_| whole);
    let fate = |held: &Delivery| reply_fate(&all, held.held_until.unwrap_or(at), at);
    let held = all.iter().filter(|o| o.state == DeliveryState::Held);
    let suppressed = held.filter_map(|held| match fate(held) {
        ReplyFate::Suppress { by } => Some((held.id, by)),
        _ => None,
    });
    Ok(Follows { told: told.map(|told| (told, d.turn)), suppressed: suppressed.collect() })
}

/// Records that a delivery arrived, on the word of a person who saw it, with all that follows: that it was shown, what the model
/// is told of it, and that the reply it stands for is not needed. All of it, or nothing.
///
/// # Errors
///
/// The refusal where the delivery is not at a step that this can follow, or somebody else decided first; storage errors.
pub fn resolve(reader: &Reader, delivery: &Delivery, receipt: &str) -> Result<(), sayso::Error> {
    let ledger = reader.ledger();
    let (at, mark) = (ledger.now(), ledger.fresh_entry());
    let (id, fence, receipt) = (delivery.id, delivery.fence, receipt.to_owned());
    let word = RelayCommand::Resolve { delivery: id, fence, receipt, mark };
    let mut tries = 0;
    loop {
        let follows = follows(reader, delivery, at)?;
        let written = ledger.transact(reader.scope(), |plan| {
            plan.push(step(at, word.clone()));
            follows.push(plan, delivery.session, at)
        });
        match written {
            // A relay may have let the reply go meanwhile.
            Err(error) if !follows.is_empty() && tries < TRIES && error.refusal().is_some_and(is_late) => {
                tries += 1;
            }
            written => return written.map(|_| ()),
        }
    }
}
