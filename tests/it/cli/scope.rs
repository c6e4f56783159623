//! `--scope`: what lies outside answers exactly as what never existed, whatever is asked and however it is named.

use sayso::store::{Command, OutputState, OutputStream, Run, StoreOutput, StreamKind};

use super::{Home, Ran, address};

/// What a run told, without the name that was given to it.
fn told(ran: &Ran, given: &str) -> (Option<i32>, String, String) {
    let quoted = format!("{given:?}");
    let without = |text: &str| text.replace(&quoted, "GIVEN").replace(given, "GIVEN");
    (ran.code, without(&ran.text()), without(&ran.stderr))
}

/// A ledger with something inside and something outside of the scope that is used here.
struct Split {
    home: Home,
    inside: String,
    outside: String,
    output: String,
}

impl Split {
    fn new() -> Self {
        let home = Home::new();
        let inside = home.says("Beta/Build", "owner:Mira", "the words inside");
        let outside = home.says("Acme/Secret plan", "owner:Mira", "the words outside");
        let output = output(&home);
        assert_eq!(home.run(&["project", "alias", "Acme", "/work/acme"]).code, Some(0));
        Self { home, inside, outside, output }
    }

    /// Runs a command once with what is forbidden and once with what never was; `GIVEN` stands for either.
    #[track_caller]
    fn same(&self, args: &[&str], forbidden: &str, unknown: &str) {
        let run = |given: &str| {
            let args: Vec<String> = args.iter().map(|a| a.replace("GIVEN", given)).collect();
            let mut args: Vec<&str> = args.iter().map(String::as_str).collect();
            args.extend(["--scope", "Beta"]);
            // Words for those commands that read some.
            told(&self.home.feed(b"the words", &args), given)
        };
        let (hidden, never) = (run(forbidden), run(unknown));
        assert_eq!(hidden, never, "{args:?}");
        assert!(
            !hidden.1.contains("Secret plan") && !hidden.2.contains("Secret plan"),
            "{args:?}: {hidden:?}"
        );
        assert!(!hidden.1.contains("Acme") && !hidden.2.contains("Acme"), "{args:?}: {hidden:?}");
    }
}

/// An output of a session outside.
fn output(home: &Home) -> String {
    let ledger = sayso::Ledger::open(&home.ledger(), &sayso::Options::default()).unwrap();
    let session = ledger.session("Acme", "Secret plan").unwrap().id;
    let blob = ledger.put_blob(&mut &b"all of it"[..]).unwrap();
    let id = ledger.fresh_output();
    let streams = vec![OutputStream::new(StreamKind::Stdout, blob)];
    let (tool, state, exit) = ("cat".to_owned(), OutputState::Complete, Some(0));
    let output = StoreOutput { id, session, tool, state, exit, streams, run: Run::default() };
    ledger.write(&sayso::Scope::All, vec![Command::StoreOutput(output)]).unwrap();
    id.to_string()
}

const UNKNOWN: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

/// The same address with another last segment.
fn other(address: &str) -> String {
    format!("{}/{UNKNOWN}", address.rsplit_once('/').unwrap().0)
}

fn parent(address: &str) -> &str {
    address.rsplit_once('/').unwrap().0
}

#[test]
fn a_turn_outside_is_as_one_that_never_was() {
    let split = Split::new();
    let (turn, inside) = (split.outside.as_str(), split.inside.as_str());
    let id = &turn[turn.len() - 26..];
    let suffix = &turn[turn.len() - 8..];
    for args in [
        &["show", "GIVEN"][..],
        &["show", "GIVEN", "--json"],
        &["show", "GIVEN", "--as", "marker"],
        &["origin", "GIVEN"],
        &["edit", "GIVEN"],
        &["redact", "GIVEN"],
        &["redact", "GIVEN", "--quotes"],
        &["pin", "GIVEN"],
        &["pin", "GIVEN", "--off"],
        &["forward", "GIVEN", "--to", "Beta/Build"],
        &["forward", inside, "GIVEN", "--to", "Beta/Build"],
        &["fork", "Beta/Build", "--at", "GIVEN"],
        &["compact", "Beta/Build", "--summary", "-", "--through", "GIVEN"],
        &["search", "words", "--before", "GIVEN"],
        &["append", "--project", "Beta", "--session", "Build", "--speaker", "owner", "--reply-to", "GIVEN"],
    ] {
        split.same(args, turn, &other(turn));
        split.same(args, id, UNKNOWN);
        split.same(args, suffix, "69G5FAVX");
    }
    // Nothing was written by any of it.
    assert_eq!(split.home.run(&["sessions", "--json", "--project", "Beta"]).json()["turns"], 1);
}

