//! Field cases Q11 and S16, and what else happens to projects and sessions: names and homes change, addresses do not.

use std::collections::BTreeMap;

use sayso::model::OriginState;
use sayso::store::Alias;
use sayso::{Error, NewTurn, Refusal, Scope, SpeakerKind::*, StoreError};

use super::open;
use crate::support::{World, text};

#[track_caller]
fn sound(world: &World) {
    assert_eq!(world.all().verify(&BTreeMap::new()).unwrap().problems, Vec::new());
}

#[test]
fn q11_an_address_outlives_the_names() {
    let world = open();
    let source = world.says("Acme/Plan", (Agent, "Rocky"), "the words");
    let quote = world.forward(&source, "Beta/Build");
    let all = world.all();
    let session = all.find_session("Acme/Plan").unwrap();
    let addresses = [
        world.ledger.project_address(session.project).to_string(),
        world.ledger.session_address(&session).to_string(),
        world.ledger.address(&source).to_string(),
    ];
    all.rename_session(session.id, "Roadmap").unwrap();
    all.rename_project(session.project, "Apex").unwrap();
    assert_eq!(all.find_project(&addresses[0]).unwrap().name, "Apex");
    assert_eq!(all.find_session(&addresses[1]).unwrap().title, "Roadmap");
    assert_eq!(all.find_turn(&addresses[2]).unwrap().placed, source);
    assert_eq!(all.origin(quote.id).unwrap().state, OriginState::Same);
    // The new names lead there, and so do those that were typed before.
    for name in ["Apex/Roadmap", "Acme/Plan", "Roadmap", "Plan"] {
        assert_eq!(all.find_session(name).unwrap().id, session.id, "{name}");
    }
    sound(&world);
}

#[test]
fn the_same_title_again_is_not_written_again() {
    let world = open();
    let plan = world.session("Acme", "Plan").id;
    let first = world.all().rename_session(plan, "Roadmap").unwrap().1;
    assert_eq!(world.all().rename_session(plan, "Roadmap").unwrap(), (sayso::Fate::Known, first));
    world.all().rename_session(plan, "Plan").unwrap();
    assert_eq!(world.all().rename_session(plan, "Roadmap").unwrap().1.seq, 3);
}

#[test]
fn a_closed_session_may_still_be_renamed_and_moved() {
    let world = open();
    world.says("Acme/Plan", (Agent, "Rocky"), "the words");
    let (all, beta) = (world.all(), world.session("Beta", "Build").project);
    let plan = all.find_session("Plan").unwrap().id;
    all.close_session(plan).unwrap();
    all.rename_session(plan, "Old plan").unwrap();
    all.move_session(plan, beta).unwrap();
    let now = all.session(plan).unwrap().unwrap();
    assert_eq!((now.title.as_str(), now.project, now.closed), ("Old plan", beta, true));
    all.reopen_session(plan).unwrap();
    assert!(!all.session(plan).unwrap().unwrap().closed);
    let error = all.reopen_session(plan).unwrap_err();
    assert_eq!(error.refusal(), Some(&Refusal::NotClosed(plan)));
    sound(&world);
}

#[test]
fn a_moved_session_is_found_by_its_old_address() {
    let world = open();
    let session = world.session("Acme", "Plan");
    let source = world.ledger.append(&session, NewTurn::text(Agent, "Rocky", "the words")).unwrap();
    let quote = world.forward(&source, "Gamma/Notes");
    let (all, beta) = (world.all(), world.session("Beta", "Build").project);
    let (acme_only, old) = (world.only("Acme"), world.ledger.address(&source).to_string());
    all.move_session(session.id, beta).unwrap();
    let report = all.origin(quote.id).unwrap();
    assert_eq!(report.state, OriginState::Moved);
    assert_eq!(all.find_turn(&old).unwrap().placed.project, beta);
    assert_eq!(report.now, Some(world.ledger.address(&all.find_turn(&old).unwrap().placed)));
    // Who may see the old project only does not see what left it.
    assert!(acme_only.find_turn(&old).is_err());
    assert_eq!(acme_only.sessions(None).unwrap(), []);
    assert!(acme_only.speaker(world.entry(&source).turn().unwrap().speaker.id).unwrap().is_none());
    assert_eq!(world.only("Beta").find_session("Plan").unwrap().id, session.id);
    // An app that holds the session from before goes on.
    let next = world.ledger.append(&session, NewTurn::text(Agent, "Rocky", "and on")).unwrap();
    assert_eq!((next.project, next.seq), (beta, 3));
    sound(&world);
}

