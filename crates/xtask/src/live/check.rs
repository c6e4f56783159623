//! One line for each thing that was checked.

use anyhow::Result;

/// What came out so far.
#[derive(Debug, Default)]
pub(crate) struct Report {
    failed: usize,
}

impl Report {
    /// Prints `ok name` or `FAILED name: why`; gives back what the check found, for the checks that build on it.
    pub(crate) fn check<T>(&mut self, name: &str, outcome: Result<T>) -> Option<T> {
        match outcome {
            Ok(found) => {
                println!("ok {name}");
                Some(found)
            }
            Err(error) => {
                self.failed += 1;
                println!("FAILED {name}: {}", one_line(&format!("{error:#}")));
                None
            }
        }
    }

    /// An error when anything failed.
    pub(crate) fn finish(self) -> Result<()> {
        anyhow::ensure!(self.failed == 0, "{} checks failed", self.failed);
        Ok(())
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
