//! The dialect of a body is found by all of its signs: one block does not decide against the rest.

use std::path::{Path, PathBuf};

use seamline::error::BodyError;
use seamline::{Error, Options, check, repair};
use serde_json::{Value, json};

/// Blocks of all dialects, and blocks that no dialect has.
fn foreign_blocks() -> Vec<Value> {
    vec![
        json!({"type": "file", "file": {"file_id": "f"}}),
        json!({"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}),
        json!({"type": "input_audio", "input_audio": {"data": "", "format": "wav"}}),
        json!({"type": "tool_use", "id": "toolu_9", "name": "x", "input": {}}),
        json!({"type": "tool_result", "tool_use_id": "toolu_9", "content": "ok"}),
        json!({"type": "server_tool_use", "id": "srvtoolu_9", "name": "web_search", "input": {}}),
        json!({"type": "redacted_thinking", "data": "x"}),
        json!({"type": "input_text", "text": "x"}),
        json!({"type": "input_file", "file_id": "f"}),
        json!({"toolUse": {"toolUseId": "tooluse_9", "name": "x", "input": {}}}),
        json!({"toolResult": {"toolUseId": "tooluse_9", "content": []}}),
        json!({"cachePoint": {"type": "default"}}),
        json!({"reasoningContent": {"reasoningText": {"text": "x"}}}),
        json!({"functionCall": {"name": "x", "args": {}}}),
        json!({"type": "hologram", "depth": 3}),
        json!({"hologram": {}}),
        json!(7),
    ]
}

/// The detected dialect; nothing if the signs are split.
fn detected(body: &Value) -> Result<Option<&'static str>, Error> {
    match check(body.to_string().as_bytes(), &Options::default()) {
        Ok(checked) => Ok(Some(checked.dialect)),
        Err(Error::Body(BodyError::Split { .. })) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether a body has any sign of its dialect; plain text alone fits several.
fn has_signs(body: &Value) -> bool {
    let signs = ["model", "system", "tools", "toolConfig", "inferenceConfig", "modelId", "anthropic_version"];
    signs.iter().any(|sign| body.get(sign).is_some())
}

/// Inserts each foreign block into each list of blocks of a body, and checks the detected dialect.
pub(crate) fn withstands_foreign_blocks(body: &Value, dialect: &str) -> Result<usize, String> {
    let mut count = 0;
    let list = ["messages", "contents", "input"].into_iter().find(|list| body[list].is_array()).unwrap_or_default();
    for index in 0..body[list].as_array().map_or(0, Vec::len) {
        for block in foreign_blocks() {
            for place in [0, usize::MAX] {
                let mut changed = body.clone();
                let message = &mut changed[list][index];
                let key = if message["parts"].is_array() { "parts" } else { "content" };
                let Some(blocks) = message[key].as_array_mut() else { continue };
                blocks.insert(place.min(blocks.len()), block.clone());
                let found = detected(&changed).map_err(|error| error.to_string())?;
                count += 1;
                if found.is_some_and(|found| found != dialect) {
                    return Err(format!("{dialect} became {found:?} by {block} in message {index}: {body}"));
                }
            }
        }
    }
    Ok(count)
}

#[test]
fn one_foreign_block_never_changes_the_dialect_to_a_wrong_one() {
    let mut count = 0;
    for path in bodies() {
        let text = std::fs::read(&path).unwrap();
        let Ok(body) = serde_json::from_slice::<Value>(&text) else { continue };
        let Ok(checked) = check(&text, &Options::default()) else { continue };
        if has_signs(&body) && checked.is_accepted() {
            count += withstands_foreign_blocks(&body, checked.dialect).unwrap_or_else(|why| panic!("{path:?}: {why}"));
        }
    }
    assert!(count > 1000, "only {count} bodies");
    println!("{count} bodies with a foreign block");
}

#[test]
fn a_body_with_split_signs_is_not_changed() {
    let body = json!({"model": "claude-sonnet-4-5", "messages": [
        {"role": "user", "content": [{"type": "file", "file": {"file_id": "f"}}]},
        {"role": "assistant", "content": [{"type": "text", "text": "hi"}]}]});
    let error = repair(body.to_string().as_bytes(), &Options::default()).unwrap_err();
    assert!(matches!(&error, Error::Body(BodyError::Split { .. })), "{error}");
    assert!(error.to_string().contains("`file`") && error.to_string().contains("claude-sonnet-4-5"), "{error}");
    for dialect in ["openai_chat", "anthropic_messages"] {
        let options = Options { dialect: Some(dialect.to_owned()), ..Options::default() };
        assert_eq!(check(body.to_string().as_bytes(), &options).unwrap().dialect, dialect);
    }
}

#[test]
fn many_calls_outweigh_one_foreign_block() {
    let call =
        |id: &str| json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "x", "input": {}}]});
    let result =
        |id: &str| json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": "ok"}]});
    let body = json!({"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": [
        {"role": "user", "content": [{"type": "file", "file": {"file_id": "f"}}, {"type": "text", "text": "hi"}]},
        call("toolu_1"), result("toolu_1"), call("toolu_2"), result("toolu_2")]});
    assert_eq!(detected(&body).unwrap(), Some("anthropic_messages"));
}

