//! Requests and deliveries: single steps, and whole exchanges that go as far as they are let.

use sayso_model::relay::{Attempt, Ground, InjectionEnd, Inlet, TurnEnd};
use sayso_model::{DeliveryId, DeliveryKind, EntryId, PartBody, RequestId, SessionId, UtcMs};
use sayso_store::{
    Accept, AppendTurn, Command, Deliveries, Intend, NewPart, RelayCommand, RelayStep, Requests, Scope,
};

use super::compare::Pair;
use super::random::Random;
use super::world::World;

/// Every step happened, and every reason of a refusal that comes up among random steps.
pub(super) const WANTED: [&str; 33] = [
    "Relay done",
    "Relay refused",
    "Accept Request",
    "MoveCursor Changed",
    "Enroll Request",
    "ClaimInjection Changed",
    "EndInjection Changed",
    "ExpireInjection Changed",
    "Started Changed",
    "SessionGone Changed",
    "SessionGone Known",
    "EndTurn Changed",
    "EndTurn Known",
    "Intend Changed",
    "Intend Known",
    "ClaimDelivery Changed",
    "Attempted Changed",
    "Attempted Evidence",
    "ExpireDelivery Changed",
    "Resolve Changed",
    "Retry Changed",
    "Park Changed",
    "Cancel Changed",
    "Release Changed",
    "Suppress Changed",
    "TakeLease Changed",
    "TakeLease Known",
    "DropLease Changed",
    "UnknownRequest",
    "UnknownDelivery",
    "StaleFence",
    "NoSuchStep",
    "LeaseHeld",
];

const KINDS: [DeliveryKind; 5] = [
    DeliveryKind::Reply,
    DeliveryKind::Fallback,
    DeliveryKind::Direct,
    DeliveryKind::Progress,
    DeliveryKind::Notice,
];

fn word(r: &mut Random) -> String {
    (*r.pick(&["k", "l", "열쇠", "a\0b"])).to_owned()
}

impl World {
    fn step(&self, at: i64, what: RelayCommand) -> Command {
        Command::Relay(RelayStep { at: UtcMs(at), what })
    }

    /// One step of anything, under a fence that may be right.
    pub(super) fn relay(&mut self, r: &mut Random) -> Command {
        let at = self.at + r.below(4) as i64 * 60_000;
        let (request, delivery, fence) = (self.request(r), self.delivery(r), r.below(3) as u64);
        let (why, until) = ("why".to_owned(), UtcMs(at + r.below(3) as i64 * 50_000));
        let (session, turn, mark) = (self.session(r), self.turn(r).0, self.new_entry(r));
        let key_ttl_ms = r.maybe(50, |r| r.below(200_000) as u64);
        let what = match r.below(22) {
            0 => RelayCommand::MoveCursor { session, account: word(r), cursor: word(r) },
            1 => RelayCommand::Enroll { id: self.new_request(r), turn },
            2 | 3 => RelayCommand::ClaimInjection { request, fence, until },
            4 => RelayCommand::EndInjection { request, fence, end: injection_end(r, until) },
            5 => RelayCommand::ExpireInjection { request, fence },
            6 => RelayCommand::Started { session, request: r.maybe(70, |r| self.request(r)) },
            7 => RelayCommand::EndTurn { request, end: turn_end(r) },
            8 => self.intend(request, *r.pick(&KINDS), turn, r),
            9 => RelayCommand::ClaimDelivery { delivery, fence, until, key_ttl_ms },
            10 | 11 => RelayCommand::Attempted { delivery, fence, attempt: attempt(r, until), mark },
            12 => RelayCommand::ExpireDelivery { delivery, fence },
            13 => RelayCommand::Resolve { delivery, fence, receipt: word(r), mark },
            14 => RelayCommand::Retry { delivery, fence, ground: ground(r) },
            15 => RelayCommand::Park { delivery, fence, why },
            16 => RelayCommand::Cancel { delivery, fence, why },
            17 => RelayCommand::Release { delivery, repeat_mark: r.chance(50) },
            18 => RelayCommand::Suppress { delivery, by: word(r) },
            19 => RelayCommand::TakeLease { name: word(r), holder: word(r), until, about: word(r) },
            20 => RelayCommand::SessionGone { session, why },
            _ => RelayCommand::DropLease { name: word(r), holder: word(r) },
        };
        self.step(at, what)
    }

