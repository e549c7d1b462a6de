//! `LIMIT001 surplus-cache-mark`

use seamline_model::{Edit, MemberSort, Place, Safety, Stage, Values};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds more cache marks than the provider accepts.
    ///
    /// # Why is this bad?
    /// Anthropic accepts four and rejects the whole request for more. The cause is a client whose parts set marks
    /// independently.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "claude-sonnet-4-5",
    ///   "max_tokens": 1024,
    ///   "messages": [
    ///     {
    ///       "role": "user",
    ///       "content": [{"type": "text", "text": "Question 1.", "cache_control": {"type": "ephemeral"}}]
    ///     },
    ///     {"role": "assistant", "content": "Answer 1."},
    ///     {
    ///       "role": "user",
    ///       "content": [{"type": "text", "text": "Question 2.", "cache_control": {"type": "ephemeral"}}]
    ///     },
    ///     {"role": "assistant", "content": "Answer 2."},
    ///     {
    ///       "role": "user",
    ///       "content": [{"type": "text", "text": "Question 3.", "cache_control": {"type": "ephemeral"}}]
    ///     },
    ///     {"role": "assistant", "content": "Answer 3."},
    ///     {
    ///       "role": "user",
    ///       "content": [{"type": "text", "text": "Question 4.", "cache_control": {"type": "ephemeral"}}]
    ///     },
    ///     {"role": "assistant", "content": "Answer 4."},
    ///     {
    ///       "role": "user",
    ///       "content": [{"type": "text", "text": "Question 5.", "cache_control": {"type": "ephemeral"}}]
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
    ///     {
    ///       "role": "user",
    ///       "content": [{"type": "text", "text": "Question 1."}]
    ///     },
    ///     {"role": "assistant", "content": "Answer 1."},
    ///     {
    ///       "role": "user",
    ///       "content": [{"type": "text", "text": "Question 2.", "cache_control": {"type": "ephemeral"}}]
    ///     },
    ///     {"role": "assistant", "content": "Answer 2."},
    ///     {
    ///       "role": "user",
    ///       "content": [{"type": "text", "text": "Question 3.", "cache_control": {"type": "ephemeral"}}]
    ///     },
    ///     {"role": "assistant", "content": "Answer 3."},
    ///     {
    ///       "role": "user",
    ///       "content": [{"type": "text", "text": "Question 4.", "cache_control": {"type": "ephemeral"}}]
    ///     },
    ///     {"role": "assistant", "content": "Answer 4."},
    ///     {
    ///       "role": "user",
    ///       "content": [{"type": "text", "text": "Question 5.", "cache_control": {"type": "ephemeral"}}]
    ///     }
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe: the oldest marks in the messages are removed, so that the newest part of the conversation is still cached.
    /// Marks on tools and system prompts stay.
    ///
    /// # References
    /// ANT-67, recalled; case 44
    LIMIT001 "surplus-cache-mark" in Limit, Error, Safe, each Whole, reach Conversation
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    let Some(limit) = context.constraints.limits.cache_marks else {
        return;
    };
    let is_mark = |sort: MemberSort| sort == MemberSort::CacheMark;
    let members = &context.transcript.members;
    let inside = members.iter().filter(|member| is_mark(member.sort)).count();
    let length = inside + context.transcript.request.cache_marks as usize;
    let surplus = length.saturating_sub(limit.max);
    for member in members.iter().filter(|member| is_mark(member.sort)).take(surplus) {
        let place = Place { message: Some(member.message), block: member.block, span: member.span };
        let edit = Edit::DropMember { cut: member.cut, member: member.span, lost: false };
        report
            .place(place, format!("the request has {length} cache marks; the provider accepts {}", limit.max))
            .predicts(limit.error.render(&Values { length, ..Values::default() }))
            .fix(Stage::Bytes, Safety::Safe, "remove this mark", vec![edit]);
    }
}
