//! `sayso output`: parts of stored outputs, and what is said of those that are not whole.

use sayso::store::StreamKind;
use sayso::{Ended, Ending, Ledger, NewOutput, Options};

use super::Home;

fn ledger(home: &Home) -> Ledger {
    Ledger::open(&home.ledger(), &Options::default()).unwrap()
}

/// Stores an output; its id.
fn stored(home: &Home, output: NewOutput, stdout: &[u8], stderr: &[u8]) -> String {
    let ledger = ledger(home);
    let session = ledger.session("Acme", "Plan").unwrap();
    let mut writer = ledger.start_output(&session, output).unwrap();
    writer.write(StreamKind::Stdout, stdout).unwrap();
    writer.write(StreamKind::Stderr, stderr).unwrap();
    writer.finish(Ended::by(Ending::Exit(1))).unwrap().to_string()
}

fn log() -> Vec<u8> {
    (1..=300)
        .map(|n| format!("line {n}{}\n", if n % 100 == 0 { " error" } else { "" }))
        .collect::<String>()
        .into_bytes()
}

/// What a run printed, or said.
fn page(home: &Home, id: &str, runs: &[&[&str]]) -> String {
    let mut page = String::new();
    for args in runs {
        let args: Vec<&str> = ["output", id].iter().chain(*args).copied().collect();
        let ran = home.run(&args);
        let said = ran.stderr.replace(id, "OUTPUT");
        let told = format!("$ sayso {}\n{}[{}] {said}\n", args.join(" "), ran.text(), ran.code.unwrap());
        page.push_str(&told.replace(id, "OUTPUT"));
    }
    page
}

#[test]
fn parts_of_an_output() {
    let home = Home::new();
    let id = stored(&home, NewOutput::of("make"), &log(), b"2 errors\n");
    let runs: &[&[&str]] = &[
        &["--lines", "99:101"],
        &["--lines", "299:"],
        &["--lines", "2:3", "--json"],
        &["--bytes", "0:6"],
        &["--bytes", "7:14", "--json"],
        &["--head", "2"],
        &["--tail", "2"],
        &["--tail", "1", "--json"],
        &["--grep", "err.r$"],
        &["--grep", "(?i)ERROR", "--json"],
        &["--grep", "nowhere"],
        &["--stderr"],
        &["--stderr", "--grep", "errors"],
        &["--lines", "301:400"],
        &["--bytes", "99999:"],
        &["--stderr", "--bytes", "9:10"],
        &["--lines", "5"],
        &["--lines", "0:5"],
        &["--lines", "7:5"],
        &["--grep", "("],
        &["--head", "1", "--tail", "1"],
    ];
    sayso_snapshots::check("output_parts", &page(&home, &id, runs));
    // The end of the id is enough, and the whole is byte for byte.
    assert_eq!(home.run(&["output", &id[20..]]).stdout, log());
}

#[test]
fn t16_a_range_of_bytes_of_one_giant_line() {
    let home = Home::new();
    let line: Vec<u8> = (0..60_008u32).map(|n| b'a' + (n % 23) as u8).collect();
    let id = stored(&home, NewOutput::of("cat"), &line, b"");
    let part = home.run(&["output", &id, "--bytes", "30000:31023"]);
    assert_eq!(part.stdout, line[30_000..=31_023]);
    let found = home.run(&["output", &id, "--grep", "abc"]);
    assert!(found.stdout.len() < 4_200, "{} bytes", found.stdout.len());
    assert!(found.stderr.contains("--bytes A:B"), "{}", found.stderr);
}

#[test]
fn t19_what_was_not_kept_is_said() {
    let home = Home::new();
    let id = stored(&home, NewOutput::of("yes").cap(1_024), &[b'y'; 2_048], b"");
    let mut page_of = page(&home, &id, &[&["--bytes", "0:3"]]);
    let ledger = ledger(&home);
    let mut writer =
        ledger.start_output(&ledger.session("Acme", "Plan").unwrap(), NewOutput::of("make")).unwrap();
    writer.write(StreamKind::Stdout, b"so far\n").unwrap();
    writer.keep().unwrap();
    let growing = writer.id().to_string();
    page_of += &page(&home, &growing, &[&[]]);
    writer.stop().unwrap();
    page_of += &page(&home, &growing, &[&[]]);
    sayso_snapshots::check("output_not_whole", &page_of);
}

#[test]
fn what_is_known_of_an_output() {
    let home = Home::new();
    let id = stored(&home, NewOutput::of("make").command("make check").cap(3), b"12345", b"!");
    let about = home.run(&["output", &id, "--json"]).json();
    assert_eq!((about["state"].as_str(), about["exit"].as_i64()), (Some("capped"), Some(1)));
    assert_eq!(
        (about["command"].as_str(), about["read_order"].as_str()),
        (Some("make check"), Some("o3 e1"))
    );
    assert_eq!(
        (about["streams"][0]["bytes"].as_u64(), about["streams"][0]["total"].as_u64()),
        (Some(3), Some(5))
    );
}

#[test]
fn a_part_goes_to_a_file_of_its_own() {
    let home = Home::new();
    let id = stored(&home, NewOutput::of("make"), &log(), b"");
    let args = ["output", &id, "--tail", "1", "--to", "last.txt"];
    assert_eq!(
        (home.run(&args).code, std::fs::read(home.path("last.txt")).unwrap()),
        (Some(0), b"line 300 error\n".to_vec())
    );
    assert_eq!(home.run(&args).code, Some(1), "a file that is there is not overwritten");
}

#[test]
fn the_doctor_collects_what_nothing_refers_to() {
    let home = Home::new();
    let none = home.run(&["doctor", "--collect"]);
    assert!(none.text().contains("there is no ledger yet") && !home.ledger().exists(), "{}", none.text());
    let id = stored(&home, NewOutput::of("make"), b"named", b"");
    ledger(&home).put_blob(&mut &b"never named"[..]).unwrap();
    let noted = home.run(&["doctor", "--collect"]).text();
    assert!(noted.contains("0 bytes deleted, 11 bytes noted; run this again in 24 hours"), "{noted}");
    let gone = home.run(&["doctor", "--collect", "--grace", "0"]).text();
    assert!(gone.contains("11 bytes deleted, 0 bytes noted\n"), "{gone}");
    assert!(home.run(&["doctor", "--collect"]).text().contains("unused bytes: there are none"));
    assert_eq!(home.run(&["output", &id]).stdout, b"named");
}
