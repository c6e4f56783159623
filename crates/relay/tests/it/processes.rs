//! Several processes on one ledger: killed at any moment, or stopped past their leases and woken again. The clock is a file that the
//! test moves; the sink and the agent's session are files that every process appends to.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::rc::Rc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use sayso::model::relay::{AnswerState, InjectionState};
use sayso::model::{Delivery, DeliveryKind, DeliveryState, RequestId, UtcMs};
use sayso::store::{Deliveries, Requests, Session};
use sayso::{Ledger, Options, Scope};
use sayso_relay::flaw::Point;
use sayso_relay::port::{
    Ability, AgentSession, Blind, Clock, Injecting, Injection, Outgoing, Probed, Receipt, Seen, Sender, Sent,
    SessionEvent,
};
use sayso_relay::{Ports, Relay, Senders};

use crate::net::{START, naming};
use crate::world::{World, last};

const FOLDER: &str = "SAYSO_TEST_FOLDER";
const PART: &str = "SAYSO_TEST_PART";

/// A clock that stands in a file.
struct FileClock(PathBuf);

impl FileClock {
    fn ms(&self) -> i64 {
        fs::read_to_string(self.0.join("clock")).ok().and_then(|t| t.parse().ok()).unwrap_or(0)
    }
}

impl Clock for FileClock {
    fn now(&self) -> UtcMs {
        UtcMs(START + self.ms())
    }

    fn elapsed(&self) -> Duration {
        Duration::from_millis(self.ms().unsigned_abs())
    }
}

fn set_clock(folder: &Path, ms: i64) {
    // Never half written: whoever reads it has the time before or after.
    fs::write(folder.join("clock.new"), ms.to_string()).unwrap();
    fs::rename(folder.join("clock.new"), folder.join("clock")).unwrap();
}

fn log(folder: &Path, name: &str, line: &str) {
    let mut file = OpenOptions::new().create(true).append(true).open(folder.join(name)).unwrap();
    file.write_all(format!("{line}\n").as_bytes()).unwrap();
}

fn logged(folder: &Path, name: &str) -> Vec<String> {
    let text = fs::read_to_string(folder.join(name)).unwrap_or_default();
    text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')).map(str::to_owned).collect()
}

struct FileSink(PathBuf, Ability);

impl Sender for FileSink {
    fn ability(&self) -> Ability {
        self.1
    }

    fn split(&self, text: &str) -> Vec<String> {
        vec![text.to_owned()]
    }

    fn send(&mut self, what: &Outgoing) -> Sent {
        let known = logged(&self.0, "copies").iter().any(|line| line.starts_with(&what.key));
        if !(known && matches!(self.1, Ability::Key { .. })) {
            log(&self.0, "copies", &format!("{} {} {}", what.key, what.repeat_mark, what.destination));
        }
        Sent::Delivered(Receipt(format!("m {}", what.key)))
    }

    fn probe(&mut self, what: &Outgoing) -> Probed {
        let known = logged(&self.0, "copies").iter().any(|line| line.starts_with(&what.key));
        if known { Probed::Delivered(Receipt(format!("m {}", what.key))) } else { Probed::NotSent }
    }
}

/// An agent that answers at once, in the process that put the message in.
struct FileAgent(PathBuf, VecDeque<SessionEvent>);

impl AgentSession for FileAgent {
    fn name(&self) -> String {
        "Rocky".into()
    }

    fn route(&self) -> String {
        "a file".into()
    }

    fn inject(&mut self, what: &Injection) -> Injecting {
        log(&self.0, "injected", &what.request.to_string());
        self.1.push_back(SessionEvent::Started { request: Some(what.request) });
        let answer = last(&format!("f {}", what.request), &format!("final {}", what.request));
        self.1.extend(
            [answer, SessionEvent::Settled { request: None }].map(|event| naming(event, what.request)),
        );
        Injecting::Accepted
    }

    fn probe(&mut self, request: RequestId) -> Seen {
        let known = logged(&self.0, "injected").contains(&request.to_string());
        if known { Seen::Seen } else { Seen::NotSeen }
    }

    fn idle(&mut self) -> bool {
        true
    }

    fn next(&mut self, _: Duration) -> Option<SessionEvent> {
        self.1.pop_front()
    }

    fn interrupt(&mut self) {}
}