    /// A message, its injection, its answer and what becomes of it: the first so many steps of it.
    pub(super) fn exchange(&mut self, r: &mut Random) -> Vec<Command> {
        if r.chance(10) {
            return self.leases(r);
        }
        let (session, id) = (self.session(r), self.new_request(r));
        let at = self.at;
        let question = self.said(session, r);
        let turn = question.id;
        let inlet = Inlet {
            account: word(r),
            update: r.below(1_000).to_string(),
            message: word(r),
            channel: "chat".to_owned(),
            destination: word(r),
        };
        let cursor = r.maybe(50, word);
        let accept = RelayCommand::Accept(Box::new(Accept { id, turn: question, inlet, cursor }));
        let mut steps = vec![(0, accept)];
        if r.chance(30) {
            let until = UtcMs(at + 50_000);
            steps.push((0, RelayCommand::ClaimInjection { request: id, fence: 0, until }));
            let end = injection_end(r, until);
            steps.push(match r.chance(50) {
                true => (60_000, RelayCommand::ExpireInjection { request: id, fence: 1 }),
                false => (0, RelayCommand::EndInjection { request: id, fence: 1, end }),
            });
        }
        steps.push((0, RelayCommand::Started { session, request: Some(id) }));
        let (direct, reply) = (self.new_delivery(r), self.new_delivery(r));
        let has_direct = r.chance(50);
        if has_direct {
            steps.push((0, intended(id, DeliveryKind::Direct, "k", turn, vec![direct])));
        }
        // Now and then twice: the same message is the same message.
        for _ in 0..1 + usize::from(r.chance(20)) {
            steps.push((0, intended(id, DeliveryKind::Reply, "reply", turn, vec![reply])));
        }
        if r.chance(30) {
            steps.push((0, RelayCommand::EndTurn { request: id, end: TurnEnd::Settled }));
            steps.push((0, RelayCommand::EndTurn { request: id, end: TurnEnd::Settled }));
        }
        let delivery = if has_direct { direct } else { reply };
        self.deliver(delivery, &mut steps, r);
        if has_direct && r.chance(50) {
            let step = match r.chance(50) {
                true => RelayCommand::Suppress { delivery: reply, by: "k".to_owned() },
                false => RelayCommand::Release { delivery: reply, repeat_mark: r.chance(50) },
            };
            steps.push((r.below(2) as i64 * 20_000, step));
        }
        steps.truncate(1 + r.below(steps.len()));
        steps.into_iter().map(|(later, what)| self.step(at + later, what)).collect()
    }

    /// A lease that is taken, renewed, asked for by another, given up.
    fn leases(&self, r: &mut Random) -> Vec<Command> {
        let (name, at) = (word(r), self.at);
        let take = |holder: &str| RelayCommand::TakeLease {
            name: name.clone(),
            holder: holder.to_owned(),
            until: UtcMs(at + 500),
            about: "{}".to_owned(),
        };
        let drop = RelayCommand::DropLease { name: name.clone(), holder: "one".to_owned() };
        let last = if r.chance(30) { take("two") } else { drop };
        let steps = [take("one"), take("one"), last];
        steps.into_iter().map(|what| self.step(at, what)).collect()
    }

    /// What becomes of one delivery.
    fn deliver(&mut self, delivery: DeliveryId, steps: &mut Vec<(i64, RelayCommand)>, r: &mut Random) {
        let until = UtcMs(self.at + 50_000);
        let mark = |world: &mut Self, r: &mut Random| world.new_entry(r);
        let receipt = "m1".to_owned();
        steps.push((0, RelayCommand::ClaimDelivery { delivery, fence: 0, until, key_ttl_ms: None }));
        match r.below(5) {
            0 => {
                let mark = mark(self, r);
                steps.push((60_000, RelayCommand::ExpireDelivery { delivery, fence: 1 }));
                let attempt = Attempt::Delivered { receipt };
                steps.push((60_000, RelayCommand::Attempted { delivery, fence: 1, attempt, mark }));
            }
            1 => {
                let attempt = Attempt::Unknown { why: "lost".to_owned() };
                let first = mark(self, r);
                steps.push((0, RelayCommand::Attempted { delivery, fence: 1, attempt, mark: first }));
                let mark = mark(self, r);
                steps.push((
                    0,
                    match r.below(4) {
                        0 => RelayCommand::Resolve { delivery, fence: 1, receipt, mark },
                        1 | 2 => RelayCommand::Retry { delivery, fence: 1, ground: ground(r) },
                        _ => RelayCommand::Park { delivery, fence: 1, why: "nobody knows".to_owned() },
                    },
                ));
            }
            2 => {
                let mark = mark(self, r);
                let attempt = Attempt::Retry { why: "503".to_owned(), not_before: until };
                steps.push((0, RelayCommand::Attempted { delivery, fence: 1, attempt, mark }));
                let why = "not needed".to_owned();
                steps.push((0, RelayCommand::Cancel { delivery, fence: 1, why }));
            }
            3 => {
                let mark = mark(self, r);
                let attempt = attempt(r, until);
                steps.push((0, RelayCommand::Attempted { delivery, fence: 1, attempt, mark }));
            }
            _ => {
                let mark = mark(self, r);
                let attempt = Attempt::Delivered { receipt };
                steps.push((0, RelayCommand::Attempted { delivery, fence: 1, attempt, mark }));
            }
        }
    }

