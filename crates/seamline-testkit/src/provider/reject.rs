//! Rejections of damaged conversations, in the words of the real providers.
//!
//! The words are those of recorded errors and of the providers' documentation. A real provider reports one error for a
//! request: it checks the form of all messages first, and only then which result answers which call.

pub(crate) mod anthropic;
pub(crate) mod bedrock;
pub(crate) mod gemini;
pub(crate) mod interactions;
pub(crate) mod openai_chat;
pub(crate) mod openai_responses;
mod pairs;

use serde_json::Value;

use super::reply::Reply;
use crate::strict::{self, Violation, ViolationKind};
use crate::{Dialect, strict::wire};

/// One violation and the message that it is about.
pub(crate) struct Case<'b> {
    dialect: Dialect,
    messages: &'b [Value],
    message: &'b Value,
    pub(crate) at: usize,
    pub(crate) kind: ViolationKind,
}

/// The words of a rejection, and the parameter that they are about.
pub(crate) struct Words {
    pub(crate) message: String,
    param: String,
    code: Option<&'static str>,
}

impl Words {
    pub(crate) fn of(message: impl Into<String>) -> Self {
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
    let service = dialect.service();
    (service.reject)(&(service.words)(&case))
}

/// The rejection of bytes that are not JSON.
pub(super) fn not_json(dialect: Dialect, error: &serde_json::Error) -> Reply {
    let service = dialect.service();
    (service.reject)(&Words::of((service.not_json)(error)))
}

/// A rejection that no body deserves: the words for a call without a result.
pub(super) fn pretended(dialect: Dialect, body: &Value) -> Reply {
    let messages = body.get(dialect.list_key()).and_then(Value::as_array).map_or(0, Vec::len);
    let violation = Violation { message: messages.saturating_sub(1), kind: ViolationKind::UnansweredCall };
    rejection(dialect, body, &[violation])
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
