//! What a bridge does when all is well.

use serde_json::json;

use super::{ECHO, NEWS, OWNER, Place, SEEN, SOON, sees};

fn pair(kind: &str, text: &str) -> (String, String) {
    (kind.to_owned(), text.to_owned())
}

#[test]
fn a_message_is_answered_where_it_came_from() {
    let place = Place::new(ECHO);
    let bridge = place.start();
    place.server.says(5, OWNER, "막배가 언제야?");
    sees(&place, &["You said: 막배가 언제야?"]);
    let second = place.server.says(6, OWNER, "and the first one?");
    sees(&place, &["You said: 막배가 언제야?", "You said: and the first one?"]);
    let seen = place.server.seen();
    assert_eq!((&seen[0]["chat_id"], &seen[0]["reply_parameters"]["message_id"]), (&json!(5), &json!(1)));
    assert_eq!(
        (&seen[1]["chat_id"], &seen[1]["reply_parameters"]["message_id"]),
        (&json!(6), &json!(second))
    );
    let said = bridge.stop();
    assert_eq!(said, "telegram:4711 is read for harbour/telegram\nstopping\n");
    let words = [
        pair("owner", "막배가 언제야?"),
        pair("agent", "You said: 막배가 언제야?"),
        pair("owner", "and the first one?"),
        pair("agent", "You said: and the first one?"),
    ];
    assert_eq!(place.turns(), words);
}

#[test]
fn what_a_tool_has_for_the_person_goes_out_at_once_and_stands_for_the_reply() {
    let place = Place::new(NEWS);
    let bridge = place.start();
    place.server.says(5, OWNER, "What is new?");
    sees(&place, &["the list"]);
    place.agent_does(ECHO);
    place.server.says(5, OWNER, "thanks");
    sees(&place, &["the list", "You said: thanks"]);
    bridge.stop();
    let turns = place.turns();
    assert!(turns.contains(&pair("agent", "There is news.")), "the reply stands in the session: {turns:?}");
    let directive = "[This list was shown to the user.";
    assert!(turns.iter().any(|(kind, text)| kind == "system" && text.starts_with(directive)), "{turns:?}");
}

#[test]
fn the_reply_arrives_where_the_direct_delivery_does_not() {
    use sayso_bridge::rehearsal::Act;
    let place = Place::new(NEWS);
    place.server.acts([Act::Refuse(400, "Bad Request: message is not pretty", None)]);
    let bridge = place.start();
    place.server.says(5, OWNER, "What is new?");
    sees(&place, &["There is news."]);
    place.server.acts([Act::Vanish]);
    place.server.says(5, OWNER, "And now?");
    sees(&place, &["There is news.", "[possible repeat]\nThere is news."]);
    bridge.stop();
}

#[test]
fn a_message_that_cannot_be_read_is_passed_over_and_named() {
    let place = Place::new(ECHO);
    place.server.update(json!({"message": {"message_id": "seven"}}));
    place.server.says(5, 99, "let me in");
    place.server.says(5, OWNER, "hello");
    let bridge = place.start();
    sees(&place, &["You said: hello"]);
    let said = bridge.stop();
    assert!(said.contains("update 1 has not the form of a message"), "{said}");
    assert!(said.contains("update 2 is passed over: user 99 in chat 5 may not speak here"), "{said}");
}

#[test]
fn what_is_forwarded_into_the_session_goes_to_its_agent_and_to_nobody_else() {
    let place = Place::new(&format!("[ -e forwarded.1 ] || printf '%s' \"$line\" >forwarded.1\n{SEEN}"));
    let mut bridge = place.start();
    bridge.says("is read");
    let said = place.home.says("lantern/plan", "agent:Rocky", "24:40 stays 24:40.");
    place.home.run(&["forward", &said, "--to", "harbour/telegram", "--json"]).json();
    place.server.says(5, OWNER, "hello");
    sees(&place, &["seen"]);
    bridge.stop();
    let forwarded = std::fs::read_to_string(place.home.path("forwarded.1")).unwrap();
    let forwarded: serde_json::Value = serde_json::from_str(&forwarded).unwrap();
    let words = forwarded["text"].as_str().unwrap();
    assert!(words.starts_with("<quote id=") && words.contains("> 24:40 stays 24:40."), "{words}");
    assert_eq!(place.home.run(&["inbox", "--json"]).text(), "", "the agent has seen it");
}

#[test]
fn a_program_of_ones_own_is_a_channel() {
    let place = Place::new(ECHO);
    place.config(
        r#"[session]
project = "harbour"
title = "telegram"
[source]
kind = "command"
channel = "mail"
account = "mira"
command = ["/bin/sh", "-c", "cat >asked; [ -e given ] && exec sleep 1; touch given; cat mail"]
[sink]
kind = "command"
command = ["/bin/sh", "-c", "cat >sent.new; mv sent.new sent; echo '{\"status\":\"delivered\",\"receipt\":\"m1\"}'"]
[agent]
kind = "lines"
name = "Rocky"
command = ["/bin/sh", "agent.sh"]
"#,
    );
    let mail = r#"{"update":"18","destination":{"to":"mira"},"speaker":{"kind":"owner","id":"mira","name":"Mira"},"text":"hello"}"#;
    std::fs::write(place.home.path("mail"), mail).unwrap();
    let mut bridge = place.start();
    bridge.says("mail:mira is read");
    let sent = loop {
        if let Ok(sent) = std::fs::read_to_string(place.home.path("sent")) {
            break sent;
        }
        assert!(bridge.child.try_wait().unwrap().is_none(), "{}", bridge.said());
        std::thread::yield_now();
    };
    let sent: serde_json::Value = serde_json::from_str(&sent).unwrap();
    assert_eq!((&sent["text"], &sent["destination"]), (&json!("You said: hello"), &json!({"to": "mira"})));
    bridge.stop();
    assert!(place.server.waits_for(SOON, |seen, calls| seen.is_empty() && calls.is_empty()));
}
