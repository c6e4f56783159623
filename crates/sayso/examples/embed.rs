//! An agent app that embeds the ledger: open, append, forward, context.
#![allow(clippy::print_stdout, unreachable_pub)] // it prints, and the tests run it

use sayso::view::context::Provider;
use sayso::{CompactRequest, Destination, ForwardRequest, Ledger, NewTurn, Options, Scope, SpeakerKind};
use sayso::{ReinjectRequest, Trigger};

/// Runs it.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let ledger = Ledger::open(&folder.path().join("ledger.db"), &Options::default())?;

    // One session says something worth passing on. A key makes a retry harmless.
    let planning = ledger.session("harbour", "planning")?;
    let plan =
        NewTurn::text(SpeakerKind::Agent, "Rocky", "북항 → 솔섬: 24:40 stays 24:40.").with_key("turn-1");
    let plan = ledger.append(&planning, plan)?;

    // Another session gets it as a quote with its address; the note is the forwarder's own.
    let page = ledger.session("lantern", "the page")?;
    let reader = ledger.reader(Scope::All);
    let request = ForwardRequest::of(plan, Destination::Session(page.id))
        .by(SpeakerKind::Owner, "Mira")
        .note("Does the page agree?")
        .key("forward-1");
    let (_, forwarded) = reader.forward(request)?;

    // What the model of that session is given next: the marker says who said it, and where.
    let context = reader.context(page.id, Provider::OpenAiResponses, Some(8_000))?;
    println!("{:#}", context.input);
    for turn in &forwarded {
        println!("{} tokens or so; the forwarded turn is {}", context.tokens, ledger.address(turn));
    }

    // When it grows long: compact, reinject, context; then before each user turn reinject with its words, append, context.
    reader.compact(&CompactRequest::of(page.id, "The page is to say what Rocky said."))?;
    reader.reinject(&ReinjectRequest::of(page.id, Trigger::UserTurn("And the fare?".to_owned())))?;
    Ok(())
}
