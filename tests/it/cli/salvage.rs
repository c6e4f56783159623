//! What is left of a damaged ledger, as a person saves it.

use serde_json::Value;

use super::Home;

/// A ledger of three turns, of which the second does not read.
fn damaged() -> Home {
    let home = Home::new();
    for text in ["The plan stands.", "Nobody reads this.", "It still does."] {
        home.says("Acme/Plan", "agent:Rocky", text);
    }
    let conn = rusqlite::Connection::open(home.ledger()).unwrap();
    let changed =
        conn.execute("UPDATE part SET text = x'21' WHERE text = CAST('Nobody reads this.' AS BLOB)", []);
    assert_eq!(changed.unwrap(), 1);
    home
}

#[test]
fn the_doctor_says_what_can_be_saved() {
    let home = damaged();
    let ran = home.run(&["doctor", "--salvage"]);
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    let told = ran.text();
    assert!(told.contains("2 of 3 entries can be saved; entry 2: "), "{told}");
    assert!(told.contains("sayso export --salvage --to FILE"), "{told}");
    let whole = Home::new();
    whole.says("Acme/Plan", "agent:Rocky", "The plan stands.");
    let ran = whole.run(&["doctor", "--salvage"]);
    assert!(
        ran.code == Some(0) && ran.text().contains("1 of 1 entry in 1 session read whole, 0 do not"),
        "{}",
        ran.text()
    );
}

#[test]
fn what_is_left_is_saved_and_imported_and_what_is_not_is_counted() {
    let (home, copy) = (damaged(), Home::new());
    let ordinary = home.run(&["export", "--as", "jsonl"]);
    assert_eq!(ordinary.code, Some(1), "an ordinary export stops at the damage");
    let file = copy.path("saved.jsonl");
    let ran = home.run(&["export", "--as", "jsonl", "--salvage", "--to", file.to_str().unwrap(), "--json"]);
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    let told: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert_eq!(
        (&told["entries"], &told["saved"], &told["lost"]),
        (&3.into(), &2.into(), &1.into()),
        "{told}"
    );
    assert_eq!(told["damaged"][0]["lost"][0]["seq"], 2, "{told}");
    let imported = copy.run(&["import", file.to_str().unwrap(), "--json"]).json();
    assert_eq!(imported["turns_added"], 2, "{imported}");
    assert!(copy.run(&["search", "still"]).text().contains("It still does."));
    // Its head is what it was.
    let head = |home: &Home| {
        let report: Value = serde_json::from_slice(&home.run(&["verify", "--json"]).stdout).unwrap();
        report["heads"].as_object().unwrap().values().next().unwrap().clone()
    };
    assert_eq!(head(&copy), head(&home));
}

#[test]
fn for_people_what_is_behind_the_damage_is_there_too() {
    let home = damaged();
    for form in ["markdown", "html"] {
        let ran = home.run(&["export", "--as", form, "--salvage"]);
        assert_eq!(ran.code, Some(3), "{}", ran.stderr);
        let shown = ran.text();
        let all = ["The plan stands.", "does not read whole", "It still does."];
        assert!(all.iter().all(|words| shown.contains(words)), "{shown}");
        assert!(!shown.contains("Nobody reads this."), "{shown}");
    }
}
