//! `seamline session reset`: it requires consent, and reports where the messages went.

use crate::bench::Bench;
use crate::sessions::HELLO;

#[test]
fn a_reset_requires_consent_and_reports_where_the_messages_went() {
    let bench = Bench::greeted("s-1");
    bench.append("s-1", HELLO).expect(0);
    let ran = bench.session(&["reset", "s-1"]).expect(2);
    assert!(ran.err.contains("this would hide the 2 messages of session `s-1`"), "{}", ran.err);
    assert!(ran.err.contains("hint: `--yes` does it; `--archive` keeps them as a separate session"), "{}", ran.err);
    assert_eq!(bench.messages("s-1").lines().count(), 2);
    let ran = bench.session(&["reset", "s-1", "--archive", "--yes"]).expect(0);
    assert_eq!(ran.out, "✓ s-1: started over; 2 messages kept as session s-1.archive-1, 0 messages left\n");
    bench.append("s-1", HELLO).expect(0);
    let ran = bench.session(&["reset", "s-1", "--yes"]).expect(0);
    let lists = "`seamline session show --records s-1` still lists them";
    assert_eq!(ran.on_one_line(), format!("✓ s-1: started over; 1 message hidden, 0 messages left; {lists}"));
}

#[test]
fn a_long_name_is_archived_under_a_shorter_one() {
    let name = "n".repeat(120);
    let bench = Bench::greeted(&name);
    let ran = bench.session(&["reset", &name, "--archive", "--yes"]).expect(0);
    let line = ran.on_one_line();
    let archive = line.split("kept as session ").nth(1).and_then(|rest| rest.split(',').next()).unwrap();
    assert_eq!(bench.messages(archive), format!("{HELLO}\n"), "{}", ran.out);
}
