//! `seamline convert` on sessions of agents.

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::bench::{Bench, CLEAN};
use crate::session_files::{STUCK, healthy};

/// A bench with a stuck session of Claude Code.
fn stuck() -> Bench {
    let bench = Bench::new();
    bench.write("s.jsonl", STUCK);
    bench
}

#[test]
fn a_session_becomes_a_request_body() {
    let bench = stuck();
    let ran = bench.run(&["convert", "s.jsonl", "--to", "openai", "--model", "gpt-5"]).expect(0);
    let body = ran.json();
    assert_eq!((&body["model"], &body["messages"][0]["role"]), (&json!("gpt-5"), &json!("user")));
    assert!(ran.err.starts_with("✓ s.jsonl: Claude Code → openai_chat for openai; 8 messages\n"), "{}", ran.err);
    assert!(ran.err.contains("FILE001 glued-records") && ran.err.contains("PAIR001 unanswered-call"), "{}", ran.err);
    assert!(ran.err.lines().all(|line| line.chars().count() <= 80), "{}", ran.err);
    bench.run_on(&ran.out, &["check", "--provider", "openai"]).expect(0);
    assert_eq!(bench.run_on(STUCK, &["convert", "--to", "openai", "--model", "gpt-5"]).expect(0).out, ran.out);
    bench.run(&["convert", "s.jsonl", "--to", "openai", "--model", "gpt-5", "-o", "new.json"]).expect(0);
    assert_eq!((bench.read("new.json"), bench.read("s.jsonl")), (ran.out, STUCK.to_owned()));
    let report = bench.run(&["convert", "s.jsonl", "--to", "gemini", "--dry-run", "--format", "json"]).expect(0).json();
    assert_eq!(report["documents"][0]["program"], json!("Claude Code"));
}

#[test]
fn a_session_becomes_a_session_of_another_agent() {
    let bench = stuck();
    let ran = bench.run(&["convert", "s.jsonl", "--to-agent", "codex"]).expect(0);
    assert!(ran.err.starts_with("✓ s.jsonl: Claude Code → Codex; 8 messages\n"), "{}", ran.err);
    let meta: Value = serde_json::from_str(ran.out.lines().next().unwrap()).unwrap();
    let id = meta["payload"]["id"].as_str().unwrap();
    assert!(ran.err.contains(&format!("`cd /srv/mira/parser && codex resume {id}`")), "{}", ran.err);
    assert!(
        ran.err.contains("codex looks for it in") && ran.err.contains("`--install` writes it there"),
        "{}",
        ran.err
    );
    bench.run_on(&ran.out, &["check"]).expect(0);
    bench.write("rollout.jsonl", &ran.out);
    let back = bench.run(&["convert", "rollout.jsonl", "--to-agent", "claude-code"]).expect(0);
    bench.run_on(&back.out, &["check"]).expect(0);
    let said = ["Two parser tests fail since this morning", "cargo test -p parser", "strings::nested ... FAILED"];
    assert!(said.iter().all(|text| back.out.contains(text)), "{}", back.out);
    for agent in ["gemini-cli", "pi", "qwen-code"] {
        let ran = bench.run(&["convert", "s.jsonl", "--to-agent", agent]).expect(0);
        bench.run_on(&ran.out, &["check"]).expect(0);
    }
}

