//! `sayso reinject`

use sayso::model::{EntryId, OutputId, RangeSource, StreamKind, TextRange, Why, text};
use sayso::{
    Address, BroughtBack, Considered, Reader, ReinjectRequest, ReinjectionPlan, Trigger, Verdict,
    WINDOW_TOKENS,
};
use serde::Serialize;

use crate::args::{Global, Reinject};
use crate::fail::Failure;
use crate::io::{Out, one_line, read_input, say};
use crate::open;

#[derive(Serialize)]
struct Answer {
    entry: Option<EntryId>,
    address: Option<Address>,
    seq: Option<u64>,
    known: Option<bool>,
    ranges: Vec<Range>,
    #[serde(skip_serializing_if = "Option::is_none")]
    plan: Option<Plan>,
}

#[derive(Serialize)]
struct Range {
    turn: EntryId,
    part: u32,
    output: Option<OutputId>,
    stream: Option<StreamKind>,
    range: Option<String>,
    why: Vec<Why>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fate: Option<&'static str>,
}

#[derive(Serialize)]
struct Plan {
    window: u64,
    used: u64,
    budget: u64,
    looked_at: usize,
    considered: Vec<Range>,
}

pub(crate) fn run(args: &Reinject, global: &Global, out: &mut Out<'_>) -> Result<(), Failure> {
    let reader = open::reader(global)?;
    let session = reader.find_session(&args.session)?;
    let request = ReinjectRequest {
        budget: args.budget,
        window: args.window,
        ..ReinjectRequest::of(session.id, trigger(args)?)
    };
    let plan = match args.explain || args.dry_run {
        true => Some(reader.plan_reinjection(&request)?),
        false => None,
    };
    let done = if args.dry_run { None } else { reader.reinject(&request)? };
    if out.json() {
        return out.object(&answer(&reader, args, plan.as_ref(), done.as_ref()));
    }
    if let Some(plan) = &plan {
        explain(args, plan, out)?;
    }
    match &done {
        Some(done) => out.line(reader.address_of(&done.placed).to_string()),
        None if plan.is_none() => {
            say("Nothing comes back: no earlier result has a reason to. --explain says what was thought of.");
            Ok(())
        }
        None => Ok(()),
    }
}

fn trigger(args: &Reinject) -> Result<Trigger, Failure> {
    let words = match args.words.as_deref() {
        None => return Ok(Trigger::Compaction),
        Some("-") => {
            let (words, repairs) = text::repair(read_input()?);
            if repairs > 0 {
                say(format!("note: {repairs} byte sequences were not valid UTF-8; each was read as U+FFFD"));
            }
            words
        }
        Some(words) => words.to_owned(),
    };
    if words.trim().is_empty() {
        return Err(Failure::request(
            "the words are empty: give those of the next turn, or leave --for out right after a compaction",
        ));
    }
    Ok(Trigger::UserTurn(words))
}

fn answer(
    reader: &Reader,
    args: &Reinject,
    plan: Option<&ReinjectionPlan>,
    done: Option<&BroughtBack>,
) -> Answer {
    let ranges = match (done, plan) {
        (Some(done), _) => done
            .reinjection
            .items
            .iter()
            .map(|item| Range {
                turn: item.turn,
                part: item.part,
                output: item.source.output(),
                stream: item.source.stream(),
                range: Some(item.range.to_string()),
                why: vec![item.why],
                tokens: None,
                fate: None,
            })
            .collect(),
        (None, Some(plan)) => plan.chosen().map(range).collect(),
        (None, None) => Vec::new(),
    };
    Answer {
        entry: done.map(|done| done.placed.id),
        address: done.map(|done| reader.address_of(&done.placed)),
        seq: done.map(|done| done.placed.seq),
        known: done.map(|done| done.fate == sayso::Fate::Known),
        ranges,
        plan: plan.filter(|_| args.explain).map(|plan| Plan {
            window: plan.window,
            used: plan.used,
            budget: plan.budget,
            looked_at: plan.looked_at,
            considered: plan.considered.iter().map(range).collect(),
        }),
    }
}

fn range(of: &Considered) -> Range {
    Range {
        turn: of.turn,
        part: of.part,
        output: of.source.output(),
        stream: of.source.stream(),
        range: of.range.map(|range| range.to_string()),
        why: of.why.clone(),
        tokens: Some(of.tokens),
        fate: Some(word(of.fate)),
    }
}

const fn word(fate: Verdict) -> &'static str {
    match fate {
        Verdict::Chosen => "returns",
        Verdict::Shown => "shown",
        Verdict::Gone => "gone",
        Verdict::Binary => "binary",
        Verdict::Unread => "unread",
        Verdict::NoRoom => "no_room",
        Verdict::Enough => "enough",
    }
}

/// What a person reads of it.
const fn because(fate: Verdict) -> &'static str {
    match fate {
        Verdict::Chosen => "",
        Verdict::Shown => "stays out: the context shows it",
        Verdict::Gone => "stays out: it is no longer there",
        Verdict::Binary => "stays out: it is no text",
        Verdict::Unread => "stays out: there was too much to look at",
        Verdict::NoRoom => "stays out: it does not fit what is left of the budget",
        Verdict::Enough => "stays out: as many as may come back at once come before it",
    }
}

fn explain(args: &Reinject, plan: &ReinjectionPlan, out: &mut Out<'_>) -> Result<(), Failure> {
    let (window, used) = (plan.window, plan.used);
    let taken = if args.window.is_none() && window > WINDOW_TOKENS {
        ", taken for the model's since the context fits in none smaller: --window says it"
    } else {
        ""
    };
    out.line(format!("window     {window} tokens, of which the context takes {used}{taken}"))?;
    out.line(format!("budget     {} tokens", plan.budget))?;
    out.line(format!("looked at  {} results", plan.looked_at))?;
    let count = plan.chosen().count();
    let ranges = if count == 1 { "range" } else { "ranges" };
    out.line(format!("returns    {count} {ranges}, {} tokens", plan.tokens()))?;
    for range in &plan.considered {
        out.line("")?;
        let whys: Vec<&str> = range.why.iter().map(|why| why.as_str()).collect();
        out.line(format!("{}  {} tokens", whys.join(", "), range.tokens))?;
        out.line(format!("  {}", place(range)))?;
        if range.fate != Verdict::Chosen {
            out.line(format!("  {}", because(range.fate)))?;
        }
    }
    if !plan.considered.is_empty() {
        out.line("")?;
    }
    Ok(())
}

fn place(of: &Considered) -> String {
    let what = match of.source {
        RangeSource::Output(id, stream) => format!("{stream} of output {id}"),
        RangeSource::Result => format!("result in turn {}", of.turn),
    };
    let range = of.range.map(|range: TextRange| format!("{range}, ")).unwrap_or_default();
    let tool = if of.tool.is_empty() { String::new() } else { format!(" by {}", one_line(&of.tool)) };
    format!("{range}{what}{tool}, entry {}", of.seq)
}
