//! The strict check: decides whether a provider would accept a body.
//!
//! It is written from the providers' documentation and recorded responses and shares no code with the rules. It checks the
//! conversation only, not models, limits, signatures or parameters.

pub(crate) mod anthropic;
pub(crate) mod bedrock;
pub(crate) mod gemini;
pub(crate) mod ident;
pub(crate) mod openai;
pub(crate) mod responses;
mod union;
mod unknown;
pub(crate) mod wire;

use serde_json::Value;

use crate::Dialect;

/// The violations for which the provider that defines `dialect` would reject `body`, in message order.
pub fn check(dialect: Dialect, body: &Value) -> Vec<Violation> {
    if (dialect.row().may_lack_list)(body) {
        return Vec::new();
    }
    let messages = body.get(dialect.list_key()).and_then(Value::as_array).filter(|messages| !messages.is_empty());
    let Some(messages) = messages else {
        return vec![Violation { message: 0, kind: ViolationKind::NoMessages }];
    };
    let mut violations = (dialect.row().check)(body, messages);
    violations.sort();
    unknown::excuse(dialect, messages, &mut violations);
    violations
}

/// The violations for which `DeepSeek`'s Responses API would reject `body`, in message order. Its
/// order is the strictest of all providers that serve this dialect without defining it.
pub fn check_deepseek_responses(body: &Value) -> Vec<Violation> {
    let items = body.get("input").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let mut violations = responses::check_deepseek(items);
    violations.sort();
    violations.dedup();
    violations
}

/// One reason for a provider to reject a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Violation {
    /// The index of the message.
    pub message: usize,
    /// The kind of the violation.
    pub kind: ViolationKind,
}

/// The kind of a violation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ViolationKind {
    /// `messages` is absent, not an array, or empty.
    NoMessages,
    /// A message or block is not an object, or has no type.
    Malformed,
    /// The dialect does not have the role.
    UnknownRole,
    /// The content is absent, null or of a type that this message cannot have.
    BadContent,
    /// The content is empty where it must not be.
    EmptyContent,
    /// A text block is empty or only whitespace.
    EmptyText,
    /// A call is in a message that is not the assistant's.
    CallInWrongRole,
    /// A result is in a message that cannot hold results.
    ResultInWrongRole,
    /// A call has no result where the provider expects it.
    UnansweredCall,
    /// A result has no call that it could answer.
    OrphanResult,
    /// A call has a second result.
    DuplicateResult,
    /// Another block comes before a result.
    ResultNotLeading,
    /// Two calls that are open together have one id.
    DuplicateCallId,
    /// A call's id is absent, not a string, or not in the provider's alphabet or length.
    BadCallId,
    /// A result's id is absent, not a string, or not in the provider's alphabet or length.
    BadResultId,
    /// A call's tool name is absent, not a string, or not in the provider's alphabet or length.
    BadToolName,
    /// A call's input is not of the type the dialect demands.
    BadInput,
    /// A result's content is not of a type the dialect allows.
    BadResultContent,
    /// A list of calls is empty.
    EmptyCallList,
    /// A list of calls is not a list.
    BadCallList,
    /// A result has another type than its call demands.
    BadResultType,
    /// The provider did not make an item's own id.
    BadItemId,
    /// Two items have the same id.
    DuplicateItemId,
    /// The item that reasoning led to does not follow it.
    DanglingReasoning,
    /// An item that must be last is not.
    EarlyTrigger,
    /// A server's result has no server call before it.
    OrphanServerResult,
    /// A server's call has no result and its turn is closed.
    UnansweredServerCall,
    /// Two messages of one role follow each other.
    SameRole,
    /// A call comes before the first user message.
    CallOutOfOrder,
    /// A result of a failed tool has no content.
    EmptyFailure,
    /// A result does not name its tool.
    BadResultName,
    /// The body has calls or results and declares no tool.
    UndeclaredTools,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Violation, ViolationKind, check};
    use crate::Dialect;

    #[test]
    fn a_body_without_messages_is_rejected() {
        let violation = Violation { message: 0, kind: ViolationKind::NoMessages };
        for dialect in Dialect::ALL {
            let key = dialect.list_key();
            for body in [json!({}), json!({key: []}), json!(7)] {
                assert_eq!(check(dialect, &body), [violation]);
            }
            // An `input` may be a text, which is the whole conversation.
            assert_eq!(check(dialect, &json!({key: "hi"})).is_empty(), key == "input");
        }
    }

    #[test]
    fn violations_come_in_message_order() {
        let body = json!({"messages": [
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "A"}]},
            {"role": "user", "content": ""},
            {"role": "robot", "content": "hi"},
        ]});
        let found: Vec<_> = check(Dialect::AnthropicMessages, &body).iter().map(|v| (v.message, v.kind)).collect();
        let expected =
            [(0, ViolationKind::OrphanResult), (1, ViolationKind::EmptyContent), (2, ViolationKind::UnknownRole)];
        assert_eq!(found, expected);
    }
}
