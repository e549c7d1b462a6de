//! The origins of messages after a repair.

use futures_executor::block_on;
use seamline::session::{Session, SessionOptions, ToolOutput};
use seamline::store::{Effect, Origin};

/// A late result in its own message, and the place that its call moves to.
const LATE: [(&str, [&str; 4]); 3] = [
    (
        "anthropic_messages",
        [
            r#"{"role":"user","content":"go"}"#,
            r#"{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"pay","input":{}}]}"#,
            r#"{"role":"user","content":"stop"}"#,
            r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"paid"}]}"#,
        ],
    ),
    (
        "openai_chat",
        [
            r#"{"role":"user","content":"go"}"#,
            r#"{"role":"assistant","tool_calls":[{"id":"call_1","type":"function","function":{"name":"pay","arguments":"{}"}}]}"#,
            r#"{"role":"user","content":"stop"}"#,
            r#"{"role":"tool","tool_call_id":"call_1","content":"paid"}"#,
        ],
    ),
    (
        "gemini_generate",
        [
            r#"{"role":"user","parts":[{"text":"go"}]}"#,
            r#"{"role":"model","parts":[{"functionCall":{"name":"pay","args":{}}}]}"#,
            r#"{"role":"user","parts":[{"text":"stop"}]}"#,
            r#"{"role":"user","parts":[{"functionResponse":{"name":"pay","response":{"output":"paid"}}}]}"#,
        ],
    ),
];

#[test]
fn a_moved_message_keeps_its_origin() {
    for (dialect, messages) in LATE {
        block_on(async {
            let options = SessionOptions { dialect: Some(dialect.to_owned()), ..SessionOptions::default() };
            let store = seamline::open_store("memory:").await.unwrap();
            let mut session = Session::create(store, "s-1".parse().unwrap(), options).await.unwrap();
            session.append_all(&messages).await.unwrap();
            assert!(session.repair().await.unwrap().repaired, "{dialect}");
            assert!(session.messages().nth(2).is_some_and(|message| message.contains("paid")), "{dialect}");
            let origins: Vec<Origin> = session.entries().iter().map(|entry| entry.origin).collect();
            assert!(origins.iter().all(|origin| *origin == Origin::Said), "{dialect}: {origins:?}");
        });
    }
}

/// The words of an output do not decide whether a tool wrote it.
#[test]
fn a_tool_that_prints_a_synthetic_text_and_fails_is_marked_as_failed() {
    const PRINTED: &str = "[synthetic] No result was recorded for this tool call. Whether it ran is unknown; check before running it again.";
    block_on(async {
        let [(_, _), (dialect, [user, turn, ..]), _] = LATE;
        let options = SessionOptions { dialect: Some(dialect.to_owned()), ..SessionOptions::default() };
        let store = seamline::open_store("memory:").await.unwrap();
        let mut session = Session::create(store, "s-1".parse().unwrap(), options).await.unwrap();
        session.append(user).await.unwrap();
        let (cycle, calls) = session.begin_cycle(&[turn], &|_| Effect::ReadOnly).await.unwrap();
        let output = ToolOutput { output: PRINTED.to_owned(), is_error: true };
        session.finish_call(&cycle, &calls[0].id, &output).await.unwrap();
        let outcomes = session.commit_cycle(&cycle).await.unwrap();
        assert!(outcomes[0].is_error && !outcomes[0].synthetic);
        let result = session.messages().last().unwrap().to_owned();
        assert!(result.contains(&format!("[tool error] {PRINTED}")), "{result}");
        assert_eq!(session.entries().last().unwrap().origin, Origin::Said);
    });
}
