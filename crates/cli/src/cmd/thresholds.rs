//! `sayso thresholds`

mod policies;

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::Path;

use sayso::store::{Output, StreamKind};
use sayso::{OutputBytes, Reader};
use sayso_output::Ending;
use sayso_output::thresholds::{Choice, ExitClass, Layers, Lengths, Policy, Report};
use serde::Serialize;

use crate::args::{Global, Policed, Thresholds, ThresholdsOf};
use crate::fail::Failure;
use crate::io::{Out, one_line};
use crate::open;

/// Outputs that are looked up at once.
const PAGE: usize = 256;
/// Bytes that are counted at once.
const STEP: usize = 64 * 1024;

/// The lengths of each tool's outputs, by how the tool ended.
type All = BTreeMap<(String, ExitClass), Lengths>;

pub(crate) fn run(args: &Thresholds, global: &Global, out: &mut Out<'_>) -> Result<(), Failure> {
    match &args.command {
        Some(Policed::Decide { name, length, policies, from }) => {
            let by = by(name, policies.as_deref(), from.as_deref(), global)?;
            decide(name, *length, by, out)
        }
        Some(Policed::Set { name, policy, policies }) => {
            policies::set(name, policy, &policies::path(policies.as_deref(), global)?, out)
        }
        None => reports(args, global, out),
    }
}

#[derive(Serialize)]
struct Measured<'a> {
    tool: &'a str,
    ending: ExitClass,
    count: u64,
    mean: f64,
    median: u64,
    p90: u64,
    p99: u64,
    max: u64,
    /// From, to, and how many.
    histogram: Vec<(u64, u64, u64)>,
    choices: Vec<Would>,
    proposal: Would,
    /// What was set for the tool, and the version of the policies.
    #[serde(skip_serializing_if = "Option::is_none")]
    set: Option<Policy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<u64>,
}

#[derive(Serialize)]
struct Would {
    policy: Policy,
    two: u64,
    of: u64,
}

impl From<Choice> for Would {
    fn from(choice: Choice) -> Self {
        Self { policy: choice.policy, two: choice.two, of: choice.of }
    }
}

fn reports(args: &Thresholds, global: &Global, out: &mut Out<'_>) -> Result<(), Failure> {
    let all = lengths(&args.of, global)?;
    if all.is_empty() {
        return Err(Failure::request(match &args.of.tool {
            Some(tool) => {
                format!("there are no outputs of {tool:?}: see which tools there are without --tool")
            }
            None => "there are no outputs yet: `sayso run` and `sayso import` store them".to_owned(),
        }));
    }
    let policies = match args.of.from {
        Some(_) => None,
        None => policies::known(&policies::path(None, global)?)?,
    };
    for (place, ((tool, class), lengths)) in all.into_iter().enumerate() {
        let set = policies.as_ref().and_then(|known| Some((known.given(&tool)?, known.version())));
        if out.json() {
            measured((&tool, class), &lengths, &args.above, set).map_or(Ok(()), |m| out.object(&m))?;
            continue;
        }
        let gap = if place > 0 { "\n" } else { "" };
        out.line(format!("{gap}{}", Report::new(&one_line(&tool), class, lengths, &args.above)))?;
        if let Some((policy, version)) = set {
            out.line(format!("policy: {policy} (version {version} of the policies)"))?;
        }
    }
    Ok(())
}

fn measured<'a>(
    (tool, class): (&'a str, ExitClass),
    lengths: &Lengths,
    above: &[u64],
    set: Option<(Policy, u64)>,
) -> Option<Measured<'a>> {
    let report = Report::new(tool, class, lengths.clone(), above);
    let summary = lengths.summary()?;
    Some(Measured {
        tool,
        ending: class,
        count: summary.count,
        mean: summary.mean,
        median: summary.median,
        p90: summary.p90,
        p99: summary.p99,
        max: summary.max,
        histogram: lengths.histogram(),
        choices: report.choices().into_iter().map(Would::from).collect(),
        proposal: report.proposal().into(),
        set: set.map(|(policy, _)| policy),
        version: set.map(|(_, version)| version),
    })
}

#[derive(Serialize)]
struct Decided<'a> {
    tool: &'a str,
    length: u64,
    texts: u8,
    policy: Policy,
    /// The version of the policies; absent where there are none.
    version: Option<u64>,
    /// How many outputs a proposal goes by.
    outputs: Option<u64>,
}

/// What a decision goes by.
enum By {
    /// The policies of this version.
    Policies(Policy, u64),
    /// What so many outputs propose.
    Proposal(Policy, u64),
}

fn by(tool: &str, file: Option<&Path>, from: Option<&Path>, global: &Global) -> Result<By, Failure> {
    if let Some(file) = file {
        let policies = policies::read(file)?;
        return Ok(By::Policies(policies.of(tool), policies.version()));
    }
    if from.is_none()
        && let Some(policies) = policies::known(&policies::path(None, global)?)?
        && let Some(policy) = policies.given(tool)
    {
        return Ok(By::Policies(policy, policies.version()));
    }
    let of = ThresholdsOf { tool: Some(tool.to_owned()), from: from.map(Path::to_owned) };
    let (policy, outputs) = proposed(tool, lengths(&of, global)?);
    Ok(By::Proposal(policy, outputs))
}