#[test]
fn an_installed_session_is_where_its_agent_looks_and_replaces_no_other() {
    let bench = Bench::new();
    bench.write("s.jsonl", STUCK);
    let install = |args: &[&str]| {
        let args = [&["convert", "s.jsonl", "--install", "--to-agent"], args].concat();
        crate::bench::Ran::of(bench.command(&args).env("HOME", bench.path("home")))
    };
    let ran = install(&["claude-code", "--folder", "."]).expect(0);
    let project: String = bench.folder.display().to_string().replace(|char: char| !char.is_ascii_alphanumeric(), "-");
    let names = bench.names(format!("home/.claude/projects/{project}"));
    assert_eq!(names.len(), 1);
    let id = names[0].strip_suffix(".jsonl").unwrap();
    assert!(ran.out.contains(&format!("claude --resume {id}")) && ran.out.contains("written to"), "{}", ran.out);
    let path = format!("home/.claude/projects/{project}/{}", names[0]);
    assert!(bench.read(&path).lines().all(|line| line.contains(id)));
    bench.run(&["check", &path]).expect(0);
    install(&["claude-code", "--folder", "."]).expect(0);
    bench.write(&path, "{}\n");
    let ran = install(&["claude-code", "--folder", "."]).expect(2);
    assert!(ran.err.contains("exists and has other content"), "{}", ran.err);
    assert_eq!(bench.read(&path), "{}\n");
    let ran = bench.run(&["convert", "s.jsonl", "--to", "openai", "--install"]).expect(2);
    assert!(ran.err.contains("cannot be used with '--install'"), "{}", ran.err);
}

#[test]
fn a_session_of_gemini_cli_is_in_the_folder_of_its_project() {
    let bench = Bench::new();
    bench.write("s.jsonl", STUCK);
    bench.write("home/.gemini/tmp/parser/.project_root", "/opt/parser");
    let install = || {
        let args = ["convert", "s.jsonl", "--install", "--to-agent", "gemini-cli", "--folder", "."];
        crate::bench::Ran::of(bench.command(&args).env("HOME", bench.path("home"))).expect(0)
    };
    let ran = install();
    assert!(ran.out.contains("gemini --resume "), "{}", ran.out);
    let root = bench.folder.canonicalize().unwrap().display().to_string();
    let is_own = |name: &String| bench.read(format!("home/.gemini/tmp/{name}/.project_root")) == root;
    let projects: Vec<String> = bench.names("home/.gemini/tmp").into_iter().filter(is_own).collect();
    assert_eq!(projects.len(), 1);
    install();
    let chats = format!("home/.gemini/tmp/{}/chats", projects[0]);
    let names = bench.names(&chats);
    assert!(names.len() == 1 && names[0].starts_with("session-20"), "{names:?}");
    bench.run(&["check", &format!("{chats}/{}", names[0])]).expect(0);
    let listed = crate::bench::Ran::of(bench.command(&["doctor", "--agent", "gemini"]).env("HOME", bench.path("home")));
    assert!(listed.expect(0).out.contains("Gemini CLI"), "the new session is found");
}

#[test]
fn texts_that_gemini_cli_would_not_send_are_introduced() {
    let bench = Bench::new();
    let body = r#"{"model":"gpt-5","messages":[{"role":"user","content":"/tmp is full"},{"role":"assistant","content":"yes"}]}"#;
    let ran = bench.run_on(body, &["convert", "--to-agent", "gemini-cli"]).expect(0);
    let record: Value = serde_json::from_str(ran.out.lines().nth(1).unwrap()).unwrap();
    assert_eq!(record["content"], json!([{ "text": "The user wrote:" }, { "text": "/tmp is full" }]));
}

#[test]
fn a_request_body_becomes_a_session_too() {
    let bench = Bench::new();
    let ran = bench.run_on(CLEAN, &["convert", "--to-agent", "claude-code", "--folder", "/srv/app"]).expect(0);
    assert!(ran.out.contains("/srv/app") && ran.out.contains("what is in main.rs?"), "{}", ran.out);
    bench.run_on(&ran.out, &["check"]).expect(0);
}

#[test]
fn an_unknown_agent_and_a_session_of_a_file_are_refused_with_a_hint() {
    let bench = Bench::new();
    bench.write("s.jsonl", healthy());
    let ran = bench.run(&["convert", "s.jsonl", "--to-agent", "claude"]).expect(2);
    assert!(ran.err.contains("no session can be written for `claude`"), "{}", ran.err);
    assert!(ran.err.contains("claude-code"), "{}", ran.err);
    let ran = bench.run(&["convert", "s.jsonl", "--to", "openai", "--session", "x"]).expect(2);
    assert!(ran.err.contains("`--session` chooses a session of a database or a folder"), "{}", ran.err);
    bench.run(&["convert", "s.jsonl"]).expect(2);
}

