//! Rejections of damaged conversations, in the words of the real providers.
//!
//! The words are those of recorded errors and of the providers' documentation. A real provider reports one error for a
//! request: it checks the form of all messages first, and only then which result answers which call.

mod anthropic;
mod bedrock;
mod gemini;
mod interactions;
mod openai_chat;
mod openai_responses;
mod pairs;

use serde_json::{Value, json};

use super::reply::Reply;
use crate::strict::{self, Violation, ViolationKind};
use crate::{Dialect, strict::wire};

/// One violation and the message that it is about.
struct Case<'b> {
    dialect: Dialect,
    messages: &'b [Value],
    message: &'b Value,
    at: usize,
    kind: ViolationKind,
}

/// The words of a rejection, and the parameter that they are about.
struct Words {
    message: String,
    param: String,
    code: Option<&'static str>,
}

impl Words {
    fn of(message: impl Into<String>) -> Self {
        Self { message: message.into(), param: String::new(), code: None }
    }

    fn about(message: impl Into<String>, param: impl Into<String>, code: &'static str) -> Self {
        Self { message: message.into(), param: param.into(), code: Some(code) }
    }
}

/// Finds the violations in the bytes of a request, as the provider of the dialect does.
pub(super) fn violations(dialect: Dialect, body: &Value, path: &str) -> Vec<Violation> {
    let mut violations = strict::check(dialect, body);
    if dialect == Dialect::OpenAiResponses && path.contains("deepseek") {
        violations.extend(strict::check_deepseek_responses(body));
    }
    violations
}

/// The rejection of a body with these violations.
pub(super) fn rejection(dialect: Dialect, body: &Value, violations: &[Violation]) -> Reply {
    let messages = body.get(dialect.list_key()).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let first = violations.iter().min_by_key(|violation| is_about_pairs(violation.kind));
    let (at, kind) = first.map_or((0, ViolationKind::NoMessages), |first| (first.message, first.kind));
    let message = messages.get(at).unwrap_or(&Value::Null);
    let case = Case { dialect, messages, message, at, kind };
    respond(
        dialect,
        &match dialect {
            Dialect::AnthropicMessages => anthropic::words(&case),
            Dialect::OpenAiChat => openai_chat::words(&case),
            Dialect::OpenAiResponses => openai_responses::words(&case),
            Dialect::GeminiGenerate => gemini::words(&case),
            Dialect::GeminiInteractions => interactions::words(&case),
            Dialect::BedrockConverse => bedrock::words(&case),
        },
    )
}

/// The rejection of bytes that are not JSON.
pub(super) fn not_json(dialect: Dialect, error: &serde_json::Error) -> Reply {
    let place = format!("line {} column {}", error.line(), error.column());
    let message = match dialect {
        Dialect::AnthropicMessages => format!("The request body is not valid JSON: {error} (char {})", error.column()),
        Dialect::OpenAiChat | Dialect::OpenAiResponses => {
            "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP \
             library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON. If you have \
             trouble figuring out how to fix this, please contact us through our help center at help.openai.com.)"
                .to_owned()
        }
        Dialect::GeminiGenerate | Dialect::GeminiInteractions => {
            format!("Invalid JSON payload received. Unexpected token.\n{place}\n^")
        }
        Dialect::BedrockConverse => format!("Could not parse the request body as JSON: {place}"),
    };
    respond(dialect, &Words::of(message))
}

/// A rejection that no body deserves: the words for a call without a result.
pub(super) fn pretended(dialect: Dialect, body: &Value) -> Reply {
    let messages = body.get(dialect.list_key()).and_then(Value::as_array).map_or(0, Vec::len);
    let violation = Violation { message: messages.saturating_sub(1), kind: ViolationKind::UnansweredCall };
    rejection(dialect, body, &[violation])
}

/// A response with status 400 in the form of a dialect.
fn respond(dialect: Dialect, words: &Words) -> Reply {
    let message = &words.message;
    match dialect {
        Dialect::AnthropicMessages => Reply::json(
            400,
            &json!({"type": "error", "error": {"type": "invalid_request_error", "message": message}, "request_id": "req_probe"}),
        ),
        Dialect::OpenAiChat | Dialect::OpenAiResponses => {
            let param = Some(words.param.as_str()).filter(|param| !param.is_empty());
            let error =
                json!({"message": message, "type": "invalid_request_error", "param": param, "code": words.code});
            Reply::json(400, &json!({"error": error}))
        }
        Dialect::GeminiGenerate => {
            Reply::json(400, &json!({"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}))
        }
        Dialect::GeminiInteractions => {
            Reply::json(400, &json!({"error": {"message": message, "code": "invalid_request"}}))
        }
        Dialect::BedrockConverse => {
            Reply::json(400, &json!({"message": message})).with_header("x-amzn-errortype", "ValidationException")
        }
    }
}

/// Whether a violation is about more than the form of one message.
fn is_about_pairs(kind: ViolationKind) -> bool {
    matches!(
        kind,
        ViolationKind::UnansweredCall
            | ViolationKind::OrphanResult
            | ViolationKind::DuplicateResult
            | ViolationKind::ResultNotLeading
            | ViolationKind::OrphanServerResult
            | ViolationKind::UnansweredServerCall
            | ViolationKind::DanglingReasoning
            | ViolationKind::CallOutOfOrder
            | ViolationKind::BadResultType
    )
}

impl<'b> Case<'b> {
    /// The blocks of the message.
    fn blocks(&self) -> &'b [Value] {
        self.message.get(self.dialect.content_key()).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// The first block with a property, and its index; an empty one if there is none.
    fn block(&self, has: impl Fn(&Value) -> bool) -> (usize, &'b Value) {
        let found = self.blocks().iter().enumerate().find(|(_, block)| has(block));
        found.unwrap_or((0, &Value::Null))
    }

    /// The role of the message.
    fn role(&self) -> &'b str {
        wire::role(self.message)
    }
}

/// The name of the type of a value, as validators write it.
fn type_name(value: Option<&Value>) -> &'static str {
    match value {
        None | Some(Value::Null) => "null",
        Some(Value::Bool(_)) => "a boolean",
        Some(Value::Number(number)) if number.is_f64() => "a decimal",
        Some(Value::Number(_)) => "an integer",
        Some(Value::String(_)) => "a string",
        Some(Value::Array(_)) => "an array",
        Some(Value::Object(_)) => "an object",
    }
}
