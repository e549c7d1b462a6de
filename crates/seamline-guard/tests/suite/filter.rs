//! Content filters and refusals, and texts that only mention them.
//!
//! `fixtures/guard/ordinary.jsonl` has two hundred texts that are not errors, some of them successful responses;
//! `quoting.jsonl` has responses that quote a filter word by word.

use std::path::Path;

use seamline_guard::{Certainty, Failure, FilteredPart, classify, filter, filter_message};
use seamline_model::{Assembled, AssembledBlock, Content, Ending, Piece, Stop, Text};
use serde_json::{Value, json};

/// Reads the kind and the text of each line of a file.
fn texts(name: &str) -> Vec<(String, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/guard").join(name);
    let lines = std::fs::read_to_string(path).unwrap();
    let read = |line: &str| {
        let value: Value = serde_json::from_str(line).unwrap();
        (value["kind"].as_str().unwrap().to_owned(), value["text"].as_str().unwrap().to_owned())
    };
    lines.lines().map(read).collect()
}

/// Makes successful responses with this text in every dialect.
fn answers(text: &str) -> Vec<Value> {
    vec![
        json!({"type":"message","role":"assistant","content":[{"type":"text","text":text}],"stop_reason":"end_turn"}),
        json!({"type":"message","content":[{"type":"tool_use","id":"t","name":"say","input":{"text":text}}],
               "stop_reason":"tool_use"}),
        json!({"choices":[{"message":{"role":"assistant","content":text,"refusal":null},"finish_reason":"stop"}]}),
        json!({"choices":[{"delta":{"content":text},"finish_reason":null}]}),
        json!({"status":"completed","error":null,"output":[{"type":"message","content":[{"type":"output_text","text":text}]}]}),
        json!({"candidates":[{"content":{"parts":[{"text":text}]},"finishReason":"STOP"}]}),
        json!({"output":{"message":{"role":"assistant","content":[{"text":text}]}},"stopReason":"end_turn"}),
    ]
}

