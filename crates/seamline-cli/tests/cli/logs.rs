//! `--log` and `SEAMLINE_LOG`

use crate::bench::{BROKEN, Bench, Ran, TWICE};

#[test]
fn nothing_is_logged_by_default() {
    let bench = Bench::new();
    bench.write("broken.json", BROKEN);
    assert_eq!(bench.run(&["check", "broken.json"]).expect(1).err, "");
    assert_eq!(bench.run(&["--log", "off", "check", "broken.json"]).expect(1).err, "");
    assert_eq!(bench.run(&["--log", "error", "check", "broken.json"]).expect(1).err, "");
}

#[test]
fn a_log_goes_to_standard_error_and_changes_nothing_else() {
    let bench = Bench::new();
    bench.write("broken.json", BROKEN);
    let plain = bench.run(&["check", "broken.json", "--format", "json"]).expect(1);
    for args in [
        ["--log", "debug", "check", "broken.json", "--format", "json"],
        ["check", "broken.json", "--format", "json", "--log", "debug"],
    ] {
        let logged = bench.run(&args).expect(1);
        assert_eq!(logged.out, plain.out);
        assert!(logged.err.contains(r#"file{path="broken.json"}"#), "{}", logged.err);
        assert!(logged.err.contains("checked dialect=\"anthropic_messages\""), "{}", logged.err);
    }
    let by_variable = Ran::of(bench.command(&["check", "broken.json"]).env("SEAMLINE_LOG", "debug")).expect(1);
    assert!(by_variable.err.contains("findings=1"), "{}", by_variable.err);
}

#[test]
fn a_log_has_no_text_of_the_conversation() {
    let bench = Bench::new();
    bench.write("broken.json", BROKEN);
    bench.write("twice.json", TWICE);
    for policy in ["lossless", "libr-agent", "clawos"] {
        let args = ["--log", "trace", "fix", "--diff", "broken.json", "twice.json", "--policy", policy];
        let err = bench.run(&args).err;
        assert!(err.contains("repair action") && err.contains("repaired"), "{err}");
        for said in ["main.rs", "never mind", "I see", "go on", "\"src\""] {
            assert!(!err.contains(said), "{said} is in {err}");
        }
    }
}

#[test]
fn an_unknown_level_is_refused() {
    let bench = Bench::new();
    let refused = bench.run(&["--log", "loud", "rules"]).expect(2);
    assert!(refused.err.contains("loud") && refused.err.contains("debug"), "{}", refused.err);
}
