//! Exports and their import, as a person uses them.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Home, Ran};

/// The heads of a ledger by session: their addresses name the ledger, which is another one in a copy.
#[track_caller]
fn heads(home: &Home) -> BTreeMap<String, Value> {
    let verified = home.run(&["verify", "--json"]).json();
    assert_eq!(verified["problems"], Value::Array(vec![]));
    let heads = verified["heads"].as_object().unwrap();
    heads.iter().map(|(address, head)| (id(address), head.clone())).collect()
}

fn id(address: &str) -> String {
    address.rsplit('/').next().unwrap().to_owned()
}

#[track_caller]
fn export(home: &Home, args: &[&str]) -> Vec<u8> {
    let ran = home.run(&[&["export", "--as", "jsonl"], args].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    ran.stdout
}

#[track_caller]
fn import(home: &Home, export: &[u8]) -> Ran {
    let path = home.path("export.jsonl");
    std::fs::write(&path, export).unwrap();
    home.run(&["import", path.to_str().unwrap(), "--json"])
}

#[test]
fn an_export_comes_back_with_equal_heads_and_equal_bytes() {
    let (home, copy) = (Home::new(), Home::new());
    home.says("Acme/Plan", "agent:Rocky", "The plan stands.");
    home.says("Acme/Plan", "owner:Mira", "두 줄\n\0 and a NUL");
    home.says("Beta/Build", "tool:cargo", "ok");
    let whole = export(&home, &[]);
    let report = import(&copy, &whole).json();
    assert_eq!((&report["turns_added"], &report["refused"]), (&3.into(), &Value::Array(vec![])), "{report}");
    assert_eq!(heads(&copy), heads(&home));
    assert_eq!(heads(&copy).len(), 2);
    assert!(export(&copy, &[]) == whole);
    let again = import(&copy, &whole).json();
    assert_eq!((&again["turns_added"], &again["turns_known"]), (&0.into(), &3.into()), "{again}");
    assert!(copy.run(&["search", "stands"]).text().contains("The plan stands."));
}
