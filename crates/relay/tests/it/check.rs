//! What must hold when everything came to rest, whatever happened on the way.

use std::collections::BTreeMap;

use sayso::model::limits::{ANSWER_MS, MARKED_COPIES};
use sayso::model::relay::{AnswerState, InjectionState};
use sayso::model::{Delivery, DeliveryKind, DeliveryState, EntryBody, MarkKind, Request};
use sayso_output::envelope::Purpose;
use sayso_relay::Words;

use crate::world::World;

type Check = fn(&World) -> Result<(), String>;

/// The first thing that does not hold, in words.
pub(crate) fn problem(w: &World) -> Option<String> {
    let checks: [Check; 12] = [
        copies,
        once_beside,
        unseen,
        destinations,
        history,
        suppressed,
        injected,
        fallbacks,
        kept,
        named,
        ended,
        verified,
    ];
    checks.iter().find_map(|check| check(w).err())
}

fn says(holds: bool, what: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what()) }
}

/// A person sees nothing twice, unless the second says that it may be a repeat; and of those there are few.
fn copies(w: &World) -> Result<(), String> {
    let net = w.net.borrow();
    let mut of: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for copy in &net.sink.copies {
        let (plain, all) = of.entry(&copy.key).or_default();
        *plain += usize::from(!copy.marked);
        *all += 1;
    }
    let most = MARKED_COPIES as usize;
    says(of.values().all(|(plain, _)| *plain <= 1), || {
        format!("seen twice without a mark: {:?}", net.sink.copies)
    })?;
    says(of.values().all(|(_, all)| *all <= most), || format!("seen too often: {:?}", net.sink.copies))
}

/// Of what a tool gave for a person and the reply that it stands for, one says that it may be a repeat where both were seen.
fn once_beside(w: &World) -> Result<(), String> {
    let net = w.net.borrow();
    let all = w.deliveries();
    let plain = |r: &Request, kind: DeliveryKind| {
        let of = all.iter().filter(|d| d.request == r.id && d.kind == kind).map(|d| d.id.to_string());
        let of: Vec<String> = of.collect();
        net.sink.copies.iter().filter(|c| !c.marked && of.contains(&c.key)).count()
    };
    let both = |r: &Request| plain(r, DeliveryKind::Direct) > 0 && plain(r, DeliveryKind::Reply) > 0;
    says(!w.requests().iter().any(both), || format!("both, and neither is marked: {:?}", net.sink.copies))
}

/// What is said not to have arrived, nobody has seen.
fn unseen(w: &World) -> Result<(), String> {
    let net = w.net.borrow();
    let states = [DeliveryState::Failed, DeliveryState::Suppressed, DeliveryState::Cancelled];
    let all = w.deliveries();
    let sure = all.iter().filter(|d| states.contains(&d.state) && !d.may_have_arrived() || d.is_in_doubt());
    let seen = |d: &&Delivery| net.sink.copies.iter().any(|c| c.key == d.id.to_string());
    match sure.clone().find(seen) {
        Some(d) => Err(format!("said not to have arrived, and seen: {d:?}")),
        None => Ok(()),
    }
}

/// Everything goes to where its request came from, as an answer to that message.
fn destinations(w: &World) -> Result<(), String> {
    let all: BTreeMap<String, Delivery> = w.deliveries().into_iter().map(|d| (d.id.to_string(), d)).collect();
    for copy in &w.net.borrow().sink.copies {
        let d = all.get(&copy.key).ok_or_else(|| format!("nobody knows of {copy:?}"))?;
        let inlet = w.request(d.request).inlet.ok_or("it came from nowhere")?;
        let right = (inlet.destination == copy.destination, Some(inlet.message) == copy.reply_to);
        says(right == (true, true), || format!("went elsewhere: {copy:?}"))?;
        // The agent's words name the message that they are for.
        let message = copy.reply_to.as_deref().unwrap_or_default();
        says(meant_for(&copy.text).is_none_or(|whose| whose == message), || {
            format!("for somebody else: {copy:?}")
        })?;
    }
    Ok(())
}

/// The message for which words of the tests' agents are.
fn meant_for(text: &str) -> Option<&str> {
    let (whose, _) = text.strip_prefix("final for ")?.split_once(':')?;
    Some(whose)
}

/// What the agent said at the end of a turn stands in a delivery, whatever became of that.
fn kept(w: &World) -> Result<(), String> {
    let all = w.deliveries();
    let entries = w.entries();
    let turns = entries.iter().filter(|e| e.turn().is_some_and(|t| meant_for(&t.text()).is_some()));
    for entry in turns {
        let found = all.iter().any(|d| d.turn == entry.id && d.kind == DeliveryKind::Reply);
        says(found, || format!("an answer got lost: {entry:?}"))?;
    }
    Ok(())
}

/// Of a session that names its requests nothing is in doubt.
fn named(w: &World) -> Result<(), String> {
    let doubt = w.deliveries().into_iter().find(|d| w.net.borrow().agent.names && d.is_in_doubt());
    says(doubt.is_none(), || format!("in doubt, though it was named: {doubt:?}"))
}

