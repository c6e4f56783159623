//! How ranges that stand in the context again are shown.

use sayso::model::Layout;

use super::*;

#[test]
fn what_comes_back_is_what_a_terminal_would_show() {
    let world = open();
    let session = world.session("Acme", "Plan").id;
    let stdout = "compiling\r\n10%\r50%\r100%\n\u{1B}[31mnight ferry: no berth\u{1B}[0m\n";
    ran(&world, session, &Ran { stdout, ..Ran::default() });
    compact(&world, session, "They looked at ferries.");
    let back = asks(&world, session, "Where is the night ferry?").unwrap().reinjection;
    assert_eq!(back.layout, Layout::V2);
    for context in contexts(&world, session) {
        assert!(context.contains(r"compiling\n100%\nnight ferry: no berth"), "{context}");
        assert!(context.contains(", as a terminal would show it, "), "{context}");
        assert!(!context.contains("U+001B"), "{context}");
    }
    // What was recorded before is shown as it was.
    let old = Reinjection { layout: Layout::V1, ..back };
    let entry = world
        .all()
        .walk(session, 0)
        .map(Result::unwrap)
        .find(|e| matches!(e.body, EntryBody::Reinjection(_)));
    let entry = Entry { body: EntryBody::Reinjection(old), ..entry.unwrap() };
    let ranges = world.all().ranges(std::slice::from_ref(&entry)).unwrap();
    let EntryBody::Reinjection(old) = &entry.body else { unreachable!() };
    let shown = sayso::view::context::range_block(&entry, &old.items[0], old.layout, ranges.get(entry.id, 0));
    assert!(shown.contains("⟦U+001B⟧[31mnight ferry") && !shown.contains("as a terminal"), "{shown}");
}
