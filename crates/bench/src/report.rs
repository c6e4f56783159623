//! What was found, as a table and as JSON. A figure is a ratio between two sides of one run, or it stands beside one.

use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};

use crate::stats::Spread;

/// What a target asks of a figure.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Goal {
    AtMost(f64),
    AtLeast(f64),
    /// Only told.
    None,
}

impl Goal {
    fn words(self) -> String {
        match self {
            Self::AtMost(x) => format!("≤ {x}"),
            Self::AtLeast(x) => format!("≥ {x}"),
            Self::None => "–".to_owned(),
        }
    }

    fn met(self, value: f64) -> Option<bool> {
        match self {
            Self::AtMost(x) => Some(value <= x),
            Self::AtLeast(x) => Some(value >= x),
            Self::None => None,
        }
    }
}

/// One row of the table.
#[derive(Debug)]
struct Row {
    target: String,
    what: String,
    outcome: Outcome,
}

#[derive(Debug)]
enum Outcome {
    Measured { spread: Spread, goal: Goal, unit: &'static str, note: String },
    Skipped(String),
}

/// Everything that was measured.
#[derive(Debug, Default)]
pub(crate) struct Report {
    rows: Vec<Row>,
    conditions: Vec<(String, Vec<(String, String)>)>,
}

impl Report {
    /// A ratio: times one side is the other.
    pub(crate) fn ratio(
        &mut self,
        target: &str,
        what: &str,
        values: &[f64],
        goal: Goal,
        note: impl Into<String>,
    ) {
        self.measured(target, what, values, goal, "x", note.into());
    }

    /// Another figure, with its unit.
    pub(crate) fn figure(
        &mut self,
        (target, what): (&str, &str),
        values: &[f64],
        goal: Goal,
        unit: &'static str,
        note: impl Into<String>,
    ) {
        self.measured(target, what, values, goal, unit, note.into());
    }

    fn measured(
        &mut self,
        target: &str,
        what: &str,
        values: &[f64],
        goal: Goal,
        unit: &'static str,
        note: String,
    ) {
        let outcome = Outcome::Measured { spread: Spread::of(values), goal, unit, note };
        self.row(target, what, outcome);
    }

    pub(crate) fn skipped(&mut self, target: &str, what: &str, reason: impl Into<String>) {
        self.row(target, what, Outcome::Skipped(reason.into()));
    }

    fn row(&mut self, target: &str, what: &str, outcome: Outcome) {
        let row = Row { target: target.to_owned(), what: what.to_owned(), outcome };
        eprintln!("{}", row.line());
        self.rows.push(row);
    }

    /// Under which conditions a side ran.
    pub(crate) fn conditions(&mut self, side: &str, facts: Vec<(String, String)>) {
        self.conditions.push((side.to_owned(), facts));
    }

    pub(crate) fn print(&self) {
        println!(
            "Ratios are between two sides of this run, in interleaved rounds; figures beside them do not travel to other machines.\n"
        );
        println!("| target | what | min | median | max | rounds | goal | met | behind it |");
        println!("|---|---|---|---|---|---|---|---|---|");
        self.rows.iter().for_each(|row| println!("{}", row.line()));
        println!("\n## Conditions");
        for (side, facts) in &self.conditions {
            println!("\n{side}");
            facts.iter().for_each(|(name, value)| println!("- {name}: {value}"));
        }
    }

    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        let rows: Vec<Value> = self.rows.iter().map(Row::json).collect();
        let conditions: Vec<Value> =
            self.conditions.iter().map(|(side, facts)| json!({"side": side, "facts": facts})).collect();
        let all = json!({"rows": rows, "conditions": conditions});
        Ok(std::fs::write(path, serde_json::to_string_pretty(&all)? + "\n")?)
    }
}

impl Row {
    fn line(&self) -> String {
        let (target, what) = (&self.target, &self.what);
        match &self.outcome {
            Outcome::Skipped(reason) => format!("| {target} | {what} | SKIPPED | {reason} | | | | | |"),
            Outcome::Measured { spread: s, goal, unit, note } => {
                let met = goal.met(s.median).map_or("", |met| if met { "yes" } else { "NO" });
                let (min, median, max, goal) = (short(s.min), short(s.median), short(s.max), goal.words());
                format!(
                    "| {target} | {what} | {min}{unit} | **{median}{unit}** | {max}{unit} | {} | {goal} | {met} | {note} |",
                    s.rounds
                )
            }
        }
    }

    fn json(&self) -> Value {
        match &self.outcome {
            Outcome::Skipped(reason) => json!({"target": self.target, "what": self.what, "skipped": reason}),
            Outcome::Measured { spread, goal, unit, note } => json!({
                "target": self.target, "what": self.what, "value": spread.json(), "unit": unit.trim(),
                "goal": goal.words(), "met": goal.met(spread.median), "note": note,
            }),
        }
    }
}

/// Three digits that matter.
pub(crate) fn short(value: f64) -> String {
    match value.abs() {
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        v if v >= 0.1 || v == 0.0 => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}
