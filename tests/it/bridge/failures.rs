//! What a bridge does when something fails: nothing is lost, nothing arrives twice unmarked.

use sayso::model::DeliveryState;
use sayso::store::Deliveries;
use sayso::{Ledger, Options, Scope};
use sayso_bridge::rehearsal::Act;

use super::{ECHO, OWNER, Place, SOON, sees};

#[test]
fn a_bridge_that_crashes_goes_on_where_it_was() {
    let place = Place::new(ECHO);
    // The agent does not start to answer before the crash.
    place.agent_does("while :; do sleep 1; done");
    let mut bridge = place.start();
    place.server.says(5, OWNER, "first");
    bridge.says("is read");
    assert!(place.server.waits_for(SOON, |_, calls| calls.iter().any(|(_, a)| a["offset"] == 2)));
    place.server.says(5, OWNER, "second");
    assert!(place.server.waits_for(SOON, |_, calls| calls.iter().any(|(_, a)| a["offset"] == 3)));
    bridge.signal("-KILL");
    bridge.child.wait().unwrap();
    drop(bridge);
    place.agent_does(ECHO);
    // Also where the server gives everything again.
    place.server.forgets_what_was_confirmed();
    let bridge = place.start();
    place.server.says(5, OWNER, "third");
    sees(&place, &["You said: second", "You said: third"]);
    bridge.stop();
    let owner: Vec<String> = place.turns().into_iter().filter(|t| t.0 == "owner").map(|t| t.1).collect();
    assert_eq!(owner, ["first", "second", "third"], "each stands there once");
}

#[test]
fn an_answer_that_the_server_turns_away_for_now_arrives_later_once() {
    let place = Place::new(ECHO);
    place.server.acts([Act::Gateway(503), Act::Refuse(429, "Too Many Requests: retry after 1", Some(1))]);
    let bridge = place.start();
    place.server.says(5, OWNER, "hello");
    sees(&place, &["You said: hello"]);
    bridge.stop();
    let sends = place.server.calls().iter().filter(|(method, _)| method == "sendMessage").count();
    assert_eq!(sends, 3);
}

#[test]
fn an_answer_whose_acknowledgement_is_lost_is_not_sent_again() {
    let place = Place::new(ECHO);
    place.server.acts([Act::LoseAnswer]);
    let bridge = place.start();
    place.server.says(5, OWNER, "hello");
    sees(&place, &["You said: hello"]);
    place.server.says(5, OWNER, "again");
    sees(&place, &["You said: hello", "You said: again"]);
    bridge.stop();
    let bridge = place.start();
    place.server.says(5, OWNER, "more");
    sees(&place, &["You said: hello", "You said: again", "You said: more"]);
    bridge.stop();
    let ledger = Ledger::open(&place.home.ledger(), &Options::default()).unwrap();
    let open = ledger.reader(Scope::All).deliveries(Deliveries::Open(None)).unwrap();
    let open: Vec<_> = open.iter().map(|d| (d.text.as_str(), d.state)).collect();
    assert_eq!(open, [("You said: hello", DeliveryState::Parked)], "a person decides");
}

#[test]
fn a_server_that_cannot_be_reached_is_waited_for() {
    let mut place = Place::new(ECHO);
    place.server.goes_down();
    let mut bridge = place.start();
    bridge.says("the source cannot be read now: the connection was refused; it is tried again");
    place.server.comes_back().unwrap();
    place.server.says(5, OWNER, "hello");
    sees(&place, &["You said: hello"]);
    bridge.says("the source can be read again");
    bridge.stop();
}

#[test]
fn an_agent_that_ends_is_started_again() {
    let place = Place::new("exit 3");
    let mut bridge = place.start();
    place.server.says(5, OWNER, "hello");
    bridge.says("the agent has ended; it is started again in 1 s");
    place.agent_does(ECHO);
    place.server.says(5, OWNER, "again");
    // What the first one was at when it ended is not run again.
    sees(&place, &["You said: again"]);
    bridge.stop();
}
