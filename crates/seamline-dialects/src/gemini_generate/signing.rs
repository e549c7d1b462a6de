//! The signatures of calls in contents.

use crate::json::{Object, Value};
use crate::signing::{CallSignature, NO_SIGNATURE, Signing};

/// The places of signatures: beside the call in its part.
pub(super) const SIGNING: Signing = Signing { answered, calls, stand_in: NO_SIGNATURE };

fn answered<'d, 'a>(response: Object<'d, 'a>) -> Vec<Value<'d, 'a>> {
    let candidates = response.get("candidates").into_iter().flat_map(Value::elements);
    candidates.filter_map(|candidate| candidate.object()?.get("content")).collect()
}

fn calls<'d, 'a>(content: Value<'d, 'a>) -> Vec<CallSignature<'d, 'a>> {
    let parts = content.object().and_then(|content| content.get("parts")).into_iter().flat_map(Value::elements);
    let call = |part: Value<'d, 'a>| {
        let part = part.object()?;
        let call = part.get("functionCall").or_else(|| part.get("function_call"))?.object()?;
        let signature = part.get("thoughtSignature").or_else(|| part.get("thought_signature"));
        Some(CallSignature { id: call.get("id"), tool: call.get("name"), input: call.get("args"), signature })
    };
    parts.filter_map(call).collect()
}
