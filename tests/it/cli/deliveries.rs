//! Messages that wait, and a person who decides about deliveries of which nobody knows whether they arrived.

use sayso::model::relay::{Attempt, Inlet};
use sayso::model::{DeliveryId, DeliveryKind, RequestId, UtcMs};
use sayso::store::{Accept, AppendTurn, Command, Intend, NewPart, RelayCommand, RelayStep};
use sayso::{Ledger, Options, Scope, SpeakerKind, SpeakerRef};

use super::Home;

/// A ledger with a message that waits, and one whose answer was sent and never heard of, one of each for every person named.
struct Desk {
    home: Home,
    ledger: Ledger,
    at: i64,
}

impl Desk {
    fn new() -> Self {
        let home = Home::new();
        let ledger = Ledger::open(&home.ledger(), &Options::default()).unwrap();
        Self { home, ledger, at: 1_796_029_200_000 }
    }

    fn step(&mut self, what: RelayCommand) {
        self.at += 1_000;
        let step = RelayStep { at: UtcMs(self.at), what };
        self.ledger.write(&Scope::All, vec![Command::Relay(step)]).unwrap();
    }

    fn asks(&mut self, who: &str, text: &str) -> RequestId {
        let session = self.ledger.session("Harbour", "Desk").unwrap();
        let id = self.ledger.fresh_request();
        let turn = AppendTurn {
            id: self.ledger.fresh_entry(),
            session: session.id,
            speaker: self.ledger.speaker(&SpeakerRef::new(SpeakerKind::Person, who)).unwrap(),
            said_at: None,
            reply_to: None,
            repairs: 0,
            parts: vec![NewPart { by: None, body: sayso::model::PartBody::Text(text.to_owned()) }],
            key: None,
            expected_head: None,
        };
        let inlet = Inlet {
            account: "bot".into(),
            update: id.to_string(),
            message: "17".into(),
            channel: "telegram".into(),
            destination: "{\"chat_id\":5}".into(),
        };
        self.step(RelayCommand::Accept(Box::new(Accept { id, turn, inlet, cursor: None })));
        id
    }

    /// An answer that may or may not have arrived.
    fn parked(&mut self) -> DeliveryId {
        self.parked_as(DeliveryKind::Reply, "reply")
    }

    fn parked_as(&mut self, kind: DeliveryKind, key: &str) -> DeliveryId {
        let request = self.asks("Ben", "When does the ferry leave?");
        let session = self.ledger.session("Harbour", "Desk").unwrap().id;
        let turn = self.ledger.reader(Scope::All).request(request).unwrap().unwrap().turn;
        let delivery = self.ledger.fresh_delivery();
        self.step(RelayCommand::Started { session, request: Some(request) });
        let parts = vec![(delivery, "At nine.\u{202E}".to_owned())];
        let key = key.to_owned();
        self.step(RelayCommand::Intend(Intend { request, kind, key, turn, parts, doubt: None }));
        let until = UtcMs(self.at + 60_000);
        self.step(RelayCommand::ClaimDelivery { delivery, fence: 0, until, key_ttl_ms: None });
        let (attempt, mark) =
            (Attempt::Unknown { why: "no answer in time".into() }, self.ledger.fresh_entry());
        self.step(RelayCommand::Attempted { delivery, fence: 1, attempt, mark });
        let why = "the sink cannot tell whether it arrived".to_owned();
        self.step(RelayCommand::Park { delivery, fence: 1, why });
        delivery
    }
}

#[test]
fn what_is_under_way_is_listed() {
    let mut desk = Desk::new();
    let home = &desk.home;
    home.check("deliveries_none", &["deliveries", "list"], &home.run(&["deliveries", "list"]));
    let id = desk.parked().to_string();
    desk.asks("Ann", "And the next one?");
    let home = &desk.home;
    home.check("inbox_messages", &["inbox"], &home.run(&["inbox"]));
    home.check("deliveries_list", &["deliveries", "list"], &home.run(&["deliveries", "list"]));
    let ran = home.run(&["deliveries", "show", &id]);
    home.check("deliveries_show", &["deliveries", "show", "DELIVERY"], &ran);
    let json = home.run(&["deliveries", "list", "--json"]).json();
    assert_eq!(
        (json["state"].as_str(), json["destination"].as_str()),
        (Some("parked"), Some("{\"chat_id\":5}"))
    );
    let waiting = home.run(&["inbox", "--json"]).json();
    assert_eq!((waiting["injection"].as_str(), waiting["answer"].as_str()), (Some("queued"), Some("none")));
}

