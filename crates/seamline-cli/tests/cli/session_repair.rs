//! `seamline session repair`.

use crate::bench::{BROKEN, Bench, CAUTIOUS, TWICE};

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

#[test]
fn a_policy_that_stores_all_repairs_needs_no_option() {
    let bench = Bench::new();
    bench.write("body.json", TWICE);
    bench.write("all.toml", "[session]\npersist_repairs = \"all\"\n");
    bench.session(&["new", "s-1", "--policy", "all.toml"]).expect(0);
    bench.session(&["append", "s-1", "body.json", "--body"]).expect(0);
    let ran = bench.session(&["check", "s-1"]).expect(1);
    assert!(ran.on_one_line().contains("`seamline session repair s-1` fixes it"), "{}", ran.out);
    let ran = bench.session(&["repair", "s-1"]).expect(0);
    assert!(ran.out.contains("answered with a synthetic result"), "{}", ran.out);
    bench.session(&["check", "s-1"]).expect(0);
}

#[test]
fn a_repair_that_is_left_to_requests_is_not_reported_as_stored() {
    let bench = Bench::new();
    bench.write("body.json", TWICE);
    bench.session(&["new", "s-1"]).expect(0);
    bench.session(&["append", "s-1", "body.json", "--body"]).expect(0);
    bench.session(&["repair", "s-1"]).expect(1);
    bench.session(&["switch", "s-1", "--provider", "openai"]).expect(0);
    let before = bench.messages("s-1");
    // The message is of another dialect, so only requests can add the result.
    let ran = bench.session(&["check", "s-1"]).expect(1);
    assert!(ran.on_one_line().ends_with("✗ 1 error; each request fixes it"), "{}", ran.out);
    for args in [&["repair", "s-1", "--all", "--dry-run"][..], &["repair", "s-1", "--all"]] {
        let ran = bench.session(args).expect(1);
        assert!(ran.out.starts_with("✗ s-1: not stored; each request makes this repair\n"), "{}", ran.out);
        assert!(!ran.out.contains("undoes it") && !ran.out.contains("omit `--dry-run`"), "{}", ran.out);
        let report = bench.session(&[args, &["--format", "json"]].concat()).expect(1).json();
        let is_empty = |name: &str| report[name].as_array().unwrap().is_empty();
        assert_eq!((&report["changed"], report["repair"].as_str()), (&false.into(), None), "{report}");
        assert!(is_empty("actions") && !is_empty("left_to_requests") && !is_empty("remaining"), "{report}");
    }
    let ran = bench.session(&["repair", "s-1"]).expect(1);
    assert!(!ran.out.contains("repair --all"), "{}", ran.out);
    assert_eq!(bench.messages("s-1"), before);
}

#[test]
fn the_command_stores_a_repair_that_the_policy_of_a_provider_leaves_to_requests() {
    let bench = Bench::new();
    bench.write("body.json", TWICE);
    for section in ["session", "provider.anthropic"] {
        bench.write("never.toml", format!("[{section}]\npersist_repairs = 'never'\n"));
        let name = section.replace('.', "-");
        bench.session(&["new", &name, "--policy", "never.toml"]).expect(0);
        bench.session(&["append", &name, "body.json", "--body"]).expect(0);
        let before = bench.messages(&name);
        let ran = bench.session(&["check", &name]).expect(1);
        assert!(ran.on_one_line().contains("stores all fixes"), "{}", ran.out);
        let ran = bench.session(&["repair", &name, "--all", "--format", "json"]).expect(0);
        assert!(ran.json()["repair"].as_str().is_some_and(|id| id.starts_with("repair_")), "{}", ran.out);
        assert_ne!(bench.messages(&name), before);
        bench.session(&["undo", &name]).expect(0);
        assert_eq!(bench.messages(&name), before);
    }
}
