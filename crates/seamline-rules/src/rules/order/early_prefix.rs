//! `ORDER005 early-prefix`

use seamline_model::{Edit, LastRole, MemberSort, Place, Safety, Stage};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds messages that say they are to be continued, and are not the last.
    ///
    /// # Why is this bad?
    /// Only the last message can be continued, and the provider rejects the request. It happens when a history keeps
    /// the text that a request began for the model, with the member that said so.
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
    /// Safe: the member is taken out. What was said stays, and has been followed by something else already.
    ///
    /// # References
    /// MIS-4
    ORDER005 "early-prefix" in Order, Error, Safe, each Whole, reach Message
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    let LastRole::NotAssistantUnlessContinued(_) = context.constraints.last_role else {
        return;
    };
    let count = context.transcript.messages.len();
    let continued = context.members().iter().filter(|member| member.sort == MemberSort::Continued);
    for member in continued.filter(|member| member.message.get() + 1 < count) {
        let place = Place { message: Some(member.message), block: None, span: member.span };
        let edit = Edit::DropMember { cut: member.cut, member: member.span, lost: false };
        report
            .place(place, "the message says that it is to be continued, and is not the last".to_owned())
            .predicts("Assistant message with prefix True must be last message".to_owned())
            .fix(Stage::Bytes, Safety::Safe, "take the member out", vec![edit]);
    }
}
