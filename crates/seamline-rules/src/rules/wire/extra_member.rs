//! `WIRE013 extra-member`

use seamline_model::{Body, Edit, Member, MemberSort, Members, Place, Safety, Stage, Values};

use crate::context::Context;
use crate::rule::{Report, declare_rule};
use crate::rules::shape::empty_text::is_hollow;

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
    /// at what cost an answer was made, what is to be cached, or nothing, are taken out safely. Where a message says
    /// nothing else, what stands in its members is kept as its text, which is safe. The example is repaired with `safety = "unsafe"`.
    ///
    /// # References
    /// ANT-4, FWK-1, GRQ-1, MIS-8; cases 43, 44
    WIRE013 "extra-member" in Wire, Error, Unsafe, each Whole
}

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
    let draft = report
        .place(place, format!("the provider does not know the member `{key}`"))
        .predicts(predicted(context, member));
    if is_all_that_is_said(context, member) {
        let edits = vec![Edit::KeepMembers { message: *message }];
        draft.fix(Stage::Finish, Safety::Safe, "keep it as text", edits);
        return;
    }
    let safe = !member.says_something();
    let safety = if safe { Safety::Safe } else { Safety::Unsafe };
    let edit = Edit::DropMember { cut: *cut, member: *span, lost: !safe };
    draft.fix(Stage::Bytes, safety, "take it out", vec![edit]);
}

/// Whether a message says nothing but what stands in such members. They become its text.
fn is_all_that_is_said(context: &Context<'_, '_>, member: &Member) -> bool {
    member.speaks_for_message()
        && !member.holds_media()
        && matches!(
            context.transcript.message(member.message).body,
            Body::Text | Body::Blocks | Body::Null | Body::Missing
        )
        && is_hollow(context, member.message)
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
    let kind = context.transcript.message(member.message).role.as_str();
    error.render(&Values { kind, ..values })
}