    fn said(&mut self, session: SessionId, r: &mut Random) -> AppendTurn {
        AppendTurn {
            id: self.new_entry(r),
            session,
            speaker: self.speaker(r),
            said_at: None,
            reply_to: None,
            repairs: 0,
            parts: vec![NewPart { by: None, body: PartBody::Text("a question".to_owned()) }],
            key: None,
            expected_head: None,
        }
    }

    fn intend(
        &mut self,
        request: RequestId,
        kind: DeliveryKind,
        turn: EntryId,
        r: &mut Random,
    ) -> RelayCommand {
        let parts = (0..1 + r.below(2)).map(|_| self.new_delivery(r)).collect();
        let key = *r.pick(&["k", "reply"]);
        let mut intended = intended(request, kind, key, turn, parts);
        if let RelayCommand::Intend(intend) = &mut intended {
            intend.doubt = r.maybe(30, word);
        }
        intended
    }
}

fn intended(
    request: RequestId,
    kind: DeliveryKind,
    key: &str,
    turn: EntryId,
    parts: Vec<DeliveryId>,
) -> RelayCommand {
    let parts = parts.into_iter().map(|id| (id, "words".to_owned())).collect();
    RelayCommand::Intend(Intend { request, kind, key: key.to_owned(), turn, parts, doubt: None })
}

fn injection_end(r: &mut Random, not_before: UtcMs) -> InjectionEnd {
    let why = "why".to_owned();
    match r.below(4) {
        0 => InjectionEnd::Busy,
        1 => InjectionEnd::Failed { why, not_before },
        2 => InjectionEnd::Lost { why },
        _ => InjectionEnd::Dead { why },
    }
}

fn turn_end(r: &mut Random) -> TurnEnd {
    if r.chance(50) { TurnEnd::Settled } else { TurnEnd::Interrupted { why: "why".to_owned() } }
}

fn attempt(r: &mut Random, not_before: UtcMs) -> Attempt {
    let why = "why".to_owned();
    match r.below(5) {
        0 => Attempt::Failed { why },
        1 => Attempt::Retry { why, not_before },
        2 => Attempt::Unknown { why },
        _ => Attempt::Delivered { receipt: (*r.pick(&["", "m1", "m2"])).to_owned() },
    }
}

fn ground(r: &mut Random) -> Ground {
    *r.pick(&[Ground::Key { ttl_ms: 100_000 }, Ground::NotSent, Ground::Marked, Ground::Person])
}

/// Every read of requests and deliveries, compared.
pub(super) fn compare(pair: &Pair<'_>, world: &World, scope: &Scope) {
    pair.same("leases", |s| s.leases(scope));
    pair.same("all requests", |s| s.requests(scope, Requests::All(None)));
    pair.same("open requests", |s| s.requests(scope, Requests::Open(None)));
    pair.same("all deliveries", |s| s.deliveries(scope, Deliveries::All(None)));
    pair.same("open deliveries", |s| s.deliveries(scope, Deliveries::Open(None)));
    for id in &world.known.sessions {
        pair.same("requests", |s| s.requests(scope, Requests::All(Some(*id))));
        pair.same("open requests", |s| s.requests(scope, Requests::Open(Some(*id))));
        pair.same("deliveries", |s| s.deliveries(scope, Deliveries::All(Some(*id))));
        pair.same("open deliveries", |s| s.deliveries(scope, Deliveries::Open(Some(*id))));
        for account in ["k", "l", "열쇠", "a\0b"] {
            pair.same("cursor", |s| s.cursor(scope, *id, account));
        }
    }
    for id in &world.known.requests {
        pair.same("request", |s| s.request(scope, *id));
        pair.same("deliveries of a request", |s| s.deliveries(scope, Deliveries::Of(*id)));
    }
    for id in &world.known.deliveries {
        pair.same("delivery", |s| s.delivery(scope, *id));
        let end = id.to_string()[20..].to_owned();
        pair.same("find_deliveries", |s| s.find_deliveries(scope, &end, 3));
    }
    pair.same("some deliveries", |s| s.find_deliveries(scope, "", 2));
}
