//! `SHAPE003 consecutive-roles`

use seamline_model::{
    Carrier, Edit, ErrorText, Member, MessageIndex, NOTHING_BETWEEN, Role, Safety, SameRole, Severity, Stage, Values,
};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds two adjacent messages of one role, where the provider demands alternating roles.
    ///
    /// # Why is this bad?
    /// Older and compatible servers reject the request. The cause is queued prompts, an inserted or removed message, or
    /// a turn that was saved in pieces. The example is for `anthropic-compatible`; Anthropic itself joins such
    /// messages.
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
    ///         {"type": "text", "text": "Run the tests."}
    ///       ]
    ///     },
    ///     {"role": "user", "content": "Only the fast ones."},
    ///     {"role": "assistant", "content": "All passed."},
    ///     {"role": "user", "content": "Thanks."}
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
    ///         {"type": "text", "text": "Run the tests."},
    ///         {
    ///           "type": "text",
    ///           "text": "Only the fast ones."
    ///         }
    ///       ]
    ///     },
    ///     {"role": "assistant", "content": "All passed."},
    ///     {"role": "user", "content": "Thanks."}
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe: the second message is joined to the first, block by block. Media in a member of the second message, such as
    /// `images`, become a member of the first. Three kinds of messages are never joined, and a synthetic message of the
    /// other role is inserted between them: messages with signed reasoning, because the signature would become invalid;
    /// messages with tool results that the provider accepts only in a message of their own (ORDER006); and messages that
    /// both have media in a member of the same name. Under `merge_same_role = true` messages that are lists of blocks are
    /// joined for other providers as well; those that are never joined stay apart there.
    ///
    /// # References
    /// ANT-11, ANT-12, BED-7; case 60
    SHAPE003 "consecutive-roles" in Shape, Error, Safe, each Whole, reach Cycle
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    let error = match context.constraints.same_role {
        SameRole::Rejected(error) => Some(error),
        SameRole::Accepted if context.policy.merge_same_role && has_blocks(context) => None,
        SameRole::Accepted => return,
    };
    let before = context.first().get().saturating_sub(1);
    let messages = context.transcript.messages.get(before..).unwrap_or_default();
    // The media members of the messages that are joined to one.
    let mut media: Vec<&str> = Vec::new();
    for (at, pair) in messages.windows(2).enumerate() {
        let role = pair[0].role;
        if role != pair[1].role || !matches!(role, Role::User | Role::Assistant) {
            media.clear();
            continue;
        }
        let first = MessageIndex((before + at) as u32);
        let second = first.next();
        note_media(context, first, &mut media);
        let apart = must_stay_apart(context, first, second)
            || media_members(context, second).any(|member| media.contains(&member));
        if apart {
            media.clear();
        }
        if error.is_none() && (apart || has_unknown_members(context, first) || has_unknown_members(context, second)) {
            continue;
        }
        report_pair(context, report, (second, role, apart), error);
    }
}

fn report_pair(
    context: &Context<'_, '_>,
    report: &mut Report,
    (second, role, apart): (MessageIndex, Role, bool),
    error: Option<ErrorText>,
) {
    let kind = if role == Role::User { "user" } else { "assistant" };
    let values = Values { message: second.get(), kind, ..Values::default() };
    let draft = report.message(context, second, format!("second {kind} message in a row"));
    let draft = match error {
        Some(error) => draft.predicts(error.render(&values)),
        None => draft.severity(Severity::Warning),
    };
    if apart {
        let other = if role == Role::User { Role::Assistant } else { Role::User };
        let edits = vec![Edit::InsertMessage { before: second, role: other, text: NOTHING_BETWEEN }];
        draft.fix(Stage::Roles, Safety::Safe, "insert a synthetic message of the other role between them", edits);
    } else {
        let edits = vec![Edit::JoinPrevious { message: second }];
        draft.fix(Stage::Roles, Safety::Safe, "join it to the previous message", edits);
    }
}

/// Whether the provider rejects two messages as one: signed content must stay unchanged, and some tool results must be in
/// a message without other blocks.
fn must_stay_apart(context: &Context<'_, '_>, first: MessageIndex, second: MessageIndex) -> bool {
    let must = |index| context.transcript.has_signed_reasoning(index) || holds_results_alone(context, index);
    let holds_results = |index| context.transcript.has_results(index);
    let holds_document = |index| context.document_apart(index).is_some();
    let parts = |one, other| holds_results(one) && holds_document(other);
    must(first) || must(second) || parts(first, second) || parts(second, first)
}

/// Whether a message has members that a provider may have added. They are about this message alone.
fn has_unknown_members(context: &Context<'_, '_>, index: MessageIndex) -> bool {
    context.transcript.members_of(index).iter().any(Member::is_unknown)
}

fn holds_results_alone(context: &Context<'_, '_>, index: MessageIndex) -> bool {
    context.results_alone(index).is_some() && context.transcript.has_results(index)
}

/// Notes the members of a message that hold media, each name once.
fn note_media<'c>(context: &Context<'c, '_>, index: MessageIndex, media: &mut Vec<&'c str>) {
    for member in media_members(context, index) {
        if !media.contains(&member) {
            media.push(member);
        }
    }
}

/// The members of a message that hold media.
fn media_members<'c>(context: &Context<'c, '_>, index: MessageIndex) -> impl Iterator<Item = &'c str> {
    let media = context.transcript.members_of(index).iter().filter(|member| member.is_media_of_message());
    media.map(|member| &*member.key)
}

/// Whether messages are lists of blocks, so that two of them can be joined block by block.
fn has_blocks(context: &Context<'_, '_>) -> bool {
    match context.constraints.carrier {
        Carrier::UserBlocks => true,
        Carrier::ToolMessages | Carrier::Items => false,
    }
}
