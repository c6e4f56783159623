//! One session with everything in it, beside one of 1,000 turns: nothing may read the whole of it.

use anyhow::{Context, Result, ensure};
use sayso::model::SessionId;
use sayso::view::context::Provider;
use sayso::{CompactRequest, Destination, Durability, Entry, ForwardRequest, Ledger, Options, Placed, Scope};

use crate::clock::{micros, time};
use crate::corpus;
use crate::ground::{Ground, SEED};
use crate::ours::Ours;
use crate::report::{Goal, Report, short};
use crate::stats::{quantile, ratios};

const SHORT: u64 = 1_000;

type Work<'a> = (&'static str, Box<dyn Fn(&Ours) -> Result<()> + 'a>);

pub(crate) fn run(ground: &mut Ground, report: &mut Report) -> Result<()> {
    let long = make(ground, "long.db", ground.turns)?;
    let short_one = make(ground, "short.db", SHORT)?;
    for (what, work) in works() {
        let (mut a, mut b) = (Vec::new(), Vec::new());
        for _ in 0..ground.rounds {
            for (ours, costs) in [(&long, &mut a), (&short_one, &mut b)] {
                let mut each = Vec::new();
                for _ in 0..ground.some(24) {
                    let (done, took) = time(|| work(ours));
                    done?;
                    each.push(micros(took.cpu));
                }
                costs.push(quantile(&each, 0.5));
            }
        }
        let note = format!(
            "{} turns; processor µs: {} beside {}",
            ground.turns,
            short(quantile(&a, 0.5)),
            short(quantile(&b, 0.5))
        );
        report.ratio(
            "long",
            &format!("{what}: in one long session / in one of {SHORT} turns"),
            &ratios(&a, &b),
            Goal::AtMost(1.5),
            note,
        );
    }
    Ok(())
}

fn works<'a>() -> Vec<Work<'a>> {
    vec![
        ("open", Box::new(|ours| Ok(Ledger::open(&ours.path, &Options::default()).map(|_| ())?))),
        ("the session's row", Box::new(|ours| only(ours).map(|_| ()))),
        ("the last 50 turns", Box::new(|ours| page(ours, 1.0))),
        ("50 turns in the middle", Box::new(|ours| page(ours, 0.5))),
        (
            "context after a compaction",
            Box::new(|ours| {
                let context = ours.reader().context(only(ours)?.0, Provider::Anthropic, None)?;
                ensure!(context.tokens > 0, "an empty context");
                Ok(())
            }),
        ),
        (
            "forward into another session",
            Box::new(|ours| {
                let (session, last) = only(ours)?;
                let turn = ours.reader().entries(session, last / 2, 1)?.pop().context("a turn")?;
                let to = ours.session(1)?.id;
                ours.reader().forward(ForwardRequest::of(placed(&turn), Destination::Session(to)))?;
                Ok(())
            }),
        ),
        (
            "forward into it",
            Box::new(|ours| {
                let (session, _) = only(ours)?;
                let turn = ours.reader().entries(ours.session(1)?.id, 0, 1)?.pop().context("a turn")?;
                ours.reader().forward(ForwardRequest::of(placed(&turn), Destination::Session(session)))?;
                Ok(())
            }),
        ),
    ]
}

fn placed(entry: &Entry) -> Placed {
    Placed { id: entry.id, project: entry.project, session: entry.session, seq: entry.seq, hash: entry.hash }
}

fn only(ours: &Ours) -> Result<(SessionId, u64)> {
    let session = ours.ledger.reader(Scope::All).session(ours.session(0)?.id)?.context("the session")?;
    Ok((session.id, session.last_seq))
}

fn page(ours: &Ours, at: f64) -> Result<()> {
    let (session, last) = only(ours)?;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
    let after = (last.saturating_sub(50) as f64 * at) as u64;
    ensure!(ours.reader().entries(session, after, 50)?.len() == 50, "turns are missing");
    Ok(())
}

fn make(ground: &Ground, name: &str, turns: u64) -> Result<Ours> {
    let ours = Ours::open(&ground.path(name), Durability::Normal, 2)?;
    ours.append(1, "the first turn of the other session")?;
    let numbers: Vec<u64> = (0..turns).collect();
    eprintln!("writing one session of {turns} turns");
    for numbers in numbers.chunks(1_000) {
        let texts: Vec<String> = numbers.iter().map(|n| corpus::turn(SEED, *n)).collect();
        ours.import(texts.iter().map(|text| (0, text.as_str(), None)))?;
    }
    let (session, _) = only(&ours)?;
    let through = ours.reader().entries(session, turns - 40, 1)?.pop().context("a turn")?;
    let request =
        CompactRequest { through: Some(placed(&through)), ..CompactRequest::of(session, "All went well.") };
    ours.reader().compact(&request)?;
    Ok(ours)
}
