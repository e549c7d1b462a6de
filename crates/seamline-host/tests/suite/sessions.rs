//! Sessions: hooks, cycles, checkpoints, and what is left after a crash.

use serde_json::{Value, json};

use crate::client::Client;

const CALL: &str = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"read","arguments":"{}"}}]}"#;

async fn created(client: &mut Client, store: &str, id: &str) -> Value {
    let options = json!({"provider": "openai", "dialect": "openai_chat"});
    client.ask("session/create", json!({"store": store, "id": id, "options": options})).await["handle"].clone()
}

fn call() -> Value {
    serde_json::from_str(CALL).unwrap()
}

#[tokio::test]
async fn a_turn_with_a_tool_call_runs_through_the_hooks() {
    let mut client = Client::new();
    let session = created(&mut client, "memory:", "s-1").await;
    let started = client.ask("session/session_start", json!({"session": session})).await;
    assert_eq!((&started["repair_offered"], &started["unresolved"]), (&json!(false), &json!([])));
    client.ask("session/append", json!({"session": session, "messages": [{"role": "user", "content": "read"}]})).await;
    let start =
        client.ask("session/before_agent_start", json!({"session": session, "envelope": {"model": "gpt-5"}})).await;
    assert_eq!((&start["start"], &start["request"]["sendable"]), (&json!("proceed"), &json!(true)));
    assert_eq!(start["request"]["body"]["messages"][0]["content"], "read");

    let begun = client
        .ask("session/begin_cycle", json!({"session": session, "messages": [call()], "effects": {"read": "read_only"}}))
        .await;
    assert_eq!(begun["calls"][0]["name"], "read");
    let (cycle, id) = (begun["cycle"].clone(), begun["calls"][0]["id"].clone());
    let named = json!({"session": session, "cycle": cycle, "call": id});
    let key = client.ask("session/before_tool_call", named.clone()).await["key"].clone();
    assert!(!key.as_str().unwrap().is_empty());
    let mut after = named;
    after["output"] = "fn main() {}".into();
    let done = client.ask("session/after_tool_call", after).await;
    assert_eq!((&done["committed"], &done["outcomes"][0]["content"]), (&json!(true), &json!("fn main() {}")));

    let end = json!({"session": session, "messages": [{"role": "assistant", "content": "done"}]});
    assert_eq!(client.ask("session/agent_end", end).await["end"], "committed");
    let messages = client.ask("session/messages", json!({"session": session})).await["messages"].clone();
    let roles: Vec<_> = messages.as_array().unwrap().iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "assistant"]);
    assert_eq!(client.ask("session/validate", json!({"session": session})).await["valid"], true);
    assert_eq!(client.ask("session/check", json!({"session": session})).await["findings"], json!([]));
}

