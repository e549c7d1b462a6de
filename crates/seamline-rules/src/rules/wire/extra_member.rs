//! `WIRE013 extra-member`

use std::collections::HashSet;

use seamline_model::{
    Edit, Member, MemberKind, MemberSort, Members, Place, RejectedMember, Role, Safety, Severity, Span, Stage, Values,
};

use super::of_unknown::is_of_unknown;
use crate::context::Context;
use crate::ending::notes_ending;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds members of messages and blocks that the provider does not support: those of other dialects, and those of
    /// this dialect that only some of its providers support, such as `refusal`, `audio`, `function_call` and `name`.
    /// A member that no dialect or program is known to have is only a note: the provider may have added it. So is every
    /// member of a message or block of an unknown kind. Tool calls in the form of another dialect are a warning where the provider accepts any member and ignores this
    /// one.
    ///
    /// # Why is this bad?
    /// Some providers accept only members they know and reject the whole request, naming the member. The cause is a
    /// response of one provider that is sent to another, or a client that keeps its own notes in messages.
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
    /// Unsafe: the member is removed, and its content is in the report. An unknown member is removed only with `--unsafe` or
    /// `safety = "any"`, which no preset has, or after the provider has rejected it by its name (`seamline fix
    /// --after-error`, `Policy::reject_members`). Then it is removed from every part of the body, but never a member that
    /// the dialect needs, such as `role` and `content`. Empty members and metadata (time, author, cost, cache marks) are
    /// removed safely. If a message has no other content, the content of its members, such as a
    /// refusal, becomes its text, which is safe; so does a refusal part of the content. A `function_call` safely
    /// becomes the only entry of `tool_calls`. A file is only reported. The example is repaired with `safety =
    /// "unsafe"`.
    ///
    /// # References
    /// ANT-4, FWK-1, GRQ-1, MIS-8; cases 43, 44
    WIRE013 "extra-member" in Wire, Error, Unsafe, each Whole, reach Message
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    let rejected = |member: &&Member| is_rejected(context, member);
    context.members().iter().filter(rejected).for_each(|member| report_rejected(context, report, member));
    report_places(context, report);
    let Members::Closed { known, .. } = context.constraints.members else {
        let is_ignored =
            |member: &&Member| holds_calls(member) && !is_rejected(context, member) && !is_of_unknown(context, member);
        context.members().iter().filter(is_ignored).for_each(|member| report_ignored_calls(context, report, member));
        return;
    };
    for member in context.members() {
        if is_unknown(context, member) && !known.contains(&&*member.key) && !is_rejected(context, member) {
            report_member(context, report, member);
        }
    }
}

/// Whether the provider has rejected a member of this name. Some providers write names in another case than the body.
fn is_rejected(context: &Context<'_, '_>, member: &Member) -> bool {
    let letters = |name: &str| name.replace('_', "").to_ascii_lowercase();
    let names = &context.policy.rejected_members;
    !names.is_empty()
        && is_unknown(context, member)
        && names.iter().any(|name| **name == *member.key || letters(name) == letters(&member.key))
}

/// Reports a member that the provider has rejected by its name.
fn report_rejected(context: &Context<'_, '_>, report: &mut Report, member: &Member) {
    let Member { message, block, key, span, cut, .. } = member;
    let place = Place { message: Some(*message), block: *block, span: *span };
    let edit = Edit::DropMember { cut: *cut, member: *span, lost: member.says_something() };
    report
        .place(place, format!("the provider has rejected the member `{key}`"))
        .predicts(predict_error(context, member))
        .fix(Stage::Bytes, Safety::Safe, "remove the member", vec![edit]);
}

/// Reports the members that the provider has rejected by their path, where they are not reported by their name.
fn report_places(context: &Context<'_, '_>, report: &mut Report) {
    let rejected = &context.transcript.rejected;
    if rejected.is_empty() {
        return;
    }
    let named = context.members().iter().filter(|member| is_rejected(context, member));
    let named: HashSet<u32> = named.map(|member| member.span.start).collect();
    for RejectedMember { key, span, cut, message } in rejected.iter().filter(|it| !named.contains(&it.span.start)) {
        let place = Place { message: *message, block: None, span: *span };
        let edit = Edit::DropMember { cut: *cut, member: *span, lost: true };
        report.place(place, format!("the provider has rejected the member `{key}`")).fix(
            Stage::Bytes,
            Safety::Safe,
            "remove the member",
            vec![edit],
        );
    }
}

/// Whether a member holds calls in the form of another dialect.
fn holds_calls(member: &Member) -> bool {
    member.sort == (MemberSort::Foreign { empty: false })
        && matches!(member.kind, MemberKind::Calls | MemberKind::OnlyCall)
}