/// A database of goose with sessions of these ids, each with one message.
pub(crate) fn database(bench: &Bench, name: &str, ids: &[&str]) {
    let connection = Connection::open(bench.path(name)).unwrap();
    let tables =
        "CREATE TABLE sessions (id TEXT PRIMARY KEY, name TEXT, description TEXT, session_type TEXT, working_dir TEXT,
        created_at TIMESTAMP, updated_at TIMESTAMP, accumulated_total_tokens INTEGER, accumulated_cost REAL,
        provider_name TEXT, model_config_json TEXT);
      CREATE TABLE messages (id INTEGER PRIMARY KEY AUTOINCREMENT, message_id TEXT, session_id TEXT, role TEXT,
        content_json TEXT, created_timestamp INTEGER, timestamp TIMESTAMP, tokens INTEGER, metadata_json TEXT);";
    connection.execute_batch(tables).unwrap();
    for id in ids {
        let rows = format!(
            "INSERT INTO sessions VALUES ('{id}', 'Title of {id}', '', 'user', '/srv/app', '2026-01-02 03:04:05',
                '2026-01-02 03:05:06', 1, 0.5, 'openai', NULL);
             INSERT INTO messages VALUES (NULL, 'm_{id}', '{id}', 'user', '[{{\"type\":\"text\",\"text\":\"hello from {id}\"}}]',
                100, '2026-01-02 03:04:05', NULL, '{{\"userVisible\":true,\"agentVisible\":true}}');"
        );
        connection.execute_batch(&rows).unwrap();
    }
}

#[test]
fn a_session_of_a_database_is_named_where_there_are_several() {
    let bench = Bench::new();
    database(&bench, "sessions.db", &["day_1", "day_2"]);
    let ran = bench.run(&["convert", "sessions.db", "--to", "openai"]).expect(2);
    assert!(ran.err.contains("has 2 sessions") && ran.err.contains("`--session ID`"), "{}", ran.err);
    assert!(ran.err.contains("day_1  Title of day_1") && ran.err.contains("day_2"), "{}", ran.err);
    let ran = bench.run(&["convert", "sessions.db", "--to", "openai", "--session", "_2"]).expect(0);
    assert!(ran.out.contains("hello from day_2"), "{}", ran.out);
    let ran = bench.run(&["convert", "sessions.db", "--to-agent", "codex", "--session", "day_1"]).expect(0);
    assert!(ran.out.contains("hello from day_1") && ran.err.contains("goose → Codex"), "{ran:?}");
    let ran = bench.run(&["convert", "sessions.db", "--to", "openai", "--session", "day"]).expect(2);
    assert!(ran.err.contains("`day` is part of the ids of 2 sessions"), "{}", ran.err);
    let ran = bench.run(&["convert", "sessions.db", "--to", "openai", "--session", "night"]).expect(2);
    assert!(ran.err.contains("no session has `night` in its id"), "{}", ran.err);
}

#[test]
fn the_only_session_of_a_database_needs_no_name() {
    let bench = Bench::new();
    database(&bench, "sessions.db", &["only"]);
    let ran = bench.run(&["convert", "sessions.db", "--to", "anthropic"]).expect(0);
    assert!(ran.out.contains("hello from only"), "{}", ran.out);
    assert_eq!(bench.names("."), ["sessions.db"]);
}

