//! Thresholds: case T29.

use sayso_output::thresholds::{Choice, ExitClass, Layers, Lengths, Policies, Policy, Report};

use crate::support::has;

/// 989 lengths with the published figures of a real fetch tool.
fn fetch() -> Lengths {
    include_str!("lengths.txt").lines().map(|line| line.parse::<u64>().unwrap()).collect()
}

#[test]
fn t29_a_threshold_that_would_do_nothing_says_so() {
    let lengths = fetch();
    let summary = lengths.summary().unwrap();
    assert_eq!(
        (summary.count, summary.mean.round() as u64, summary.median, summary.max),
        (989, 232, 152, 3466)
    );
    assert_eq!(format!("{:.1}", lengths.share_within(500) * 100.0), "92.8");
    assert_eq!(lengths.above(2_000), 9);
    assert_eq!(lengths.histogram().iter().map(|(_, _, count)| count).sum::<u64>(), 989);

    let report = Report::new("fetch", ExitClass::Success, lengths.clone(), &[500, 4_000]);
    has(&report, "mean 232, median 152");
    has(&report, "92.8% at or below 500; 71 above");
    has(
        &report,
        "above 4000: 0 of 989 into two layers (0.0%): no output was longer, this threshold would do nothing",
    );
    has(&report, "above 500: 71 of 989 into two layers (7.2%)");
    has(&report, "always: 989 of 989 into two layers (100.0%)");
    let proposal = report.proposal();
    assert_eq!((proposal.policy, proposal.two), (Policy::Above(500), 71));
}

#[test]
fn a_threshold_below_everything_says_so_too() {
    let lengths: Lengths = [900, 1_000, 1_100].into_iter().collect();
    has(&Choice::of(Policy::Above(10), &lengths), "the same as always");
    assert_eq!(
        Report::new("x", ExitClass::Failure, lengths, &[]).proposal().policy,
        Policy::Never,
        "too few to go by"
    );
    has(&Report::new("x", ExitClass::Unknown, Lengths::default(), &[]), "no outputs yet");
}

#[test]
fn a_threshold_at_the_longest_does_nothing_and_a_tool_without_a_name_is_said_to_have_none() {
    let lengths: Lengths = [30, 700].into_iter().collect();
    let report = Report::new("", ExitClass::Unknown, lengths, &[]).to_string();
    assert!(report.starts_with("tool not named (ending unknown): 2 outputs"), "{report}");
    has(&report, "above 700: 0 of 2 into two layers (0.0%): no output was longer,");
}

#[test]
fn policies_are_versioned_and_survive_json() {
    let mut policies = Policies::default();
    assert_eq!(policies.decide("fetch", u64::MAX), Layers::One);
    assert_eq!(
        (policies.set("fetch", Policy::Above(500)), policies.set("fetch", Policy::Above(500))),
        (1, 1)
    );
    assert_eq!(policies.set("list", Policy::Always), 2);
    let json = serde_json::to_string(&policies).unwrap();
    assert_eq!(json, r#"{"version":2,"tools":{"fetch":{"above":500},"list":"always"}}"#);
    let read: Policies = serde_json::from_str(&json).unwrap();
    assert_eq!(read, policies);
    assert_eq!((read.decide("fetch", 501), read.decide("list", 0)), (Layers::Two, Layers::Two));
}