/// Reports calls that a provider accepts and ignores.
fn report_ignored_calls(context: &Context<'_, '_>, report: &mut Report, member: &Member) {
    let Member { message, block, key, span, .. } = member;
    let place = Place { message: Some(*message), block: *block, span: *span };
    let what = format!("the provider ignores the tool calls in `{key}`, which have the form of another dialect");
    let draft = report.place(place, what).severity(Severity::Warning);
    if context.is_only_content(member) {
        draft.fix(Stage::Finish, Safety::Safe, "keep them as text", vec![Edit::KeepMembers { message: *message }]);
    }
}

/// Whether not every provider of the dialect supports a member.
fn is_unknown(context: &Context<'_, '_>, member: &Member) -> bool {
    match member.sort {
        MemberSort::Foreign { .. } => true,
        // Results have the name of their tool, and another rule handles an empty list of calls.
        MemberSort::Spare { .. } => match member.kind {
            MemberKind::Name => !matches!(context.transcript.message(member.message).role, Role::Tool | Role::Function),
            kind => kind != MemberKind::Calls,
        },
        _ => false,
    }
}

fn report_member(context: &Context<'_, '_>, report: &mut Report, member: &Member) {
    let Member { message, block, kind, key, span, cut, .. } = member;
    let place = Place { message: Some(*message), block: *block, span: *span };
    if is_of_unknown(context, member) {
        report_unknown(report, member, (place, "belongs to something unknown"));
        return;
    }
    if member.is_unknown() {
        report_unknown(report, member, (place, "is unknown"));
        return;
    }
    let draft = report
        .place(place, format!("the provider does not support the member `{key}`"))
        .predicts(predict_error(context, member));
    if let (MemberSort::Spare { .. }, Some(block)) = (member.sort, member.block) {
        if *kind == MemberKind::Refusal {
            let text = format!("{{\"type\":\"text\",\"text\":{}}}", value_of(context, member));
            let edits = vec![Edit::Patch { span: context.transcript.block(block).span, text }];
            draft.fix(Stage::Bytes, Safety::Safe, "turn it into a text", edits);
        }
        return;
    }
    if let Some(edits) = as_call(context, member) {
        draft.fix(Stage::Bytes, Safety::Safe, "move it into the list of tool calls", edits);
        return;
    }
    if context.is_only_content(member) {
        let edits = vec![Edit::KeepMembers { message: *message }];
        draft.fix(Stage::Finish, Safety::Safe, "keep it as text", edits);
        return;
    }
    let safe = match member.sort {
        MemberSort::Spare { empty } => empty,
        _ => member.is_foreign_thinking() || !member.says_something() && !member.is_unknown(),
    };
    let safety = if safe { Safety::Safe } else { Safety::Unsafe };
    let edit = Edit::DropMember { cut: *cut, member: *span, lost: !safe || *kind == MemberKind::Thinking };
    // How a message ended tells what its open calls are answered with.
    let stage = if notes_ending(member) { Stage::Finish } else { Stage::Bytes };
    draft.fix(stage, safety, "remove the member", vec![edit]);
}

/// Notes a member that no dialect or program is known to have. The provider may have added it.
fn report_unknown(report: &mut Report, member: &Member, (place, why): (Place, &str)) {
    let Member { key, cut, span, .. } = member;
    let edit = Edit::DropMember { cut: *cut, member: *span, lost: true };
    report.place(place, format!("the member `{key}` {why}; it is kept")).severity(Severity::Info).fix(
        Stage::Bytes,
        Safety::Unknown,
        "remove the member",
        vec![edit],
    );
}

/// The edits that make a `function_call` the only tool call of its message. A later pass sets its id.
fn as_call(context: &Context<'_, '_>, member: &Member) -> Option<Vec<Edit>> {
    let call = value_of(context, member);
    let is_call = member.kind == MemberKind::OnlyCall && member.sort == (MemberSort::Spare { empty: false });
    let role = context.transcript.message(member.message).role;
    if !is_call || !call.starts_with('{') || role != Role::Assistant || context.transcript.has_calls(member.message) {
        return None;
    }
    let text = format!("\"tool_calls\":[{{\"type\":\"function\",\"function\":{call}}}]");
    let mut edits = vec![Edit::Patch { span: member.span, text }];
    let others = context.transcript.members_of(member.message).iter();
    let empty_list = others.filter(|other| other.kind == MemberKind::Calls);
    edits.extend(empty_list.map(|list| Edit::DropMember { cut: list.cut, member: list.span, lost: false }));
    Some(edits)
}

/// The JSON value of a member, as it is written.
fn value_of<'a>(context: &Context<'_, 'a>, member: &Member) -> &'a str {
    let value = context.transcript.text(Span { start: member.key_span.end, end: member.span.end });
    value.trim_ascii_start().trim_start_matches(':').trim_ascii_start()
}

fn predict_error(context: &Context<'_, '_>, member: &Member) -> String {
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
