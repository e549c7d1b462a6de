//! `ORDER005 early-prefix`

use seamline_model::{Edit, LastRole, Member, MemberSort, Place, Safety, Stage};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds messages that are marked for continuation and are not the last message.
    ///
    /// # Why is this bad?
    /// The model can continue only the last message, and the provider rejects the request. The cause is a history that
    /// keeps the `prefix` member of an earlier request.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "model": "mistral-large-latest",
    ///   "messages": [
    ///     {"role": "user", "content": "Write a limerick."},
    ///     {"role": "assistant", "content": "There once was a coder from Kent", "prefix": true},
    ///     {"role": "user", "content": "Go on."}
    ///   ]
    /// }
    /// ```
    ///
    /// # After repair
    /// ```json
    /// {
    ///   "model": "mistral-large-latest",
    ///   "messages": [
    ///     {"role": "user", "content": "Write a limerick."},
    ///     {"role": "assistant", "content": "There once was a coder from Kent"},
    ///     {"role": "user", "content": "Go on."}
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Safe: the repair removes the member. The text stays; other messages already follow it.
    ///
    /// # References
    /// MIS-4
    ORDER005 "early-prefix" in Order, Error, Safe, each Whole, reach Message
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    let LastRole::NotAssistantUnlessContinued(_) = context.constraints.last_role else {
        return;
    };
    let next = |member: &&Member| context.transcript.messages.get(member.message.get() + 1);
    let continued = context.members().iter().filter(|member| member.sort == MemberSort::Continued);
    // A provider may have added the next message, and may continue the one before it.
    for member in continued.filter(|member| next(member).is_some_and(|next| !next.is_unknown)) {
        let place = Place { message: Some(member.message), block: None, span: member.span };
        let edit = Edit::DropMember { cut: member.cut, member: member.span, lost: false };
        report
            .place(place, "the message is marked for continuation, but is not the last".to_owned())
            .predicts("Assistant message with prefix True must be last message".to_owned())
            .fix(Stage::Bytes, Safety::Safe, "remove the mark", vec![edit]);
    }
}