/// What was delivered has a receipt, a mark in the session, and for a display word to the model.
fn history(w: &World) -> Result<(), String> {
    let entries = w.entries();
    let marks = |d: &Delivery| {
        entries.iter().any(
            |e| matches!(&e.body, EntryBody::Mark(m) if m.kind == MarkKind::Shown && m.of == Some(d.turn)),
        )
    };
    let told = |d: &Delivery| {
        let turns = entries.iter().filter_map(|e| e.turn());
        let directive = Purpose::ALL.map(Purpose::directive);
        turns.filter(|t| t.reply_to == Some(d.turn)).any(|t| directive.contains(&t.text().as_str()))
    };
    let all = w.deliveries();
    for d in all.iter().filter(|d| d.state == DeliveryState::Delivered) {
        says(d.receipt.is_some() && marks(d), || format!("delivered without history: {d:?}"))?;
        let whole = all.iter().filter(|o| (o.request, &o.key) == (d.request, &d.key));
        let whole = whole.clone().all(|o| o.state == DeliveryState::Delivered);
        let silent = d.kind == DeliveryKind::Direct && whole && !told(d);
        says(!silent, || format!("the model was not told: {d:?}"))?;
    }
    Ok(())
}

/// A reply is suppressed only where every part of what stands for it was seen.
fn suppressed(w: &World) -> Result<(), String> {
    let all = w.deliveries();
    for d in all.iter().filter(|d| d.state == DeliveryState::Suppressed) {
        let by: Vec<&Delivery> = all
            .iter()
            .filter(|o| o.request == d.request && Some(&o.key) == d.suppressed_by.as_ref())
            .collect();
        let net = w.net.borrow();
        let seen = |o: &&Delivery| net.sink.copies.iter().any(|c| c.key == o.id.to_string());
        let whole = by.len() as u32 == by.first().map_or(1, |o| o.parts) && by.iter().all(seen);
        says(whole, || format!("nothing stands for {d:?}"))?;
    }
    Ok(())
}

/// Nothing goes in twice, nor while the session is in the middle of something.
fn injected(w: &World) -> Result<(), String> {
    let net = w.net.borrow();
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    for (_, id, _) in &net.agent.injected {
        *times.entry(id.to_string()).or_default() += 1;
    }
    says(times.values().all(|n| *n == 1), || format!("put in twice: {times:?}"))?;
    says(net.agent.overrun.is_empty(), || format!("put in while busy: {:?}", net.agent.overrun))
}

/// Word that there is no answer comes after the deadline and before an answer.
fn fallbacks(w: &World) -> Result<(), String> {
    let all = w.deliveries();
    let words = Words::default();
    let says_so = |d: &&Delivery| d.text == words.fallback || d.text == words.interrupted;
    for d in all.iter().filter(says_so) {
        let r = w.request(d.request);
        let from = r.injected_at.ok_or_else(|| format!("a fallback for what never went in: {r:?}"))?;
        says(d.created_at.0 >= from.0 + ANSWER_MS, || format!("too early: {d:?}"))?;
        let replies = all.iter().filter(|o| o.request == d.request && o.kind == DeliveryKind::Reply);
        // What a person has to decide about is no answer yet.
        let mut answers = replies.filter(|o| !o.is_in_doubt());
        says(answers.all(|o| o.created_at >= d.created_at), || format!("after the answer: {d:?}"))?;
    }
    Ok(())
}

/// Every request was answered, or its person told, or somebody can see that it is stuck; no answer got lost.
fn ended(w: &World) -> Result<(), String> {
    let all = w.deliveries();
    for r in w.requests() {
        let of = |kind: DeliveryKind| -> Vec<&Delivery> {
            all.iter().filter(|d| d.request == r.id && d.kind == kind).collect()
        };
        let visible = [DeliveryState::Parked, DeliveryState::Failed];
        let done = |d: &&Delivery| {
            [DeliveryState::Delivered, DeliveryState::Suppressed].contains(&d.state)
                || visible.contains(&d.state)
        };
        let stuck = |all: &[&Delivery]| all.iter().any(|d| visible.contains(&d.state));
        let said = |all: &[&Delivery]| !all.is_empty() && (all.iter().all(done) || stuck(all));
        let fine = match (r.injection, r.answer) {
            (InjectionState::Dead, _) => said(&of(DeliveryKind::Notice)),
            (InjectionState::Injected, AnswerState::Final) => {
                let reply = of(DeliveryKind::Reply);
                said(&reply.into_iter().filter(|d| Some(d.turn) == r.answered_by).collect::<Vec<_>>())
            }
            (InjectionState::Injected, AnswerState::FallbackIssued) => said(&of(DeliveryKind::Fallback)),
            _ => false,
        };
        says(fine, || format!("left open: {r:?}\n{all:#?}"))?;
        right_answer(w, &r, &all)?;
    }
    Ok(())
}

/// An answer is what the agent said at the end of this request's turn: the tests' scripts name the person there.
fn right_answer(w: &World, r: &Request, all: &[Delivery]) -> Result<(), String> {
    let Some(by) = r.answered_by else { return Ok(()) };
    let text = w.reader().entry(by).unwrap().unwrap().turn().unwrap().text();
    let who = r.inlet.as_ref().map(|i| i.message.clone()).unwrap_or_default();
    says(text.starts_with(&format!("final for {who}:")), || format!("{text:?} answers {who:?}\n{all:#?}"))
}

fn verified(w: &World) -> Result<(), String> {
    let report = w.reader().verify(&BTreeMap::new()).map_err(|e| e.to_string())?;
    says(report.problems.is_empty(), || format!("{:?}", report.problems))
}