#[test]
fn a_person_decides() {
    for (words, state, seen) in [
        (vec!["retry"], "ready", "a possible repeat"),
        (vec!["resolve", "--receipt", "seen in the chat"], "delivered", "seen in the chat"),
        (vec!["cancel", "--why", "too late"], "cancelled", "too late"),
    ] {
        let mut desk = Desk::new();
        let id = desk.parked().to_string();
        let home = &desk.home;
        // The end of an id is enough.
        let mut args = vec!["deliveries", words[0], &id[16..]];
        args.extend(&words[1..]);
        let ran = home.run(&args);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert!(ran.text().starts_with(state), "{}", ran.text());
        let shown = home.run(&["deliveries", "show", &id]);
        assert!(shown.text().contains(seen), "{}", shown.text());
        let again = home.run(&args);
        assert_eq!(again.code, Some(1), "{}", again.text());
        assert!(again.stderr.contains("sayso deliveries list"), "{}", again.stderr);
        assert_eq!(home.run(&["verify"]).code, Some(0));
    }
}

#[test]
fn a_result_that_a_person_saw_arrive_is_told_to_the_model_as_any_other() {
    let mut desk = Desk::new();
    let id = desk.parked_as(DeliveryKind::Direct, "listing 1").to_string();
    let home = &desk.home;
    let turns = || home.run(&["show", "Harbour/Desk", "--json"]).lines();
    let before = turns().len();
    let ran = home.run(&["deliveries", "resolve", &id, "--receipt", "seen in the chat"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let told: Vec<serde_json::Value> =
        turns().into_iter().skip(before).filter(|e| e["kind"] == "turn").collect();
    let [told] = &told[..] else { panic!("{told:?}") };
    assert_eq!((&told["speaker"]["kind"], &told["speaker"]["name"]), (&"system".into(), &"relay".into()));
    assert!(told["text"].as_str().unwrap().contains("Do not repeat"), "{told}");
    // Once.
    assert_eq!(home.run(&["deliveries", "resolve", &id, "--receipt", "again"]).code, Some(1));
    assert_eq!(home.run(&["verify"]).code, Some(0));
}

#[test]
fn what_was_never_sent_cannot_have_arrived() {
    let mut desk = Desk::new();
    let request = desk.asks("Ben", "When does the ferry leave?");
    let session = desk.ledger.session("Harbour", "Desk").unwrap().id;
    let turn = desk.ledger.reader(Scope::All).request(request).unwrap().unwrap().turn;
    desk.step(RelayCommand::Started { session, request: Some(request) });
    let delivery = desk.ledger.fresh_delivery();
    let parts = vec![(delivery, "At nine.".to_owned())];
    let (kind, key, doubt) = (DeliveryKind::Reply, "reply".to_owned(), Some("nobody knows whose".to_owned()));
    desk.step(RelayCommand::Intend(Intend { request, kind, key, turn, parts, doubt }));
    let (home, id) = (&desk.home, delivery.to_string());
    let ran = home.run(&["deliveries", "resolve", &id, "--receipt", "seen"]);
    assert_eq!(ran.code, Some(1), "{}", ran.text());
    assert!(
        ran.stderr.contains("cannot have arrived") && ran.stderr.contains("`sayso deliveries retry`"),
        "{}",
        ran.stderr
    );
    assert_eq!(home.run(&["deliveries", "show", &id, "--json"]).json()["state"], "parked");
}

#[test]
fn what_is_not_there_is_refused_with_the_next_action() {
    let mut desk = Desk::new();
    let id = desk.parked().to_string();
    let home = &desk.home;
    home.says("Other/Desk", "owner:Mira", "elsewhere");
    let page: Vec<String> = [
        vec!["deliveries", "show", "01ARZ3NDEKTSV4RRFFQ69G5FAV"],
        vec!["deliveries", "retry", "FAV"],
        vec!["deliveries", "cancel", "!!!!!!!"],
        vec!["deliveries", "resolve", &id, "--receipt", ""],
        vec!["deliveries", "show", &id, "--scope", "Other"],
    ]
    .iter()
    .map(|args| {
        let ran = home.run(args);
        assert_eq!(ran.code, Some(1), "{args:?} {}", ran.text());
        home.steady(&format!("$ sayso {}\n{}", args.join(" "), ran.stderr))
    })
    .collect();
    sayso_snapshots::check("deliveries_refused", &page.concat());
}
