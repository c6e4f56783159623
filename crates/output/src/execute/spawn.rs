//! Starting a command in a process group of its own.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use super::{Program, Request, Stdin};

/// A command could not be started.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// There is no such program: shells say 127.
    #[error("{} is not found: check its name and PATH", .program.display())]
    NotFound {
        /// What was to be run.
        program: OsString,
    },
    /// It is there and cannot be run: shells say 126.
    #[error("{} cannot be run: check that it is a program and may be executed", .program.display())]
    NotExecutable {
        /// What was to be run.
        program: OsString,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The folder to run in is not there, or is none.
    #[error("there is no folder {}: name one that exists", .folder.display())]
    NoFolder {
        /// Where it was to be run.
        folder: PathBuf,
    },
    /// The system refused otherwise: too many processes, no memory.
    #[error("the command cannot be started: try again when the system has more room")]
    Other(#[source] io::Error),
}

impl SpawnError {
    /// The exit code that shells use for this: 127 or 126; none for the rest.
    #[must_use]
    pub const fn code(&self) -> Option<i32> {
        match self {
            Self::NotFound { .. } => Some(127),
            Self::NotExecutable { .. } => Some(126),
            Self::NoFolder { .. } | Self::Other(_) => None,
        }
    }
}

pub(super) fn spawn(request: &Request) -> Result<Child, SpawnError> {
    if let Some(folder) = request.folder.as_ref().filter(|f| !f.is_dir()) {
        return Err(SpawnError::NoFolder { folder: folder.clone() });
    }
    let (program, mut command) = command(&request.program);
    command.stdin(match &request.stdin {
        Stdin::Null => Stdio::null(),
        Stdin::Inherit => Stdio::inherit(),
        Stdin::File(file) => file.try_clone().map_err(SpawnError::Other)?.into(),
    });
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    command.envs(request.variables.iter().map(|(name, value)| (name, value)));
    if let Some(folder) = &request.folder {
        command.current_dir(folder);
    }
    command.spawn().map_err(|e| refusal(program, e))
}

fn command(program: &Program) -> (OsString, Command) {
    match program {
        Program::Argv(program, arguments) => {
            let mut command = Command::new(program);
            command.args(arguments);
            (program.clone(), command)
        }
        Program::Shell(line) => {
            let mut command = Command::new("/bin/sh");
            command.arg("-c").arg(line);
            ("/bin/sh".into(), command)
        }
    }
}

fn refusal(program: OsString, source: io::Error) -> SpawnError {
    const NOT_A_PROGRAM: i32 = 8;
    match source.kind() {
        io::ErrorKind::NotFound => SpawnError::NotFound { program },
        io::ErrorKind::PermissionDenied | io::ErrorKind::NotADirectory | io::ErrorKind::IsADirectory => {
            SpawnError::NotExecutable { program, source }
        }
        _ if source.raw_os_error() == Some(NOT_A_PROGRAM) => SpawnError::NotExecutable { program, source },
        _ => SpawnError::Other(source),
    }
}
