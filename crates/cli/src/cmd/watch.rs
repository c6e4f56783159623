//! `sayso import --watch`

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use sayso::Ledger;
use sayso::model::SessionId;
use sayso_import::{Changed, FileReport, ImportError, Importer, Watch};
use serde::Serialize;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::args::{Global, Import};
use crate::cmd::import;
use crate::fail::{Chain, Failure};
use crate::io::{Out, say};
use crate::open;

/// How often files are looked at.
const STEP: Duration = Duration::from_millis(500);
/// How often it is looked whether to stop.
const NAP: Duration = Duration::from_millis(50);
/// A file is read whole each time, so one that takes long is read less often: it may take one part in so many of the time.
const SHARE: u32 = 10;

#[derive(Serialize)]
struct Imported<'a> {
    file: &'a Path,
    session: Option<SessionId>,
    turns_added: u64,
    turns_known: u64,
    unknown: u64,
    pending: u64,
}

pub(crate) fn run(args: &Import, global: &Global, out: &mut Out<'_>) -> Result<(), Failure> {
    if let Some(missing) = args.paths.iter().find(|path| !path.exists()) {
        return Err(Failure::request(format!(
            "{} is not there: name files and folders that are, or --auto",
            missing.display()
        )));
    }
    let mut follower = Follower {
        ledger: open::ledger(global)?,
        importer: Importer::new(open::owner().name),
        watch: Watch::new(),
        rests: HashMap::new(),
        stop: stop()?,
    };
    while !follower.is_stopped() {
        // New agents of a program may have come meanwhile.
        follower.look(&import::paths(args)?, out)?;
        follower.wait();
    }
    Ok(())
}

/// A flag that the first signal sets; the second one ends the program at once.
pub(super) fn stop() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        let register = || {
            flag::register_conditional_shutdown(signal, 1, Arc::clone(&stop))?;
            flag::register(signal, Arc::clone(&stop))
        };
        register().map_err(|e| Failure::io("signals cannot be listened to", e))?;
    }
    Ok(stop)
}

struct Follower {
    ledger: Ledger,
    importer: Importer,
    watch: Watch,
    /// Files that are not read again before these moments.
    rests: HashMap<PathBuf, Instant>,
    stop: Arc<AtomicBool>,
}

impl Follower {
    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn wait(&self) {
        let until = now() + STEP;
        while !self.is_stopped() && now() < until {
            thread::sleep(NAP);
        }
    }

    /// Imports what has changed.
    fn look(&mut self, paths: &[PathBuf], out: &mut Out<'_>) -> Result<(), Failure> {
        for changed in self.watch.changed(paths) {
            if self.is_stopped() {
                break;
            }
            let started = now();
            if self.rests.get(&changed.path).is_none_or(|until| *until <= started) {
                let report = self.importer.import_file(&self.ledger, &changed.path, &mut |_| {});
                let ended = now();
                self.rests.insert(changed.path.clone(), ended + ended.duration_since(started) * SHARE);
                self.tell(changed, report, out)?;
            }
        }
        Ok(())
    }

    fn tell(
        &mut self,
        changed: Changed,
        report: Result<FileReport, ImportError>,
        out: &mut Out<'_>,
    ) -> Result<(), Failure> {
        match report {
            Ok(report) => {
                line(&changed.path, &report, out)?;
                out.flush()?;
            }
            // Nothing to tell: it adds nothing, or nothing yet.
            Err(ImportError::Beside { .. } | ImportError::NoRecord { .. }) => {}
            Err(error) => {
                say(format!("{}: {}", changed.path.display(), Chain(&error)));
                // Another program may hold the ledger for a while: it is tried again. What was refused stays so.
                if matches!(&error, ImportError::Ledger { cause, .. } if cause.refusal().is_none())
                    || matches!(error, ImportError::Full { .. })
                {
                    return Ok(());
                }
            }
        }
        self.watch.imported(changed);
        Ok(())
    }
}

fn line(file: &Path, report: &FileReport, out: &mut Out<'_>) -> Result<(), Failure> {
    let imported = Imported {
        file,
        session: report.session,
        turns_added: report.turns_added,
        turns_known: report.turns_known,
        unknown: report.unknown,
        pending: report.pending,
    };
    out.either(&imported, || {
        format!(
            "{}: {} added, {} known before",
            file.display(),
            import::many(report.turns_added, "turn"),
            report.turns_known
        )
    })
}

/// Time decides only how often a file is looked at, never what is written.
#[expect(clippy::disallowed_methods, reason = "the program is where time comes in")]
fn now() -> Instant {
    Instant::now()
}
