//! Files of other programs are recognised, and request bodies are not.

#![expect(clippy::unwrap_used, reason = "a fixture that cannot be read fails its test")]

use std::path::{Path, PathBuf};

use seamline_files::{ALL, recognise};

/// The start of the name of a fixture, and the name of its program.
const FIXTURES: &[(&str, &str)] = &[
    ("aider", "Aider"),
    ("antigravity", "Antigravity"),
    ("continue", "Continue"),
    ("cursor", "Cursor agent"),
    ("hermes", "Hermes"),
    ("llm", "llm"),
    ("openclaw", "OpenClaw"),
    ("pydantic_ai", "pydantic-ai"),
    ("strands", "Strands"),
    ("zed", "Zed"),
    ("bodies", "lines of request bodies"),
    ("claude_code", "Claude Code"),
    ("cline", "Cline, Roo Code or Kilo Code"),
    ("codex", "Codex"),
    ("copilot_cli", "Copilot CLI"),
    ("droid", "Factory Droid"),
    ("fine_tuning", "fine-tuning"),
    ("gemini_cli", "Gemini CLI"),
    ("goose", "goose"),
    ("grok", "Grok"),
    ("har", "HAR"),
    ("kimi", "Kimi CLI"),
    ("langgraph", "LangGraph or LangChain"),
    ("mini_swe_agent", "mini-swe-agent"),
    ("openai_agents", "OpenAI Agents SDK"),
    ("openai_batch", "batch"),
    ("opencode", "opencode"),
    ("openhands", "OpenHands"),
    ("pi", "pi or OpenClaw"),
    ("qwen_code", "Qwen Code"),
    ("sharegpt", "ShareGPT"),
    ("swe_agent", "SWE-agent"),
    ("tau_bench", "tau-bench"),
    ("vercel_ai", "Vercel AI SDK"),
];

/// Files in those folders that no version of their program wrote.
const INVENTED: [&str; 2] = ["session_branch.jsonl", "session_toolcall.jsonl"];

/// The folders of recorded files, and the names of their programs.
const CORPUS: &[(&str, &str)] = &[
    ("claude-code", "Claude Code"),
    ("cline-roo", "Cline, Roo Code or Kilo Code"),
    ("cline-sdk", "Cline, Roo Code or Kilo Code"),
    ("codex", "Codex"),
    ("copilot", "Copilot CLI"),
    ("droid", "Factory Droid"),
    ("gemini", "Gemini CLI"),
    ("gemini-jsonl", "Gemini CLI"),
    ("grok", "Grok"),
    ("kimi", "Kimi CLI"),
    ("mini-swe-agent", "mini-swe-agent"),
    ("openai-chat", "tau-bench"),
    ("openai-agents-runstate", "OpenAI Agents SDK"),
    ("openclaw", "pi or OpenClaw"),
    ("openhands", "OpenHands"),
    ("pi", "pi or OpenClaw"),
    ("qwen", "Qwen Code"),
    ("swe-agent", "SWE-agent"),
];

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut folders = vec![folder.to_owned()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        let (inner, rest): (Vec<_>, Vec<_>) = paths.into_iter().partition(|path| path.is_dir());
        folders.extend(inner);
        files.extend(rest);
    }
    files
}

/// The name of the program that a file is recognised as. The name of a fixture must not help.
fn program(path: &Path, name: &str) -> Option<&'static str> {
    recognise(name, &std::fs::read(path).unwrap()).map(|program| program.name)
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures")
}

#[test]
fn rows_of_another_program_with_the_members_of_claude_code_are_not_its_session() {
    let row = |id: u8| format!("{{\"uuid\":\"{id}\",\"parentUuid\":null,\"sessionId\":\"s\",\"kind\":\"node\"}}\n");
    assert_eq!(recognise("rows.jsonl", (row(1) + &row(2) + "{\"uuid\":\"3").as_bytes()), None);
}

#[test]
fn every_fixture_is_recognised_by_its_content() {
    let mut seen = Vec::new();
    // The folder of sessions holds whole cases, which `seamline` runs.
    let sessions = fixtures().join("files/sessions");
    for path in files(&fixtures().join("files")).into_iter().filter(|path| !path.starts_with(&sessions)) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let (_, expected) = FIXTURES.iter().find(|(start, _)| name.starts_with(start)).unwrap();
        assert_eq!(program(&path, "x"), Some(*expected), "{name}");
        seen.push(*expected);
    }
    let missing: Vec<_> = ALL.iter().filter(|program| !seen.contains(&program.name)).collect();
    assert!(missing.is_empty(), "no fixture: {missing:?}");
}

#[test]
fn no_request_body_is_recognised() {
    let mut count = 0;
    for folder in ["dialects", "rules", "convert", "presets"] {
        for path in files(&fixtures().join(folder)) {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.extension().is_some_and(|ending| ending == "json") {
                assert_eq!(program(&path, &name), None, "{}", path.display());
                count += 1;
            }
        }
    }
    assert!(count > 100, "only {count} bodies");
}

#[test]
fn some_files_are_known_by_their_name_alone() {
    let name = |name: &str, bytes: &[u8]| recognise(name, bytes).map(|program| program.name);
    assert_eq!(name("/tasks/1/api_conversation_history.json", b"[]"), Some("Cline, Roo Code or Kilo Code"));
    assert_eq!(name("rollout-1.jsonl.zst", b"\x28\xb5\x2f\xfd\0"), Some("Codex"));
    assert_eq!(name("request.json", b"[]"), None);
}

#[test]
fn databases_are_known_by_their_tables() {
    let database = |schema: &str| [b"SQLite format 3\0".as_slice(), schema.as_bytes()].concat();
    let name = |schema: &str| recognise("x.db", &database(schema)).map(|program| program.name);
    assert_eq!(name("CREATE TABLE checkpoints (thread_id TEXT, checkpoint_ns TEXT)"), Some("LangGraph or LangChain"));
    assert_eq!(name("CREATE TABLE agent_messages (message_data TEXT)"), Some("OpenAI Agents SDK"));
    assert_eq!(name("CREATE TABLE messages (content_json TEXT, working_dir TEXT)"), Some("goose"));
    assert_eq!(name("CREATE TABLE other (id TEXT)"), None);
}

#[test]
fn recorded_files_are_recognised_and_recorded_bodies_are_not() {
    let Some(corpus) = std::env::var_os("SEAMLINE_CORPUS").map(PathBuf::from) else {
        println!("skipped: SEAMLINE_CORPUS is not set");
        return;
    };
    let mut wrong = Vec::new();
    let mut count = 0;
    for (folder, expected) in CORPUS {
        for path in files(&corpus.join(folder)) {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let found = program(&path, &name);
            count += 1;
            if found != Some(*expected) && !INVENTED.iter().any(|invented| name.ends_with(invented)) {
                wrong.push(format!("{}: {found:?}", path.display()));
            }
        }
    }
    for path in files(&corpus.join("provider-requests")) {
        for line in std::fs::read_to_string(&path).unwrap().lines() {
            let record: serde_json::Value = serde_json::from_str(line).unwrap();
            let found = recognise("request.json", record["body"].to_string().as_bytes());
            count += 1;
            if found.is_some() {
                wrong.push(format!("{}: {found:?}", record["source"]));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count} wrong:\n{}", wrong.len(), wrong.join("\n"));
    println!("{count} files and bodies");
}
