//! Changes the id of a call and of its result.

use seamline_model::{BlockIndex, Edit};

use crate::context::Context;

/// The edits that change the id of a call and of the result that answers it. A result that names only its tool needs no id.
pub(super) fn rename(context: &Context<'_, '_>, call: BlockIndex, id: &str) -> Vec<Edit> {
    let mut edits = vec![Edit::SetCallId { call, id: id.to_owned() }];
    let matched = context.pairing.call(call).and_then(|state| state.matched);
    if let Some(matched) = matched.filter(|matched| !context.is_named_by_tool(matched.result)) {
        edits.push(Edit::Readdress { result: matched.result, call, id: id.to_owned() });
    }
    edits
}
