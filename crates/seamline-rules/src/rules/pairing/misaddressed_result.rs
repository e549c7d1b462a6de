//! `PAIR005 misaddressed-result`

use seamline_model::{Call, Edit, IdForm, PairedCall, Safety, Stage, Uniqueness};

use super::displaced_result::travelling_media;
use crate::context::Context;
use crate::ids;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds tool results with an unknown call id where exactly one open call fits.
    ///
    /// # Why is this bad?
    /// The provider sees a result without a call and a call without a result. The cause is an id that was changed on
    /// one side only, or a result stored without an id.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "claude-sonnet-4-5",
    ///   "max_tokens": 1024,
    ///   "messages": [
    ///     {"role": "user", "content": "Run the tests."},
    ///     {
    ///       "role": "assistant",
    ///       "content": [
    ///         {
    ///           "type": "tool_use",
    ///           "id": "functions_exec_0",
    ///           "name": "exec",
    ///           "input": {"command": "cargo test"}
    ///         }
    ///       ]
    ///     },
    ///     {
    ///       "role": "user",
    ///       "content": [
    ///         {"type": "tool_result", "tool_use_id": "functions.exec:0", "content": "12 passed"}
    ///       ]
    ///     }
    ///   ]
    /// }
    /// ```
    ///
    /// # After repair
    /// ```json
    /// {
    ///   "model": "claude-sonnet-4-5",
    ///   "max_tokens": 1024,
    ///   "messages": [
    ///     {"role": "user", "content": "Run the tests."},
    ///     {
    ///       "role": "assistant",
    ///       "content": [
    ///         {
    ///           "type": "tool_use",
    ///           "id": "functions_exec_0",
    ///           "name": "exec",
    ///           "input": {"command": "cargo test"}
    ///         }
    ///       ]
    ///     },
    ///     {
    ///       "role": "user",
    ///       "content": [
    ///         {"type": "tool_result", "tool_use_id": "functions_exec_0", "content": "12 passed"}
    ///       ]
    ///     }
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe if the result proves which call it answers: it names the tool of the only open call, or only results are
    /// between it and that call. Then it gets the id of the call. If a message came in between and the result
    /// does not name the tool, the fix is a guess and unsafe: without `--unsafe` the result counts as an orphan and the
    /// call as unanswered. If several calls are open, or the result names another tool, Seamline does not guess. Under
    /// `misaddressed = "orphan"` it always counts as an orphan.
    ///
    /// # References
    /// ANT-6, OAC-4, GEM-8; case 16
    PAIR005 "misaddressed-result" in Pairing, Error, Safe, each Call, reach Cycle
}

fn check(context: &Context<'_, '_>, state: &PairedCall, report: &mut Report) {
    let Some(matched) = state.matched.filter(|matched| matched.misaddressed) else {
        return;
    };
    let (named, meant) = (context.id(matched.result), context.id(state.call));
    let message = if named.is_empty() {
        format!("tool result names no call; only `{meant}` is open")
    } else if is_renamed(context, named, meant) {
        format!("tool result answers `{named}`, which is another form of the id `{meant}`")
    } else {
        format!("tool result answers `{named}`, which was never called; only `{meant}` is open")
    };
    let predicts = if named.is_empty() {
        context.constraints.unanswered.render(&context.values(state.call, meant))
    } else {
        context.constraints.orphan.render(&context.values(matched.result, named))
    };
    let mut edits = Vec::new();
    let mut id = meant.to_owned();
    if is_shared(context, state, meant) && matches!(context.constraints.unique_ids, Uniqueness::Nowhere) {
        // Results with the same id answer their calls in order; this one answers the last call.
        let media = travelling_media(context, matched.result);
        edits.push(Edit::Relocate { result: matched.result, call: state.call, media });
    } else if is_shared(context, state, meant) {
        // Results with the same id answer their calls in order; this call needs a separate id.
        let slot = context.transcript.block(state.call).slot().index;
        let demand = &context.constraints.call_id;
        id = ids::make_id(demand, &format!("{meant}/{slot}"), |made| context.is_taken(state.call, made));
        edits.push(Edit::SetCallId { call: state.call, id: id.clone() });
    }
    let title = format!("change its call id to `{id}`");
    let safety = if matched.proven { Safety::Safe } else { Safety::Unsafe };
    edits.push(Edit::Readdress { result: matched.result, call: state.call, id });
    report.block(context, matched.result, message).call_id(meant).predicts(predicts).related([state.call]).fix(
        Stage::Pairing,
        safety,
        title,
        edits,
    );
}

/// Whether another call of the same message has the same id.
/// Whether two ids are forms of one, one of them a client's own.
fn is_renamed(context: &Context<'_, '_>, named: &str, meant: &str) -> bool {
    let known = context.constraints.call_id.known_prefixes.iter().copied().flatten();
    let other = |own: &str, other: &str| {
        let bare = own.strip_prefix(IdForm::INTERNAL);
        bare.is_some_and(|bare| known.clone().any(|prefix| other.strip_prefix(prefix) == Some(bare)))
    };
    other(named, meant) || other(meant, named)
}

fn is_shared(context: &Context<'_, '_>, state: &PairedCall, id: &str) -> bool {
    let same = |call: &Call| call.id.as_deref().unwrap_or("") == id;
    let calls = context.transcript.blocks_of(state.message).filter_map(|(block, _)| context.transcript.call(block));
    calls.filter(|call| same(call)).nth(1).is_some()
}
