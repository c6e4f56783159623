//! A bridge that runs: source → relay → session → sinks.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use sayso::model::SessionKind;
use sayso::store::{Alias, Session};
use sayso::{Ledger, Scope};
use sayso_relay::port::{AgentSession, Clock, Sender, SessionEvent, Source};
use sayso_relay::{Ports, Relay, Senders};
use tempfile::TempDir;

use crate::account::{About, Account, AccountError, LEASE};
use crate::background::{Background, Reading};
use crate::clock::SystemClock;
use crate::command::{CommandSender, CommandSource, Program};
use crate::config::{
    AgentConfig, CommandSinkConfig, CommandSourceConfig, Config, ConfigError, LinesConfig, OsStr, PiConfig,
    SessionConfig, SinkConfig, SourceConfig, TelegramConfig, seconds,
};
use crate::http::Waits;
use crate::session::{EXTENSION, LinesSession, PiSession, Start};
use crate::telegram::{Bot, People, TelegramSender, TelegramSource};

/// How long a source is asked to wait for a message.
const POLL: Duration = Duration::from_secs(50);
/// The first pause after a failure of a source or of the ledger.
const PAUSE: Duration = Duration::from_secs(1);
/// How often it is looked for what the agent said while it works.
const WORKING: Duration = Duration::from_millis(50);
/// How often it is looked around while nothing happens; a message wakes it at once.
const IDLE: Duration = Duration::from_millis(500);
/// How long an agent may say nothing at all while an answer of its is waited for.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long an agent may take to end.
const GRACE: Duration = Duration::from_secs(5);
/// Failures of the ledger, one after the other, after which the bridge ends.
const FAILURES: u32 = 5;

/// What a bridge is given from outside.
#[derive(Clone)]
pub struct Around {
    /// What it says about itself.
    pub about: About,
    /// The program `sayso`, for the tools of the agent.
    pub program: PathBuf,
    /// The ledger's file.
    pub ledger: PathBuf,
    /// Looks up a variable.
    pub variable: fn(&str) -> Option<String>,
    /// Set to end the bridge.
    pub stop: Arc<AtomicBool>,
    /// Talks to whoever started it.
    pub say: fn(&str),
}

/// A bridge cannot run, or cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum BridgeError {
    /// The config.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The account.
    #[error(transparent)]
    Account(#[from] AccountError),
    /// The account was lost to another bridge.
    #[error(
        "this bridge was stopped for longer than its lease lasts, and another one reads {account} now: nothing is lost; start it \
         again when that one has ended"
    )]
    Lost {
        /// The account.
        account: String,
    },
    /// The agent's program does not start.
    #[error("the agent {} does not start: check command and folder in [agent] of the config", .program.display())]
    Agent {
        /// The program.
        program: OsString,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// The relay.
    #[error(transparent)]
    Relay(#[from] sayso_relay::Error),
    /// The ledger.
    #[error(transparent)]
    Ledger(#[from] sayso::Error),
}

/// Runs a bridge until it is told to stop.
///
/// # Errors
///
/// [`BridgeError`]. What was written to the ledger stays, and the next bridge goes on from there.
pub fn run(ledger: &Ledger, config: &Config, around: &Around) -> Result<(), BridgeError> {
    let session = session(ledger, &config.session)?;
    let (source, mut senders) = transports(config, around)?;
    let account = Account::take(ledger, &source.account(), &around.about, LEASE)?;
    let speaks = Account::take_session(ledger, session.id, &around.about, LEASE)?;
    let relay = Relay::open(ledger.reader(Scope::All), &session, Box::new(SystemClock::default()))?;
    let agent = Agent::new(config.agent.clone(), &session, around);
    Bridge { relay, source, senders: &mut senders, agent, leases: [account, speaks], around }.run()
}

struct Bridge<'a> {
    relay: Relay,
    source: Background,
    senders: &'a mut Senders,
    agent: Agent,
    leases: [Account; 2],
    around: &'a Around,
}

impl Bridge<'_> {
    fn run(mut self) -> Result<(), BridgeError> {
        // The agent that ran before has ended with whoever ran it.
        self.gone()?;
        self.agent.start()?;
        let (account, session) = (self.source.account(), &self.around.about.session);
        (self.around.say)(&format!("{account} is read for {session}"));
        let mut failures = 0;
        while !self.around.stop.load(Ordering::Relaxed) {
            if self.leases.iter().any(Account::is_lost) {
                return Err(BridgeError::Lost { account: self.source.account() });
            }
            match self.round() {
                Ok(()) => failures = 0,
                Err(sayso_relay::Error::Ledger(error))
                    if failures < FAILURES && error.refusal().is_none() =>
                {
                    failures += 1;
                    (self.around.say)(&format!("{error}; it is tried again"));
                    std::thread::sleep(PAUSE);
                }
                Err(error) => return Err(error.into()),
            }
        }
        (self.around.say)("stopping");
        self.end()
    }

    /// What the agent said up to now counts; then it is ended, and its turn is interrupted.
    fn end(mut self) -> Result<(), BridgeError> {
        drop(self.source);
        self.relay.step(&mut Ports { senders: self.senders, agent: self.agent.session() })?;
        self.agent.end();
        self.relay.event(&mut Ports { senders: self.senders, agent: None }, &SessionEvent::Gone)?;
        Ok(())
    }

    fn gone(&mut self) -> Result<(), BridgeError> {
        self.relay.event(&mut Ports { senders: self.senders, agent: None }, &SessionEvent::Gone)?;
        Ok(())
    }

    fn round(&mut self) -> Result<(), sayso_relay::Error> {
        self.agent.look_after();
        let stepped = self.relay.step(&mut Ports { senders: self.senders, agent: self.agent.session() })?;
        let most = if self.agent.works() { WORKING } else { IDLE };
        let due = stepped.due.map(|due| due.0.saturating_sub(self.relay.now().0).max(0).unsigned_abs());
        let due = due.map_or(most, |ms| most.min(Duration::from_millis(ms.max(1))));
        let wait = if stepped.batches > 0 { Duration::ZERO } else { due };
        self.relay.read(&mut self.source, wait)?;
        Ok(())
    }
}

