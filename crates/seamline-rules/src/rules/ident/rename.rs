//! Changes the id of a call and of its result.

use seamline_model::{BlockIndex, Edit};

use crate::context::Context;

/// The edits that change the id of a call and of the result that answers it.
pub(super) fn rename(context: &Context<'_, '_>, call: BlockIndex, id: &str) -> Vec<Edit> {
    let mut edits = vec![Edit::SetCallId { call, id: id.to_owned() }];
    if let Some(answer) = context.pairing.call(call).and_then(|state| state.answer) {
        edits.push(Edit::Readdress { result: answer.result, call, id: id.to_owned() });
    }
    edits
}
