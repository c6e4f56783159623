//! What lies outside the scope answers, byte for byte, as what never existed.

use sayso::model::{Outcome, OutputId, PartBody, ProjectId, SessionId, SpeakerKind, ToolResult, TurnId};
use sayso::store::{OutputStream, StreamKind};
use sayso::{Address, Ledger, NewTurn, Options, Scope};
use serde_json::{Value, json};

use super::Client;
use crate::cli::Home;

/// Ids of something, and names that a person would use for it.
#[derive(Debug, Clone)]
struct Ids {
    ledger: String,
    project: String,
    session: String,
    turn: String,
    output: String,
    project_name: &'static str,
    title: &'static str,
}

impl Ids {
    /// Every way to name it, with what it is called in answers that are compared.
    fn names(&self) -> Vec<(String, &'static str)> {
        let Self { project, session, turn, output, .. } = self;
        let mut names = vec![
            (self.project_name.to_owned(), "<PROJECT NAME>"),
            (self.title.to_owned(), "<TITLE>"),
            (turn.clone(), "<TURN>"),
            (session.clone(), "<SESSION>"),
            (project.clone(), "<PROJECT>"),
            (output.clone(), "<OUTPUT>"),
        ];
        let ends: Vec<(String, &'static str)> = vec![
            (turn[18..].to_owned(), "<END OF TURN>"),
            (session[18..].to_owned(), "<END OF SESSION>"),
            (project[18..].to_owned(), "<END OF PROJECT>"),
            (output[18..].to_owned(), "<END OF OUTPUT>"),
        ];
        names.extend(ends);
        names
    }

    fn session_address(&self) -> String {
        format!("sayso://{}/{}/{}", self.ledger, self.project, self.session)
    }

    fn turn_address(&self) -> String {
        format!("{}/{}", self.session_address(), self.turn)
    }

    /// An answer in which nothing tells whose names were given.
    fn neutral(&self, line: &str) -> String {
        let mut answer: Value = serde_json::from_str(line).unwrap();
        answer["id"] = json!(0);
        let names = self.names();
        names.iter().fold(answer.to_string(), |text, (name, stands)| text.replace(name, stands))
    }

    /// Every request that names it in some way.
    fn requests(&self, inside: &Inside) -> Vec<(&'static str, Value)> {
        let Self { ledger, project, session, turn, output, project_name, title } = self;
        let ours = &inside.project;
        let mut requests = Vec::new();
        let mut add = |name: &str, arguments: Value| {
            requests.push(("tools/call", json!({"name": name, "arguments": arguments})));
        };
        let sessions = [
            self.session_address(),
            session[18..].to_owned(),
            (*title).to_owned(),
            format!("{project_name}/{title}"),
            format!("sayso://{ledger}/{ours}/{session}"),
        ];
        let turns = [
            self.turn_address(),
            turn.clone(),
            turn[18..].to_owned(),
            format!("sayso://{ledger}/{ours}/{}/{turn}", inside.session),
            format!("{}#chars=0,3", self.turn_address()),
        ];
        let projects =
            [project[18..].to_owned(), (*project_name).to_owned(), format!("sayso://{ledger}/{project}")];
        for address in sessions.iter().chain(&turns) {
            add("show", json!({"address": address}));
            add("origin", json!({"address": address}));
        }
        for session in &sessions {
            add("search", json!({"query": "plan", "session": session}));
            add("inbox", json!({"session": session}));
            add("forward", json!({"turns": [inside.turn], "to": session, "note": "n"}));
            add("show", json!({"address": session, "from": 1}));
        }
        for turn in &turns {
            add("forward", json!({"turns": [turn], "to": "Acme/Plan"}));
            add("forward", json!({"turns": [inside.turn, turn], "to": "Acme/Plan", "key": "k"}));
            add("forward", json!({"turns": [turn], "to": "Acme/Plan", "words": "zebra"}));
        }
        for project in &projects {
            add("search", json!({"query": "plan", "project": project}));
            add("sessions", json!({"project": project}));
        }
        for output in [output.clone(), output[18..].to_owned()] {
            add("output", json!({"output": output}));
            add("output", json!({"output": output, "stream": "stderr"}));
            add("output", json!({"output": output, "grep": "zebra"}));
            add("output", json!({"output": output, "byte": 5}));
        }
        // Cursors that were made up around an id, with the check that a real one would have.
        let forged = [
            ("search", json!({"query": "plan"}), turn.clone()),
            ("inbox", json!({}), format!("{session}.1.0.0")),
            ("sessions", json!({}), format!("0.{session}")),
            ("show", json!({"address": turn}), "1.0.0".to_owned()),
            ("origin", json!({"address": turn}), "1.0.0".to_owned()),
        ];
        for (name, mut arguments, place) in forged {
            arguments["cursor"] = json!(forge(ledger, name, &arguments, &place));
            add(name, arguments);
        }
        let uris = sessions.iter().chain(&turns).map(String::clone);
        let outputs = [format!("sayso-output:{output}"), format!("sayso-output:{}", &output[18..])];
        requests.extend(uris.chain(outputs).map(|uri| ("resources/read", json!({"uri": uri}))));
        requests
    }
}

