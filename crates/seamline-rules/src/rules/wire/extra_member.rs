//! `WIRE013 extra-member`

use seamline_model::{
    BlockKind, Body, Edit, Emptiness, Member, MemberSort, Members, Place, Role, Safety, Severity, Span, Stage, Values,
};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds members of messages and blocks that the provider does not have: those of other dialects, and those of
    /// this dialect that only some of its providers know, such as `refusal`, `audio`, `function_call` and `name`. Calls
    /// in the form of another dialect are a warning where the provider takes any member, and does not look at it.
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
    /// nothing else, what stands in its members, a refusal among them, is kept as its text, which is safe; so is a
    /// part of the content that is a refusal. A `function_call` safely becomes the only one of `tool_calls`. A file
    /// is only reported. The example is repaired with `safety = "unsafe"`.
    ///
    /// # References
    /// ANT-4, FWK-1, GRQ-1, MIS-8; cases 43, 44
    WIRE013 "extra-member" in Wire, Error, Unsafe, each Whole, reach Message
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    let Members::Closed { known, .. } = context.constraints.members else {
        context.members().iter().filter(|member| holds_calls(member)).for_each(|member| {
            unseen_calls(context, report, member);
        });
        return;
    };
    for member in context.members() {
        if is_unknown(context, member) && !known.contains(&&*member.key) {
            found(context, report, member);
        }
    }
}

/// Whether a member makes calls as another dialect does.
fn holds_calls(member: &Member) -> bool {
    member.sort == (MemberSort::Foreign { empty: false }) && matches!(&*member.key, "tool_calls" | "function_call")
}

/// Notes calls that a provider takes and never looks at.
fn unseen_calls(context: &Context<'_, '_>, report: &mut Report, member: &Member) {
    let Member { message, block, key, span, .. } = member;
    let place = Place { message: Some(*message), block: *block, span: *span };
    let what = format!("the provider does not see the calls in `{key}`, which are in the form of another dialect");
    let draft = report.place(place, what).severity(Severity::Warning);
    if is_all_that_is_said(context, member) {
        draft.fix(Stage::Finish, Safety::Safe, "keep them as text", vec![Edit::KeepMembers { message: *message }]);
    }
}

/// Whether a member is not one of those that every provider of the dialect has.
fn is_unknown(context: &Context<'_, '_>, member: &Member) -> bool {
    match member.sort {
        MemberSort::Foreign { .. } => true,
        // Results have the name of their tool, and an empty list of calls has a rule of its own.
        MemberSort::Spare { .. } => match &*member.key {
            "name" => !matches!(context.transcript.message(member.message).role, Role::Tool | Role::Function),
            key => key != "tool_calls",
        },
        _ => false,
    }
}

fn found(context: &Context<'_, '_>, report: &mut Report, member: &Member) {
    let Member { message, block, key, span, cut, .. } = member;
    let place = Place { message: Some(*message), block: *block, span: *span };
    let draft = report
        .place(place, format!("the provider does not know the member `{key}`"))
        .predicts(predicted(context, member));
    if let (MemberSort::Spare { .. }, Some(block)) = (member.sort, member.block) {
        if &**key == "refusal" {
            let text = format!("{{\"type\":\"text\",\"text\":{}}}", value_of(context, member));
            let edits = vec![Edit::Patch { span: context.transcript.block(block).span, text }];
            draft.fix(Stage::Bytes, Safety::Safe, "make it a text", edits);
        }
        return;
    }
    if let Some(edits) = as_call(context, member) {
        draft.fix(Stage::Bytes, Safety::Safe, "move it into the list of calls", edits);
        return;
    }
    if is_all_that_is_said(context, member) {
        let edits = vec![Edit::KeepMembers { message: *message }];
        draft.fix(Stage::Finish, Safety::Safe, "keep it as text", edits);
        return;
    }
    let safe = match member.sort {
        MemberSort::Spare { empty } => empty,
        _ => !member.says_something(),
    };
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
        && is_hollow_beside(context, member)
}

/// Whether a message holds nothing but empty text beside a member.
fn is_hollow_beside(context: &Context<'_, '_>, member: &Member) -> bool {
    let within = |span: Span| member.span.start <= span.start && span.end <= member.span.end;
    context.transcript.blocks_of(member.message).all(|(_, block)| {
        within(block.span) || matches!(block.kind, BlockKind::Text(Emptiness::Empty | Emptiness::Blank))
    })
}

/// The edits that make a `function_call` the only call of its message. Its id is found later.
fn as_call(context: &Context<'_, '_>, member: &Member) -> Option<Vec<Edit>> {
    let call = value_of(context, member);
    let is_call = &*member.key == "function_call" && matches!(member.sort, MemberSort::Spare { empty: false });
    let role = context.transcript.message(member.message).role;
    if !is_call || !call.starts_with('{') || role != Role::Assistant || context.transcript.has_calls(member.message) {
        return None;
    }
    let text = format!("\"tool_calls\":[{{\"type\":\"function\",\"function\":{call}}}]");
    let mut edits = vec![Edit::Patch { span: member.span, text }];
    let others = context.transcript.members_of(member.message).iter();
    let empty_list = others.filter(|other| &*other.key == "tool_calls");
    edits.extend(empty_list.map(|list| Edit::DropMember { cut: list.cut, member: list.span, lost: false }));
    Some(edits)
}

/// The value of a member, as it is written.
fn value_of<'a>(context: &Context<'_, 'a>, member: &Member) -> &'a str {
    let value = context.transcript.text(Span { start: member.key_span.end, end: member.span.end });
    value.trim_ascii_start().trim_start_matches(':').trim_ascii_start()
}

fn predicted(context: &Context<'_, '_>, member: &Member) -> String {
    let Members::Closed { error, in_block, .. } = context.constraints.members else {
        return String::new();
    };
    let values = Values { message: member.message.get(), id: &member.key, ..Values::default() };
    if let Some(block) = member.block {
        let block = context.transcript.block(block).slot().index as usize;
        return in_block.render(&Values { block, kind: member.owner, ..values });
    }
    let kind = context.transcript.message(member.message).role.as_str();
    error.render(&Values { kind, ..values })
}
