//! `WIRE013 extra-member`

use seamline_model::{Edit, Member, MemberSort, Members, Place, Role, Safety, Stage, Values};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds members of messages and blocks that neither the dialect nor the provider has.
    ///
    /// # Why is this bad?
    /// Some providers take nothing they do not know and reject the whole request, naming the member. It happens
    /// when what one provider answered with is sent to another, or when a client keeps notes of its own in the
    /// messages it sends.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "claude-sonnet-4-5",
    ///   "max_tokens": 1024,
    ///   "messages": [
    ///     {"role": "user", "content": "List the files."},
    ///     {
    ///       "role": "assistant",
    ///       "content": [{"type": "text", "text": "There are two.", "parsed_output": {"count": 2}}]
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
    ///     {"role": "user", "content": "List the files."},
    ///     {
    ///       "role": "assistant",
    ///       "content": [{"type": "text", "text": "There are two."}]
    ///     }
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Unsafe: the member is taken out, and what it says is in the report. Members that only say when, by whom or
    /// at what cost an answer was made, or what is to be cached, or nothing, are taken out safely. The example is repaired with `safety = "unsafe"`.
    ///
    /// # References
    /// ANT-4, FWK-1, GRQ-1, MIS-8; cases 43, 44
    WIRE013 "extra-member" in Wire, Error, Unsafe, each Whole
}

/// Members that say when, by whom or at what cost an answer was made, and nothing that
/// anybody said.
const ABOUT_ANSWERS: &[&str] = &[
    "id",
    "index",
    "model",
    "created",
    "created_at",
    "timestamp",
    "stop_reason",
    "stop_sequence",
    "finish_reason",
    "usage",
    "logprobs",
    "status",
    "type",
];

/// Asks to have the prompt cached up to here, which no model reads.
const CACHE_MARK: &str = "cache_control";

fn check(context: &Context<'_, '_>, report: &mut Report) {
    let Members::Closed { known, .. } = context.constraints.members else {
        return;
    };
    for member in &context.transcript.members {
        if matches!(member.sort, MemberSort::Foreign { .. }) && !known.contains(&&*member.key) {
            found(context, report, member);
        }
    }
}

fn found(context: &Context<'_, '_>, report: &mut Report, member: &Member) {
    let Member { message, block, key, span, cut, .. } = member;
    let place = Place { message: Some(*message), block: *block, span: *span };
    let safe =
        ABOUT_ANSWERS.contains(&&**key) || **key == *CACHE_MARK || member.sort == MemberSort::Foreign { empty: true };
    let safety = if safe { Safety::Safe } else { Safety::Unsafe };
    let edit = Edit::DropMember { cut: *cut, member: *span, lost: !safe };
    report
        .place(place, format!("the provider does not know the member `{key}`"))
        .predicts(predicted(context, member))
        .fix(Stage::Bytes, safety, "take it out", vec![edit]);
}

fn predicted(context: &Context<'_, '_>, member: &Member) -> String {
    let Members::Closed { error, in_block, .. } = context.constraints.members else {
        return String::new();
    };
    let values = Values { message: member.message.get(), id: &member.key, ..Values::default() };
    if let Some(block) = member.block {
        let block = context.transcript.block(block).slot.index as usize;
        return in_block.render(&Values { block, kind: member.owner, ..values });
    }
    let kind = role(context.transcript.message(member.message).role);
    error.render(&Values { kind, ..values })
}

fn role(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::Developer => "developer",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
        Role::Function => "function",
        Role::Unknown => "",
    }
}
