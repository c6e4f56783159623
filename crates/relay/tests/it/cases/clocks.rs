//! Clocks that somebody sets while an exchange is under way, with and without a new relay that begins under the new time.

use std::sync::atomic::Ordering;

use sayso::model::relay::AnswerState;
use sayso_relay::port::SessionEvent;

use super::open;
use crate::world::{World, last};

const YEAR: i64 = 365 * 86_400_000;

/// How far the clock is set: years ahead and back, before 1970, and to the end of the year 9999 or about.
const JUMPS: [i64; 5] = [10 * YEAR, -10 * YEAR, -80 * YEAR, 7_900 * YEAR, 0];

fn jump(w: &mut World, by: i64, anew: bool) {
    w.time.wall.fetch_add(by, Ordering::Relaxed);
    if anew {
        w.crash(false);
    }
}

#[test]
fn an_exchange_is_done_once_and_in_order_whatever_the_clock_does_meanwhile() {
    for by in JUMPS {
        for anew in [false, true] {
            let mut w = open();
            for n in 1..=2 {
                w.scripts(vec![
                    (5_000, last(&format!("a{n}"), &format!("answer {n}"))),
                    (0, SessionEvent::Settled { request: None }),
                ]);
            }
            let first = w.says("A", "one?");
            w.settle();
            jump(&mut w, by, anew);
            let second = w.says("A", "two?");
            w.pass(4_000);
            jump(&mut w, -by, anew);
            w.pass(600_000);
            let at = format!("{by} ms, anew: {anew}");
            let saw = w.saw("A");
            for n in 1..=2 {
                let times = saw.iter().filter(|text| **text == format!("answer {n}")).count();
                assert_eq!(times, 1, "{at}: {saw:?}");
            }
            assert_eq!(w.net.borrow().agent.injected.len(), 2, "{at}: each went in once");
            for id in [first, second] {
                assert_eq!(w.request(id).answer, AnswerState::Final, "{at}");
            }
            assert!(w.request(first).seq < w.request(second).seq, "{at}");
        }
    }
}