/// The dialects of a mixed conversation, and a cycle of each.
fn cycle(dialect: &str, id: &str) -> [Value; 2] {
    match dialect {
        "openai_chat" => [
            json!({"role": "assistant", "content": null, "tool_calls": [
                {"id": id, "type": "function", "function": {"name": "x", "arguments": "{}"}}]}),
            json!({"role": "tool", "tool_call_id": id, "content": "ok"}),
        ],
        _ => [
            json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "x", "input": {}}]}),
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": "ok"}]}),
        ],
    }
}

/// A body with these numbers of cycles of dialects, in order.
fn mixed(own: &str, cycles: &[(&str, usize)]) -> Value {
    let mut messages = vec![json!({"role": "user", "content": "go"})];
    let dialects = cycles.iter().flat_map(|(dialect, count)| std::iter::repeat_n(dialect, *count));
    messages.extend(dialects.enumerate().flat_map(|(at, dialect)| cycle(dialect, &format!("id_{at}"))));
    // The members behind the messages tell the dialect as well.
    match own {
        "openai_chat" => json!({"messages": messages, "model": "gpt-5", "parallel_tool_calls": true,
            "tools": [{"type": "function", "function": {"name": "x", "parameters": {"type": "object"}}}]}),
        _ => json!({"messages": messages, "model": "claude-sonnet-4-5", "max_tokens": 9, "system": "be brief",
            "tools": [{"name": "x", "description": "d", "input_schema": {"type": "object"}}]}),
    }
}

#[test]
fn cycles_of_another_dialect_decide_neither_at_the_start_nor_at_the_end() {
    for (own, other) in [("anthropic_messages", "openai_chat"), ("openai_chat", "anthropic_messages")] {
        for many in [12, 30, 70, 200, 1000] {
            for cycles in [
                vec![(other, 2), (own, many)],
                vec![(own, many), (other, 2)],
                vec![(other, 1), (own, many), (other, 1)],
            ] {
                let body = mixed(own, &cycles);
                assert_eq!(detected(&body).unwrap(), Some(own), "{cycles:?}");
            }
        }
    }
}

#[test]
fn a_conversation_that_goes_on_in_another_dialect_is_split() {
    for (one, other) in [("anthropic_messages", "openai_chat"), ("openai_chat", "anthropic_messages")] {
        for many in [5, 40, 64, 200, 2000] {
            let body = mixed(one, &[(one, many), (other, many)]);
            assert_eq!(detected(&body).unwrap(), None, "{many} cycles of each");
            let error = repair(body.to_string().as_bytes(), &Options::default()).unwrap_err();
            assert!(matches!(error, Error::Body(BodyError::Split { .. })), "{error}");
        }
    }
}

#[test]
fn a_provider_is_weighed_against_the_whole_conversation() {
    let read = |body: &Value, provider: &str| {
        let options = Options { provider: Some(provider.to_owned()), ..Options::default() };
        check(body.to_string().as_bytes(), &options).unwrap().dialect
    };
    let (anthropic, chat) = ("anthropic_messages", "openai_chat");
    for many in [12, 30, 200] {
        assert_eq!(read(&mixed(anthropic, &[(chat, 2), (anthropic, many)]), "openai"), anthropic);
        assert_eq!(read(&mixed(anthropic, &[(anthropic, many), (chat, 2)]), "openai"), anthropic);
        assert_eq!(read(&mixed(chat, &[(anthropic, 2), (chat, many)]), "anthropic"), chat);
    }
    // Where neither prevails, the caller knows better.
    for provider in ["openai", "anthropic"] {
        let usual = if provider == "openai" { chat } else { anthropic };
        assert_eq!(read(&mixed(anthropic, &[(chat, 20), (anthropic, 20)]), provider), usual);
    }
}

/// All bodies of the project's own fixtures.
fn bodies() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let mut folders = vec![root.join("dialects"), root.join("rules"), root.join("convert")];
    let mut bodies = Vec::new();
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        paths.sort();
        let (inner, files): (Vec<_>, Vec<_>) = paths.into_iter().partition(|path| path.is_dir());
        folders.extend(inner);
        bodies.extend(files.into_iter().filter(|path| path.extension().is_some_and(|ending| ending == "json")));
    }
    bodies
}
