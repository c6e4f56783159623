//! Making a view fit.

use super::{Body, Detail, View};
use crate::profile::Cost;

/// The view within this room. What fits is left alone, so that bounding twice changes nothing.
pub(super) fn bound(view: &View, room: Cost) -> View {
    if view.cost().fits(&room) {
        return view.clone();
    }
    let mut view = view.clone();
    say_less(&mut view, room.percent(50));
    share(&mut view, room);
    while !view.cost().fits(&room) && drop_one(&mut view) {}
    view
}

/// What is said beside the content takes at most half.
fn say_less(view: &mut View, half: Cost) {
    for detail in [Detail::Short, Detail::Bare] {
        if view.cost_beside().fits(&half) {
            return;
        }
        view.detail = view.detail.min(detail);
    }
}

/// Both streams get what they need; where that is too much, a third is kept for stderr.
fn share(view: &mut View, room: Cost) {
    let room = room.minus(view.cost_beside());
    let (out, err) = (demand(&view.stdout), demand(&view.stderr));
    let for_err = err.least(room.percent(34).most(room.minus(out)));
    if let Body::Text(text) = &view.stderr {
        view.stderr = Body::Text(text.fit(for_err));
    }
    let left = room.minus(demand(&view.stderr));
    if let Body::Text(text) = &view.stdout {
        view.stdout = Body::Text(text.fit(left));
    }
}

fn demand(body: &Body) -> Cost {
    match body {
        Body::Text(text) => text.cost(),
        Body::Binary(_) => Cost::default(),
    }
}

/// Takes away what matters least.
fn drop_one(view: &mut View) -> bool {
    let larger = demand(&view.stdout).bytes >= demand(&view.stderr).bytes;
    let (first, second) =
        if larger { (&mut view.stdout, &mut view.stderr) } else { (&mut view.stderr, &mut view.stdout) };
    if drop_line(first) || drop_line(second) {
        return true;
    }
    let bare = view.detail == Detail::Bare;
    view.detail = Detail::Bare;
    !bare
}

fn drop_line(body: &mut Body) -> bool {
    match body {
        Body::Text(text) => text.drop_one(),
        Body::Binary(_) => false,
    }
}
