//! Recorded streams, if `SEAMLINE_CORPUS` points at them: the laws of `streams`, and known facts about the recordings.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use seamline::stream::{ArgSource, Ending, Response, StreamOptions};
use serde_json::Value;

use crate::fixtures::{read, report};
use crate::streams::{Stream, assembled, over};

/// Recordings in the own form of a program.
const FOREIGN: &str = "vybestack-llxprt-code/";

/// Recorded streams that did not end well, and how they ended.
const NOT_COMPLETE: [(&str, &str); 4] = [
    ("anthropic/anthropic-refusal", "filtered"),
    // A second message begins inside the first.
    ("anthropic/spliced-message-start", "truncated"),
    ("deepseek/deepseek-text", "truncated"),
    ("openai/openai-error.1", "failed"),
];

/// Recordings in another shape than the response: Cohere's own, and one that holds its request.
const OTHER_SHAPES: [&str; 2] = ["/cohere/", "openai-custom-tool"];

/// Recordings through GitHub Copilot, which seals the ids of items anew each time it sends them.
const SEALED_IDS: [&str; 2] = ["matteing-opal/responses_api_thinking_tool_call", "github-copilot"];

#[test]
fn a_recorded_stream_has_its_recorded_ending() {
    let Some(root) = root() else {
        println!("skipped: SEAMLINE_CORPUS is not set");
        return;
    };
    let streams = recorded(&root).unwrap();
    let mut endings: BTreeMap<&str, usize> = BTreeMap::new();
    let failures: Vec<_> = streams.iter().filter_map(|stream| ends_as_it_did(stream, &mut endings).err()).collect();
    report(streams.len(), failures.into_iter());
    println!("{} streams: {endings:?}", streams.len());
}

#[test]
fn a_recorded_stream_gives_the_same_response_at_every_cut() {
    let Some(root) = root() else {
        println!("skipped: SEAMLINE_CORPUS is not set");
        return;
    };
    let streams = recorded(&root).unwrap();
    println!("{}", over(&streams, Stream::is_the_same_however_cut));
}

#[test]
fn no_prefix_of_a_recorded_stream_promises_more_than_the_whole() {
    let Some(root) = root() else {
        println!("skipped: SEAMLINE_CORPUS is not set");
        return;
    };
    let streams = recorded(&root).unwrap();
    println!("{}", over(&streams, Stream::promises_nothing_early));
}

#[test]
fn a_response_equals_the_one_that_its_provider_assembled() {
    let Some(root) = root() else {
        println!("skipped: SEAMLINE_CORPUS is not set");
        return;
    };
    let streams = recorded(&root).unwrap();
    let mut count = 0;
    let mut failures = Vec::new();
    for stream in &streams {
        let Some(mut own) = own_response(&stream.bytes) else { continue };
        count += 1;
        let response = stream.whole().unwrap();
        let mut made = serde_json::from_str(&response.message).unwrap();
        let seals_ids = SEALED_IDS.iter().any(|name| stream.name.contains(name));
        unseal(&mut own, seals_ids);
        unseal(&mut made, seals_ids);
        if made != own {
            failures.push(format!("{}:\n  theirs: {own}\n  ours:   {made}", stream.name));
        }
    }
    report(count, failures.into_iter());
    println!("{count} responses compared with what their provider put together");
}

#[test]
fn a_response_has_the_shape_of_one_that_was_not_streamed() {
    let Some(root) = root() else {
        println!("skipped: SEAMLINE_CORPUS is not set");
        return;
    };
    let streams = recorded(&root).unwrap();
    let mut count = 0;
    let mut failures = Vec::new();
    for stream in streams.iter().filter(|stream| stream.name.ends_with(".chunks.txt as lines")) {
        let path = stream.name.replace(".chunks.txt as lines", ".json");
        let Ok(text) = std::fs::read_to_string(root.join(path)) else { continue };
        if OTHER_SHAPES.iter().any(|name| stream.name.contains(name)) {
            continue;
        }
        let whole: Value = serde_json::from_str(&text).unwrap();
        let response = stream.whole().unwrap();
        let made: Value = serde_json::from_str(&response.message).unwrap();
        count += 1;
        // The two were recorded separately, so a member that the stream never names cannot be in its response.
        let came = String::from_utf8_lossy(&stream.bytes);
        let is_named = |path: &&String| came.contains(&format!("\"{}\":", path.rsplit('/').next().unwrap_or_default()));
        let missing: Vec<_> = told(&whole).difference(&members(&made)).filter(is_named).cloned().collect();
        if !missing.is_empty() {
            failures.push(format!("{}: without {}", stream.name, missing.join(", ")));
        }
    }
    report(count, failures.into_iter());
    println!("{count} answers have the members of one that was not streamed");
}