#[test]
fn images_and_thinking_of_a_session_are_converted() {
    let bench = Bench::new();
    let line = |id: &str, parent: &str, message: &str| {
        format!(
            "{{\"type\":\"message\",\"id\":\"{id}\",\"parentId\":{parent},\"timestamp\":\"2026-01-02T03:04:05Z\",\"message\":{message}}}\n"
        )
    };
    let image = r#"{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png"}"#;
    let file = [
        "{\"type\":\"session\",\"version\":3,\"id\":\"s1\",\"timestamp\":\"2026-01-02T03:04:05Z\",\"cwd\":\"/srv/app\"}\n".to_owned(),
        line("1", "null", &format!(r#"{{"role":"user","content":[{{"type":"text","text":"what is this?"}},{image}]}}"#)),
        line("2", "\"1\"", r#"{"role":"assistant","content":[{"type":"thinking","thinking":"I should zoom in."},{"type":"toolCall","id":"c1","name":"zoom","arguments":{}}],"stopReason":"toolUse"}"#),
        line("3", "\"2\"", &format!(r#"{{"role":"toolResult","toolCallId":"c1","toolName":"zoom","content":[{{"type":"text","text":"zoomed"}},{image}],"isError":false}}"#)),
        line("4", "\"3\"", r#"{"role":"assistant","content":[{"type":"toolCall","id":"c2","name":"zoom","arguments":{}}],"stopReason":"toolUse"}"#),
        line("5", "\"4\"", r#"{"role":"user","content":"stop"}"#),
    ];
    bench.write("s.jsonl", file.concat());
    let ran = bench.run(&["convert", "s.jsonl", "--to", "anthropic", "--reasoning", "text"]).expect(0);
    assert!(ran.out.contains("iVBORw0KGgo=") && ran.out.contains("I should zoom in."), "{}", ran.out);
    assert!(ran.err.contains(" 1 image\n") && ran.err.contains("the conversation is read without it"), "{}", ran.err);
    let ran = bench.run(&["convert", "s.jsonl", "--to-agent", "claude-code"]).expect(0);
    assert!(ran.out.contains("iVBORw0KGgo=") && !ran.out.contains("I should zoom in."), "{}", ran.out);
    assert!(ran.err.contains("reasoning"), "the report says that the thinking is lost: {}", ran.err);
}

#[test]
fn images_in_tool_results_of_goose_are_named() {
    let bench = Bench::new();
    database(&bench, "sessions.db", &["day_1"]);
    let call = r#"[{"type":"thinking","thinking":"A picture helps.","signature":""},{"type":"toolRequest","id":"c1","toolCall":{"status":"success","value":{"name":"shot","arguments":{}}}}]"#;
    let result = r#"[{"type":"toolResponse","id":"c1","toolResult":{"status":"success","value":{"content":[{"type":"text","text":"taken"},{"type":"image","data":"iVBORw0KGgo=","mimeType":"image/png"}]}}}]"#;
    let connection = Connection::open(bench.path("sessions.db")).unwrap();
    for (role, content) in [("assistant", call), ("user", result)] {
        let sql =
            "INSERT INTO messages (session_id, role, content_json, created_timestamp) VALUES ('day_1', ?1, ?2, 101)";
        connection.execute(sql, (role, content)).unwrap();
    }
    drop(connection);
    let ran = bench.run(&["convert", "sessions.db", "--to", "openai"]).expect(0);
    assert!(ran.out.contains("taken") && ran.err.contains("dropped  1 image  the conversation is read"), "{}", ran.err);
    let ran = bench.run(&["salvage", "sessions.db"]).expect(0);
    assert!(ran.out.contains("not in the request body: 1 image"), "{}", ran.out);
    let markdown = bench.read("sessions.salvaged.md");
    assert!(markdown.contains("- only in the appendix: `1 image`") && markdown.contains("iVBORw0KGgo="), "{markdown}");
}

#[test]
fn a_loss_at_many_places_is_one_row_of_the_report() {
    let bench = Bench::new();
    let turn = |text: &str| {
        format!(
            r#"{{"role":"user","content":"{text}"}},{{"role":"assistant","content":[{{"type":"thinking","thinking":"hm","signature":"s"}},{{"type":"text","text":"{text}"}}]}}"#
        )
    };
    let turns: Vec<String> = (0..9).map(|number| turn(&format!("text {number}"))).collect();
    let body = format!(r#"{{"model":"claude-sonnet-4-5","max_tokens":9,"messages":[{}]}}"#, turns.join(","));
    let ran = bench.run_on(&body, &["convert", "--to-agent", "codex", "--folder", "/srv/app"]).expect(0);
    assert!(ran.err.contains("reasoning, 9 times: at /messages/1/content/0,"), "{}", ran.err);
    assert!(ran.err.lines().count() < 16, "{}", ran.err);
}
