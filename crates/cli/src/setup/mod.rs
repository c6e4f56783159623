//! `sayso setup`: lets an agent program call Sayso, and takes that back.
//!
//! Only the entries that Sayso needs are added to the program's own settings; everything else in the file stays as it was,
//! byte for byte. What was changed is kept beside the records of hooks ([`kept`]), so that taking it back gives the same bytes
//! again where nobody touched the file since.

mod command;
mod json;
mod kept;
mod part;
mod target;
mod toml;

use serde::Serialize;
use similar::TextDiff;

use crate::args::{Global, Setup};
use crate::fail::Failure;
use crate::hook::program::Program;
use crate::io::{Out, say};

use kept::Kept;
use part::Part;
use target::Target;

/// A change of one file.
struct Change {
    target: Target,
    /// Its text afterwards; `None` where it goes.
    after: Option<String>,
}

/// What is told of a file in JSON.
#[derive(Serialize)]
struct Told<'c> {
    file: &'c std::path::Path,
    changed: bool,
    diff: &'c str,
}

pub(crate) fn run(args: &Setup, global: &Global, out: &mut Out<'_>) -> Result<(), Failure> {
    let mut kept = Kept::read();
    let parts = part::parts(args, global)?;
    // All of it is worked out before anything is written.
    let worked_out = parts.iter().map(|part| change(part, args, &kept));
    let (changes, refused): (Vec<_>, Vec<_>) = worked_out.partition(Result::is_ok);
    let changes: Vec<Change> = changes.into_iter().flatten().flatten().collect();
    let mut refused = refused.into_iter().filter_map(Result::err).peekable();
    // What is added belongs together; what is taken back does not, and one file keeps none of the others.
    if let Some(failure) = refused.next_if(|_| !args.remove) {
        return Err(failure);
    }
    for change in &changes {
        show(change, out)?;
    }
    let changes = changes.iter().filter(|change| !change.is_none());
    finish(changes.collect(), args, &mut kept, refused.peek().is_some())?;
    if args.mcp && global.scope.is_empty() {
        say(EVERY_PROJECT);
    }
    refused.next().map_or(Ok(()), Err)
}

/// Said where no scope was named.
const EVERY_PROJECT: &str = "Without --scope, the server that is added shows the agent every project of the ledger: to narrow it, take it \
                             out with --remove, and add it with --mcp --scope PROJECT.";

/// Writes the changes, and says so, or why not.
fn finish(changes: Vec<&Change>, args: &Setup, kept: &mut Kept, refused: bool) -> Result<(), Failure> {
    match changes.is_empty() {
        true if refused => return Ok(()),
        true => say(if args.remove {
            "Nothing to take back: Sayso is not set up there."
        } else {
            "Nothing to do: it is set up already."
        }),
        false if args.dry_run => {
            changes.iter().try_for_each(|change| change.target.may_be_written())?;
            say("Nothing was written: run it without --dry-run.");
        }
        false => {
            changes.iter().try_for_each(|change| write(change, args, kept))?;
            say(next(args));
        }
    }
    Ok(())
}

impl Change {
    fn is_none(&self) -> bool {
        self.after.as_deref() == self.target.text()
    }
}

/// `None` where there is nothing to take back.
fn change(part: &Part, args: &Setup, kept: &Kept) -> Result<Option<Change>, Failure> {
    let target = Target::open(&part.file, &part.home)?;
    let file = target.shown();
    let text = target.text();
    let was = kept.of(target.path());
    let after = match (args.remove, text) {
        (false, text) => Some(part.edit.add(text, was).map_err(|why| why.at(&file))?),
        (true, None) => return Ok(None),
        (true, Some(text)) if was.is_some_and(|was| was.after == text) => {
            was.and_then(|was| was.before.clone())
        }
        (true, Some(text)) => part.edit.remove(text, was).map_err(|why| why.at(&file))?,
    };
    Ok(Some(Change { target, after }))
}

fn write(change: &Change, args: &Setup, kept: &mut Kept) -> Result<(), Failure> {
    let path = change.target.path();
    match &change.after {
        _ if args.remove => kept.forget(path),
        Some(after) => kept.note(path, change.target.text(), after),
        None => {}
    }
    // Kept before it is written: a note too many does no harm, since it only counts where the file is as it says.
    kept.write()?;
    change.target.write(change.after.as_deref())
}

fn show(change: &Change, out: &mut Out<'_>) -> Result<(), Failure> {
    let before = change.target.text().unwrap_or_default();
    let after = change.after.as_deref().unwrap_or_default();
    let path = change.target.path();
    let name = path.display().to_string();
    let (old, new) = (
        if change.target.text().is_some() { name.as_str() } else { "/dev/null" },
        if change.after.is_some() { name.as_str() } else { "/dev/null" },
    );
    let diff = TextDiff::from_lines(before, after).unified_diff().header(old, new).to_string();
    let changed = !change.is_none();
    if out.json() {
        return out.object(&Told { file: path, changed, diff: &diff });
    }
    if changed { out.bytes(diff.as_bytes()) } else { Ok(()) }
}

/// What a person does next.
fn next(args: &Setup) -> &'static str {
    match (args.remove, args.program) {
        (true, _) => "Taken back. Sessions that run already go on as they were until they end.",
        (false, Program::Codex) => {
            "Set up. Start Codex: it asks once whether you trust the new hooks (/hooks shows them), and calls them from then on."
        }
        (false, Program::ClaudeCode) => {
            "Set up. Claude Code calls the hooks in sessions that start from now on; /hooks shows them."
        }
        (false, Program::Pi) => "Set up. pi loads the extension at its next start, or with /reload.",
    }
}
