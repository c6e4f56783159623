//! The arguments of requests and deliveries.

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct Inbox {
    /// Only this session's
    #[arg(long, value_name = "SESSION")]
    pub(crate) session: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Deliveries {
    /// List what was not delivered yet, or needs a decision
    List {
        /// Only this session's
        #[arg(long, value_name = "SESSION")]
        session: Option<String>,
        /// Also what was delivered, suppressed or cancelled
        #[arg(long)]
        all: bool,
    },
    /// Show one with its words, and what became of it
    Show {
        /// The delivery: its id, or 6 or more characters from its end
        #[arg(value_name = "DELIVERY")]
        id: String,
    },
    /// Send one again that failed or is parked; where it may have arrived, it says that it may be a repeat
    Retry {
        /// The delivery: its id, or 6 or more characters from its end
        #[arg(value_name = "DELIVERY")]
        id: String,
    },
    /// Say that one which is parked or unknown had arrived
    Resolve {
        /// The delivery: its id, or 6 or more characters from its end
        #[arg(value_name = "DELIVERY")]
        id: String,
        /// What shows that it arrived: the id of the message there, or where you saw it
        #[arg(long, value_name = "TEXT")]
        receipt: String,
    },
    /// Let one be: it is not sent
    Cancel {
        /// The delivery: its id, or 6 or more characters from its end
        #[arg(value_name = "DELIVERY")]
        id: String,
        /// Why
        #[arg(long, value_name = "TEXT", default_value = "cancelled by hand")]
        why: String,
    },
}
