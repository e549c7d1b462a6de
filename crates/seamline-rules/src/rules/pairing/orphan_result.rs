//! `PAIR002 orphan-result`

use seamline_model::{BlockIndex, Edit, ErrorText, Fate, ResultState, Safety, Stage};

use crate::context::Context;
use crate::ids;
use crate::policy::{MatchScope, OrphanResult};
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds results whose call is not in the conversation.
    ///
    /// # Why is this bad?
    /// Every provider rejects the whole request. It happens when a history is trimmed or compacted between a call and
    /// its result, when a failed turn is dropped and its result is kept, or when two programs write the same file.
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
    ///           "text": "[output of tool call toolu_01, kept as text: its call is not in this conversation]\nerror[E0308]: mismatched types"
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
    /// Safe: what the result says is kept as text, under a line that says what it was. Under `orphan_result =
    /// "remove"` it is taken out, under `"reconstruct_call"` a call is made up for it; both are unsafe.
    ///
    /// # References
    /// ANT-6, OAC-3, BED-5, GEM-4, seen in `claude-code#13460`, `morphic#136`; cases 4, 5, 9, 18, 19
    PAIR002 "orphan-result" in Pairing, Error, Safe, each Result, reach Cycle
}

fn check(context: &Context<'_, '_>, state: &ResultState, report: &mut Report) {
    match state.fate {
        // The call may be one that the provider keeps.
        Fate::Orphan if context.transcript.envelope.chained && !context.id(state.result).is_empty() => {}
        Fate::Orphan => found(context, report, state.result, never_called(context)),
        Fate::Ambiguous => found(context, report, state.result, "which several open calls have as their id"),
        Fate::Answers(_) | Fate::Duplicate(_) | Fate::Superseded(_) => {}
    }
}

fn found(context: &Context<'_, '_>, report: &mut Report, result: BlockIndex, why: &str) {
    let id = context.id(result);
    let unaddressed = context.is_unaddressed(result);
    let message = match id {
        "" => "result names no call".to_owned(),
        name if unaddressed => format!("result of `{name}` gives no id, and calls of it have one"),
        id => format!("result answers `{id}`, {why}"),
    };
    // What is said of a result without an id is not known.
    let error = if unaddressed { ErrorText("") } else { context.constraints.orphan };
    let predicts = error.render(&context.values(result, id));
    let draft = report.block(context, result, message).call_id(id).predicts(predicts);
    match context.policy.orphan_result {
        OrphanResult::ToText => {
            let edits = vec![Edit::Demote { block: result, heading: heading(context, result) }];
            draft.fix(Stage::Pairing, Safety::Safe, "keep what it says as text", edits);
        }
        OrphanResult::Remove => {
            draft.fix(Stage::Pairing, Safety::Unsafe, "take the result out", vec![Edit::Remove { block: result }]);
        }
        OrphanResult::ReconstructCall => {
            draft.fix(Stage::Pairing, Safety::Unsafe, "make up the call it answers", vec![rebuilt(context, result)]);
        }
    }
}

fn never_called(context: &Context<'_, '_>) -> &'static str {
    match context.policy.match_scope {
        MatchScope::Anywhere => "which was never called",
        MatchScope::Adjacent | MatchScope::Span | MatchScope::Forward => "which no call in reach has as its id",
    }
}

/// The line over a result that is kept as text.
pub(super) fn heading(context: &Context<'_, '_>, result: BlockIndex) -> String {
    let id = context.id(result);
    let name = context.transcript.result(result).and_then(|result| context.transcript.name(result.tool));
    if context.pairing.result(result).is_some_and(|state| state.fate == Fate::Ambiguous) {
        return format!("[output of tool call {id}, kept as text: several calls have this id]");
    }
    let why = match context.policy.match_scope {
        _ if context.is_unaddressed(result) => "it does not say which call it answers",
        MatchScope::Anywhere => "its call is not in this conversation",
        MatchScope::Adjacent | MatchScope::Span | MatchScope::Forward => "it does not stand where its call is",
    };
    let failed = context.transcript.result(result).is_some_and(|result| result.failed);
    let kept = if failed { "an error, kept as text" } else { "kept as text" };
    match (name, id) {
        (Some(name), _) => format!("[output of tool {name}, {kept}: {why}]"),
        (None, "") => format!("[tool output, {kept}: {why}]"),
        (None, id) => format!("[output of tool call {id}, {kept}: {why}]"),
    }
}

fn rebuilt(context: &Context<'_, '_>, result: BlockIndex) -> Edit {
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
        ids::made(&context.constraints.call_id, context.transcript.text(content.span), |_| false)
    };
    Edit::ReconstructCall { result, id, name: name.to_owned() }
}
