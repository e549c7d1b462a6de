//! `PAIR002 orphan-result`

use seamline_model::{BlockIndex, Edit, ErrorText, ResultFate, ResultState, Safety, Severity, Stage, label};

use crate::context::Context;
use crate::ids;
use crate::policy::{MatchScope, OrphanResult};
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds tool results whose call is not in the conversation. A call that the provider may store is not missing: the
    /// request continues a stored conversation, or an earlier item refers to a stored one. Whether a reference is enough
    /// for the result of a function is not known, so that one is a note.
    ///
    /// # Why is this bad?
    /// Every provider rejects the whole request. The cause is a history that was trimmed or compacted between a call
    /// and its result, a failed turn that was dropped without its result, or two programs that write the same file.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "claude-sonnet-4-5",
    ///   "max_tokens": 1024,
    ///   "messages": [
    ///     {
    ///       "role": "user",
    ///       "content": [
    ///         {"type": "tool_result", "tool_use_id": "toolu_01", "content": "error[E0308]: mismatched types"}
    ///       ]
    ///     },
    ///     {"role": "assistant", "content": "The types in line 7 do not match."},
    ///     {"role": "user", "content": "Fix it."}
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
    ///     {
    ///       "role": "user",
    ///       "content": [
    ///         {
    ///           "type": "text",
    ///           "text": "[begin 0415768e75470b9b: output of tool call toolu_01, kept as text: its call is not in this conversation]\nerror[E0308]: mismatched types\n[end 0415768e75470b9b]"
    ///         }
    ///       ]
    ///     },
    ///     {"role": "assistant", "content": "The types in line 7 do not match."},
    ///     {"role": "user", "content": "Fix it."}
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe: the content of the result is kept as text, between two marks that say what it was. Both marks hold a hash of
    /// the content, so the content cannot end the fence, and ids and names in them are shortened and without spaces or
    /// brackets. But the model then reads the output of a tool in a message of the user. If the tool reads untrusted
    /// content, use `orphan_result = "reconstruct_call"`: a call that is marked synthetic is added, and the result stays a
    /// result, which is safe as well. Under `orphan_result = "remove"` it is removed, which is unsafe.
    ///
    /// # References
    /// ANT-6, OAC-3, BED-5, GEM-4, seen in `claude-code#13460`, `morphic#136`; cases 4, 5, 9, 18, 19
    PAIR002 "orphan-result" in Pairing, Error, Safe, each Result, reach Cycle
}

fn check(context: &Context<'_, '_>, state: &ResultState, report: &mut Report) {
    match state.fate {
        ResultFate::Orphan if may_be_held(context, state.result) => {}
        ResultFate::Orphan if is_unasked(context, state.result) => {}
        ResultFate::Orphan if context.may_be_stored(context.transcript.block(state.result).message) => {
            note_stored(context, report, state.result);
        }
        ResultFate::Orphan => report_orphan(context, report, state.result, never_called(context)),
        ResultFate::Ambiguous => report_orphan(context, report, state.result, "which is the id of several open calls"),
        ResultFate::Answers(_) | ResultFate::Duplicate(_) | ResultFate::Superseded(_) | ResultFate::Unknown => {}
    }
}

/// Notes the result of a function whose call the provider may store behind a reference. Recorded responses are split on
/// whether a reference is enough for functions; the results of the provider's other tools are accepted.
fn note_stored(context: &Context<'_, '_>, report: &mut Report, result: BlockIndex) {
    let item = context.transcript.item(context.transcript.block(result).message);
    if item.is_none_or(|item| !item.of.plain_result) {
        return;
    }
    let id = context.id(result);
    let edits = vec![Edit::Demote { block: result, heading: heading(context, result) }];
    report
        .block(context, result, format!("the tool call `{id}` may be in an item that the request only references"))
        .severity(Severity::Info)
        .call_id(id)
        .fix(Stage::Pairing, Safety::Unknown, "keep its content as text", edits);
}

/// Whether the provider may hold the call of a result, which the result names by the id of the call or by its tool.
fn may_be_held(context: &Context<'_, '_>, result: BlockIndex) -> bool {
    context.transcript.envelope.chained && (!context.id(result).is_empty() || names_tool(context, result))
}

