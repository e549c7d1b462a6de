//! Conversion of the settings of a request, in every dialect.

use seamline::convert;
use seamline::convert::{ConvertOptions, Fate};
use serde_json::Value;

use super::convert::{into, parsed};

#[test]
fn the_model_can_be_changed_within_one_dialect() {
    let body = br#"{"model": "gpt-4o", "messages": [{"role": "user", "content": "a"}]}"#;
    let options = ConvertOptions {
        to: "mistral".to_owned(),
        model: Some("mistral-large-latest".to_owned()),
        ..ConvertOptions::default()
    };
    let converted = convert(body, &options).unwrap();
    let expected = br#"{"model": "mistral-large-latest", "messages": [{"role": "user", "content": "a"}]}"#;
    assert_eq!(String::from_utf8_lossy(&converted.body), String::from_utf8_lossy(expected));
    assert_eq!(converted.lost, []);
}

#[test]
fn settings_survive_a_round_trip() {
    let body = serde_json::json!({
        "model": "gpt-5", "messages": [{"role": "user", "content": "a"}], "parallel_tool_calls": false,
        "metadata": {"run": "7"}, "store": true, "service_tier": "flex", "user": "u-1", "reasoning_effort": "low",
        "verbosity": "low", "logprobs": true, "top_logprobs": 3,
        "response_format": {"type": "json_schema", "json_schema": {"name": "sky", "schema": {"type": "object"}, "strict": true}},
        "tools": [
            {"type": "function", "function": {"name": "read", "parameters": {"type": "object"}, "strict": true}},
            {"type": "custom", "custom": {"name": "edit", "format": {"type": "grammar", "grammar": {"syntax": "lark", "definition": "x"}}}}],
        "tool_choice": {"type": "custom", "custom": {"name": "edit"}}
    });
    let there = into(body.to_string().as_bytes(), "openai", "openai-responses");
    assert_eq!(there.lost, []);
    let new = parsed(&there.body);
    assert_eq!(
        new["text"],
        serde_json::json!({
            "verbosity": "low",
            "format": {"type": "json_schema", "name": "sky", "schema": {"type": "object"}, "strict": true}
        })
    );
    assert_eq!((&new["reasoning"]["effort"], &new["store"]), (&serde_json::json!("low"), &serde_json::json!(true)));
    let back = into(&there.body, "openai-responses", "openai");
    assert_eq!(back.lost, []);
    assert_eq!(parsed(&back.body), body);

    let alone = into(body.to_string().as_bytes(), "openai", "anthropic");
    let new = parsed(&alone.body);
    assert_eq!(new["metadata"], serde_json::json!({"user_id": "u-1"}));
    assert_eq!(new["tool_choice"]["disable_parallel_tool_use"], true);
    assert_eq!(new["tools"][0]["strict"], true);
    let back = parsed(&into(&alone.body, "anthropic", "openai").body);
    assert_eq!((&back["user"], &back["parallel_tool_calls"]), (&body["user"], &body["parallel_tool_calls"]));
}

#[test]
fn settings_survive_a_round_trip_through_gemini() {
    let body = serde_json::json!({
        "messages": [{"role": "user", "content": "a"}], "seed": 7, "presence_penalty": 0.5, "frequency_penalty": 0.25,
        "n": 2, "logprobs": true, "top_logprobs": 3, "response_format": {"type": "json_object"}
    });
    let there = into(body.to_string().as_bytes(), "openai_chat", "gemini_generate");
    assert_eq!(there.lost, []);
    let config = serde_json::json!({
        "seed": 7, "presencePenalty": 0.5, "frequencyPenalty": 0.25, "candidateCount": 2, "responseLogprobs": true,
        "logprobs": 3, "responseMimeType": "application/json"
    });
    assert_eq!(parsed(&there.body)["generationConfig"], config);
    let back = into(&there.body, "gemini_generate", "openai_chat");
    assert_eq!(parsed(&back.body), body);
}

#[test]
fn a_provider_gets_no_setting_that_it_rejects() {
    let body = serde_json::json!({
        "generationConfig": {"seed": 7, "responseLogprobs": true},
        "contents": [{"role": "user", "parts": [{"text": "a"}]}]
    });
    let converted = into(body.to_string().as_bytes(), "gemini", "mistral");
    let new = parsed(&converted.body);
    assert_eq!(
        (&new["random_seed"], &new["seed"], &new["logprobs"]),
        (&serde_json::json!(7), &Value::Null, &Value::Null)
    );
    let listed = converted.lost.iter().find(|lost| lost.pointer == "/generationConfig/responseLogprobs").unwrap();
    assert_eq!((listed.fate, listed.note.as_str()), (Fate::Dropped, "it is not carried over"));
}

#[test]
fn a_tool_that_is_strict_by_default_is_not_strict_elsewhere_without_a_note() {
    let body =
        br#"{"model":"gpt-5","input":"a","tools":[{"type":"function","name":"read","parameters":{"type":"object"}}]}"#;
    let converted = into(body, "openai-responses", "openai");
    let listed: Vec<_> = converted.lost.iter().map(|lost| (lost.what.as_str(), lost.pointer.as_str())).collect();
    assert_eq!(listed, [("`strict` of tools", "/tools/0/strict")]);
}

#[test]
fn a_provider_stores_nothing_that_was_not_stored_before() {
    let body = br#"{"model":"gpt-5","messages":[{"role":"user","content":"a"}]}"#;
    let converted = into(body, "openai", "openai-responses");
    assert_eq!(parsed(&converted.body)["store"], false);
    assert_eq!(converted.lost[0].fate, Fate::Added);
    let back = into(&converted.body, "openai-responses", "openai");
    assert_eq!(parsed(&back.body)["store"], false);
}

#[test]
fn a_body_without_a_model_gets_a_hint_how_to_name_one() {
    let body = br#"{"contents":[{"role":"user","parts":[{"text":"a"}]}]}"#;
    let converted = into(body, "gemini", "mistral");
    let missing = converted.lost.iter().find(|lost| lost.fate == Fate::Missing).unwrap();
    assert_eq!(missing.note, "the new body names no model; pass `--model NAME`");
    assert!(converted.is_complete());
}

#[test]
fn a_provider_with_another_name_for_a_model_has_the_demands_of_that_model() {
    let body = br#"{"messages":[{"role":"assistant","content":"hello"},{"role":"user","content":"hi"}]}"#;
    let to = |to: &str, model: &str| {
        let options = ConvertOptions { to: to.to_owned(), model: Some(model.to_owned()), ..ConvertOptions::default() };
        convert(body, &options).unwrap()
    };
    let nova = to("bedrock", "us.amazon.nova-pro-v1:0");
    assert_eq!(nova.to.provider, Some("bedrock-nova"));
    assert_eq!(parsed(&nova.body)["messages"][0]["role"], "user");
    assert_eq!(to("bedrock", "meta.llama3-70b").to.provider, Some("bedrock"));
    assert_eq!(to("openai-compatible", "gpt-4o").to.provider, Some("openai-compatible"));
}
