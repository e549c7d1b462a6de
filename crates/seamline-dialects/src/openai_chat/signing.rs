//! The signatures of calls in chats, where Gemini serves them (GEM-24).

use super::wire::signature;
use crate::json::{Object, Value};
use crate::signing::{CallSignature, NO_SIGNATURE, Signing};

/// The places of signatures: in the member of the call for content of other providers.
pub(super) const SIGNING: Signing = Signing { answered, calls, stand_in: NO_SIGNATURE };

fn answered<'d, 'a>(response: Object<'d, 'a>) -> Vec<Value<'d, 'a>> {
    let choices = response.get("choices").into_iter().flat_map(Value::elements);
    choices.filter_map(|choice| choice.object()?.get("message")).collect()
}

fn calls<'d, 'a>(message: Value<'d, 'a>) -> Vec<CallSignature<'d, 'a>> {
    let calls = message.object().and_then(|message| message.get("tool_calls")).into_iter().flat_map(Value::elements);
    let call = |call: Value<'d, 'a>| {
        let call = call.object()?;
        let function = call.get("function").and_then(Value::object);
        let member = |name: &str| function.and_then(|function| function.get(name));
        let signature = call.get("extra_content").and_then(signature);
        Some(CallSignature { id: call.get("id"), tool: member("name"), input: member("arguments"), signature })
    };
    calls.filter_map(call).collect()
}