/// A cursor as the server makes it.
fn forge(ledger: &str, tool: &str, arguments: &Value, place: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in [ledger, &format!("{tool}\n{arguments}"), place] {
        hasher.update(&(part.len() as u64).to_le_bytes()).update(part.as_bytes());
    }
    format!("c1.{place}.{}", &hasher.finalize().to_hex()[..16])
}

/// What the client may see.
struct Inside {
    project: String,
    session: String,
    turn: String,
}

fn inside(home: &Home) -> Inside {
    let turn = home.says("Acme/Plan", "agent:Rocky", "The plan stands.");
    home.says("Acme/Plan", "owner:Mira", "Another plan.");
    home.says("Acme/Notes", "owner:Mira", "start");
    home.run(&["forward", &turn, "--to", "Acme/Notes"]);
    let mut segments = turn.trim_start_matches("sayso://").split('/').skip(1);
    let mut next = || segments.next().unwrap().to_owned();
    Inside { project: next(), session: next(), turn }
}

/// Sessions, turns, outputs and forwards in another project, with the same words.
fn outside(home: &Home) -> Ids {
    let ledger = Ledger::open(&home.ledger(), &Options::default()).unwrap();
    let session = ledger.session("Quagga", "Zebra crossing").unwrap();
    let blob = ledger.put_blob(&mut "zebra plan in an output\n".repeat(100).as_bytes()).unwrap();
    let output = store(&ledger, session.id, blob);
    let result = ToolResult {
        call_id: "c1".to_owned(),
        tool: "bash".to_owned(),
        outcome: Outcome::Ok,
        text: "zebra plan".to_owned(),
        output: Some(output),
    };
    let mut turn = NewTurn::text(SpeakerKind::Agent, "Zoe", "The zebra plan. plan plan");
    turn.parts.push((None, PartBody::ToolResult(result)));
    let placed = ledger.append(&session, turn).unwrap();
    for n in 0..30 {
        ledger.append(&session, NewTurn::text(SpeakerKind::Owner, "Zora", format!("plan {n}"))).unwrap();
    }
    let address = ledger.address(&placed).to_string();
    drop(ledger);
    home.run(&["forward", &address, "--to", "Quagga/Zebra stable", "--create", "--note", "zebra"]);
    let Address::Turn(ledger, project, session, turn, _) = address.parse().unwrap() else { panic!() };
    Ids {
        ledger: ledger.to_string(),
        project: project.to_string(),
        session: session.to_string(),
        turn: turn.to_string(),
        output: output.to_string(),
        project_name: "Quagga",
        title: "Zebra crossing",
    }
}

fn store(ledger: &Ledger, session: SessionId, blob: sayso::store::Blob) -> OutputId {
    let id = ledger.fresh_output();
    let command = super::outputs::command(id, session, vec![OutputStream::new(StreamKind::Stdout, blob)]);
    ledger.write(&Scope::All, vec![command]).unwrap();
    id
}

/// What never was there, in the same shape.
fn never(ledger: &str) -> Ids {
    let base = 0x0193_7A5C_0000_1234_5678_9ABC_DEF0_0000;
    Ids {
        ledger: ledger.to_owned(),
        project: ProjectId::from_u128(base + 1).to_string(),
        session: SessionId::from_u128(base + 2).to_string(),
        turn: TurnId::from_u128(base + 3).to_string(),
        output: OutputId::from_u128(base + 4).to_string(),
        project_name: "Wombat",
        title: "Yacht of a xy1",
    }
}

