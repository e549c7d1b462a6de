//! Inputs that `seamline session …` refuses.

use crate::bench::{BROKEN, Bench};
use crate::sessions::HELLO;

/// The byte order mark that editors put before a text.
const MARK: &str = "\u{feff}";

#[test]
fn a_byte_order_mark_is_not_part_of_the_message() {
    let bench = Bench::new();
    bench.session(&["new", "s-1"]).expect(0);
    bench.append("s-1", &format!("{MARK}{HELLO}")).expect(0);
    bench.append("s-1", &format!("{MARK}[{HELLO}]")).expect(0);
    bench.write("body.json", format!("{MARK}{BROKEN}"));
    bench.session(&["append", "s-1", "body.json", "--body"]).expect(0);
    let messages = bench.messages("s-1");
    assert!(messages.starts_with(&format!("{HELLO}\n{HELLO}\n{{\"role\":\"user\"")), "{messages}");
    let envelope = format!("{MARK}{{\"model\":\"m\",\"max_tokens\":64}}");
    let ran = bench.run_on(envelope, &["session", "request", "s-1", "--envelope", "-"]).expect(0);
    assert!(ran.out.starts_with("{\"model\":\"m\""), "{}", ran.out);
    let exported = bench.session(&["export", "s-1"]).expect(0).out;
    let args = ["session", "import", "-", "--store", "sqlite:other.db"];
    bench.run_on(format!("{MARK}{exported}"), &args).expect(0);
    assert_eq!(bench.session(&["export", "s-1", "--store", "sqlite:other.db"]).expect(0).out, exported);
}

#[test]
fn a_body_that_does_not_fit_the_session_is_refused_with_the_expected_form() {
    let bench = Bench::new();
    bench.session(&["new", "s-1", "--provider", "anthropic"]).expect(0);
    let append = |text: &str| bench.run_on(text, &["session", "append", "s-1", "--body"]).expect(2).err;
    let err = append(r#"{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}"#);
    assert!(err.contains("the body is in gemini_generate, but session `s-1` keeps anthropic_messages"), "{err}");
    assert!(err.contains("`seamline convert FILE --to anthropic | seamline session append s-1 --body`"), "{err}");
    for wrong in [r#"{"role":"user"}"#, r#"{"messages":3}"#] {
        let err = append(wrong);
        assert!(err.contains("session `s-1` keeps anthropic_messages") && !err.contains("--dialect"), "{err}");
    }
    assert!(append(HELLO).contains("without `--body`"));
    bench.write("body.json", BROKEN);
    for args in [&["append", "s-12", "body.json", "--body"][..], &["append", "s-12", "body.json"]] {
        let ran = bench.session(args).expect(2);
        let said = "seamline: there is no session `s-12`\nhint: did you mean `s-1`?\n";
        assert_eq!(ran.err, said);
    }
    let ran = bench.session(&["append", "other", "body.json"]).expect(2);
    assert!(ran.err.contains("`seamline session new other` creates it"), "{}", ran.err);
}

#[test]
fn a_value_that_is_not_a_message_is_refused_with_its_place() {
    let bench = Bench::greeted("s-1");
    for (wrong, what) in [
        ("", "standard input: it is empty"),
        (" \n", "standard input: it is empty"),
        ("[]", "standard input: it contains no message"),
        ("hello", "standard input: not JSON: expected value at line 1 column 1"),
        ("{\"role\":", "standard input: not JSON: EOF"),
    ] {
        let ran = bench.append("s-1", wrong).expect(2);
        assert!(ran.err.contains(what), "{what} in {}", ran.err);
        assert!(ran.err.contains(r#"hint: nothing was added; a message is a JSON object, such as {"role":"user""#));
    }
    let ran = bench.run_on(b"{\"role\":\"user\",\"content\":\"\xff\"}", &["session", "append", "s-1"]).expect(2);
    assert!(
        ran.err.contains("not UTF-8 from byte 26 on") && ran.err.contains("hint: nothing was added"),
        "{}",
        ran.err
    );
    let ran = bench.run_on(b"\xff\xfe{\0", &["session", "append", "s-1"]).expect(2);
    assert!(ran.err.contains("UTF-16") && ran.err.contains("iconv"), "{}", ran.err);
    let ran = bench.append("s-1", "data: {\"type\":\"message_start\",\"message\":{}}\n\n").expect(2);
    assert!(ran.err.contains("streamed response") && ran.err.contains("seamline assemble"), "{}", ran.err);
    assert_eq!(bench.messages("s-1"), format!("{HELLO}\n"));
}

#[test]
fn a_session_without_checkpoints_gets_a_hint_how_to_make_one() {
    let bench = Bench::greeted("s-1");
    for args in [&["rollback", "s-1"][..], &["rollback", "s-1", "ckpt_1"], &["commit", "s-1", "ckpt_1"]] {
        let ran = bench.session(args).expect(2);
        assert!(
            ran.err.contains("hint: there is none yet; `seamline session checkpoint s-1` creates one"),
            "{}",
            ran.err
        );
    }
}

#[test]
fn a_file_that_is_not_an_export_is_refused_with_its_kind() {
    let bench = Bench::greeted("s-1");
    let messages = bench.messages("s-1");
    for (wrong, what) in [(messages.as_str(), "messages"), (BROKEN, "not an export"), ("hello", "not an export")] {
        let ran = bench.run_on(wrong, &["session", "import", "-"]).expect(2);
        assert!(ran.err.contains(what) && ran.err.contains("hint:"), "{}", ran.err);
    }
    let ran = bench.run_on(&messages, &["session", "import", "-"]).expect(2);
    assert!(ran.err.contains("hint: `seamline session append NAME FILE` adds messages to a session"), "{}", ran.err);
}

#[test]
fn a_session_without_messages_gets_a_hint_how_to_add_one() {
    let bench = Bench::new();
    bench.session(&["new", "s-1"]).expect(0);
    let ran = bench.session(&["check", "s-1"]).expect(1);
    assert!(ran.out.ends_with("✗ 1 error; `seamline session append s-1` adds the first message\n"), "{}", ran.out);
}

#[test]
fn a_request_is_the_same_as_that_of_a_program_under_a_policy_that_is_switched_off() {
    let bench = Bench::new();
    bench.write("off.toml", "[session]\nenabled = false\n");
    bench.write("body.json", crate::bench::BROKEN);
    bench.session(&["new", "s-1", "--policy", "off.toml"]).expect(0);
    bench.session(&["append", "s-1", "body.json", "--body"]).expect(0);
    let ran = bench.session(&["request", "s-1"]).expect(1);
    let store = bench.store();
    let request = futures_executor::block_on(async {
        let options = seamline::session::OpenOptions::default();
        let session = seamline::session::Session::open(store, "s-1".parse().unwrap(), options).await.unwrap();
        let request = session.request("{}").unwrap();
        session.close().await.unwrap();
        request
    });
    assert_eq!(ran.out.as_bytes(), &*request.body);
    assert!(ran.err.contains("still wrong: 1 error"), "{}", ran.err);
    assert_eq!(ran.json()["messages"].as_array().unwrap().len(), 3, "the body is not repaired");
}
