//! `sayso deliveries`

use sayso::Reader;
use sayso::model::relay::{Ground, Inlet};
use sayso::model::{Delivery, DeliveryId, DeliveryState, RequestId, SessionId, TurnId, UtcMs};
use sayso::store::{Command, Deliveries as Which, RelayCommand, RelayStep};
use serde::Serialize;

use crate::args::{Deliveries, Global};
use crate::fail::Failure;
use crate::io::{Out, one_line, say};
use crate::open;

#[derive(Serialize)]
struct Row {
    delivery: DeliveryId,
    request: RequestId,
    session: SessionId,
    turn: TurnId,
    kind: &'static str,
    part: u32,
    parts: u32,
    state: &'static str,
    channel: Option<String>,
    destination: Option<String>,
    reply_to: Option<String>,
    attempts: u32,
    repeat_mark: bool,
    created_at: UtcMs,
    first_sent_at: Option<UtcMs>,
    not_before: Option<UtcMs>,
    receipt: Option<String>,
    late_receipts: Vec<String>,
    why: Option<String>,
    text: String,
}

pub(crate) fn run(what: &Deliveries, global: &Global, out: &mut Out<'_>) -> Result<(), Failure> {
    let reader = open::reader(global)?;
    match what {
        Deliveries::List { session, all } => list(&reader, session.as_deref(), *all, out),
        Deliveries::Show { id } => show(&reader, &reader.find_delivery(id)?, out),
        Deliveries::Retry { id } => {
            let step =
                |d: &Delivery| RelayCommand::Retry { delivery: d.id, fence: d.fence, ground: Ground::Person };
            decide(&reader, id, step, out)
        }
        Deliveries::Resolve { id, receipt } => {
            let before = reader.find_delivery(id)?;
            if before.attempts == 0 {
                return Err(Failure::request(format!(
                    "nothing of {} was ever sent, so it cannot have arrived: `sayso deliveries retry` sends it, `cancel` drops it",
                    before.id
                )));
            }
            sayso_relay::resolve(&reader, &before, receipt)?;
            decided(&reader, before, out)
        }
        Deliveries::Cancel { id, why } => {
            let step =
                |d: &Delivery| RelayCommand::Cancel { delivery: d.id, fence: d.fence, why: why.clone() };
            decide(&reader, id, step, out)
        }
    }
}

fn list(reader: &Reader, session: Option<&str>, all: bool, out: &mut Out<'_>) -> Result<(), Failure> {
    let session = session.map(|s| reader.find_session(s)).transpose()?.map(|s| s.id);
    let which = if all { Which::All(session) } else { Which::Open(session) };
    let found = reader.deliveries(which)?;
    for delivery in &found {
        let row = row(reader, delivery)?;
        out.either(&row, || line(&row))?;
    }
    if found.is_empty() && !out.json() {
        say(
            "Nothing is on its way, and nothing needs a decision: `sayso deliveries list --all` lists what was.",
        );
    }
    if found.iter().any(|d| d.state == DeliveryState::Parked) && !out.json() {
        say(
            "What is parked waits for you; its line says why. If it arrived: `sayso deliveries resolve`. Else `retry` sends it, marked as a possible repeat where it may be one, and `cancel` drops it.",
        );
    }
    Ok(())
}

fn row(reader: &Reader, d: &Delivery) -> Result<Row, Failure> {
    let inlet: Option<Inlet> = reader.request(d.request)?.and_then(|r| r.inlet);
    Ok(Row {
        delivery: d.id,
        request: d.request,
        session: d.session,
        turn: d.turn,
        kind: d.kind.as_str(),
        part: d.part + 1,
        parts: d.parts,
        state: d.state.as_str(),
        channel: inlet.as_ref().map(|i| i.channel.clone()),
        destination: inlet.as_ref().map(|i| i.destination.clone()),
        reply_to: inlet.map(|i| i.message),
        attempts: d.attempts,
        repeat_mark: d.repeat_mark,
        created_at: d.created_at,
        first_sent_at: d.first_sent_at,
        not_before: d.not_before,
        receipt: d.receipt.clone(),
        late_receipts: d.late.clone(),
        why: d.why.clone(),
        text: d.text.clone(),
    })
}

fn line(row: &Row) -> String {
    let part = if row.parts > 1 { format!(" {}/{}", row.part, row.parts) } else { String::new() };
    let to = one_line(&format!(
        "{} {}",
        row.channel.as_deref().unwrap_or_default(),
        row.destination.as_deref().unwrap_or_default()
    ));
    let why = row.why.as_deref().map(|why| format!(": {}", one_line(why))).unwrap_or_default();
    format!("{:<10} {}{part} to {to}{why}\n           {}", row.state, row.kind, row.delivery)
}

fn show(reader: &Reader, d: &Delivery, out: &mut Out<'_>) -> Result<(), Failure> {
    let row = row(reader, d)?;
    if out.json() {
        return out.object(&row);
    }
    out.line(line(&row))?;
    let fact = |name: &str, value: Option<String>| value.map(|value| format!("  {name:<12} {value}"));
    let facts = [
        fact("request", Some(row.request.to_string())),
        fact("turn", Some(row.turn.to_string())),
        fact("answers", row.reply_to.filter(|id| !id.is_empty()).map(|id| one_line(&id))),
        fact("attempts", Some(row.attempts.to_string())),
        fact("sent first", row.first_sent_at.map(UtcMs::utc)),
        fact("not before", row.not_before.map(UtcMs::utc)),
        fact("receipt", row.receipt.map(|receipt| one_line(&receipt))),
        fact("marked", row.repeat_mark.then(|| "as a possible repeat".to_owned())),
    ];
    facts.into_iter().flatten().try_for_each(|fact| out.line(fact))?;
    for late in &row.late_receipts {
        out.line(format!("  {:<12} {}", "late receipt", one_line(late)))?;
    }
    out.line("")?;
    out.line(sayso::model::hidden::show(&row.text))
}

/// What a person decided; refused where somebody else was first.
fn decide(
    reader: &Reader,
    given: &str,
    step: impl FnOnce(&Delivery) -> RelayCommand,
    out: &mut Out<'_>,
) -> Result<(), Failure> {
    let before = reader.find_delivery(given)?;
    let step = RelayStep { at: reader.ledger().now(), what: step(&before) };
    reader.ledger().write(reader.scope(), vec![Command::Relay(step)])?;
    decided(reader, before, out)
}

fn decided(reader: &Reader, before: Delivery, out: &mut Out<'_>) -> Result<(), Failure> {
    let after = reader.delivery(before.id)?.unwrap_or(before);
    let row = row(reader, &after)?;
    out.either(&row, || line(&row))
}
