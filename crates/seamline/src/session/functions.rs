//! Results of calls from before calls had ids.

use seamline_model::conversation::{Conversation, Says};
use seamline_store::Raw;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::SessionError;

/// The member that such a call stands in.
const CALL: &str = "/function_call";

/// A result as it is written for a call with an id.
#[derive(Deserialize)]
struct ToolMessage<'a> {
    #[serde(borrow)]
    content: &'a RawValue,
}

#[derive(Serialize)]
struct FunctionMessage<'a> {
    role: &'static str,
    name: &'a str,
    content: &'a RawValue,
}

/// Results, one for each call in their order, of which those of calls without ids name the function.
pub(super) fn of_functions(conversation: &Conversation, results: Vec<Raw>) -> Result<Vec<Raw>, SessionError> {
    let blocks = conversation.messages.iter().flat_map(|message| &message.blocks);
    let calls = blocks.filter_map(|block| match &block.says {
        Says::Call(call) => Some((call, block.pointer.ends_with(CALL))),
        _ => None,
    });
    let calls: Vec<_> = calls.collect();
    if calls.len() != results.len() || calls.iter().all(|(_, is_function)| !is_function) {
        return Ok(results);
    }
    let named = calls.into_iter().zip(results).map(|((call, is_function), result)| {
        match serde_json::from_str::<ToolMessage<'_>>(result.as_str()) {
            Ok(ToolMessage { content }) if is_function => {
                Raw::of(&FunctionMessage { role: "function", name: &call.name, content })
            }
            _ => Ok(result),
        }
    });
    Ok(named.collect::<Result<_, _>>()?)
}
