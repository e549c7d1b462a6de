//! `seamline session reset`: nothing is done unasked, and it is said what went where.

use crate::bench::Bench;
use crate::sessions::HELLO;

#[test]
fn starting_over_is_not_done_unasked_and_says_how_many_messages_went_where() {
    let bench = Bench::greeted("s-1");
    bench.append("s-1", HELLO).expect(0);
    let ran = bench.session(&["reset", "s-1"]).expect(2);
    assert!(
        ran.err.contains("this would take the 2 messages of session `s-1` out of what is to be seen"),
        "{}",
        ran.err
    );
    assert!(ran.err.contains("hint: `--yes` does it; `--archive` keeps them as a session"), "{}", ran.err);
    assert_eq!(bench.messages("s-1").lines().count(), 2);
    let ran = bench.session(&["reset", "s-1", "--archive", "--yes"]).expect(0);
    assert_eq!(ran.out, "✓ s-1: started over; 2 messages kept as session s-1.archive-1, 0 messages left\n");
    bench.append("s-1", HELLO).expect(0);
    let ran = bench.session(&["reset", "s-1", "--yes"]).expect(0);
    let lists = "`seamline session show --records s-1` still lists them";
    assert_eq!(ran.out, format!("✓ s-1: started over; 1 message taken out, 0 messages left; {lists}\n"));
}

#[test]
fn a_long_name_is_archived_under_a_shorter_one() {
    let name = "n".repeat(120);
    let bench = Bench::greeted(&name);
    let ran = bench.session(&["reset", &name, "--archive", "--yes"]).expect(0);
    let archive = ran.out.split("kept as session ").nth(1).and_then(|rest| rest.split(',').next()).unwrap();
    assert_eq!(bench.messages(archive), format!("{HELLO}\n"), "{}", ran.out);
}