fn open(folder: &Path) -> (Ledger, Session) {
    let options = Options { wait: Duration::from_secs(60), ..Options::default() };
    let ledger = Ledger::open(&folder.join("ledger.db"), &options).unwrap();
    let session = ledger.session("harbour", "desk").unwrap();
    (ledger, session)
}

fn ability(word: &str) -> Ability {
    match word {
        "key" => Ability::Key { ttl_ms: 86_400_000 },
        "probe" => Ability::Probe,
        _ => Ability::Opaque(Blind::Park),
    }
}

/// Works until it is told to stop; as `ABILITY` or `ABILITY POINT N`, it stops itself at the n-th such point.
fn work(folder: &Path, part: &str) {
    let words: Vec<&str> = part.split(' ').collect();
    let (ledger, session) = open(folder);
    let clock = Box::new(FileClock(folder.to_owned()));
    let mut relay = Relay::open(ledger.reader(Scope::All), &session, clock).unwrap();
    if let [_, point, n] = words[..] {
        let (point, n): (String, usize) = (point.to_owned(), n.parse().unwrap());
        let passed = Rc::new(RefCell::new(0));
        let folder = folder.to_owned();
        let look = move |at: Point| {
            *passed.borrow_mut() += usize::from(format!("{at:?}") == point);
            if *passed.borrow() == n && !folder.join("stopped").exists() {
                log(&folder, "stopped", "");
                kill_process(Pid::from_raw(std::process::id() as i32).unwrap(), Signal::STOP).unwrap();
                // Another thread may be the one that takes the signal: this one must not go on until it does.
                std::thread::sleep(Duration::from_millis(50));
            }
        };
        relay = relay.flawed(None, Some(Box::new(look)));
    }
    let sink: Box<dyn Sender> = Box::new(FileSink(folder.to_owned(), ability(words[0])));
    let mut senders = Senders::from([("chat".to_owned(), sink)]);
    let mut agent = FileAgent(folder.to_owned(), VecDeque::new());
    while !folder.join("stop").exists() {
        let agent: Option<&mut dyn AgentSession> = Some(&mut agent);
        relay.step(&mut Ports { senders: &mut senders, agent }).unwrap();
        breathe();
    }
}

/// Lets the other processes at it.
fn breathe() {
    std::thread::sleep(Duration::from_millis(1));
}

/// Plays the part that the environment names; no test of its own.
#[test]
fn the_part_of_another_process() {
    let (Some(folder), Ok(part)) = (std::env::var_os(FOLDER), std::env::var(PART)) else { return };
    work(&PathBuf::from(folder), &part);
}

/// Another process. It is ended with this value, by its own id.
struct Other(Child);

