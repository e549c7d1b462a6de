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
