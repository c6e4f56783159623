//! Reading a hook's arguments without those of all the other commands: an agent waits while they are put together, which
//! takes longer than many a hook.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::args::{Global, Hook};

/// The variable that names the ledger, as in [`Global`].
const LEDGER: &str = "SAYSO_LEDGER";

/// The hook of `sayso [--ledger FILE] hook PROGRAM EVENT`, as `sayso setup` writes it. Anything else is left to the full
/// reading of arguments.
pub(crate) fn hook(mut words: impl Iterator<Item = OsString>) -> Option<(Hook, Global)> {
    let mut ledger = std::env::var_os(LEDGER).map(PathBuf::from);
    let mut word = words.nth(1)?;
    if word == "--ledger" {
        ledger = Some(PathBuf::from(words.next()?));
        word = words.next()?;
    }
    if word != "hook" || ledger.as_ref().is_some_and(|ledger| ledger.as_os_str().is_empty()) {
        return None;
    }
    let mut plain =
        || words.next()?.into_string().ok().filter(|word| !word.is_empty() && !word.starts_with('-'));
    let hook = Hook { program: plain()?, event: plain()? };
    words.next().is_none().then(|| (hook, Global { ledger, scope: Vec::new(), json: false }))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::{Cli, Command};

    #[test]
    fn what_is_read_quickly_is_read_as_always() {
        let quick = ["hook codex Stop", "--ledger /x/l.db hook pi SessionStart", "hook other Nap"];
        let slow = [
            "hook",
            "hook codex",
            "hook codex Stop more",
            "hook codex --json",
            "--json hook codex Stop",
            "show hook Stop",
            "--ledger",
        ];
        for line in quick.into_iter().chain(slow) {
            let words = || std::iter::once("sayso").chain(line.split(' ')).map(OsString::from);
            let read = hook(words());
            assert_eq!(read.is_some(), quick.contains(&line), "{line}");
            let Some((hook, global)) = read else { continue };
            let Cli { command: Command::Hook(wanted), global: all } = Cli::try_parse_from(words()).unwrap()
            else {
                panic!("{line} is no hook");
            };
            assert_eq!((hook.program, hook.event, global.ledger), (wanted.program, wanted.event, all.ledger));
        }
    }
}
