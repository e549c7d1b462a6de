//! Errors in the wrappings of programs in front of a provider.

use super::fixtures::{Case, cases};
use seamline_guard::{Failure, classify};

/// Wraps an error text. No wrapping says that the request is wrong: that would override words about failed connections.
pub(crate) type Wrapping = fn(&str) -> String;

pub(crate) const ALL: [(&str, Wrapping); 9] = [
    ("an object", |text| format!(r#"{{"type":"error","error":{{"type":"upstream_error","message":{}}}}}"#, json(text))),
    ("OpenRouter", |text| {
        format!(
            r#"{{"error":{{"message":"Provider returned error","metadata":{{"raw":{},"provider_name":"Anthropic"}}}}}}"#,
            json(text)
        )
    }),
    ("LiteLLM", |text| {
        let body = format!(r#"{{"error":{{"message":{}}}}}"#, json(text));
        format!("litellm.APIError: AnthropicException - b{}. Received Model Group=x", python(&body))
    }),
    ("a Python SDK", |text| format!("Error code: 500 - {{'error': {{'message': {}, 'param': None}}}}", python(text))),
    ("Vertex", |text| {
        format!("[{{\n  \"error\": {{\n    \"message\": {},\n    \"status\": \"ABORTED\"\n  }}\n}}\n]", json(text))
    }),
    ("a stream", |text| format!("event: error\ndata: {{\"error\":{{\"message\":{}}}}}\n\n", json(text))),
    ("a string", json),
    ("an exception", |text| format!("Traceback (most recent call last):\n  File \"a.py\", line 3\nValueError: {text}")),
    ("a terminal", |text| text.replace(' ', "\n  ")),
];

/// Returns the difference between the verdicts on a case with and without wrapping.
fn survives(case: &Case, wrapped: &str) -> Result<(), String> {
    let verdict = classify(&Failure {
        provider: case.provider.as_deref(),
        status: case.status,
        text: wrapped,
        ..Failure::default()
    });
    if verdict.class.as_str() == case.class && verdict.known.is_some() {
        Ok(())
    } else {
        Err(format!("{wrapped}\n  {verdict:?}"))
    }
}

#[test]
fn every_case_is_recognised_in_every_wrapping() {
    let mut failures = Vec::new();
    let cases = cases();
    for case in &cases {
        for (name, wrap) in ALL {
            failures.extend(survives(case, &wrap(&case.text)).err().map(|failure| format!("{name}: {failure}")));
        }
    }
    assert!(failures.is_empty(), "{} fail:\n{}", failures.len(), failures.join("\n"));
    assert!(!cases.is_empty(), "there are no cases");
}

/// Encodes a string as JSON.
fn json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Encodes a string like Python's `repr`.
fn python(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('\n', "\\n");
    if text.contains('\'') && !text.contains('"') {
        format!("\"{escaped}\"")
    } else {
        format!("'{}'", escaped.replace('\'', "\\'"))
    }
}
