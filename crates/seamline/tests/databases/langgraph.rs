//! `LangGraph`: the newest checkpoint of a thread holds all of its messages.

use serde_json::{Value, json};

use crate::bed::{Bed, findings};

/// The tables of `SqliteSaver`, as version 3 of `langgraph-checkpoint-sqlite` makes them.
const SCHEMA: &str = "
CREATE TABLE checkpoints (
  thread_id TEXT NOT NULL,
  checkpoint_ns TEXT NOT NULL DEFAULT '',
  checkpoint_id TEXT NOT NULL,
  parent_checkpoint_id TEXT,
  type TEXT,
  checkpoint BLOB,
  metadata BLOB,
  PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id)
);
CREATE TABLE writes (
  thread_id TEXT NOT NULL,
  checkpoint_ns TEXT NOT NULL DEFAULT '',
  checkpoint_id TEXT NOT NULL,
  task_id TEXT NOT NULL,
  task_path TEXT NOT NULL DEFAULT '',
  idx INTEGER NOT NULL,
  channel TEXT NOT NULL,
  type TEXT,
  value BLOB,
  PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx)
);
";

const OLD: &str = "1f1e30f5-9e57-6435-8000-b30b901008be";
const NEW: &str = "1f1e30f5-9eb2-6a0d-8003-f12f716e87aa";

/// Writes a value as `MessagePack`. An object with `py` is an object of Python.
fn pack(value: &Value, out: &mut Vec<u8>) {
    let head = |out: &mut Vec<u8>, kind: u8, length: usize| {
        out.push(kind);
        out.extend(u32::try_from(length).unwrap().to_be_bytes());
    };
    match value {
        Value::Null => out.push(0xc0),
        Value::Bool(is) => out.push(0xc2 + u8::from(*is)),
        Value::Number(number) => {
            out.push(0xd3);
            out.extend(number.as_i64().unwrap().to_be_bytes());
        }
        Value::String(text) => {
            head(out, 0xdb, text.len());
            out.extend(text.as_bytes());
        }
        Value::Array(list) => {
            head(out, 0xdd, list.len());
            for value in list {
                pack(value, out);
            }
        }
        Value::Object(object) if object.contains_key("py") => {
            let mut inner = Vec::new();
            pack(&json!(["langchain_core.messages", object["py"], object["with"], "model_validate_json"]), &mut inner);
            head(out, 0xc9, inner.len());
            out.push(5);
            out.extend(inner);
        }
        Value::Object(object) => {
            head(out, 0xdf, object.len());
            for (name, value) in object {
                pack(&Value::from(name.as_str()), out);
                pack(value, out);
            }
        }
    }
}

fn packed(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    pack(value, &mut out);
    out
}

fn of_python(class: &str, members: &Value) -> Value {
    json!({ "py": class, "with": members })
}

fn human(text: &str) -> Value {
    of_python("HumanMessage", &json!({ "content": text, "type": "human", "id": "h" }))
}

fn call() -> Value {
    let calls = json!([{ "name": "ls", "args": { "n": 1 }, "id": "c1", "type": "tool_call" }]);
    let invalid = json!([{ "name": "rm", "args": "{bad", "id": "c2", "type": "invalid_tool_call", "error": "x" }]);
    let metadata = json!({ "model_name": "m-1" });
    of_python(
        "AIMessage",
        &json!({ "content": [{ "type": "text", "text": "I look." }], "type": "ai", "tool_calls": calls, "invalid_tool_calls": invalid, "response_metadata": metadata }),
    )
}

fn result(id: &str) -> Value {
    of_python("ToolMessage", &json!({ "content": "a b", "type": "tool", "tool_call_id": id, "status": "success" }))
}

fn state(messages: &[Value]) -> Value {
    json!({ "v": 4, "ts": "2026-11-18T05:17:29+00:00", "id": NEW, "channel_values": { "messages": messages }, "versions_seen": {} })
}

fn put(bed: &Bed, thread: &str, id: &str, form: &str, checkpoint: &[u8]) {
    let sql = "INSERT INTO checkpoints (thread_id, checkpoint_id, type, checkpoint) VALUES (?1, ?2, ?3, ?4)";
    bed.connection().execute(sql, (thread, id, form, checkpoint)).unwrap();
}

fn bed(messages: &[Value]) -> Bed {
    let bed = Bed::new(&[SCHEMA]);
    put(&bed, "th-1", OLD, "msgpack", &packed(&state(&[call()])));
    put(&bed, "th-1", NEW, "msgpack", &packed(&state(messages)));
    bed
}