#[test]
fn moving_and_merging_need_both_projects_in_scope() {
    let world = open();
    let plan = world.session("Acme", "Plan");
    let beta = world.session("Beta", "Build").project;
    let acme = world.only("Acme");
    let unknown = Some(Refusal::UnknownProject(beta));
    assert_eq!(acme.move_session(plan.id, beta).unwrap_err().refusal().cloned(), unknown);
    assert_eq!(acme.merge_project(plan.project, beta).unwrap_err().refusal().cloned(), unknown);
    let unknown = Some(Refusal::UnknownSession(plan.id));
    let only_beta = world.only("Beta");
    assert_eq!(only_beta.move_session(plan.id, beta).unwrap_err().refusal().cloned(), unknown);
    assert_eq!(only_beta.rename_session(plan.id, "x").unwrap_err().refusal().cloned(), unknown);
    let same = world.all().move_session(plan.id, plan.project).unwrap_err();
    assert_eq!(same.refusal(), Some(&Refusal::SameProject(plan.project)));
    let same = world.all().merge_project(beta, beta).unwrap_err();
    assert_eq!(same.refusal(), Some(&Refusal::SameProject(beta)));
}

#[test]
fn s16_sessions_stay_when_their_folder_moves() {
    let world = open();
    let path = |path: &str| Alias::new("path", path);
    let before = world.ledger.project_as(&Scope::All, &path("/work/harbour"), "harbour").unwrap();
    let source = world.says("harbour/Plan", (Agent, "Rocky"), "the words");
    // The folder is moved, and a program that only knows paths makes a project for the new one.
    let after = world.ledger.project_as(&Scope::All, &path("/home/harbour"), "harbour two").unwrap();
    world.says("harbour two/Plan", (Agent, "Rocky"), "more words");
    let quote = world.forward(&source, "Beta/Build");
    let all = world.all();
    let old = world.ledger.project_address(before.id).to_string();
    let merged = all.merge_project(before.id, after.id).unwrap();
    assert_eq!((merged.id, merged.turns), (after.id, 2));
    assert_eq!(all.projects().unwrap().len(), 2, "with the one of the quote");
    for known in [path("/work/harbour"), path("/home/harbour"), Alias::new("name", "harbour")] {
        assert_eq!(world.ledger.project_as(&Scope::All, &known, "x").unwrap().id, after.id, "{known:?}");
    }
    assert_eq!(all.find_project(&old).unwrap().id, after.id);
    assert_eq!(all.sessions(Some(before.id)).unwrap().len(), 2);
    assert_eq!(text(&world.entry(&source)), "the words");
    assert_eq!(all.origin(quote.id).unwrap().state, OriginState::Moved);
    // Both sessions are called Plan: the name alone leads to the one that was there, the address to each.
    let address = world.ledger.address(&source);
    assert_eq!(all.find_turn(&address.to_string()).unwrap().placed.project, after.id);
    sound(&world);
    // What was merged once can be merged on.
    let last = world.session("Last", "Notes").project;
    all.merge_project(before.id, last).unwrap();
    assert_eq!(all.find_project(&old).unwrap().id, last);
    sound(&world);
}

#[test]
fn an_alias_leads_to_its_project_and_belongs_to_one() {
    let world = open();
    let (acme, beta) = (world.session("Acme", "Plan").project, world.session("Beta", "Build").project);
    let alias = Alias::new("path", "/work/acme");
    world.all().add_alias(acme, alias.clone()).unwrap();
    assert_eq!(world.all().find_project("/work/acme").unwrap().id, acme);
    assert_eq!(world.all().add_alias(acme, alias.clone()).unwrap().id, acme);
    let taken = world.all().add_alias(beta, alias).unwrap_err();
    assert!(matches!(taken.refusal(), Some(Refusal::ProjectAliasTaken { owner, .. }) if *owner == acme));
    // Whoever sees some projects only cannot try out what others are called.
    for value in ["/work/acme", "/work/free"] {
        let refused = world.only("Beta").add_alias(beta, Alias::new("path", value)).unwrap_err();
        assert!(matches!(refused, Error::Store(StoreError::NeedsWholeLedger)), "{refused}");
    }
}
