//! `sayso doctor`

use serde::Serialize;

use crate::args::Global;
use crate::fail::Failure;
use crate::hook::record::{self, Record};
use crate::io::Out;
use crate::open;

#[derive(Serialize)]
struct Check {
    check: &'static str,
    ok: bool,
    detail: String,
}

pub(crate) fn run(global: &Global, out: &mut Out<'_>) -> Result<(), Failure> {
    for check in checks(global) {
        let mark = if check.ok { "ok     " } else { "TROUBLE" };
        out.either(&check, || format!("{mark} {}: {}", check.check, check.detail))?;
    }
    let records = record::read();
    for record in &records {
        out.either(record, || line(record))?;
    }
    if records.is_empty() && !out.json() {
        out.line("ok      hooks: no failure on record")?;
    }
    Ok(())
}

fn line(record: &Record) -> String {
    format!("TROUBLE hook {} {} at {}: {}", record.program, record.event, record.at, record.reason)
}

fn checks(global: &Global) -> Vec<Check> {
    let mut checks =
        vec![Check { check: "program", ok: true, detail: format!("sayso {}", env!("CARGO_PKG_VERSION")) }];
    let path = match open::path(global) {
        Ok(path) => path,
        Err(failure) => {
            checks.push(Check { check: "ledger", ok: false, detail: failure.to_string() });
            return checks;
        }
    };
    checks.push(ledger(global, &path));
    if let Some(path) = record::path() {
        checks.push(Check { check: "hook records", ok: true, detail: path.display().to_string() });
    }
    checks
}

/// The doctor looks and changes nothing: a missing ledger stays missing.
fn ledger(global: &Global, path: &std::path::Path) -> Check {
    let shown = path.display();
    let missing =
        matches!(path.try_exists(), Ok(false)) && path.parent().is_some_and(std::path::Path::is_dir);
    if missing {
        return Check { check: "ledger", ok: true, detail: format!("{shown} is not there yet") };
    }
    match open::look(global) {
        Ok(sessions) => Check { check: "ledger", ok: true, detail: format!("{shown}, {sessions} sessions") },
        Err(failure) => {
            Check { check: "ledger", ok: false, detail: crate::fail::Chain(&failure).to_string() }
        }
    }
}