#[test]
fn the_newest_checkpoint_of_a_thread_is_read() {
    let done = of_python("AIMessage", &json!({ "content": "Done.", "type": "ai", "tool_calls": [] }));
    let bed = bed(&[human("list the files"), call(), result("c1"), result("c2"), done]);
    bed.assert_healthy("th-1");
    let checked = bed.check("th-1").checked;
    assert_eq!((checked.messages, checked.calls, checked.about.is_running), (5, 2, false));
    assert_eq!((checked.about.id.as_deref(), checked.about.model.as_deref()), (Some("th-1"), Some("m-1")));
    assert!(checked.body.contains(r#""arguments":"{\"n\":1}""#), "{}", checked.body);
    let sessions = bed.open().sessions().unwrap();
    assert_eq!((sessions[0].id.as_str(), sessions[0].updated_ms), ("th-1", Some(1_794_979_049_779)));
}

#[test]
fn an_unanswered_call_is_found_and_the_database_is_left_alone() {
    let bed = bed(&[human("list"), call(), result("c2"), human("and?")]);
    let before = bed.dump();
    let place = format!("PAIR001 checkpoints th-1 {NEW}");
    assert_eq!(findings(&bed.check("th-1")), [place]);
    let repaired = bed.repair("th-1");
    assert!(!repaired.is_changed());
    assert!(
        repaired.repaired.refusal.is_some_and(|why| why.contains("update_state")),
        "{:?}",
        repaired.repaired.refusal
    );
    assert_eq!(bed.dump(), before);
}

#[test]
fn writes_of_an_unfinished_step_are_noted_and_not_sent() {
    let bed = bed(&[human("list"), call()]);
    let sql = "INSERT INTO writes (thread_id, checkpoint_id, task_id, idx, channel, type, value) VALUES ('th-1', ?1, 't', 0, 'messages', 'msgpack', ?2)";
    bed.connection().execute(sql, (NEW, packed(&json!([result("c1")])))).unwrap();
    let checked = bed.check("th-1").checked;
    assert_eq!((checked.messages, checked.about.is_running, checked.about.inactive), (2, true, 2));
}

#[test]
fn checkpoints_in_json_are_read() {
    let bed = Bed::new(&[SCHEMA]);
    let built = |class: &str, members: Value| json!({ "lc": 1, "type": "constructor", "id": ["langchain_core", "messages", class], "kwargs": members });
    let calls = json!([{ "name": "ls", "args": {}, "id": "c1" }]);
    let messages = [
        built("HumanMessage", json!({ "content": "list" })),
        built("AIMessage", json!({ "content": "", "tool_calls": calls })),
        built("ToolMessage", json!({ "content": "a", "tool_call_id": "c9" })),
    ];
    put(&bed, "t", NEW, "json", state(&messages).to_string().as_bytes());
    let checked = bed.check("t");
    assert_eq!((checked.checked.messages, findings(&checked).len()), (3, 1));
}

#[test]
fn checkpoints_that_cannot_be_read_are_reported_or_left_alone() {
    let bed = Bed::new(&[SCHEMA]);
    put(&bed, "cut", NEW, "msgpack", &packed(&state(&[human("x")]))[..40]);
    put(&bed, "deep", NEW, "msgpack", &[0x91; 10_000]);
    put(&bed, "sealed", NEW, "msgpack+aes", b"\x01\x02");
    for thread in ["cut", "deep"] {
        assert_eq!(findings(&bed.check(thread)), [format!("FILE005 checkpoints {thread} {NEW}")]);
    }
    bed.assert_healthy("sealed");
}

/// Writes a checkpoint of a subgraph, whose parent is the checkpoint of the graph with this id.
fn put_below(bed: &Bed, namespace: &str, id: &str, parent: &str, messages: &[Value]) {
    let sql = "INSERT INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, type, checkpoint, metadata)
               VALUES ('th-1', ?1, ?2, 'msgpack', ?3, ?4)";
    let metadata = json!({ "source": "loop", "step": 1, "parents": { "": parent } }).to_string().into_bytes();
    bed.connection().execute(sql, (namespace, id, packed(&state(messages)), metadata)).unwrap();
}

#[test]
fn subgraphs_that_a_thread_may_continue_are_sessions_of_their_own() {
    let bed = bed(&[human("list")]);
    let open = [human("list"), call(), human("and?")];
    // The graph has gone on since this one: what it said is in the thread.
    put_below(&bed, "agent:0a", OLD, OLD, &open);
    put_below(&bed, "agent:0b", NEW, NEW, &open);
    // A subgraph with a state of its own is continued by every later run.
    put_below(&bed, "helper", OLD, OLD, &[human("help"), call(), result("c1"), result("c2")]);
    let sessions = bed.open().sessions().unwrap();
    let mut shown: Vec<_> = sessions.iter().map(|row| (row.id.as_str(), row.is_subagent)).collect();
    shown.sort_unstable();
    assert_eq!(shown, [("th-1", false), ("th-1|agent:0b", true), ("th-1|helper", true)]);

    bed.assert_healthy("th-1");
    bed.assert_healthy("th-1|helper");
    let checked = bed.check("th-1|agent:0b");
    let place = format!("PAIR001 checkpoints th-1 agent:0b {NEW}");
    assert_eq!(findings(&checked), [place]);
    let about = checked.checked.about;
    assert_eq!((about.id.as_deref(), about.is_subagent), (Some("th-1|agent:0b"), true));
}