#[tokio::test]
async fn messages_keep_their_bytes_and_their_order() {
    let mut client = Client::new();
    let session = created(&mut client, "memory:", "s-1").await;
    let mut lines = Vec::new();
    for number in 0..200 {
        let message = format!(r#"{{"role":"user",  "content":"{number}"}}"#);
        lines.push(format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{number},\"method\":\"session/append\",\"params\":{{\"session\":{session},\"messages\":[{message}]}}}}"
        ));
    }
    client.send(&lines.join("\n")).await;
    for _ in 0..200 {
        let response = client.receive().await;
        assert_eq!(response["result"]["messages"], response["id"].as_u64().unwrap() + 1, "{response}");
    }
    let all =
        client.ask("session/messages", json!({"session": session, "as_text": true, "start": 3, "limit": 2})).await;
    assert_eq!(all["messages"], json!([r#"{"role":"user",  "content":"3"}"#, r#"{"role":"user",  "content":"4"}"#]));
}

#[tokio::test]
async fn a_crash_leaves_what_was_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let store = format!("sqlite:{}", folder.path().join("s.db").display());
    let mut client = Client::new();
    let session = created(&mut client, &store, "s-1").await;
    client.ask("session/append", json!({"session": session, "messages": [{"role": "user", "content": "go"}]})).await;
    let begun = client.ask("session/begin_cycle", json!({"session": session, "messages": [call()]})).await;
    let named = json!({"session": session, "cycle": begun["cycle"], "call": begun["calls"][0]["id"]});
    client.ask("session/before_tool_call", named).await;
    // The host ends here, with the call running.
    client.end().await;

    let mut client = Client::new();
    let listed = client.ask("session/list", json!({"store": store})).await;
    assert_eq!(listed["sessions"][0]["session"], "s-1");
    let opened = client.ask("session/open", json!({"store": store, "id": "s-1", "options": {"recover": false}})).await;
    assert_eq!((&opened["whole"], &opened["messages"]), (&json!(true), &json!(1)));
    let session = opened["handle"].clone();
    let calls = client.ask("session/unresolved", json!({"session": session})).await["calls"].clone();
    assert_eq!((&calls[0]["truth"], &calls[0]["tool"]), (&json!("outcome_unknown"), &json!("read")));
    let recovered = client.ask("session/recover", json!({"session": session})).await;
    assert_eq!((&recovered["cycles"], &recovered["unknown"]), (&json!(1), &json!(1)));
    let late = json!({"session": session, "call": calls[0]["call"], "tool": "read", "output": "late"});
    assert_eq!(client.ask("session/add_late_result", late).await["added"], true);
    let context = client.ask("session/repair_context", json!({"session": session, "take": true})).await;
    assert!(context["repairs"].as_u64().unwrap() > 0);
    client.ask("close", json!({"handle": session})).await;
    client.ask("session/erase", json!({"store": store, "id": "s-1"})).await;
    let response = client.response("session/open", json!({"store": store, "id": "s-1"})).await;
    assert_eq!(response["error"]["data"]["kind"], "erased");
}

#[tokio::test]
async fn a_session_has_one_writer() {
    let folder = tempfile::tempdir().unwrap();
    let store = format!("sqlite:{}", folder.path().join("s.db").display());
    let (mut one, mut other) = (Client::new(), Client::new());
    let session = created(&mut one, &store, "s-1").await;
    let response = other.response("session/open", json!({"store": store, "id": "s-1"})).await;
    assert_eq!(response["error"]["data"]["kind"], "busy");
    other.ask("session/open", json!({"store": store, "id": "s-1", "options": {"take_over": true}})).await;
    let append = json!({"session": session, "messages": [{"role": "user", "content": "go"}]});
    let response = one.response("session/append", append).await;
    assert_eq!(response["error"]["data"]["kind"], "fenced");
}

#[tokio::test]
async fn a_stream_becomes_a_cycle() {
    let mut client = Client::new();
    let session = created(&mut client, "memory:", "s-1").await;
    client.ask("session/append", json!({"session": session, "messages": [{"role": "user", "content": "go"}]})).await;
    let stream = client.ask("stream/open", json!({"options": {"dialect": "openai_chat"}})).await["handle"].clone();
    let text = "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"tool_calls\":[{\"index\":0,\"id\":\"call_1\",\
                \"function\":{\"name\":\"read\",\"arguments\":\"{}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n";
    client.ask("stream/feed", json!({"stream": stream, "text": text})).await;
    let begin = json!({"session": session, "stream": stream});
    assert_eq!(client.refused("session/begin_cycle", begin.clone()).await.0, -32602, "the stream has not ended");
    client.ask("stream/finish", json!({"stream": stream})).await;
    let begun = client.ask("session/begin_cycle", begin).await;
    let params = json!({"session": session, "cycle": begun["cycle"], "call": "call_1", "error": "no such tool"});
    client
        .ask("session/before_tool_call", json!({"session": session, "cycle": begun["cycle"], "call": "call_1"}))
        .await;
    let done = client.ask("session/after_tool_failure", params).await;
    assert_eq!((&done["committed"], &done["outcomes"][0]["is_error"]), (&json!(true), &json!(true)));
}

#[tokio::test]
async fn checkpoints_compaction_and_reset() {
    let mut client = Client::new();
    let session = created(&mut client, "memory:", "s-1").await;
    let user = |text: &str| json!({"role": "user", "content": text});
    client.ask("session/append", json!({"session": session, "messages": [user("a"), user("b"), user("c")]})).await;
    let checkpoint = client.ask("session/create_checkpoint", json!({"session": session})).await["id"].clone();
    client.ask("session/append", json!({"session": session, "messages": [user("d")]})).await;
    let back = client.ask("session/rollback", json!({"session": session, "checkpoint": checkpoint})).await;
    assert_eq!((&back["messagesRemoved"], &back["newMessageCount"]), (&json!(1), &json!(3)));
    let range = client.ask("session/before_compaction", json!({"session": session, "start": 0, "end": 2})).await;
    let finish =
        json!({"session": session, "start": range["start"], "end": range["end"], "summary": [user("a and b")]});
    client.ask("session/finish_compaction", finish).await;
    let messages = client.ask("session/messages", json!({"session": session})).await;
    assert_eq!(messages["messages"], json!([user("a and b"), user("c")]));
    assert_eq!(client.ask("session/cancel_compaction", json!({"session": session})).await["taken_in"], 0);
    let kept = client.ask("session/create_checkpoint", json!({"session": session, "operation": "api_call"})).await;
    client.ask("session/commit_checkpoint", json!({"session": session, "checkpoint": kept["id"]})).await;
    let all = client.ask("session/checkpoints", json!({"session": session})).await;
    assert!(!all["checkpoints"].as_array().unwrap().is_empty());
    assert!(
        client.ask("session/prune_checkpoints", json!({"session": session, "keep": 0})).await["dropped"].as_u64()
            > Some(0)
    );
    let reset = client.ask("session/reset", json!({"session": session, "archive": true})).await;
    assert_eq!((&reset["success"], &reset["archived"]), (&json!(true), &json!(true)));
    assert!(client.ask("session/incidents", json!({"session": session})).await["incidents"].is_array());
    assert_eq!(client.ask("session/take_inbox", json!({"session": session})).await["taken_in"], 0);
}

#[tokio::test]
async fn stored_damage_is_repaired_and_the_repair_undone() {
    let mut client = Client::new();
    let session = created(&mut client, "memory:", "s-1").await;
    let broken = json!([{"role": "user", "content": "go"}, call(), {"role": "user", "content": "well?"}]);
    client.ask("session/append", json!({"session": session, "messages": broken})).await;
    assert_eq!(client.ask("session/validate", json!({"session": session})).await["valid"], false);
    let preview = client.ask("session/repair", json!({"session": session, "preview": true})).await;
    assert_eq!(preview["found"][0]["code"], "PAIR001");
    let repaired = client
        .ask("session/repair", json!({"session": session, "policy": {"session": {"persist_repairs": "all"}}}))
        .await;
    assert_eq!(repaired["repaired"], true, "{repaired}");
    assert_eq!(client.ask("session/validate", json!({"session": session})).await["valid"], true);
    assert_eq!(client.ask("session/undo_repair", json!({"session": session})).await["id"], repaired["id"]);
    let request =
        client.ask("session/request", json!({"session": session, "envelope": {"model": "m"}, "as_text": true})).await;
    assert_eq!(request["sendable"], true);
    assert!(request["text"].as_str().unwrap().contains("[synthetic]"));
    let failed = json!({"session": session, "error": {"status": 500, "text": "overloaded"}});
    assert_eq!(client.ask("session/agent_end", failed).await["end"], "recovered");
    client.ask("session/switch_provider", json!({"session": session, "provider": "anthropic"})).await;
    client.ask("session/abort", json!({"session": session})).await;
    client.ask("session/settle", json!({"session": session})).await;
    let error = json!({"session": session, "error": {"status": 529, "text": "Overloaded"}});
    assert_eq!(client.ask("session/handle_error", error).await["class"], "transient");
}
