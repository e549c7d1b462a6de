//! Databases that earlier versions wrote: they open, pass every hash check, show the same view, and continue.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use seamline::session::{Follower, Session};
use seamline::store::{OpenedCommit, Operation, Record, SessionId, SessionInfo, Store};

use super::planned::databases;
use super::stores::{Tool, open_options};
use crate::fixtures::expect;

/// Every session of a database, as a reader sees it.
async fn described(store: &Arc<dyn Store>) -> String {
    let mut text = String::new();
    for info in store.list_sessions(None, 1_000).await.unwrap() {
        let follower = Follower::open(store.clone(), info.session.clone()).await.unwrap();
        let state = follower.state();
        let _ = writeln!(text, "session {} seq {} hash {}", info.session, info.head.seq, info.head.hash);
        let _ = writeln!(text, "  healthy {} generation {}", follower.health().is_whole(), state.generation);
        let _ = writeln!(text, "  unknown {} passed over {}", state.unknown, state.skipped);
        for entry in state.view.entries() {
            let _ = writeln!(text, "  {}.{} {:?} {}", entry.seq, entry.part, entry.origin, entry.message.as_str());
        }
        for call in follower.unresolved() {
            let _ = writeln!(text, "  open {} {} {} {:?}", call.cycle, call.call, call.tool, call.truth);
        }
        for checkpoint in &state.checkpoints {
            let snapshot = checkpoint.snapshot.as_ref().map(Vec::len);
            let (id, hash) = (&checkpoint.id, checkpoint.hash);
            let _ =
                writeln!(text, "  checkpoint {id} {} {hash} {:?} {snapshot:?}", checkpoint.messages, checkpoint.state);
        }
        for incident in &state.incidents {
            let _ = writeln!(text, "  incident {}", serde_json::to_string(incident).unwrap());
        }
        let _ = writeln!(text, "  last repair {}", state.last_repair().map_or("none".to_owned(), ToString::to_string));
    }
    text
}

/// The kinds of records in a database, each once.
async fn kinds(store: &Arc<dyn Store>) -> std::collections::BTreeSet<String> {
    let mut kinds = std::collections::BTreeSet::new();
    for info in store.list_sessions(None, 1_000).await.unwrap() {
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
    "begin",
    "checkpoint",
    "checkpoint_commit",
    "checkpoints_dropped",
    "compact",
    "cycle",
    "cycle_end",
    "inbox",
    "incident",
    "intent",
    "message",
    "repair",
    "reset",
    "rollback",
    "staged",
    "turn",
    "undo",
];

#[test]
fn a_database_of_version_0_1_has_the_same_view_and_continues() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sessions.db");
    std::fs::copy(databases().join("0.1.sqlite"), &path).unwrap();
    futures_executor::block_on(opens_and_goes_on(&path));
}

#[test]
fn a_database_of_version_0_1_is_read_without_an_upgrade() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sessions.db");
    std::fs::copy(databases().join("0.1.sqlite"), &path).unwrap();
    let format = || {
        let file = rusqlite::Connection::open(&path).unwrap();
        file.pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0)).unwrap()
    };
    futures_executor::block_on(async {
        let store = seamline::store::open_store_to_read(&format!("sqlite:{}", path.display())).await.unwrap();
        let shown = described(&store).await;
        expect(&databases().join("0.1.snap"), Some(shown.as_bytes())).unwrap_or_else(|failure| panic!("{failure}"));
        for info in store.list_sessions(None, 1_000).await.unwrap() {
            assert!(store.read_inbox(&info.session).await.unwrap().iter().all(|item| item.dialect.is_none()));
            // The list has the dialect of each session, although the file does not store it.
            let follower = Follower::open(store.clone(), info.session).await.unwrap();
            let begun = follower.state().begin.as_ref().map(|begin| begin.dialect.clone());
            assert!(info.dialect.is_some() && info.dialect == begun);
        }
    });
    assert_eq!(format(), 1);
    // A writer upgrades it, and what waited in an inbox is still there.
    futures_executor::block_on(async {
        let file = rusqlite::Connection::open(&path).unwrap();
        let waiting = "SELECT count(*) FROM inbox WHERE message IS NOT NULL";
        let before: u32 = file.query_row(waiting, [], |row| row.get(0)).unwrap();
        let store = seamline::open_store(&format!("sqlite:{}", path.display())).await.unwrap();
        let mut found = 0;
        for info in store.list_sessions(None, 1_000).await.unwrap() {
            found += store.read_inbox(&info.session).await.unwrap().len();
            assert_eq!(store.check_inbox(&info.session).await.unwrap(), []);
        }
        assert_eq!(found, before as usize);
    });
    assert_eq!(format(), 3);
}

async fn opens_and_goes_on(path: &Path) {
    let store = seamline::open_store(&format!("sqlite:{}", path.display())).await.unwrap();
    assert_eq!(kinds(&store).await.into_iter().collect::<Vec<_>>(), KINDS);
    let shown = described(&store).await;
    expect(&databases().join("0.1.snap"), Some(shown.as_bytes())).unwrap_or_else(|failure| panic!("{failure}"));
    for info in store.list_sessions(None, 1_000).await.unwrap() {
        Box::pin(goes_on(&store, info.session.clone())).await;
        switches(&store, info).await;
    }
}

/// Switches a session to another dialect: the list has the new one.
async fn switches(store: &Arc<dyn Store>, info: SessionInfo) {
    let mut session = Session::open(store.clone(), info.session.clone(), open_options()).await.unwrap();
    assert_eq!(info.dialect.map(|dialect| dialect.to_string()).as_deref(), Some(session.dialect()));
    let (provider, other) = match session.dialect() {
        "anthropic_messages" => ("groq", "openai_chat"),
        _ => ("anthropic", "anthropic_messages"),
    };
    session.switch_provider(provider).await.unwrap();
    session.close().await.unwrap();
    let listed = store.list_sessions(None, 1_000).await.unwrap();
    let listed = listed.into_iter().find(|listed| listed.session == info.session).and_then(|listed| listed.dialect);
    assert_eq!(listed, Some(other.into()), "{}", info.session);
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
    let checkpoint = session.create_checkpoint(Operation::Manual).await.unwrap();
    session.commit_checkpoint(&checkpoint.id).await.unwrap();
    let kept: Vec<String> = session.messages().map(str::to_owned).collect();
    session.close().await.unwrap();

    let session = Session::open(store.clone(), id.clone(), open_options()).await.unwrap();
    assert_eq!(session.messages().map(str::to_owned).collect::<Vec<_>>(), kept, "{id}");
    assert!(session.health().is_whole() && kept.iter().any(|message| message.contains("went on")), "{id}");
    session.close().await.unwrap();
}
