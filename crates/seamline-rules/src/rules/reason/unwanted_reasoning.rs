//! `REASON004 unwanted-reasoning`

use seamline_model::{Echo, Edit, Member, MemberSort, MessageIndex, Models, Place, Safety, Stage, Values};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds reasoning in a member that the provider does not accept, such as `reasoning_content`, and the `thinking` and
    /// `thinkingSignature` of other programs.
    ///
    /// # Why is this bad?
    /// Groq, Cerebras, Mistral and Fireworks reject the whole request, although some of them use the same member in
    /// responses. The cause is a response that is sent back unchanged, or a conversation from a provider that demands
    /// its reasoning back.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "llama-3.3-70b-versatile",
    ///   "messages": [
    ///     {"role": "user", "content": "List the files."},
    ///     {
    ///       "role": "assistant",
    ///       "content": null,
    ///       "reasoning_content": "ls will do",
    ///       "tool_calls": [
    ///         {
    ///           "id": "call_1",
    ///           "type": "function",
    ///           "function": {"name": "bash", "arguments": "{\"command\":\"ls\"}"}
    ///         }
    ///       ]
    ///     },
    ///     {"role": "tool", "tool_call_id": "call_1", "content": "main.rs"}
    ///   ]
    /// }
    /// ```
    ///
    /// # After repair
    /// ```json
    /// {
    ///   "model": "llama-3.3-70b-versatile",
    ///   "messages": [
    ///     {"role": "user", "content": "List the files."},
    ///     {
    ///       "role": "assistant",
    ///       "content": null,
    ///       "tool_calls": [
    ///         {
    ///           "id": "call_1",
    ///           "type": "function",
    ///           "function": {"name": "bash", "arguments": "{\"command\":\"ls\"}"}
    ///         }
    ///       ]
    ///     },
    ///     {"role": "tool", "tool_call_id": "call_1", "content": "main.rs"}
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe where the provider accepts reasoning in another member: the member is renamed. Thinking of another provider
    /// in a member that belongs to another program is removed safely, and so is its signature; the thinking is in the
    /// report. If a message has no other content, it becomes its text. Any other reasoning is removed only with unsafe
    /// fixes, and its content is in the report. The example is repaired with `safety = "unsafe"`.
    ///
    /// # References
    /// OAC-11, CER-1, CMP-12, FWK-1, GRQ-1, MIS-8; case 55
    REASON004 "unwanted-reasoning" in Reason, Error, Unsafe, each Message, reach Message
}

/// The member in which some programs keep the signature of thinking.
const SIGNATURE: &str = "thinkingSignature";

fn check(context: &Context<'_, '_>, index: MessageIndex, report: &mut Report) {
    let Echo::Refused { fields, partly, .. } = context.constraints.reasoning.echo else {
        return;
    };
    if context.transcript.members.is_empty() {
        return;
    }
    for member in context.transcript.members_of(index) {
        let is_refused = || fields.contains(&&*member.key) || is_partly_refused(context, partly, &member.key);
        if matches!(member.sort, MemberSort::Reasoning { .. } | MemberSort::Foreign { .. }) && is_refused() {
            report_member(context, report, member);
        }
    }
}

/// Whether the model is one of those that refuse a member.
fn is_partly_refused(context: &Context<'_, '_>, partly: &[(&str, Models)], key: &str) -> bool {
    let model = context.transcript.model.as_deref().unwrap_or_default();
    partly.iter().any(|(field, models)| *field == key && models.claims(model))
}

fn report_member(context: &Context<'_, '_>, report: &mut Report, member: &Member) {
    let Echo::Refused { instead, error, .. } = context.constraints.reasoning.echo else {
        return;
    };
    let Member { message, block, key, key_span, span, cut, sort, .. } = member;
    let place = Place { message: Some(*message), block: *block, span: *span };
    let values = Values { message: message.get(), kind: key, ..Values::default() };
    let draft = report
        .place(place, format!("the provider does not accept reasoning in `{key}`"))
        .predicts(error.render(&values));
    let others = context.transcript.members_of(*message);
    let is_there = |key: &str| others.iter().any(|other| &*other.key == key);
    // A list of details or a signature does not fit a member for text.
    let is_text = !matches!(&**key, "reasoning_details" | SIGNATURE);
    let instead = instead.filter(|instead| is_text && !is_there(instead));
    let is_empty = matches!(sort, MemberSort::Reasoning { empty: true } | MemberSort::Foreign { empty: true });
    match (instead, is_empty) {
        (_, true) => {
            let edit = Edit::DropMember { cut: *cut, member: *span, lost: false };
            draft.fix(Stage::Bytes, Safety::Safe, "remove the empty member", vec![edit]);
        }
        // The provider that signed it is not this one, so the signature proves nothing here.
        (_, false) if &**key == SIGNATURE => {
            let edit = Edit::DropMember { cut: *cut, member: *span, lost: false };
            draft.fix(Stage::Bytes, Safety::Safe, "remove the signature", vec![edit]);
        }
        (Some(instead), false) => {
            let edit = Edit::Patch { span: *key_span, text: format!("\"{instead}\"") };
            draft.fix(Stage::Bytes, Safety::Safe, format!("rename it to `{instead}`"), vec![edit]);
        }
        (None, false) if context.is_only_content(member) => {
            let edits = vec![Edit::KeepMembers { message: *message }];
            draft.fix(Stage::Finish, Safety::Safe, "keep it as text", edits);
        }
        // Another provider's model wrote it; its member means nothing to this one.
        (None, false) if matches!(sort, MemberSort::Foreign { .. }) => {
            let edit = Edit::DropMember { cut: *cut, member: *span, lost: true };
            draft.fix(Stage::Bytes, Safety::Safe, "remove the member", vec![edit]);
        }
        (None, false) => {
            let edit = Edit::DropMember { cut: *cut, member: *span, lost: true };
            draft.fix(Stage::Bytes, Safety::Unsafe, "remove the member", vec![edit]);
        }
    }
}
