//! Databases that earlier versions wrote: they open, verify, show what they showed, and go on.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use seamline::session::{
    Follower, IntegrityConfig, OpenOptions, PersistRepairs, ResetOptions, Session, SessionOptions, ToolCallRef,
    ToolOutput,
};
use seamline::store::{Effect, InboxItem, OpenedCommit, Operation, Raw, Record, SessionId, Store};

use super::planned::databases;
use super::stores::{Tick, Tool, open_options};
use crate::fixtures::expect;

#[test]
fn write_the_database() {
    let Some(path) = std::env::var_os("SEAMLINE_WRITE_DATABASE") else { return };
    futures_executor::block_on(async {
        let path = std::path::PathBuf::from(path);
        let store = seamline::open_store(&format!("sqlite:{}", path.display())).await.unwrap();
        checkpoints(&store).await;
        cycles(&store).await;
        late(&store, "late-anthropic", "anthropic_messages").await;
        late(&store, "late-gemini", "gemini_generate").await;
        repairs(&store).await;
        compactions(&store).await;
        inbox(&store).await;
        family(&store).await;
        open_cycle(&store).await;
    });
}

fn options(dialect: &str) -> SessionOptions {
    let config = IntegrityConfig { verbose: true, persist_repairs: PersistRepairs::All, ..IntegrityConfig::default() };
    SessionOptions { dialect: dialect.to_owned(), config, clock: Arc::new(Tick::default()), ..SessionOptions::default() }
}

async fn create(store: &Arc<dyn Store>, name: &str, dialect: &str) -> Session {
    Session::create(store.clone(), name.parse().unwrap(), options(dialect)).await.unwrap()
}