fn names_tool(context: &Context<'_, '_>, result: BlockIndex) -> bool {
    context.transcript.result(result).is_some_and(|result| result.tool.is_some())
}

/// Whether a result answers no call and need not, because it names its tool and the provider accepts such results.
fn is_unasked(context: &Context<'_, '_>, result: BlockIndex) -> bool {
    context.constraints.pairs.unaddressed && context.id(result).is_empty() && names_tool(context, result)
}

fn report_orphan(context: &Context<'_, '_>, report: &mut Report, result: BlockIndex, why: &str) {
    let id = context.id(result);
    let unaddressed = context.is_unaddressed(result);
    let message = match id {
        "" => "tool result names no call".to_owned(),
        name if unaddressed => format!("tool result of `{name}` has no id, but calls of that tool have one"),
        id => format!("tool result answers `{id}`, {why}"),
    };
    // The provider's error for a result without an id is unknown.
    let error = if unaddressed { ErrorText("") } else { context.constraints.orphan };
    let predicts = error.render(&context.values(result, id));
    let draft = report.block(context, result, message).call_id(id).predicts(predicts);
    match context.policy.orphan_result {
        OrphanResult::ToText => {
            let edits = vec![Edit::Demote { block: result, heading: heading(context, result) }];
            draft.fix(Stage::Pairing, Safety::Safe, "keep its content as text", edits);
        }
        OrphanResult::Remove => {
            draft.fix(Stage::Pairing, Safety::Unsafe, "remove the result", vec![Edit::Remove { block: result }]);
        }
        OrphanResult::ReconstructCall => {
            // The call for a screenshot has no member that says that it is synthetic.
            let item = context.transcript.item(context.transcript.block(result).message);
            let is_marked = item.is_none_or(|item| !item.of.shown_result);
            let safety = if is_marked { Safety::Safe } else { Safety::Unsafe };
            let edits = vec![reconstruct_call(context, result)];
            draft.fix(Stage::Pairing, safety, "add a synthetic call for it", edits);
        }
    }
}

fn never_called(context: &Context<'_, '_>) -> &'static str {
    match context.policy.match_scope {
        MatchScope::Anywhere => "which was never called",
        MatchScope::Adjacent | MatchScope::Span | MatchScope::Forward => "which is not the id of a call in reach",
    }
}

/// The heading inside the marks around a result that is kept as text.
pub(super) fn heading(context: &Context<'_, '_>, result: BlockIndex) -> String {
    let id = label(context.id(result));
    let name = context.transcript.result(result).and_then(|result| context.transcript.name(result.tool)).map(label);
    if context.pairing.result(result).is_some_and(|state| state.fate == ResultFate::Ambiguous) {
        return format!("output of tool call {id}, kept as text: several calls have this id");
    }
    let why = match context.policy.match_scope {
        // Calls after the result must not change the text, or appending one would rewrite it.
        _ if context.first_call_of_unaddressed(result).is_some_and(|call| call < result) => {
            "it does not say which call it answers"
        }
        MatchScope::Anywhere if context.is_named_by_tool(result) => "no call of this tool comes before it",
        MatchScope::Anywhere => "its call is not in this conversation",
        MatchScope::Adjacent | MatchScope::Span | MatchScope::Forward => "it is not next to its call",
    };
    let failed = context.transcript.result(result).is_some_and(|result| result.failed);
    let kept = if failed { "an error, kept as text" } else { "kept as text" };
    match (name, &*id) {
        (Some(name), _) => format!("output of tool {name}, {kept}: {why}"),
        (None, "") => format!("tool output, {kept}: {why}"),
        (None, id) => format!("output of tool call {id}, {kept}: {why}"),
    }
}

fn reconstruct_call(context: &Context<'_, '_>, result: BlockIndex) -> Edit {
    let content = context.transcript.block(result);
    let own = context.id(result);
    let name = context
        .transcript
        .result(result)
        .and_then(|result| context.transcript.name(result.tool))
        .unwrap_or("unknown_tool");
    let id = if ids::is_legal(&context.constraints.call_id, own) {
        own.to_owned()
    } else {
        ids::make_id(&context.constraints.call_id, context.transcript.text(content.span), |_| false)
    };
    Edit::ReconstructCall { result, id, name: name.to_owned() }
}