#[test]
fn a_session_outside_is_as_one_that_never_was() {
    let split = Split::new();
    let session = parent(&split.outside);
    let unknown = other(session);
    for args in [
        &["show", "GIVEN"][..],
        &["context", "GIVEN", "--for", "anthropic"],
        &["compact", "GIVEN", "--summary", "-"],
        &["fork", "GIVEN"],
        &["session", "rename", "GIVEN", "Other"],
        &["session", "close", "GIVEN"],
        &["session", "reopen", "GIVEN"],
        &["session", "move", "GIVEN", "Beta"],
        &["search", "words", "--session", "GIVEN"],
        &["inbox", "--session", "GIVEN"],
        &["forward", &split.inside, "--to", "GIVEN"],
    ] {
        split.same(args, session, &unknown);
        split.same(args, "Secret plan", "Never a plan");
        // Near to a name that is hidden: nobody offers it.
        split.same(args, "Secret plam", "Never a plam");
        split.same(args, "Acme/Secret plan", "Nope/Secret plan");
        split.same(args, &session[session.len() - 8..], "69G5FAVX");
    }
}

#[test]
fn a_project_outside_is_as_one_that_never_was() {
    let split = Split::new();
    let project = parent(parent(&split.outside));
    let unknown = other(project);
    let append = ["append", "--project", "GIVEN", "--session", "Plan", "--speaker", "owner"];
    split.same(&append, "Acme", "Nope");
    split.same(&["forward", &split.inside, "--to", "GIVEN/Secret", "--create"], "Acme", "Nope");
    for args in [
        &["sessions", "--project", "GIVEN"][..],
        &["search", "words", "--project", "GIVEN"],
        &["session", "move", "Build", "GIVEN"],
        &["project", "rename", "GIVEN", "Other"],
        &["project", "merge", "Beta", "GIVEN"],
        &["project", "merge", "GIVEN", "Beta"],
        &["project", "alias", "GIVEN", "/work/other"],
    ] {
        split.same(args, project, &unknown);
        split.same(args, "Acme", "Nope");
        split.same(args, "/work/acme", "/work/nope");
        split.same(args, "Acm", "Nop");
    }
}

/// Whether another project has a name already cannot be tried out.
#[test]
fn an_alias_tells_nothing_of_other_projects() {
    let split = Split::new();
    split.same(&["project", "alias", "Beta", "GIVEN"], "/work/acme", "/work/nope");
    split.same(&["project", "alias", "Beta", "GIVEN", "--kind", "name"], "Acme", "Nope");
    let ran = split.home.run(&["project", "alias", "Beta", "/work/beta", "--scope", "Beta"]);
    split.home.check(
        "bad_alias_scoped",
        &["project", "alias", "Beta", "/work/beta", "--scope", "Beta"],
        &ran,
    );
}

#[test]
fn an_output_outside_is_as_one_that_never_was() {
    let split = Split::new();
    assert_eq!(split.home.run(&["output", &split.output]).text(), "all of it");
    for args in [&["output", "GIVEN"][..], &["output", "GIVEN", "--json"], &["output", "GIVEN", "--stderr"]] {
        split.same(args, &split.output, UNKNOWN);
        split.same(args, &split.output[18..], "69G5FAVX");
    }
}

/// Lists, counts and searches are those of a ledger that holds nothing else.
#[test]
fn lists_and_counts_are_those_of_the_scope_alone() {
    let split = Split::new();
    let home = &split.home;
    let quote = home.run(&["forward", &split.outside, "--to", "Beta/Build", "--hide-titles", "--json"]);
    let quote = address(&quote.json());
    for args in [
        &["projects"][..],
        &["sessions"],
        &["inbox"],
        &["search", "outside"],
        &["show", "Build"],
        &["origin", &quote],
        &["context", "Build", "--for", "openai-chat"],
    ] {
        for json in [&["--scope", "Beta"][..], &["--scope", "Beta", "--json"]] {
            let ran = home.run(&[args, json].concat());
            assert_eq!(ran.code, Some(0), "{args:?}: {}", ran.stderr);
            let all = format!("{}{}", ran.text(), ran.stderr);
            assert!(!all.contains("Secret plan") && !all.contains("Acme"), "{args:?}: {all}");
        }
    }
    assert_eq!(home.run(&["search", "words", "--json", "--scope", "Beta"]).lines().len(), 2);
    assert_eq!(home.run(&["projects", "--json", "--scope", "Beta"]).json()["turns"], 2);
    // What looks at everything, or takes everything in, needs everything.
    for args in [&["verify"][..], &["backup", "copy.db"], &["erase", &split.inside], &["import", "."]] {
        let ran = home.run(&[args, &["--scope", "Beta"]].concat());
        assert_eq!(ran.code, Some(1), "{args:?}");
        assert!(
            ran.stderr.contains("leave the scope out") || ran.stderr.contains("leave --scope out"),
            "{}",
            ran.stderr
        );
    }
}
