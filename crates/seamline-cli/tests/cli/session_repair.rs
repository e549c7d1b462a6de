//! `seamline session repair`.

use crate::bench::{BROKEN, Bench, CAUTIOUS};

#[test]
fn fixes_that_drop_or_guess_need_the_unsafe_option() {
    let bench = Bench::new();
    bench.write("body.json", BROKEN);
    bench.write("cautious.toml", CAUTIOUS);
    bench.session(&["new", "s-1"]).expect(0);
    bench.session(&["append", "s-1", "body.json", "--body"]).expect(0);
    let before = bench.messages("s-1");
    let repair = ["repair", "s-1", "--policy", "cautious.toml"];
    let ran = bench.session(&repair).expect(1);
    assert!(ran.out.contains("`--unsafe` would fix 1 of them"), "{}", ran.out);
    assert_eq!(bench.messages("s-1"), before);
    let unsafely = [&repair[..], &["--unsafe"]].concat();
    let ran = bench.session(&[&unsafely[..], &["--dry-run"]].concat()).expect(0);
    assert!(ran.out.contains("nothing was changed") && bench.messages("s-1") == before, "{}", ran.out);
    let ran = bench.session(&unsafely).expect(0);
    assert!(ran.out.contains("removed"), "{}", ran.out);
    assert!(!bench.messages("s-1").contains("toolu_1"));
    bench.session(&["undo", "s-1"]).expect(0);
    assert_eq!(bench.messages("s-1"), before);
}

#[test]
fn a_session_with_notes_only_is_not_reported_as_wrong() {
    let bench = Bench::new();
    bench.session(&["new", "s-1", "--policy", "clawos"]).expect(0);
    bench.append("s-1", r#"{"role":"user","content":"read it"}"#).expect(0);
    bench
        .append(
            "s-1",
            r#"{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"read","input":{}}]}"#,
        )
        .expect(0);
    let ran = bench.session(&["repair", "s-1"]).expect(0);
    assert!(ran.out.starts_with("✓ s-1: no errors or warnings, nothing changed\n\n1 note\n"), "{}", ran.out);
    assert!(!ran.out.contains("wrong"), "{}", ran.out);
    let ran = bench.session(&["check", "s-1"]).expect(0);
    assert!(ran.out.ends_with("✓ no errors or warnings, 1 note\n"), "{}", ran.out);
}