#[test]
fn forbidden_answers_as_what_never_existed() {
    let home = Home::new();
    let inside = inside(&home);
    let forbidden = outside(&home);
    let never = never(&forbidden.ledger);
    let mut client = Client::start(&home, &["--write", "--scope", "Acme"]);
    let pairs = forbidden.requests(&inside).into_iter().zip(never.requests(&inside));
    let mut compared = 0;
    for ((method, of_forbidden), (_, of_never)) in pairs {
        let first = forbidden.neutral(&client.raw(method, &of_forbidden));
        let second = never.neutral(&client.raw(method, &of_never));
        assert_eq!(first, second, "{method} {of_forbidden}");
        assert!(!first.contains("ebra") && !first.contains("uagga"), "{first}");
        compared += 1;
    }
    assert!(compared > 80, "{compared}");
    // All of these requests find something for whoever may see it.
    let mut all = Client::start(&home, &[]);
    assert!(all.call("show", json!({"address": forbidden.turn})).to_string().contains("zebra plan"));
    assert!(
        all.call("search", json!({"query": "zebra", "outputs": true}))["hits"].as_array().unwrap().len() > 1
    );
}

#[test]
fn what_is_outside_changes_no_answer() {
    let home = Home::new();
    let inside = inside(&home);
    let alone = Home::new();
    for name in ["ledger.db", "ledger.db-wal", "ledger.db-shm"] {
        if home.path(name).exists() {
            std::fs::copy(home.path(name), alone.path(name)).unwrap();
        }
    }
    outside(&home);
    let mut with = Client::start(&home, &["--scope", "Acme"]);
    let mut without = Client::start(&alone, &["--scope", "Acme"]);
    let call = |name: &str, arguments: Value| ("tools/call", json!({"name": name, "arguments": arguments}));
    for (method, params) in [
        call("search", json!({"query": "plan"})),
        call("search", json!({"query": "plan", "limit": 1})),
        call("search", json!({"query": "zebra", "outputs": true})),
        call("search", json!({"query": "plan", "speaker": "agent"})),
        call("search", json!({"query": "plan", "project": "Acme"})),
        call("search", json!({"query": "plan", "session": "Zebra crossin"})),
        call("sessions", json!({})),
        call("sessions", json!({"project": "Quagg"})),
        call("show", json!({"address": "Acme/Plan"})),
        call("show", json!({"address": "Plan"})),
        call("show", json!({"address": "Zebra crossing"})),
        call("show", json!({"address": inside.turn})),
        call("inbox", json!({})),
        call("inbox", json!({"session": "Notes"})),
        ("resources/list", json!({})),
        ("resources/read", json!({"uri": inside.turn})),
    ] {
        assert_eq!(with.raw(method, &params), without.raw(method, &params), "{method} {params}");
    }
    // A cursor holds nothing from outside either: it is the same one.
    let next =
        |client: &mut Client| client.call("search", json!({"query": "plan", "limit": 1}))["next"].clone();
    let (cursor, same) = (next(&mut with), next(&mut without));
    assert_eq!(cursor, same);
    let params = json!({"name": "search", "arguments": {"query": "plan", "limit": 1, "cursor": cursor}});
    assert_eq!(with.raw("tools/call", &params), without.raw("tools/call", &params));
}

#[test]
fn a_quote_from_outside_keeps_its_words_and_leaves_out_titles() {
    let home = Home::new();
    inside(&home);
    let hidden = home.says("Quagga/Zebra crossing", "agent:Zoe", "These words were handed on.");
    let forwarded = home.run(&["forward", &hidden, "--to", "Acme/Plan", "--json"]).json();
    let forwarded = forwarded["address"].as_str().unwrap();
    let mut scoped = Client::start(&home, &["--scope", "Acme"]);
    let mut all = Client::start(&home, &[]);
    for (name, arguments) in [
        ("show", json!({"address": forwarded})),
        ("origin", json!({"address": forwarded})),
        ("inbox", json!({})),
        ("search", json!({"query": "handed"})),
    ] {
        let params = json!({"name": name, "arguments": arguments});
        let seen = scoped.raw("tools/call", &params);
        assert!(!seen.contains("Zebra") && !seen.contains("Quagga"), "{name}: {seen}");
        assert!(name == "origin" || seen.contains("handed on"), "{name}: {seen}");
        let whole = all.raw("tools/call", &params);
        assert!(
            name == "search" || whole.contains("Zebra crossing") && whole.contains("Quagga"),
            "{name}: {whole}"
        );
    }
    let origin = scoped.call("origin", json!({"address": forwarded}));
    assert_eq!(origin["quote"]["state"], "unavailable");
    assert!(origin["now"].is_null() && origin["around"].as_array().unwrap().is_empty());
}