/// A session of a program that may end, and is started again then.
struct Agent {
    config: AgentConfig,
    variables: Vec<(OsString, OsString)>,
    runs: Option<Running>,
    clock: SystemClock,
    /// When it may be started again, and after how many failures in a row.
    next: Duration,
    failures: u32,
    say: fn(&str),
}

/// A program that runs, with the folder of its extension.
enum Running {
    Pi { pi: PiSession, _extension: TempDir },
    Lines(LinesSession),
}

impl Agent {
    fn new(config: AgentConfig, session: &Session, around: &Around) -> Self {
        let variables = [
            ("SAYSO_PROGRAM", around.program.clone().into_os_string()),
            ("SAYSO_LEDGER", around.ledger.clone().into_os_string()),
            ("SAYSO_SESSION", session.id.to_string().into()),
        ];
        Self {
            config,
            variables: variables.map(|(name, value)| (name.into(), value)).to_vec(),
            runs: None,
            clock: SystemClock::default(),
            next: Duration::ZERO,
            failures: 0,
            say: around.say,
        }
    }

    fn start(&mut self) -> Result<(), BridgeError> {
        let runs = match &self.config {
            AgentConfig::Pi(pi) => pi.start(&self.variables),
            AgentConfig::Lines(lines) => lines.start(&self.variables),
        };
        let program = self.config.program();
        self.runs = Some(runs.map_err(|source| BridgeError::Agent { program, source })?);
        Ok(())
    }

    fn session(&mut self) -> Option<&mut dyn AgentSession> {
        match self.runs.as_mut()? {
            Running::Pi { pi, .. } => Some(pi),
            Running::Lines(lines) => Some(lines),
        }
    }

    /// Starts it again after a pause, where it has ended and all that it said was heard.
    fn look_after(&mut self) {
        if self.runs.as_ref().is_some_and(Running::has_ended) {
            self.runs = None;
            let pause = PAUSE.saturating_mul(1 << self.failures.min(6));
            self.next = self.clock.elapsed() + pause;
            self.failures = self.failures.saturating_add(1);
            (self.say)(&format!("the agent has ended; it is started again in {} s", pause.as_secs()));
        }
        if self.runs.is_none()
            && self.next <= self.clock.elapsed()
            && let Err(error) = self.start()
        {
            self.failures = self.failures.saturating_add(1);
            self.next = self.clock.elapsed() + PAUSE.saturating_mul(1 << self.failures.min(6));
            (self.say)(&error.to_string());
        }
    }

    fn works(&mut self) -> bool {
        let idle = self.session().is_some_and(|session| session.idle());
        if idle {
            self.failures = 0;
        }
        !idle
    }

    fn end(&mut self) {
        self.runs = None;
    }
}

impl Running {
    const fn has_ended(&self) -> bool {
        match self {
            Self::Pi { pi, .. } => pi.has_ended(),
            Self::Lines(lines) => lines.has_ended(),
        }
    }
}

impl AgentConfig {
    fn program(&self) -> OsString {
        let command = match self {
            Self::Pi(pi) => &pi.command,
            Self::Lines(lines) => &lines.command,
        };
        command.first().map(|word| word.0.clone()).unwrap_or_default()
    }
}

fn words(command: &[OsStr]) -> Vec<OsString> {
    command.iter().map(|word| word.0.clone()).collect()
}

