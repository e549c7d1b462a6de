//! `seamline session … --format json`: one object, with a version, and as its help says.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::bench::{BROKEN, Bench};
use crate::sessions::HELLO;

/// The members of an object, and of the objects in its lists.
fn members(value: &Value) -> BTreeSet<String> {
    let Some(object) = value.as_object() else { return BTreeSet::new() };
    let mut all: BTreeSet<String> = object.keys().cloned().collect();
    for list in object.values().filter_map(Value::as_array) {
        all.extend(list.iter().filter_map(Value::as_object).flat_map(|item| item.keys().cloned()));
    }
    all
}

#[test]
fn programs_get_one_object_with_a_version_as_the_help_says() {
    let bench = Bench::new();
    bench.write("body.json", BROKEN);
    bench.session(&["new", "s-1", "--provider", "anthropic"]).expect(0);
    bench.session(&["append", "s-1", "body.json", "--body"]).expect(0);
    bench.session(&["repair", "s-1", "--all"]).expect(0);
    bench.session(&["checkpoint", "s-1"]).expect(0);
    bench.append("s-1", HELLO).expect(0);
    bench.session(&["rollback", "s-1"]).expect(0);
    for (args, top) in [
        (&["list"][..], &["sessions"][..]),
        (&["show", "s-1"], &["session", "checkpoints", "incidents", "messages"]),
        (&["show", "s-1", "--messages"], &["session", "messages"]),
        (&["show", "s-1", "--records"], &["session", "records"]),
        (&["check", "s-1"], &["documents"]),
        (&["repair", "s-1", "--dry-run"], &["session", "actions", "remaining"]),
        (&["checkpoints", "s-1"], &["session", "checkpoints"]),
        (&["incidents", "s-1"], &["session", "incidents"]),
        (&["recover", "s-1", "--dry-run"], &["session", "calls"]),
        (&["verify"], &["sessions"]),
        (&["tail", "s-1", "-n", "1"], &["session", "message"]),
    ] {
        let ran = bench.session(&[args, &["--format", "json"]].concat()).expect(0);
        let told = ran.json();
        assert!(ran.out.starts_with("{\"version\":1,"), "{}", ran.out);
        for name in top {
            assert!(told.get(name).is_some(), "{name} of {args:?} in {told}");
        }
        if let Some(session) = told.get("session") {
            assert_eq!(session, "s-1", "{args:?}");
        }
        // The help of other commands describes the members that they list as well.
        let told_by = if args[0] == "show" { &["show", "checkpoints", "incidents"][..] } else { &args[..1] };
        let helps = told_by.iter().map(|command| bench.session(&[command, "--help"]).expect(0).out);
        let help: String = helps.collect();
        let words: Vec<&str> = help.split('`').collect();
        let missing: Vec<_> = members(&told).into_iter().filter(|name| !words.contains(&name.as_str())).collect();
        assert!(missing.is_empty(), "{args:?} prints {missing:?}, and its help does not say so");
    }
}

#[test]
fn a_switched_session_is_shown_with_its_current_and_its_original_provider() {
    let bench = Bench::new();
    bench.session(&["new", "s-1", "--provider", "anthropic"]).expect(0);
    // The bytes of a message are not taken for a record.
    bench
        .append("s-1", r#"{"role":"user","content":[{"switch":{"dialect":"none"},"type":"text","text":"hi"}]}"#)
        .expect(0);
    let side = |dialect: &str, provider: &str| serde_json::json!({"dialect": dialect, "provider": provider});
    let sides = || {
        let shown = bench.session(&["show", "s-1", "--format", "json"]).expect(0).json();
        let listed = bench.session(&["list", "--format", "json"]).expect(0).json()["sessions"][0].take();
        for name in ["dialect", "provider", "switched_from"] {
            assert_eq!(shown.get(name), listed.get(name), "{name}");
        }
        (
            serde_json::json!({"dialect": shown["dialect"], "provider": shown["provider"]}),
            shown["switched_from"].clone(),
        )
    };
    assert_eq!(sides(), (side("anthropic_messages", "anthropic"), Value::Null));
    bench.session(&["switch", "s-1", "--provider", "openai"]).expect(0);
    assert_eq!(sides(), (side("openai_chat", "openai"), side("anthropic_messages", "anthropic")));
    let shown = bench.session(&["show", "s-1"]).expect(0).out;
    let rows = "  dialect    openai_chat for openai\n             switched from anthropic_messages for anthropic\n";
    assert!(shown.contains(rows), "{shown}");
    let listed = bench.session(&["list"]).expect(0).out;
    assert!(listed.contains("openai (switched from anthropic)"), "{listed}");
    bench.session(&["switch", "s-1", "--provider", "anthropic"]).expect(0);
    assert_eq!(sides(), (side("anthropic_messages", "anthropic"), Value::Null));
}