/// The outcome of the start of a call and its pieces, by the name of the sequence: whether it may run, and its input.
const SEQUENCES: [(&str, bool, &str); 6] = [
    ("start_input_plus_delta_duplicate", true, r#"{"command":"rg --files demo/rogue/original-rogue/*.c"}"#),
    ("delta_only_valid_json", true, r#"{"pattern":"*.c","path":"demo/rogue/original-rogue"}"#),
    ("start_input_only_valid_json", true, r#"{"command":"ls demo/rogue/original-rogue"}"#),
    ("start_input_null_plus_delta_valid_json", true, r#"{"command":"echo ok"}"#),
    ("start_input_plus_delta_continuation_invalid_json", false, r#","path":"demo/rogue/original-rogue"}"#),
    ("start_input_empty_object_plus_delta_valid_json", true, r#"{"command":"echo hi"}"#),
];

#[test]
fn the_six_sequences_of_start_and_pieces_give_their_expected_input() {
    let Some(root) = root() else {
        println!("skipped: SEAMLINE_CORPUS is not set");
        return;
    };
    let sequences = sequences(&root.join("danshapiro-kilroy/kimi_tool_call_sequences.ndjson")).unwrap();
    assert_eq!(sequences.len(), SEQUENCES.len());
    for (name, executable, arguments) in SEQUENCES {
        let told = answer(&sequences[name], ArgSource::DeltaWins).unwrap();
        let call = &told.calls[0];
        assert_eq!((told.ending, told.calls.len()), (Ending::Complete, 1), "{name}");
        assert_eq!((call.executable, call.arguments.as_str()), (executable, arguments), "{name}");
        assert_eq!(told.stop_reason.as_deref(), Some("tool_use"), "{name}");
    }
    // The sequence that stays broken is repaired on request.
    let broken = &sequences["start_input_plus_delta_continuation_invalid_json"];
    let merged = answer(broken, ArgSource::MergeHeuristic).unwrap();
    assert!(merged.calls[0].executable);
    assert_eq!(merged.calls[0].arguments, r#"{"pattern":"*.c","path":"demo/rogue/original-rogue"}"#);
    println!("{} sequences", SEQUENCES.len());
}

fn answer(bytes: &[u8], arg_source: ArgSource) -> Result<Response, String> {
    let mut options = StreamOptions::default();
    options.policy.stream.arg_source = arg_source;
    assembled(&options, [bytes])
}

fn ends_as_it_did<'e>(stream: &Stream, endings: &mut BTreeMap<&'e str, usize>) -> Result<(), String> {
    let response = stream.whole().map_err(|error| format!("{}: {error}", stream.name))?;
    let ending: &'e str = response.ending.as_str();
    *endings.entry(ending).or_default() += 1;
    let expected = NOT_COMPLETE.iter().find(|(name, _)| stream.name.contains(name)).map_or("complete", |(_, how)| how);
    if ending != expected {
        return Err(format!("{}: {ending}, not {expected}", stream.name));
    }
    let broken: Vec<_> = response.calls.iter().filter(|call| call.executable != (ending == "complete")).collect();
    if !broken.is_empty() && !stream.name.contains("continuation_invalid") {
        return Err(format!("{}: {broken:?}", stream.name));
    }
    Ok(())
}

/// Every recorded stream, as it was recorded and as an event stream.
pub(crate) fn recorded(root: &Path) -> Result<Vec<Stream>, String> {
    let mut streams = Vec::new();
    for path in files(root)? {
        let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        if name.starts_with(FOREIGN) {
            continue;
        }
        if name.ends_with(".chunks.txt") {
            let text = read(&path)?;
            streams.push((format!("{name} as events"), events(text.lines())));
            streams.push((format!("{name} as lines"), text.into_bytes()));
        } else if name.ends_with(".ndjson") {
            streams.extend(sequences(&path)?.into_iter().map(|(case, bytes)| (format!("{name} {case}"), bytes)));
        } else if let Some(events) = wrapped(&path) {
            streams.push((name, events));
        }
    }
    let told = |(name, bytes): (String, Vec<u8>)| {
        let found = assembled(&StreamOptions::default(), [bytes.as_slice()]).map_err(|why| format!("{name}: {why}"))?;
        let dialect = Some(found.dialect.to_owned());
        Ok(Stream::of(&name, bytes, StreamOptions { dialect, ..StreamOptions::default() }))
    };
    streams.into_iter().map(told).collect()
}

pub(crate) fn root() -> Option<PathBuf> {
    std::env::var_os("SEAMLINE_CORPUS").map(|corpus| Path::new(&corpus).join("streams"))
}

fn files(root: &Path) -> Result<Vec<PathBuf>, String> {
    let mut folders = vec![root.to_owned()];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        for path in entries.flatten().map(|entry| entry.path()) {
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    Ok(files)
}

/// Payloads as an event stream.
fn events<'t>(payloads: impl Iterator<Item = &'t str>) -> Vec<u8> {
    let mut text = String::new();
    for payload in payloads.filter(|payload| !payload.trim().is_empty()) {
        let _ = write!(text, "data: {payload}\n\n");
    }
    if text.contains("\"choices\":") {
        text += "data: [DONE]\n\n";
    }
    text.into_bytes()
}

/// A stream that was recorded as `{events: [{data}]}`.
fn wrapped(path: &Path) -> Option<Vec<u8>> {
    let record: Value = serde_json::from_str(&std::fs::read_to_string(path).ok()?).ok()?;
    let payloads = record.get("events")?.as_array()?.iter().filter_map(|event| event["data"].as_str());
    Some(events(payloads))
}

/// Sequences of named events, by the name of the sequence.
fn sequences(path: &Path) -> Result<BTreeMap<String, Vec<u8>>, String> {
    let mut sequences: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    for line in read(path)?.lines().filter(|line| line.starts_with('{')) {
        let record: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let said = |name: &str| record[name].as_str().unwrap_or_default().to_owned();
        let event = format!("event: {}\ndata: {}\n\n", said("event"), record["data"]);
        sequences.entry(said("sequence")).or_default().extend(event.into_bytes());
    }
    Ok(sequences)
}

/// The response in the last event of a stream. If several were recorded into one stream, the first counts.
fn own_response(bytes: &[u8]) -> Option<Value> {
    let text = std::str::from_utf8(bytes).ok()?;
    let last = text.lines().find(|line| line.contains("\"response.completed\""))?;
    let event: Value = serde_json::from_str(last.strip_prefix("data: ").unwrap_or(last)).ok()?;
    event["response"].get("output").is_some_and(Value::is_array).then(|| event["response"].clone())
}

/// Removes the values of a response that are sealed anew each time it is sent.
fn unseal(response: &mut Value, seals_ids: bool) {
    for item in response["output"].as_array_mut().into_iter().flatten() {
        let Some(item) = item.as_object_mut() else { continue };
        item.remove("encrypted_content");
        if seals_ids {
            item.remove("id");
        }
    }
}

/// The members of a response that have content.
fn told(response: &Value) -> BTreeSet<String> {
    let says = |path: &String| {
        !matches!(response.pointer(path), None | Some(Value::Null)) && response.pointer(path) != Some(&"".into())
    };
    members(response).into_iter().filter(says).collect()
}

/// The members of a response, without the elements of its lists.
fn members(response: &Value) -> BTreeSet<String> {
    let mut members = BTreeSet::new();
    let mut waiting = vec![(String::new(), response)];
    while let Some((path, value)) = waiting.pop() {
        match value {
            Value::Object(object) => {
                for (name, value) in object {
                    members.insert(format!("{path}/{name}"));
                    waiting.push((format!("{path}/{name}"), value));
                }
            }
            // There is one choice or candidate.
            Value::Array(list) if matches!(path.as_str(), "/choices" | "/candidates") => {
                waiting.extend(list.first().map(|first| (path.clone() + "/0", first)));
            }
            _ => {}
        }
    }
    members
}
