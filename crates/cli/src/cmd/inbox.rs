//! `sayso inbox`

use sayso::model::relay::AnswerState;
use sayso::model::{Delivery, DeliveryState, Request, RequestId, TurnId, UtcMs};
use sayso::store::{Deliveries, Requests, Waiting};
use sayso::{Address, Reader};
use serde::Serialize;

use crate::args::{Global, Inbox};
use crate::cmd::list::hint;
use crate::fail::Failure;
use crate::io::{Out, counted};
use crate::open;

#[derive(Serialize)]
struct Forward {
    turn: TurnId,
    address: Address,
    session: Address,
    from: Option<Address>,
    state: &'static str,
    /// How it was offered to its agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    carried_as: Option<CarriedAs>,
    recorded_at: UtcMs,
}

/// In a message of which role an agent was given a turn, and by which way.
#[derive(Serialize)]
struct CarriedAs {
    role: String,
    route: String,
}

impl CarriedAs {
    /// Routes of other ways than a hook tell no role.
    fn of(route: &str) -> Option<Self> {
        let (route, role) = route.rsplit_once(crate::hook::offer::AS)?;
        Some(Self { role: role.to_owned(), route: route.to_owned() })
    }
}

pub(crate) fn run(args: &Inbox, global: &Global, out: &mut Out<'_>) -> Result<(), Failure> {
    let reader = open::reader(global)?;
    let session = args.session.as_deref().map(|s| reader.find_session(s)).transpose()?;
    let session = session.map(|s| s.id);
    let waiting = reader.inbox(session)?;
    for one in &waiting {
        let carried_as = reader.offered_by(one.entry.id)?.as_deref().and_then(CarriedAs::of);
        let row = Forward { carried_as, ..inbox_row(one, reader.ledger().id()) };
        out.either(&row, || waiting_text(one, &row))?;
    }
    let requests = reader.requests(Requests::Open(session))?;
    // A forward on its way stands there already, and an answer that came needs nobody.
    let open = |r: &&Request| r.inlet.is_some() && r.answer != AnswerState::Final;
    let messages: Vec<&Request> = requests.iter().filter(open).collect();
    for request in &messages {
        let row = message(&reader, request)?;
        out.either(&row, || message_text(&row))?;
    }
    let nothing = waiting.is_empty() && messages.is_empty();
    let undecided = |d: &&Delivery| matches!(d.state, DeliveryState::Parked | DeliveryState::Failed);
    let undecided = reader.deliveries(Deliveries::Open(session))?.iter().filter(undecided).count();
    if undecided == 0 {
        let all = "Nothing waits: every forwarded turn is in the context of its agent, and every message has its answer.";
        hint(out, nothing, all);
    } else {
        let some = counted(
            undecided as u64,
            "message to a person did not surely arrive",
            "messages to people did not surely arrive",
        );
        hint(out, true, &format!("{some}: see `sayso deliveries list`"));
    }
    Ok(())
}

/// A message that expects an answer.
#[derive(Serialize)]
struct Message {
    request: RequestId,
    turn: TurnId,
    address: Option<Address>,
    channel: Option<String>,
    injection: &'static str,
    turn_state: &'static str,
    answer: &'static str,
    attempts: u32,
    accepted_at: UtcMs,
    injected_at: Option<UtcMs>,
    deadline: Option<UtcMs>,
    why: Option<String>,
    #[serde(skip)]
    words: String,
}

fn message(reader: &Reader, r: &Request) -> Result<Message, Failure> {
    let entry = reader.entry(r.turn)?;
    let ledger = reader.ledger().id();
    let words = entry.as_ref().and_then(|e| e.turn()).map_or(String::new(), |turn| {
        let speaker = &turn.speaker;
        format!("{} · {}: {}", speaker.kind, crate::io::one_line(&speaker.name), short(&turn.text()))
    });
    Ok(Message {
        request: r.id,
        turn: r.turn,
        address: entry.map(|e| Address::Turn(ledger, e.project, e.session, e.id, None)),
        channel: r.inlet.as_ref().map(|i| i.channel.clone()),
        injection: r.injection.as_str(),
        turn_state: r.turn_state.as_str(),
        answer: r.answer.as_str(),
        attempts: r.attempts,
        accepted_at: r.accepted_at,
        injected_at: r.injected_at,
        deadline: r.deadline,
        why: r.why.clone(),
        words,
    })
}

fn message_text(row: &Message) -> String {
    let state = match (row.injection, row.answer) {
        ("injected", "none") => "waits for its answer".to_owned(),
        ("injected", _) => "no answer in time, the person was told".to_owned(),
        (injection, _) => injection.to_owned(),
    };
    let why = row.why.as_deref().map(|why| format!(" ({})", crate::io::one_line(why))).unwrap_or_default();
    let address = row.address.map(|a| a.to_string()).unwrap_or_default();
    format!("message   {}\n          {state}{why}\n          {address}", row.words)
}

fn short(text: &str) -> String {
    let shown = crate::io::one_line(text);
    let at = sayso::model::text::cut(&shown, 60);
    let more = if at.bytes < shown.len() { "…" } else { "" };
    format!("{}{more}", shown.get(..at.bytes).unwrap_or_default())
}

fn inbox_row(waiting: &Waiting, ledger: sayso::model::LedgerId) -> Forward {
    let entry = &waiting.entry;
    Forward {
        turn: entry.id,
        address: Address::Turn(ledger, entry.project, entry.session, entry.id, None),
        session: Address::Session(ledger, entry.project, entry.session),
        from: entry.turn().and_then(|t| t.quote.as_ref()).map(|q| q.origin.address),
        state: waiting.state.map_or("recorded", sayso::model::MarkKind::as_str),
        carried_as: None,
        recorded_at: entry.recorded_at,
    }
}

fn waiting_text(waiting: &Waiting, row: &Forward) -> String {
    let quote = waiting.entry.turn().and_then(|t| t.quote.as_ref());
    let words = quote.map_or(String::new(), |q| {
        format!("{} · {}: {}", q.speaker.kind, crate::io::one_line(&q.speaker.name), short(&q.text))
    });
    format!("{:<8}  {words}\n          {}", row.state, row.address)
}
