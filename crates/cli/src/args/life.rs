//! The arguments of what happens to turns, sessions and projects after they were made.

use clap::{Args, Subcommand};
use sayso::SpeakerRef;
use sayso::model::SaidAt;

use super::{said_at, speaker};

#[derive(Debug, Args)]
pub(crate) struct Edit {
    /// The turn whose place the new one takes; the new words come from standard input
    #[arg(value_name = "ADDRESS")]
    pub(crate) address: String,
    /// Who says it: the speaker of that turn [default: the owner, named by SAYSO_OWNER or the login name]
    #[arg(long, value_name = "KIND[:NAME]", value_parser = speaker)]
    pub(crate) speaker: Option<SpeakerRef>,
    /// An idempotency key: the same key with the same words is written once
    #[arg(long)]
    pub(crate) key: Option<String>,
    /// When it was said, as RFC 3339 [default: not known]
    #[arg(long, value_name = "TIME", value_parser = said_at)]
    pub(crate) said_at: Option<SaidAt>,
}

#[derive(Debug, Args)]
pub(crate) struct Redact {
    /// The turn, or a summary
    #[arg(value_name = "ADDRESS")]
    pub(crate) address: String,
    /// Take the words out of the quotes of it as well
    #[arg(long)]
    pub(crate) quotes: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Erase {
    /// What is erased: the address of a project, a session or a turn
    #[arg(value_name = "ADDRESS", required_unless_present = "resume")]
    pub(crate) address: Option<String>,
    /// Take the words out of the quotes of it elsewhere as well
    #[arg(long)]
    pub(crate) quotes: bool,
    /// Erase the forks of a session as well, whose beginning goes with it
    #[arg(long)]
    pub(crate) forks: bool,
    /// Go on with what was cut off or held up before
    #[arg(long, conflicts_with = "address")]
    pub(crate) resume: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Pin {
    /// The turn
    #[arg(value_name = "ADDRESS")]
    pub(crate) address: String,
    /// Take the pin back
    #[arg(long)]
    pub(crate) off: bool,
}

/// What happens to a session after it was made.
#[derive(Debug, Subcommand)]
pub(crate) enum Session {
    /// Give a session another title; its address stays the same
    Rename {
        /// The session
        session: String,
        /// Its title from now on
        title: String,
    },
    /// Close a session: it takes no more turns
    Close {
        /// The session
        session: String,
    },
    /// Open a closed session again
    Reopen {
        /// The session
        session: String,
    },
    /// Move a session into another project; its address keeps leading to it
    Move {
        /// The session
        session: String,
        /// Its project from now on
        project: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Fork {
    /// The session whose beginning it shares
    pub(crate) session: String,
    /// The last turn that it shares [default: the last of the session]
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) at: Option<String>,
    /// Its title [default: that of the session with " (fork)"]
    #[arg(long)]
    pub(crate) title: Option<String>,
}

/// What happens to a project after it was made.
#[derive(Debug, Subcommand)]
pub(crate) enum Project {
    /// Give a project another name; its address stays the same
    Rename {
        /// The project
        project: String,
        /// Its name from now on
        name: String,
    },
    /// Give a project one more name, or the path of a folder, under which it is found
    Alias {
        /// The project
        project: String,
        /// The name or path
        alias: String,
        /// What sort of alias: name, path, or an app's own word [default: path for an absolute path, else name]
        #[arg(long)]
        kind: Option<String>,
    },
    /// Make a project part of another: its sessions go there, and its name and address lead there
    Merge {
        /// The project that ends
        project: String,
        /// The project that it becomes part of
        into: String,
    },
}