#[test]
fn ordinary_texts_are_not_errors() {
    let texts = texts("ordinary.jsonl");
    assert!(texts.len() >= 200, "{}", texts.len());
    let mut wrong = Vec::new();
    for (kind, text) in &texts {
        for status in [None, Some(200), Some(400)] {
            let failure = Failure { status, text, ..Failure::default() };
            let verdict = classify(&failure);
            if verdict.known.is_some() || verdict.certainty != Certainty::Guess {
                wrong.push(format!("{kind} {status:?} {:?} {}: {text}", verdict.class, verdict.name));
            }
            wrong.extend(filter(&failure).map(|found| format!("{kind} {status:?} {found:?}: {text}")));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_response_is_not_filtered_whatever_its_text() {
    for (_, text) in texts("ordinary.jsonl").iter().chain(&texts("quoting.jsonl")) {
        assert_eq!(filter(&Failure { status: Some(200), text, ..Failure::default() }), None, "{text}");
        for answer in answers(text) {
            for status in [None, Some(200)] {
                let body = answer.to_string();
                assert_eq!(filter(&Failure { status, text: &body, ..Failure::default() }), None, "{body}");
            }
        }
    }
}

/// A body, its status, and the expected filter: part, category, source, and whether a retry is useless.
type Signal = (u16, &'static str, FilteredPart, Option<&'static str>, &'static str, bool);

const SIGNALS: &[Signal] = {
    use FilteredPart::{Either, Refusal, Request, Response};
    &[
        (
            200,
            r#"{"content":[],"stop_reason":"refusal","stop_details":{"type":"refusal","category":"bio","explanation":"no"}}"#,
            Refusal,
            Some("bio"),
            "ANT-48",
            true,
        ),
        (200, r#"{"content":[],"stop_reason":"refusal","stop_details":null}"#, Refusal, None, "ANT-48", true),
        // Stop reasons of other providers that gateways forward, as streams read them.
        (200, r#"{"choices":[{"finish_reason":"SAFETY"}]}"#, Either, Some("SAFETY"), "stop", true),
        (200, r#"{"choices":[{"finish_reason":"refusal"}]}"#, Refusal, None, "stop", true),
        (200, r#"{"content":[],"stop_reason":"content-filter"}"#, Either, Some("content-filter"), "stop", true),
        (200, r#"{"candidates":[{"finishReason":"content_filter"}]}"#, Either, Some("content_filter"), "stop", true),
        (200, r#"{"stopReason":"blocked"}"#, Either, Some("blocked"), "stop", true),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"Output blocked by content filtering policy"}}"#,
            Response,
            None,
            "ANT-49",
            true,
        ),
        (
            200,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"Output blocked by content filtering policy","details":null}}"#,
            Response,
            None,
            "ANT-49",
            true,
        ),
        (
            200,
            r#"{"choices":[{"message":{"content":""},"finish_reason":"content_filter"}]}"#,
            Response,
            None,
            "OAC-16",
            false,
        ),
        (
            200,
            r#"{"choices":[{"message":{"content":null,"refusal":"I can't help with that."},"finish_reason":"stop"}]}"#,
            Refusal,
            None,
            "OAC-16",
            true,
        ),
        (200, r#"{"choices":[{"delta":{"refusal":"I "},"finish_reason":null}]}"#, Refusal, None, "OAC-16", true),
        (
            400,
            r#"{"error":{"message":"Invalid prompt: your prompt was flagged as potentially violating our usage policy.","code":"invalid_prompt"}}"#,
            Request,
            None,
            "OAC-17",
            true,
        ),
        (
            200,
            r#"{"status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":[]}"#,
            Response,
            None,
            "OAR-21",
            false,
        ),
        (
            200,
            r#"{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"content_filter"}}}"#,
            Response,
            None,
            "OAR-21",
            false,
        ),
        (
            200,
            r#"{"type":"response.failed","response":{"status":"failed","error":{"code":"cyber_policy","message":"This is flagged."}}}"#,
            Request,
            Some("cyber_policy"),
            "OAR-22",
            true,
        ),
        (
            403,
            r#"{"error":{"code":"misalignment_policy_violation","message":"x","misalignment":{"error_type":"a"}}}"#,
            Request,
            Some("misalignment_policy_violation"),
            "OAR-22",
            true,
        ),
        (
            200,
            r#"{"status":"completed","error":null,"output":[{"type":"message","content":[{"type":"refusal","refusal":"No."}]}]}"#,
            Refusal,
            None,
            "OAC-16",
            true,
        ),
        (
            400,
            r#"{"error":{"message":"The response was filtered due to the prompt triggering Azure OpenAI's content management policy.","code":"content_filter","innererror":{"code":"ResponsibleAIPolicyViolation","content_filter_result":{"hate":{"filtered":false,"severity":"safe"},"violence":{"filtered":true,"severity":"medium"}}}}}"#,
            Request,
            Some("violence"),
            "AZR-2",
            true,
        ),
        (
            400,
            r#"{"error":{"message":"The response was filtered due to the prompt triggering Microsoft's content management policy.","code":"content_filter"}}"#,
            Request,
            None,
            "AZR-2",
            true,
        ),
        (
            200,
            r#"{"choices":[{"finish_reason":"content_filter","message":{"content":"a"},"content_filter_results":{"hate":{"filtered":true,"severity":"high"}}}]}"#,
            Response,
            Some("hate"),
            "AZR-3",
            false,
        ),
        (
            200,
            r#"{"choices":[],"prompt_filter_results":[{"prompt_index":0,"content_filter_results":{"jailbreak":{"detected":true,"filtered":true}}}]}"#,
            Request,
            Some("jailbreak"),
            "AZR-3",
            true,
        ),
        (
            200,
            r#"{"promptFeedback":{"blockReason":"OTHER"},"usageMetadata":{}}"#,
            Request,
            Some("OTHER"),
            "GEM-14",
            true,
        ),
        (
            200,
            r#"[{"candidates":[{"content":{"parts":[{"text":"a"}]}}]},{"promptFeedback":{"blockReason":"JAILBREAK","blockReasonMessage":"no"}}]"#,
            Request,
            Some("JAILBREAK"),
            "GEM-14",
            true,
        ),
        (
            200,
            r#"{"candidates":[{"finishReason":"SAFETY","safetyRatings":[]}]}"#,
            Response,
            Some("SAFETY"),
            "GEM-15",
            true,
        ),
        (200, r#"{"candidates":[{"finishReason":"RECITATION"}]}"#, Response, Some("RECITATION"), "GEM-15", false),
        (
            200,
            r#"{"output":{"message":{"role":"assistant","content":[{"text":"Sorry, blocked."}]}},"stopReason":"guardrail_intervened"}"#,
            Either,
            None,
            "BED-14",
            true,
        ),
        (
            200,
            r#"{"output":{"message":{"role":"assistant","content":[]}},"stopReason":"content_filtered"}"#,
            Response,
            None,
            "BED-14",
            false,
        ),
        (200, r#"{"completion":"x","amazon-bedrock-guardrailAction":"INTERVENED"}"#, Either, None, "BED-14", true),
        (
            400,
            r#"{"message":"This request has been blocked by our content filters. Our filters automatically flagged this prompt."}"#,
            Request,
            None,
            "Bedrock filters",
            true,
        ),
        (
            400,
            r#"{"error":{"message":"Content Exists Risk","type":"invalid_request_error"}}"#,
            Either,
            None,
            "DSK-7",
            true,
        ),
        (
            403,
            r#"{"code":"The caller does not have permission to execute the specified operation","error":"Content violates usage guidelines. Team: x, API key ID: y, Model: grok-4, Failed check: SAFETY_CHECK_TYPE_BIO"}"#,
            Request,
            Some("SAFETY_CHECK_TYPE_BIO"),
            "XAI-2",
            true,
        ),
        (
            403,
            r#"{"error":{"message":"Content blocked by guardrail","status":403},"guardrails":{"results":{}}}"#,
            Request,
            None,
            "MIS-12",
            true,
        ),
        (
            400,
            r#"{"error":{"code":"data_inspection_failed","message":"<400> InternalError.Algo.DataInspectionFailed: Input text data may contain inappropriate content."}}"#,
            Request,
            None,
            "QWN-4",
            true,
        ),
        (
            400,
            r#"{"error":{"code":"data_inspection_failed","message":"Output data may contain inappropriate content."}}"#,
            Response,
            None,
            "QWN-4",
            true,
        ),
        (
            400,
            r#"{"code":"DataInspectionFailed","message":"Input or output data may contain inappropriate content."}"#,
            Either,
            None,
            "QWN-4",
            true,
        ),
        (
            400,
            r#"{"error":{"code":"1301","message":"系统检测到输入或生成内容可能包含不安全或敏感内容，请您避免输入易产生敏感内容的提示语，感谢您的配合。"}}"#,
            Either,
            None,
            "Zhipu 1301",
            true,
        ),
        (
            200,
            r#"{"choices":[{"message":{"content":"a"},"finish_reason":"sensitive"}]}"#,
            Response,
            None,
            "Zhipu sensitive",
            true,
        ),
        (
            200,
            r#"{"choices":null,"base_resp":{"status_code":1026,"status_msg":"input new_sensitive"}}"#,
            Request,
            None,
            "MiniMax 1026",
            true,
        ),
        (
            200,
            r#"{"choices":[{"finish_reason":"stop","message":{"content":"x"}}],"output_sensitive":true}"#,
            Response,
            None,
            "MiniMax 1027",
            true,
        ),
        (
            500,
            "input new_sensitive, messages[13]'s content[2] image is sensitive, please check your input (1026)",
            Request,
            None,
            "MiniMax 1026",
            true,
        ),
        (
            400,
            r#"{"error":{"message":"The request was rejected because it was considered high risk","type":"content_filter"}}"#,
            Request,
            None,
            "Kimi high risk",
            true,
        ),
        (
            403,
            r#"{"error":{"code":403,"message":"Your chosen model requires moderation and your input was flagged","metadata":{"reasons":["harassment"],"flagged_input":"x","provider_name":"p"}}}"#,
            Request,
            Some("harassment"),
            "OpenRouter 403",
            true,
        ),
        (
            200,
            r#"{"choices":[{"finish_reason":"content_filter","native_finish_reason":"PROHIBITED_CONTENT","message":{"content":""}}]}"#,
            Response,
            Some("PROHIBITED_CONTENT"),
            "GEM-15",
            true,
        ),
        (
            200,
            r#"{"choices":[{"finish_reason":"content_filter","native_finish_reason":"refusal","message":{"content":""}}]}"#,
            Refusal,
            None,
            "ANT-48",
            true,
        ),
        (200, r#"{"id":"1","finish_reason":"ERROR_TOXIC","text":""}"#, Response, None, "COH-5", false),
        (
            400,
            r#"{"error":{"code":"InputTextSensitiveContentDetected","message":"The request failed because the input text may contain sensitive information."}}"#,
            Request,
            None,
            "Ark sensitive",
            true,
        ),
        (
            400,
            r#"{"error":{"message":"input contains sensitive words: [test]","type":"new_api_error","code":"sensitive_words_detected"}}"#,
            Request,
            None,
            "gateway words",
            true,
        ),
    ]
};

#[test]
fn every_sign_is_found() {
    let mut wrong = Vec::new();
    for (status, text, part, category, source, useless) in SIGNALS {
        let found = filter(&Failure { status: Some(*status), text, ..Failure::default() });
        let is_right = found.as_ref().is_some_and(|found| {
            (found.part, found.category.as_deref(), found.source, found.is_retry_useless)
                == (*part, *category, *source, *useless)
                && !found.kind.advice.is_empty()
        });
        if !is_right {
            wrong.push(format!("{text}\n  {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn other_failures_are_not_filters() {
    for (status, text) in [
        (529, r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#),
        (400, r#"{"error":{"message":"messages.3: tool_use ids must be unique"}}"#),
        (401, r#"{"error":{"message":"invalid x-api-key"}}"#),
        (200, r#"{"base_resp":{"status_code":1002,"status_msg":"rate limit"}}"#),
        (500, ""),
    ] {
        assert_eq!(filter(&Failure { status: Some(status), text, ..Failure::default() }), None, "{text}");
    }
}

fn message(stop: Option<(Stop, &str)>) -> Assembled {
    Assembled {
        ending: Ending::Filtered,
        stop: stop.map(|(stop, word)| (stop, word.to_owned())),
        blocks: Vec::new(),
        nameless: Vec::new(),
        members: Vec::new(),
        usage: Vec::new(),
        failure: None,
        flaws: Vec::new(),
    }
}

fn refusing(text: &str) -> AssembledBlock {
    AssembledBlock {
        place: 0,
        piece: Piece::Refusal,
        base: String::new(),
        whole: None,
        content: Content::Text(Text { text: text.to_owned(), signature: None }),
        members: Vec::new(),
        closed: true,
        left_out: false,
    }
}

#[test]
fn a_streamed_message_is_read_by_its_stop_reason_and_its_members() {
    let read = |message: &Assembled| filter_message(message).map(|found| (found.part, found.category));
    let word = |word: &str| Some(word.to_owned());
    for (stop, expected) in [
        ((Stop::Refusal, "refusal"), (FilteredPart::Refusal, None)),
        ((Stop::Filter, "content_filter"), (FilteredPart::Response, None)),
        ((Stop::Filter, "guardrail_intervened"), (FilteredPart::Either, None)),
        ((Stop::Filter, "PROHIBITED_CONTENT"), (FilteredPart::Response, word("PROHIBITED_CONTENT"))),
        ((Stop::Filter, "sensitive"), (FilteredPart::Response, None)),
        ((Stop::Filter, "a_word_of_tomorrow"), (FilteredPart::Either, word("a_word_of_tomorrow"))),
    ] {
        assert_eq!(read(&message(Some(stop))), Some(expected), "{stop:?}");
    }
    for stop in [(Stop::Turn, "end_turn"), (Stop::Length, "max_tokens"), (Stop::Other, "sensitive")] {
        assert_eq!(read(&message(Some(stop))), None, "{stop:?}");
    }

    let mut blocked = message(None);
    blocked.members.push(("promptFeedback".to_owned(), r#"{"blockReason":"BLOCKLIST"}"#.to_owned()));
    assert_eq!(read(&blocked), Some((FilteredPart::Request, word("BLOCKLIST"))));

    let mut failed = message(None);
    failed.failure =
        Some(r#"{"type":"error","error":{"message":"Output blocked by content filtering policy"}}"#.to_owned());
    assert_eq!(read(&failed), Some((FilteredPart::Response, None)));
    failed.failure = Some(r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#.to_owned());
    assert_eq!(read(&failed), None);

    let mut refused = message(Some((Stop::Turn, "stop")));
    refused.blocks.push(refusing(""));
    assert_eq!(read(&refused), None);
    refused.blocks.push(refusing("I can't help with that."));
    let found = filter_message(&refused).unwrap();
    assert_eq!((found.part, found.said.as_deref()), (FilteredPart::Refusal, Some("I can't help with that.")));
}