impl PiConfig {
    fn start(&self, variables: &[(OsString, OsString)]) -> io::Result<Running> {
        let folder = tempfile::tempdir()?;
        let extension = folder.path().join("sayso-bash.ts");
        std::fs::write(&extension, EXTENSION)?;
        let mut command = words(&self.command);
        command.extend(["--mode".into(), "rpc".into(), "--extension".into(), extension.into()]);
        if let Some(session_folder) = &self.session_folder {
            std::fs::create_dir_all(session_folder)?;
            command.extend(["--session-dir".into(), session_folder.into(), "--continue".into()]);
        }
        let start = start(command, self.folder.as_ref(), variables);
        Ok(Running::Pi { pi: PiSession::start(&start, PATIENCE)?, _extension: folder })
    }
}

impl LinesConfig {
    fn start(&self, variables: &[(OsString, OsString)]) -> io::Result<Running> {
        let start = start(words(&self.command), self.folder.as_ref(), variables);
        Ok(Running::Lines(LinesSession::start(&start, &self.name, PATIENCE)?))
    }
}

fn start(command: Vec<OsString>, folder: Option<&PathBuf>, variables: &[(OsString, OsString)]) -> Start {
    Start { command, folder: folder.cloned(), variables: variables.to_vec(), grace: GRACE }
}

/// The session, made on first use. It is a live one: what is forwarded into it goes to its agent.
fn session(ledger: &Ledger, config: &SessionConfig) -> Result<Session, BridgeError> {
    let project = ledger.project(&Scope::All, &config.project)?;
    let alias = Alias::new("name", &*config.title);
    Ok(ledger.session_as(&Scope::All, project.id, &alias, &config.title, SessionKind::Live)?)
}

fn transports(config: &Config, around: &Around) -> Result<(Background, Senders), BridgeError> {
    match (&config.source, &config.sink) {
        (SourceConfig::Telegram(bot), _) => telegram(bot, around),
        (SourceConfig::Command(source), sink) => {
            Ok(command(source, sink.as_ref().map(|SinkConfig::Command(sink)| sink), around))
        }
    }
}

fn telegram(config: &TelegramConfig, around: &Around) -> Result<(Background, Senders), BridgeError> {
    let token = config.token(around.variable)?;
    let waits = Waits { connect: seconds(config.connect_seconds), answer: seconds(config.answer_seconds) };
    // Each has a client of its own: stopping breaks off what the source waits for, and nothing that is being sent.
    let bot = || Bot::new(&config.base_url, token.clone(), waits);
    let people =
        People { owners: config.owners.clone(), people: config.people.clone(), chats: config.chats.clone() };
    let (reader, say) = (bot(), around.say);
    let stopping = reader.clone();
    let passed = Box::new(move |id: i64, why: &str| say(&format!("update {id} is passed over: {why}")));
    let source = TelegramSource::new(reader, people, passed);
    let sender: Box<dyn Sender> = Box::new(TelegramSender::new(bot(), config.unknown.into()));
    let channel = source.channel();
    let source = Background::new(source, reading(around, move || stopping.stop()));
    Ok((source, Senders::from([(channel, sender)])))
}

fn command(
    source: &CommandSourceConfig,
    sink: Option<&CommandSinkConfig>,
    around: &Around,
) -> (Background, Senders) {
    let stop = Arc::new(AtomicUsize::new(0));
    let program = program(&source.command, source.folder.as_ref(), source.timeout_seconds, Arc::clone(&stop));
    let say = around.say;
    let note = Box::new(move |why: &str| say(&format!("{why}; it is passed over")));
    let reader = CommandSource::new(program, &source.channel, &source.account, note);
    let channel = reader.channel();
    let mut senders = Senders::new();
    if let Some(sink) = sink {
        // What is being sent is not broken off.
        let stop = Arc::new(AtomicUsize::new(0));
        let program = self::program(&sink.command, sink.folder.as_ref(), sink.timeout_seconds, stop);
        senders.insert(channel, Box::new(CommandSender::new(program, sink.ability(), sink.most_characters)));
    }
    let stop =
        move || stop.store(rustix::process::Signal::TERM.as_raw().unsigned_abs() as usize, Ordering::Relaxed);
    (Background::new(reader, reading(around, stop)), senders)
}

fn program(
    command: &[OsStr],
    folder: Option<&PathBuf>,
    timeout_seconds: u32,
    stop: Arc<AtomicUsize>,
) -> Program {
    Program { command: words(command), folder: folder.cloned(), timeout: seconds(timeout_seconds), stop }
}

fn reading(around: &Around, stop: impl Fn() + Send + 'static) -> Reading {
    let say = around.say;
    Reading { wait: POLL, pause: PAUSE, stop: Box::new(stop), note: Box::new(move |note: &str| say(note)) }
}
