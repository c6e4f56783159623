//! The tables of every Sayso backend as ordered data, and the page that documents them for people who open the file
//! themselves (`README.md`).

/// One step from one schema to the next. A published step never changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Migration {
    /// Its number: 1 for the first; what a ledger at this schema says its version is.
    pub number: u32,
    /// Its name.
    pub name: &'static str,
    /// Its statements.
    pub sql: &'static str,
}

/// The number in the header of a SQLite file (`PRAGMA application_id`) that says it is a ledger: `Says` in ASCII.
pub const SQLITE_APPLICATION_ID: i32 = 0x5361_7973;

/// The steps of the embedded SQLite backend, in order.
pub const SQLITE: &[Migration] = &[
    Migration { number: 1, name: "ledger", sql: include_str!("../sqlite/0001_ledger.sql") },
    Migration { number: 2, name: "search", sql: include_str!("../sqlite/0002_search.sql") },
    Migration { number: 3, name: "origin", sql: include_str!("../sqlite/0003_origin.sql") },
    Migration { number: 4, name: "output", sql: include_str!("../sqlite/0004_output.sql") },
    Migration { number: 5, name: "reinjection", sql: include_str!("../sqlite/0005_reinjection.sql") },
    Migration { number: 6, name: "relay", sql: include_str!("../sqlite/0006_relay.sql") },
    Migration { number: 7, name: "uncertain", sql: include_str!("../sqlite/0007_uncertain.sql") },
    Migration { number: 8, name: "settled", sql: include_str!("../sqlite/0008_settled.sql") },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_steps_are_numbered_from_one_without_a_gap() {
        assert!(SQLITE.iter().zip(1..).all(|(step, number)| step.number == number));
    }
}
