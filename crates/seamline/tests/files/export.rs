//! Sessions become sessions of other programs: the new file is healthy, and it says what the source says.

use std::path::{Path, PathBuf};

use seamline::convert::ConvertOptions;
use seamline::files::{self, EXPORTERS, ExportOptions, SavedConversation, exporter};
use seamline::{Options, Severity};
use serde_json::Value;

/// The sessions of the fixtures, and real ones if `SEAMLINE_CORPUS` points at them.
fn sessions() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut folders = vec![root.join("fixtures/files"), root.join("examples")];
    folders.extend(std::env::var_os("SEAMLINE_CORPUS").map(PathBuf::from));
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

fn saved(name: &str, bytes: &[u8]) -> Option<SavedConversation> {
    files::conversation(name, bytes, &Options::default()).unwrap().filter(|saved| saved.messages > 0)
}

/// The texts, calls and results of a conversation, in one dialect.
fn said(body: &[u8], dialect: &str) -> Vec<String> {
    let options = ConvertOptions {
        from: Some(dialect.to_owned()),
        to: "openai_chat".to_owned(),
        kept: true,
        ..ConvertOptions::default()
    };
    let body: Value = serde_json::from_slice(&seamline::convert(body, &options).unwrap().body).unwrap();
    let mut out = Vec::new();
    for message in body["messages"].as_array().unwrap() {
        let role = match message["role"].as_str().unwrap() {
            // Programs write their own system text, and `pi` lets the user say later instructions.
            "system" | "developer" if out.is_empty() => continue,
            "system" | "developer" => "user",
            role => role,
        };
        match &message["content"] {
            Value::String(text) => out.extend(text.lines().map(|line| format!("{role}: {line}"))),
            Value::Array(parts) => {
                let texts = parts.iter().filter_map(|part| part["text"].as_str());
                out.extend(texts.flat_map(str::lines).map(|line| format!("{role}: {line}")));
            }
            _ => {}
        }
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            // A tool that takes any text takes it as a member where all arguments are objects.
            let (call, arguments) = match &call["custom"] {
                Value::Null => {
                    let arguments = call["function"]["arguments"].as_str().unwrap();
                    (&call["function"], serde_json::from_str(arguments).unwrap_or_default())
                }
                custom => (custom, serde_json::json!({ "input": custom["input"] })),
            };
            out.push(format!("call: {} {arguments}", call["name"].as_str().unwrap()));
        }
    }
    // Programs join texts with different numbers of line breaks.
    out.retain(|text| !text.trim_end().ends_with(':'));
    // An image of a session of `pi` is in its file, and its place in the conversation that we read.
    out.retain(|text| text != "user: [content that is not text]");
    out
}

#[test]
fn every_session_becomes_a_healthy_session_of_every_program() {
    let mut count = 0;
    for path in sessions() {
        let bytes = std::fs::read(&path).unwrap();
        let Some(saved) = saved(&path.display().to_string(), &bytes) else { continue };
        for exporter in EXPORTERS {
            let options = ExportOptions { folder: Some("/srv/app".to_owned()), ..ExportOptions::default() };
            let exported = match saved.export(exporter, &options) {
                Err(seamline::Error::NoMessages) => continue,
                exported => exported.unwrap(),
            };
            let place = format!("{} as {}", path.display(), exporter.name);
            let errors: Vec<_> =
                exported.findings.iter().filter(|finding| finding.severity == Severity::Error).collect();
            assert!(errors.is_empty(), "{place}: {errors:?}");
            let again = files::conversation(&exported.path, exported.text.as_bytes(), &Options::default());
            let again = again.unwrap();
            assert!(again.is_some(), "{place}: {}", exported.text);
            let again = again.unwrap();
            assert_eq!(again.program.unwrap(), exporter.program, "{place}");
            assert_eq!((&again.about.id, &again.repairs), (&exported.about.id, &Vec::new()), "{place}");
            let expected = said(&exported.converted.body, exported.converted.to.dialect);
            assert_eq!(said(again.body.as_bytes(), again.dialect), expected, "{place}");
            let twice = saved.export(exporter, &options).unwrap();
            assert_eq!(twice.text, exported.text, "{place}");
            count += 1;
        }
    }
    assert!(count > 100, "{count}");
}

#[test]
fn claude_code_to_codex_and_back_keeps_every_text_call_and_result() {
    let mut count = 0;
    for path in sessions() {
        let bytes = std::fs::read(&path).unwrap();
        let Some(first) = saved(&path.display().to_string(), &bytes) else { continue };
        if first.program.unwrap().name != "Claude Code" {
            continue;
        }
        let options = ExportOptions::default();
        let codex = first.export(exporter("codex").unwrap(), &options).unwrap();
        let second = saved(&codex.path, codex.text.as_bytes()).unwrap();
        let back = second.export(exporter("claude-code").unwrap(), &options).unwrap();
        let last = saved(&back.path, back.text.as_bytes()).unwrap();
        let said = |saved: &SavedConversation| said(saved.body.as_bytes(), saved.dialect);
        assert_eq!(said(&last), said(&first), "{}", path.display());
        assert_eq!((&last.about.folder, &last.about.title), (&first.about.folder, &first.about.title));
        count += 1;
    }
    assert!(count > 2, "{count}");
}

/// The records of an exported example.
fn records(agent: &str) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/stuck-claude-code.jsonl");
    let saved = saved("s.jsonl", &std::fs::read(path).unwrap()).unwrap();
    let exported = saved.export(exporter(agent).unwrap(), &ExportOptions::default()).unwrap();
    exported.text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_session_of_claude_code_is_one_chain_with_one_block_in_each_record() {
    let records = records("claude-code");
    let chained: Vec<&Value> = records.iter().filter(|record| record["uuid"].is_string()).collect();
    let mut parent = &Value::Null;
    for record in &chained {
        assert_eq!(&record["parentUuid"], parent);
        assert_eq!(record["sessionId"], chained[0]["sessionId"]);
        if record["type"] == "assistant" {
            assert_eq!(record["message"]["content"].as_array().unwrap().len(), 1, "{record}");
        }
        parent = &record["uuid"];
    }
    let asked = chained.iter().find(|record| record["message"]["content"][0]["type"] == "tool_use").unwrap();
    let answer = chained.iter().find(|record| record["message"]["content"][0]["type"] == "tool_result").unwrap();
    assert_eq!(answer["sourceToolAssistantUUID"], asked["uuid"]);
    let times: Vec<_> = chained.iter().map(|record| record["timestamp"].as_str().unwrap()).collect();
    assert!(times.is_sorted_by(|one, other| one < other), "{times:?}");
    assert_eq!(chained[0]["cwd"], "/srv/mira/parser");
}

#[test]
fn a_rollout_begins_with_its_description_and_mirrors_what_was_said() {
    let records = records("codex");
    assert_eq!(
        (&records[0]["type"], &records[0]["payload"]["cwd"]),
        (&"session_meta".into(), &"/srv/mira/parser".into())
    );
    let events = records.iter().filter(|record| record["payload"]["type"] == "user_message").count();
    let said = records.iter().filter(|record| record["payload"]["role"] == "user").count();
    assert_eq!((events, said), (2, 2));
}