fn decide(tool: &str, length: u64, by: By, out: &mut Out<'_>) -> Result<(), Failure> {
    let (policy, version, outputs) = match by {
        By::Policies(policy, version) => (policy, Some(version), None),
        By::Proposal(policy, outputs) => (policy, None, Some(outputs)),
    };
    let texts = if policy.decide(length) == Layers::Two { 2 } else { 1 };
    let decided = Decided { tool, length, texts, policy, version, outputs };
    out.either(&decided, || told(&decided))
}

fn told(decided: &Decided<'_>) -> String {
    let texts = if decided.texts == 2 { "two texts" } else { "one text" };
    let by = match (decided.version, decided.outputs) {
        (Some(version), _) => format!("policies of version {version}"),
        (None, Some(1)) => "proposed by 1 output".to_owned(),
        (None, outputs) => format!("proposed by {} outputs", outputs.unwrap_or(0)),
    };
    format!("{texts} ({}, {by})", decided.policy)
}

/// What is proposed for a tool, by all of its outputs, and how many these are.
fn proposed(tool: &str, all: All) -> (Policy, u64) {
    let mut together = Lengths::default();
    all.values().for_each(|lengths| together.join(lengths));
    let outputs = together.count();
    let report = Report::new(tool, ExitClass::Unknown, together, &[]);
    (report.proposal().policy, outputs)
}

fn lengths(of: &ThresholdsOf, global: &Global) -> Result<All, Failure> {
    let mut all = match &of.from {
        Some(path) => from_file(path)?,
        None => stored(&open::reader(global)?, of.tool.as_deref())?,
    };
    if let Some(tool) = &of.tool {
        // Lengths without a name are those of the tool that was asked for.
        let named = |(name, class): (String, ExitClass)| {
            if name.is_empty() { (tool.clone(), class) } else { (name, class) }
        };
        let mut wanted = All::new();
        all.into_iter()
            .map(|(key, lengths)| (named(key), lengths))
            .filter(|(key, _)| key.0 == *tool)
            .for_each(|(key, lengths)| wanted.entry(key).or_default().join(&lengths));
        all = wanted;
    }
    Ok(all)
}

/// The lengths of the outputs that a reader sees, whole ones and what came of others.
fn stored(reader: &Reader, tool: Option<&str>) -> Result<All, Failure> {
    let mut all = All::new();
    for session in reader.sessions(None)? {
        let mut after = None;
        loop {
            let page = reader.archived_outputs(session.id, after, PAGE)?;
            let Some(last) = page.last() else { break };
            after = Some(last.id);
            let wanted = page.iter().filter(|o| !o.growing && tool.is_none_or(|tool| o.tool == tool));
            for output in wanted {
                let length = characters(reader, output)?;
                all.entry((output.tool.clone(), ExitClass::from(ending(output)))).or_default().add(length);
            }
        }
    }
    Ok(all)
}

const fn ending(output: &Output) -> Ending {
    match (output.exit, output.run.signal, output.run.timed_out) {
        (_, _, true) => Ending::Timeout,
        (_, Some(number), _) => Ending::Signal(number),
        (Some(code), ..) => Ending::Exit(code),
        (None, None, false) => Ending::Unknown,
    }
}

/// Characters of both streams.
fn characters(reader: &Reader, output: &Output) -> Result<u64, Failure> {
    let mut length = 0;
    for kind in [StreamKind::Stdout, StreamKind::Stderr] {
        if let Some(bytes) = reader.open_output(output.id, kind)? {
            length += count(bytes)?;
        }
    }
    Ok(length)
}

fn count(mut bytes: OutputBytes) -> Result<u64, Failure> {
    let (mut buffer, mut length) = (vec![0; STEP], 0);
    loop {
        let read = bytes.read(&mut buffer).map_err(|e| Failure::io("a stored output cannot be read", e))?;
        let part = buffer.get(..read).unwrap_or_default();
        // Each character of UTF-8 has one byte that is none of the bytes that go on with one.
        length += part.iter().filter(|byte| **byte & 0xC0 != 0x80).count() as u64;
        if read == 0 {
            return Ok(length);
        }
    }
}

fn from_file(path: &Path) -> Result<All, Failure> {
    let refused = |e| Failure::io(format!("{} cannot be read", path.display()), e);
    let text = match path == Path::new("-") {
        true => io::read_to_string(io::stdin()).map_err(refused)?,
        false => std::fs::read_to_string(path).map_err(refused)?,
    };
    let mut all = All::new();
    for (place, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let (tool, class, length) = noted(line).ok_or_else(|| {
            let (path, number) = (path.display(), place + 1);
            Failure::request(format!(
                "{path}, line {number}: LENGTH, TOOL LENGTH or TOOL LENGTH EXIT is needed"
            ))
        })?;
        all.entry((tool.to_owned(), class)).or_default().add(length);
    }
    Ok(all)
}

fn noted(line: &str) -> Option<(&str, ExitClass, u64)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words.as_slice() {
        [length] => Some(("", ExitClass::Unknown, length.parse().ok()?)),
        [tool, length] => Some((tool, ExitClass::Unknown, length.parse().ok()?)),
        [tool, length, exit] => Some((tool, Ending::Exit(exit.parse().ok()?).into(), length.parse().ok()?)),
        _ => None,
    }
}