impl Other {
    fn start(folder: &Path, part: &str) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "processes::the_part_of_another_process", "--nocapture"]);
        command.env(FOLDER, folder).env(PART, part);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::inherit());
        Self(command.spawn().unwrap())
    }

    fn pid(&self) -> Pid {
        Pid::from_raw(self.0.id() as i32).unwrap()
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn accept(folder: &Path, ledger: &Ledger, session: &Session, messages: u32) {
    let clock = Box::new(FileClock(folder.to_owned()));
    let mut relay = Relay::open(ledger.reader(Scope::All), session, clock).unwrap();
    for n in 1..=messages {
        let message = World::incoming(&format!("P{n}"), "hello", &n.to_string());
        relay.accept("bot", "chat", &message).unwrap();
    }
}

/// Whether everything came to its end.
fn at_rest(ledger: &Ledger) -> bool {
    let reader = ledger.reader(Scope::All);
    let requests = reader.requests(Requests::All(None)).unwrap();
    let done = requests.iter().all(|r| match r.injection {
        InjectionState::Dead => true,
        InjectionState::Injected => r.answer != AnswerState::None,
        _ => false,
    });
    let open = reader.deliveries(Deliveries::Open(None)).unwrap();
    done && open.iter().all(|d| matches!(d.state, DeliveryState::Parked | DeliveryState::Failed))
}

/// Moves the clock until everything is at rest, and does something now and then.
fn go_on(folder: &Path, ledger: &Ledger, mut from: i64, mut now_and_then: impl FnMut(usize)) -> i64 {
    for round in 0..60_000 {
        if at_rest(ledger) {
            return from;
        }
        now_and_then(round);
        from += 250;
        set_clock(folder, from);
        (0..4).for_each(|_| breathe());
    }
    panic!("it never comes to rest");
}

fn check(folder: &Path, ledger: &Ledger, messages: usize) -> Vec<Delivery> {
    let reader = ledger.reader(Scope::All);
    let requests = reader.requests(Requests::All(None)).unwrap();
    assert_eq!(requests.len(), messages, "nothing is lost");
    let mut injected: BTreeMap<String, usize> = BTreeMap::new();
    logged(folder, "injected").into_iter().for_each(|id| *injected.entry(id).or_default() += 1);
    assert!(injected.values().all(|n| *n == 1), "put in twice: {injected:?}");
    let all = reader.deliveries(Deliveries::All(None)).unwrap();
    let copies = logged(folder, "copies");
    for d in &all {
        let seen = copies.iter().filter(|line| line.starts_with(&d.id.to_string())).count();
        assert!(seen <= 1, "seen twice: {d:?}");
        assert!(d.state != DeliveryState::Delivered || (seen == 1 && d.receipt.is_some()), "{d:?}");
    }
    for r in &requests {
        let of: Vec<&Delivery> = all.iter().filter(|d| d.request == r.id).collect();
        assert!(!of.is_empty(), "nobody heard of it: {r:?}");
        if let Some(by) = r.answered_by {
            let text = reader.entry(by).unwrap().unwrap().turn().unwrap().text();
            assert_eq!(text, format!("final {}", r.id), "answered by its own answer");
        }
    }
    assert_eq!(reader.verify(&BTreeMap::new()).unwrap().problems, Vec::new());
    all
}

#[test]
fn processes_that_are_killed_lose_nothing_and_do_nothing_twice() {
    for workers in [2, 3] {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        set_clock(folder, 0);
        let (ledger, session) = open(folder);
        let messages = 12;
        accept(folder, &ledger, &session, messages);
        let start = || Other::start(folder, "key");
        let mut others: VecDeque<Other> = (0..workers).map(|_| start()).collect();
        let mut kills = 0;
        go_on(folder, &ledger, 0, |round| {
            if round % 7 == 6 && kills < 8 {
                kills += 1;
                // It is killed in the middle of whatever it does.
                drop(others.pop_front());
                others.push_back(start());
            }
        });
        fs::write(folder.join("stop"), "").unwrap();
        for mut other in others {
            assert!(other.0.wait().unwrap().success());
        }
        let all = check(folder, &ledger, messages as usize);
        let said = |d: &&Delivery| d.kind != DeliveryKind::Notice;
        assert!(all.iter().filter(said).all(|d| d.state == DeliveryState::Delivered), "{all:#?}");
        println!("{workers} processes, {kills} killed: {} deliveries", all.len());
    }
}

#[test]
fn a_process_that_slept_through_its_lease_does_nothing_twice() {
    for (part, sink) in [
        ("key BeforeSend 1", "key"),
        ("key AfterSend 1", "key"),
        ("probe BeforeSend 1", "probe"),
        ("probe AfterSend 1", "probe"),
        ("opaque BeforeSend 1", "opaque"),
        ("opaque AfterSend 1", "opaque"),
        ("key BeforeInject 1", "key"),
        ("key AfterInject 1", "key"),
        ("key AfterWrite 1", "key"),
        ("key AfterWrite 2", "key"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        set_clock(folder, 0);
        let (ledger, session) = open(folder);
        accept(folder, &ledger, &session, 2);
        let sleeper = Other::start(folder, part);
        while !folder.join("stopped").exists() {
            breathe();
        }
        // Another one goes on, past every lease, until everything is at rest.
        let other = Other::start(folder, sink);
        let at = go_on(folder, &ledger, 0, |_| {});
        kill_process(sleeper.pid(), Signal::CONT).unwrap();
        let before = logged(folder, "copies").len();
        // What it says of its attempt now is evidence; what it hears now counts as late.
        for step in 0..200 {
            set_clock(folder, at + step * 100);
            breathe();
        }
        go_on(folder, &ledger, at + 20_000, |_| {});
        fs::write(folder.join("stop"), "").unwrap();
        for mut one in [sleeper, other] {
            assert!(one.0.wait().unwrap().success(), "{part}");
        }
        let all = check(folder, &ledger, 2);
        let parked = all.iter().filter(|d| d.state == DeliveryState::Parked).count();
        println!("{part}: {} deliveries, {parked} parked, {before} copies when it woke", all.len());
        assert!(parked == 0 || part == "opaque BeforeSend 1", "{part}: {all:#?}");
    }
}