async fn checkpoints(store: &Arc<dyn Store>) {
    let mut options = options("anthropic_messages");
    options.config.snapshot_messages = true;
    options.config.checkpoint_retention = 1;
    options.provider = Some("anthropic".to_owned());
    options.title = Some("checkpoints".to_owned());
    let mut session = Session::create(store.clone(), "checkpoints".parse().unwrap(), options).await.unwrap();
    session.append(r#"{"role":"user","content":"one"}"#).await.unwrap();
    let first = session.checkpoint(Operation::Manual).await.unwrap();
    session.commit(&first.id).await.unwrap();
    session.append(r#"{"role":"assistant","content":"two"}"#).await.unwrap();
    let second = session.checkpoint(Operation::ApiCall).await.unwrap();
    session.append(r#"{"role":"user","content":"goes"}"#).await.unwrap();
    session.rollback(&second.id, "a test").await.unwrap();
    let third = session.checkpoint(Operation::Compaction).await.unwrap();
    session.commit(&third.id).await.unwrap();
    session.append(r#"{"role":"user","content":"stays"}"#).await.unwrap();
    session.close().await.unwrap();
}

async fn cycles(store: &Arc<dyn Store>) {
    let mut session = create(store, "cycles", "openai_chat").await;
    session.append(r#"{"role":"system","content":"be kind"}"#).await.unwrap();
    session.append(r#"{"role":"user","content":"pay"}"#).await.unwrap();
    let turn = |id: &str| {
        format!(
            r#"{{"role":"assistant","content":null,"tool_calls":[{{"id":"{id}","type":"function","function":{{"name":"pay","arguments":"{{}}"}}}}]}}"#
        )
    };
    let pending = std::future::pending;
    session.execute_tool_cycle(&[&turn("call_1")], &Tool::saying("paid"), pending()).await.unwrap();
    let (cycle, _) = session.begin_cycle(&[&turn("call_2")], &|_| Effect::Idempotent).await.unwrap();
    session.before_tool_call(&cycle, "call_2").await.unwrap();
    session.append(r#"{"role":"user","content":"meanwhile"}"#).await.unwrap();
    let output = ToolOutput { output: "paid again".to_owned(), is_error: false };
    session.finish_call(&cycle, "call_2", &output).await.unwrap();
    session.commit_cycle(&cycle).await.unwrap();
    let (cycle, _) = session.begin_cycle(&[&turn("call_3")], &|_| Effect::Unsafe).await.unwrap();
    session.roll_back_cycle(&cycle, "a test").await.unwrap();
    session.reset(ResetOptions { archive: true }).await.unwrap();
    session.append(r#"{"role":"user","content":"once more"}"#).await.unwrap();
    session.close().await.unwrap();
}

/// A cycle that was broken off, and a late result for one of its calls; an open result stays made up.
async fn late(store: &Arc<dyn Store>, name: &str, dialect: &str) {
    let mut session = create(store, name, dialect).await;
    let is_gemini = dialect == "gemini_generate";
    let (ask, turn) = if is_gemini {
        (
            r#"{"role":"user","parts":[{"text":"pay"}]}"#,
            r#"{"role":"model","parts":[{"functionCall":{"name":"pay","args":{}}},{"functionCall":{"name":"look","args":{}}}]}"#,
        )
    } else {
        (
            r#"{"role":"user","content":"pay"}"#,
            r#"{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"pay","input":{}},{"type":"tool_use","id":"toolu_2","name":"look","input":{}}]}"#,
        )
    };
    session.append(ask).await.unwrap();
    let (cycle, calls) = session.begin_cycle(&[turn], &|_| Effect::Unsafe).await.unwrap();
    for call in &calls {
        session.before_tool_call(&cycle, &call.id).await.unwrap();
    }
    session.abort().await.unwrap();
    let call = ToolCallRef { id: &calls[0].id, name: &calls[0].name };
    let output = ToolOutput { output: "paid".to_owned(), is_error: false };
    assert!(session.late_result(&call, &output).await.unwrap());
    session.close().await.unwrap();
}

async fn repairs(store: &Arc<dyn Store>) {
    let mut session = create(store, "repairs", "anthropic_messages").await;
    let messages = [
        r#"{"role":"user","content":"read"}"#,
        r#"{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"read","input":{}}]}"#,
        r#"{"role":"user","content":"never mind"}"#,
    ];
    session.append_all(&messages).await.unwrap();
    assert!(session.repair().await.unwrap().repaired);
    session.undo_repair().await.unwrap();
    assert!(session.repair().await.unwrap().repaired);
    let failure = seamline::Failure { status: Some(529), text: "Overloaded", ..Default::default() };
    session.handle_error(&failure).await.unwrap();
    session.close().await.unwrap();
}

async fn compactions(store: &Arc<dyn Store>) {
    let mut session = create(store, "compactions", "anthropic_messages").await;
    for (role, text) in [("user", "a"), ("assistant", "b"), ("user", "c"), ("assistant", "d")] {
        session.append(&format!(r#"{{"role":"{role}","content":"{text}"}}"#)).await.unwrap();
    }
    let range = session.before_compaction(0..2).await.unwrap();
    session.append(r#"{"role":"user","content":"meanwhile"}"#).await.unwrap();
    session.finish_compaction(range, &[r#"{"role":"user","content":"Summary: a, b"}"#]).await.unwrap();
    session.close().await.unwrap();
}

async fn inbox(store: &Arc<dyn Store>) {
    let mut session = create(store, "inbox", "openai_responses").await;
    for (id, message) in [("m-1", r#"{"role":"user","content":"hello"}"#), ("m-2", r#"["no message"]"#)] {
        let item = InboxItem { id: id.to_owned(), message: Raw::parse(message).unwrap() };
        store.push(session.id(), &item).await.unwrap();
    }
    session.take_inbox().await.unwrap();
    let item = InboxItem { id: "m-3".to_owned(), message: Raw::parse(r#"{"role":"user","content":"waits"}"#).unwrap() };
    store.push(session.id(), &item).await.unwrap();
    session.close().await.unwrap();
}

async fn family(store: &Arc<dyn Store>) {
    let options = OpenOptions { clock: Arc::new(Tick::default()), ..OpenOptions::default() };
    let session = Session::open(store.clone(), "late-anthropic".parse().unwrap(), options).await.unwrap();
    session.fork("fork".parse().unwrap()).await.unwrap().close().await.unwrap();
    session.child("child".parse().unwrap(), "toolu_2").await.unwrap().close().await.unwrap();
    session.close().await.unwrap();
}

async fn open_cycle(store: &Arc<dyn Store>) {
    let mut session = create(store, "open", "bedrock_converse").await;
    session.append(r#"{"role":"user","content":[{"text":"do three things"}]}"#).await.unwrap();
    let calls: Vec<String> =
        (1..=3).map(|n| format!(r#"{{"toolUse":{{"toolUseId":"tooluse_{n}","name":"do_{n}","input":{{}}}}}}"#)).collect();
    let turn = format!(r#"{{"role":"assistant","content":[{}]}}"#, calls.join(","));
    let (cycle, _) = session.begin_cycle(&[&turn], &|_| Effect::Unsafe).await.unwrap();
    session.before_tool_call(&cycle, "tooluse_1").await.unwrap();
    let output = ToolOutput { output: "did the first".to_owned(), is_error: false };
    session.finish_call(&cycle, "tooluse_1", &output).await.unwrap();
    session.before_tool_call(&cycle, "tooluse_2").await.unwrap();
    session.append(r#"{"role":"user","content":[{"text":"are you there?"}]}"#).await.unwrap();
    session.close().await.unwrap();
}

/// Every session of a database, as a reader sees it.
async fn described(store: &Arc<dyn Store>) -> String {
    let mut text = String::new();
    for info in store.sessions(None, 1_000).await.unwrap() {
        let follower = Follower::open(store.clone(), info.session.clone()).await.unwrap();
        let state = follower.state();
        let _ = writeln!(text, "session {} seq {} hash {}", info.session, info.head.seq, info.head.hash);
        let _ = writeln!(text, "  healthy {} generation {}", follower.health().is_whole(), state.generation);
        let _ = writeln!(text, "  unknown {} passed over {}", state.unknown, state.passed_over);
        for entry in state.view.entries() {
            let _ = writeln!(text, "  {}.{} {:?} {}", entry.seq, entry.part, entry.origin, entry.message.as_str());
        }
        for call in follower.unresolved() {
            let _ = writeln!(text, "  open {} {} {} {:?}", call.cycle, call.call, call.tool, call.truth);
        }
        for checkpoint in &state.checkpoints {
            let snapshot = checkpoint.snapshot.as_ref().map(Vec::len);
            let (id, hash) = (&checkpoint.id, checkpoint.hash);
            let _ = writeln!(text, "  checkpoint {id} {} {hash} {:?} {snapshot:?}", checkpoint.messages, checkpoint.state);
        }
        for incident in &state.incidents {
            let _ = writeln!(text, "  incident {}", serde_json::to_string(incident).unwrap());
        }
        let _ = writeln!(text, "  last repair {}", state.last_repair().map_or("none".to_owned(), |id| id.to_string()));
    }
    text
}

/// The kinds of records in a database, each once.
async fn kinds(store: &Arc<dyn Store>) -> std::collections::BTreeSet<String> {
    let mut kinds = std::collections::BTreeSet::new();
    for info in store.sessions(None, 1_000).await.unwrap() {
        for stored in store.read(&info.session, 0, usize::MAX).await.unwrap() {
            let commit = OpenedCommit::open(&stored.bytes).unwrap();
            kinds.extend(commit.records.iter().map(kind));
        }
    }
    kinds
}

fn kind(record: &Record) -> String {
    let written = serde_json::to_value(record).unwrap();
    written.as_object().and_then(|object| object.keys().next().cloned()).unwrap_or_default()
}

const KINDS: [&str; 17] = [
    "begin", "checkpoint", "checkpoint_commit", "checkpoints_dropped", "compact", "cycle", "cycle_end", "inbox",
    "incident", "intent", "message", "repair", "reset", "rollback", "staged", "turn", "undo",
];

#[test]
fn a_database_of_version_0_1_shows_what_it_showed_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sessions.db");
    std::fs::copy(databases().join("0.1.sqlite"), &path).unwrap();
    futures_executor::block_on(opens_and_goes_on(&path));
}

async fn opens_and_goes_on(path: &Path) {
    let store = seamline::open_store(&format!("sqlite:{}", path.display())).await.unwrap();
    assert_eq!(kinds(&store).await.into_iter().collect::<Vec<_>>(), KINDS);
    let shown = described(&store).await;
    expect(&databases().join("0.1.snap"), Some(shown.as_bytes())).unwrap_or_else(|failure| panic!("{failure}"));
    for info in store.sessions(None, 1_000).await.unwrap() {
        goes_on(&store, info.session).await;
    }
}

/// Opens a session, appends, runs a cycle, and reads it again.
async fn goes_on(store: &Arc<dyn Store>, id: SessionId) {
    let mut session = Session::open(store.clone(), id.clone(), open_options()).await.unwrap();
    assert!(session.health().is_whole() && session.unresolved().is_empty(), "{id}");
    let (ask, turn) = match session.dialect() {
        "anthropic_messages" => (
            r#"{"role":"user","content":"go on"}"#,
            r#"{"role":"assistant","content":[{"type":"tool_use","id":"toolu_9","name":"sh","input":{}}]}"#,
        ),
        "openai_chat" => (
            r#"{"role":"user","content":"go on"}"#,
            r#"{"role":"assistant","content":null,"tool_calls":[{"id":"call_9","type":"function","function":{"name":"sh","arguments":"{}"}}]}"#,
        ),
        "openai_responses" => (
            r#"{"role":"user","content":"go on"}"#,
            r#"{"type":"function_call","call_id":"call_9","name":"sh","arguments":"{}"}"#,
        ),
        "gemini_generate" => (
            r#"{"role":"user","parts":[{"text":"go on"}]}"#,
            r#"{"role":"model","parts":[{"functionCall":{"name":"sh","args":{}}}]}"#,
        ),
        _ => (
            r#"{"role":"user","content":[{"text":"go on"}]}"#,
            r#"{"role":"assistant","content":[{"toolUse":{"toolUseId":"tooluse_9","name":"sh","input":{}}}]}"#,
        ),
    };
    session.append(ask).await.unwrap();
    let result = session.execute_tool_cycle(&[turn], &Tool::saying("went on"), std::future::pending()).await.unwrap();
    assert!(result.success, "{id}: {result:?}");
    let checkpoint = session.checkpoint(Operation::Manual).await.unwrap();
    session.commit(&checkpoint.id).await.unwrap();
    let kept: Vec<String> = session.messages().map(str::to_owned).collect();
    session.close().await.unwrap();

    let session = Session::open(store.clone(), id.clone(), open_options()).await.unwrap();
    assert_eq!(session.messages().map(str::to_owned).collect::<Vec<_>>(), kept, "{id}");
    assert!(session.health().is_whole() && kept.iter().any(|message| message.contains("went on")), "{id}");
    session.close().await.unwrap();
}
