//! What a relay writes while its disk fails: a message is taken in, goes into its session, its answer goes out and is confirmed,
//! and another one is cancelled. Every step looks first, as a relay does that was started anew.

use sayso::model::relay::{Attempt, DeliveryState, InjectionState, Inlet};
use sayso::model::{Delivery, DeliveryId, DeliveryKind, PartBody, Request, RequestId, UtcMs};
use sayso::store::{
    Accept, AppendTurn, Command, Deliveries, Intend, NewPart, RelayCommand, RelayStep, Requests,
};
use sayso::{Error, Ledger, Scope, SpeakerKind, SpeakerRef};

use super::steps::plan;
use crate::support::START;

const QUESTION: RequestId = RequestId::from_u128(4_711);
const ANSWER: DeliveryId = DeliveryId::from_u128(4_712);
const NOTICE: DeliveryId = DeliveryId::from_u128(4_713);

fn at(minute: i64) -> UtcMs {
    UtcMs(START + minute * 60_000)
}

fn step(ledger: &Ledger, minute: i64, what: RelayCommand) -> Result<(), Error> {
    ledger.write(&Scope::All, vec![Command::Relay(RelayStep { at: at(minute), what })]).map(drop)
}

fn question(ledger: &Ledger) -> Result<Request, Error> {
    Ok(ledger.reader(Scope::All).request(QUESTION)?.unwrap())
}

fn delivery(ledger: &Ledger, id: DeliveryId) -> Result<Delivery, Error> {
    Ok(ledger.reader(Scope::All).delivery(id)?.unwrap())
}

pub(super) fn accept(ledger: &Ledger) -> Result<(), Error> {
    let session = plan(ledger)?.id;
    let build = |plan: &mut sayso::Plan<'_>| {
        let turn = AppendTurn {
            id: plan.entry_id(),
            session,
            speaker: plan.speaker(&SpeakerRef::new(SpeakerKind::Person, "Sam (telegram 5)"))?,
            said_at: None,
            reply_to: None,
            repairs: 0,
            parts: vec![NewPart { by: None, body: PartBody::Text("is it done?".to_owned()) }],
            key: None,
            expected_head: None,
        };
        let inlet = Inlet {
            account: "bot".to_owned(),
            update: "17".to_owned(),
            message: "5".to_owned(),
            channel: "telegram".to_owned(),
            destination: "5".to_owned(),
        };
        let cursor = Some("18".to_owned());
        let accept = Accept { id: QUESTION, turn, inlet, cursor };
        plan.push(Command::Relay(RelayStep { at: at(0), what: RelayCommand::Accept(Box::new(accept)) }));
        Ok(())
    };
    ledger.transact(&Scope::All, build).map(drop)
}

pub(super) fn claim(ledger: &Ledger) -> Result<(), Error> {
    match question(ledger)? {
        found if found.injection == InjectionState::Queued => {
            let what = RelayCommand::ClaimInjection { request: QUESTION, fence: found.fence, until: at(3) };
            step(ledger, 1, what)
        }
        _ => Ok(()),
    }
}

pub(super) fn started(ledger: &Ledger) -> Result<(), Error> {
    let session = plan(ledger)?.id;
    match question(ledger)?.injected_at {
        Some(_) => Ok(()),
        None => step(ledger, 2, RelayCommand::Started { session, request: Some(QUESTION) }),
    }
}

fn intend(ledger: &Ledger, kind: DeliveryKind, id: DeliveryId) -> Result<(), Error> {
    let parts = vec![(id, "it is done".to_owned())];
    let (key, turn) = (format!("{kind:?}"), question(ledger)?.turn);
    step(ledger, 3, RelayCommand::Intend(Intend { request: QUESTION, kind, key, turn, parts, doubt: None }))
}

pub(super) fn answer(ledger: &Ledger) -> Result<(), Error> {
    intend(ledger, DeliveryKind::Direct, ANSWER)
}

pub(super) fn send(ledger: &Ledger) -> Result<(), Error> {
    match delivery(ledger, ANSWER)? {
        found if found.state == DeliveryState::Ready => {
            let what = RelayCommand::ClaimDelivery {
                delivery: ANSWER,
                fence: found.fence,
                until: at(6),
                key_ttl_ms: None,
            };
            step(ledger, 4, what)
        }
        _ => Ok(()),
    }
}

pub(super) fn receipt(ledger: &Ledger) -> Result<(), Error> {
    match delivery(ledger, ANSWER)? {
        found if found.state == DeliveryState::Sending => {
            let attempt = Attempt::Delivered { receipt: "m1".to_owned() };
            let mark = ledger.fresh_entry();
            step(ledger, 5, RelayCommand::Attempted { delivery: ANSWER, fence: found.fence, attempt, mark })
        }
        _ => Ok(()),
    }
}

pub(super) fn notice(ledger: &Ledger) -> Result<(), Error> {
    intend(ledger, DeliveryKind::Notice, NOTICE)
}

pub(super) fn cancel(ledger: &Ledger) -> Result<(), Error> {
    match delivery(ledger, NOTICE)? {
        found if found.state == DeliveryState::Ready => {
            let why = "nobody waits for it".to_owned();
            step(ledger, 7, RelayCommand::Cancel { delivery: NOTICE, fence: found.fence, why })
        }
        _ => Ok(()),
    }
}

/// Every request, delivery and cursor in words.
pub(super) fn words(ledger: &Ledger) -> Vec<String> {
    let reader = ledger.reader(Scope::All);
    let requests = reader.requests(Requests::All(None)).unwrap();
    let cursors = requests.iter().map(|r| {
        let cursor = reader.cursor(r.session, "bot").unwrap();
        format!(
            "{} {} {:?} {:?} {:?} {:?}, read up to {cursor:?}",
            r.id, r.fence, r.injection, r.injected_at, r.turn_state, r.answer
        )
    });
    let deliveries = reader.deliveries(Deliveries::All(None)).unwrap();
    let deliveries = deliveries.iter().map(|d| {
        format!("{} {:?} {:?} {} {:?} {} {:?}", d.id, d.kind, d.state, d.fence, d.receipt, d.attempts, d.why)
    });
    cursors.chain(deliveries).collect()
}
