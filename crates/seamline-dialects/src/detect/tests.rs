//! Tests of the detection of dialects.

use super::*;

#[test]
fn calls_of_another_dialect_contest_the_name_of_the_list() {
    let refused = |body: &str| match detect(body.as_bytes()) {
        Err(Error::Split { dialects, .. }) => dialects,
        other => panic!("{body}: {:?}", other.map(Dialect::name)),
    };
    let call = r#"{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"f","input":{}}]}"#;
    let result = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"ok"}]}"#;
    let body = |list: &str, model: &str, items: &str| {
        format!(r#"{{"model":"{model}","max_tokens":10,"{list}":[{{"role":"user","content":"hi"}},{items}]}}"#)
    };
    let anthropic = format!("{call},{result}");
    assert_eq!(refused(&body("contents", "claude-opus-4-6", &anthropic)), ["gemini_generate", "anthropic_messages"]);
    assert_eq!(refused(&body("input", "claude-opus-4-6", &anthropic)), ["openai_responses", "anthropic_messages"]);
    let items = r#"{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},
        {"type":"function_call_output","call_id":"c1","output":"x"}"#;
    assert_eq!(refused(&body("messages", "gpt-5", items)), ["openai_chat", "openai_responses"]);
    // Calls of the dialect itself leave it to the rules what the others are.
    let own = r#"{"type":"function_call","call_id":"c2","name":"f","arguments":"{}"}"#;
    let mixed = body("input", "gpt-5", &format!("{anthropic},{own}"));
    assert_eq!(detect(mixed.as_bytes()).unwrap().name(), "openai_responses");
    // A type of another dialect on a text is a slip.
    let slip = body("messages", "gpt-5", r#"{"role":"user","content":[{"type":"input_text","text":"a"}]}"#);
    assert_eq!(detect(slip.as_bytes()).unwrap().name(), "openai_chat");
}

#[test]
fn the_provider_of_the_model_outweighs_blocks_that_several_dialects_have() {
    let name = |model: &str, block: &str| {
        let body = format!(r#"{{"model":"{model}","messages":[{{"role":"user","content":[{block},{block}]}}]}}"#);
        detect(body.as_bytes()).unwrap().name()
    };
    let thinking = r#"{"type":"thinking","thinking":"hm"}"#;
    assert_eq!(name("magistral-medium", thinking), "openai_chat");
    assert_eq!(name("claude-sonnet-4-5", thinking), "anthropic_messages");
    assert_eq!(name("unknown-model", thinking), "anthropic_messages");
    assert_eq!(name("gpt-4o", r#"{"type":"image"}"#), "openai_chat");
    assert_eq!(name("gpt-4o", r#"{"type":"tool_result"}"#), "anthropic_messages");
}

#[test]
fn one_block_does_not_outweigh_a_whole_conversation() {
    let call = r#"{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"x","input":{}}]}"#;
    let result = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"ok"}]}"#;
    let file = r#"{"role":"user","content":[{"type":"file","file":{"file_id":"f"}}]}"#;
    let body = |messages: &[&str]| format!(r#"{{"model":"claude-sonnet-4-5","messages":[{}]}}"#, messages.join(","));
    let many = body(&[file, call, result, call, result]);
    assert_eq!(detect(many.as_bytes()).unwrap().name(), "anthropic_messages");
    let Err(error) = detect(body(&[file]).as_bytes()) else { panic!("one block decided") };
    assert_eq!(
        error.to_string(),
        "this body looks like openai_chat and like anthropic_messages: a block of type `file` against the model \
         `claude-sonnet-4-5`"
    );
}

#[test]
fn weak_signs_contest_one_block_only() {
    let detected = |body: &str| detect(body.as_bytes()).map(Dialect::name).ok();
    let image = r#"{"role":"user","content":[{"type":"image_url","image_url":{"url":"u"}}]}"#;
    assert_eq!(detected(&format!(r#"{{"system":"be brief","messages":[{image}]}}"#)), None);
    assert_eq!(detected(&format!(r#"{{"thinking":{{}},"messages":[{image}]}}"#)), Some("openai_chat"));
    assert_eq!(detected(&format!(r#"{{"system":"be brief","messages":[{image},{image}]}}"#)), Some("openai_chat"));
    assert_eq!(detected(r#"{"model":"claude-x","input":"hi"}"#), Some("openai_responses"));
    // Chat Completions begins with a system message; the model of a gateway tells nothing.
    let call = r#"{"type":"tool_use","id":"toolu_1","name":"x","input":{}}"#;
    let gateway = |blocks: &str| {
        let system = format!(r#"{{"role":"system","content":[{{"type":"text","text":"be brief"}}{blocks}]}}"#);
        format!(r#"{{"model":"google/gemini-2.5-flash","messages":[{system},{{"role":"user","content":"hi"}}]}}"#)
    };
    assert_eq!(detected(&gateway("")), Some("openai_chat"));
    assert_eq!(detected(&gateway(&format!(",{call}"))), None);
    assert_eq!(detected(&gateway(&format!(",{call},{call}"))), Some("anthropic_messages"));
}

#[test]
fn a_model_whose_provider_serves_several_dialects_does_not_decide() {
    let detected = |messages: &str| {
        let body = format!(r#"{{"model":"deepseek-v4-pro","messages":[{messages}]}}"#);
        detect(body.as_bytes()).unwrap().name()
    };
    assert_eq!(detected(r#"{"role":"user","content":"hi"}"#), "openai_chat");
    let call = r#"{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"x","input":{}}]}"#;
    assert_eq!(detected(call), "anthropic_messages");
    assert_eq!(detected(r#"{"role":"tool","tool_call_id":"call_1","content":"ok"}"#), "openai_chat");
}

#[test]
fn parts_among_messages_make_no_gemini() {
    let body = br#"{"messages":[{"role":"user","parts":[{"text":"hi"}]}]}"#;
    assert_eq!(detect(body).unwrap().name(), "openai_chat");
}

#[test]
fn no_two_dialects_have_the_same_precedence() {
    let mut precedences: Vec<_> = ALL.iter().map(|dialect| dialect.body_signs.precedence).collect();
    precedences.sort_unstable();
    precedences.dedup();
    assert_eq!(precedences.len(), ALL.len());
}

#[test]
fn calls_in_the_middle_of_a_long_list_are_found() {
    let text = r#"{"role":"user","content":"a"},{"role":"assistant","content":"b"}"#;
    let pair = r#"{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"x","input":{}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"ok"}]}"#;
    let texts = vec![text; 100].join(",");
    let list = format!("[{texts},{},{texts}]", [pair; 10].join(","));
    assert_eq!(detect(list.as_bytes()).unwrap().name(), "anthropic_messages");
    assert_eq!(detect(format!("[{texts},{texts}]").as_bytes()).unwrap().name(), "openai_chat");
}

#[test]
fn an_empty_list_of_calls_does_not_outweigh_the_model() {
    for member in [r#""tool_calls":[]"#, r#""reasoning_content":"hm""#] {
        let message = format!(r#"{{"role":"assistant","content":"b",{member}}}"#);
        let body = format!(
            r#"{{"model":"claude-sonnet-4-5","messages":[{{"role":"user","content":"a"}},{message},{message},{message}]}}"#
        );
        assert_eq!(detect(body.as_bytes()).unwrap().name(), "anthropic_messages", "{member}");
    }
}

#[test]
fn a_body_of_ollama_s_own_interface_is_refused() {
    let calls = r#"{"role":"assistant","content":"","tool_calls":[{"function":{"name":"f","arguments":{"a":1}}}]}"#;
    let result = r#"{"role":"tool","tool_name":"f","content":"11"}"#;
    let body = |more: &str, messages: &str| format!(r#"{{"model":"llama3.2",{more}"messages":[{messages}]}}"#);
    let native = body("", &format!("{calls},{result}"));
    assert_eq!(detect(native.as_bytes()).err(), Some(Error::OllamaNative));
    let native = body(r#""keep_alive":"5m","options":{"num_ctx":4096},"#, calls);
    assert_eq!(detect(native.as_bytes()).err(), Some(Error::OllamaNative));
    assert_eq!(detect(body("", calls).as_bytes()).unwrap().name(), "openai_chat");
    let with_ids = calls.replace(r#"{"function""#, r#"{"id":"call_1","function""#);
    assert_eq!(detect(body("", &format!("{with_ids},{result}")).as_bytes()).unwrap().name(), "openai_chat");
}
