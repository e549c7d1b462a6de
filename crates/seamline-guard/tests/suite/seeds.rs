//! Requirements of the source documents for errors and filters, by their numbers.

use seamline_guard::{Advice, Class, Emitted, Failure, GaveUp, Retry, RetryPolicy, classify, filter};

fn of(status: u16, text: &str) -> Failure<'_> {
    Failure { status: Some(status), text, ..Failure::default() }
}

/// Returns the default policy's advice on a first failure.
fn advice(failure: &Failure<'_>) -> Advice {
    Retry::new(RetryPolicy::default()).handle_failure(&classify(failure), b"{}", Emitted::Nothing)
}

const FILTERED: Advice = Advice::GiveUp { why: GaveUp::Filtered };

#[test]
fn s0_42_a_body_that_a_gateway_refuses_is_damage() {
    for text in [
        r#"{"error":{"message":"invalid request body","code":"invalid_request_body"}}"#,
        r#"{"error":{"code":"invalid_request_body"}}"#,
    ] {
        let failure = of(400, text);
        assert_eq!(classify(&failure).class, Class::Corruption, "{text}");
        assert_eq!(advice(&failure), Advice::Repair, "{text}");
    }
    // The code counts by itself, not as a word of a sentence.
    assert_ne!(classify(&of(400, "no handler for invalid_request_body_test")).class, Class::Corruption);
}

#[test]
fn s1_51_anthropic_s_filter_is_recognised_by_its_type_and_its_sentence() {
    for (status, text) in [
        (400, r#"{"type":"error","error":{"type":"content_filtered","message":"no"}}"#),
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"Output blocked by content filtering policy"}}"#,
        ),
    ] {
        let failure = of(status, text);
        assert_eq!((classify(&failure).class, filter(&failure).is_some()), (Class::Filter, true), "{text}");
        assert_eq!(advice(&failure), FILTERED, "{text}");
    }
    for text in [
        "messages.0.content: safety is not a valid block type",
        r#"{"error":{"message":"unknown parameter: safety_settings"}}"#,
        "the tool `content_filter_test` failed",
        "max_tokens: must be positive for your safety",
    ] {
        let failure = of(400, text);
        assert_ne!(classify(&failure).class, Class::Filter, "{text}");
        assert_eq!(filter(&failure), None, "{text}");
    }
}

#[test]
fn s1_52_openai_s_filter_is_recognised_by_its_finish_reason() {
    let answer = |reason: &str| {
        format!(r#"{{"choices":[{{"message":{{"role":"assistant","content":"safety"}},"finish_reason":"{reason}"}}]}}"#)
    };
    assert!(filter(&of(200, &answer("content_filter"))).is_some());
    for reason in ["stop", "length", "tool_calls"] {
        assert_eq!(filter(&of(200, &answer(reason))), None, "{reason}");
    }
}

#[test]
fn s1_32_filters_errors_and_timeouts_have_their_own_classes() {
    let classes = |failures: [Failure<'_>; 3]| failures.map(|failure| classify(&failure).class);
    let timeout = Failure { text: "the stream timed out", ..Failure::default() };
    let failures = [of(400, "Output blocked by content filtering policy"), of(401, "invalid x-api-key"), timeout];
    assert_eq!(classes(failures), [Class::Filter, Class::Fatal, Class::Transient]);
}

#[test]
fn s3_17_a_400_is_not_retried() {
    assert_eq!(advice(&of(400, "never heard of it")), Advice::GiveUp { why: GaveUp::Fatal });
    assert_eq!(advice(&of(422, "")), Advice::GiveUp { why: GaveUp::Fatal });
}

#[test]
fn s3_18_a_mismatch_is_recognised_by_its_text_and_can_be_repaired() {
    let text = "messages.6: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1. Each \
                `tool_use` block must have a corresponding `tool_result` block in the next message.";
    for status in [400, 422] {
        assert_eq!(advice(&of(status, text)), Advice::Repair, "{status}");
    }
    // The text of the source document, without any quotes.
    assert_eq!(advice(&of(400, "tool_use ids were found without tool_result blocks")), Advice::Repair);
}
