//! `REASON008 unwanted-signature`

use seamline_model::{Edit, MemberSort, Place, Safety, Stage, Values};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds signed reasoning, for models that do not accept signatures.
    ///
    /// # Why is this bad?
    /// Only models that sign their reasoning accept a signature; others reject the request and name the member. The
    /// cause is a conversation that continues with a model of another company.
    ///
    /// # Example
    /// ```json
    /// {
    ///   "modelId": "us.amazon.nova-pro-v1:0",
    ///   "messages": [
    ///     {"role": "user", "content": [{"text": "What is 6 times 7?"}]},
    ///     {
    ///       "role": "assistant",
    ///       "content": [
    ///         {"reasoningContent": {"reasoningText": {"text": "Six sevens.", "signature": "c2lnbmF0dXJl"}}},
    ///         {"text": "42"}
    ///       ]
    ///     },
    ///     {"role": "user", "content": [{"text": "And 8?"}]}
    ///   ]
    /// }
    /// ```
    ///
    /// # After repair
    /// ```json
    /// {
    ///   "modelId": "us.amazon.nova-pro-v1:0",
    ///   "messages": [
    ///     {"role": "user", "content": [{"text": "What is 6 times 7?"}]},
    ///     {
    ///       "role": "assistant",
    ///       "content": [
    ///         {"reasoningContent": {"reasoningText": {"text": "Six sevens."}}},
    ///         {"text": "42"}
    ///       ]
    ///     },
    ///     {"role": "user", "content": [{"text": "And 8?"}]}
    ///   ]
    /// }
    /// ```
    ///
    /// # Fix safety
    /// Unsafe: the signature is removed, and is in the report; the reasoning stays. The model that signed it would no
    /// longer accept the reasoning. The example is repaired with `safety = "unsafe"`.
    ///
    /// # References
    /// BED-12
    REASON008 "unwanted-signature" in Reason, Error, Unsafe, each Whole, reach Message
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    let Some(error) = context.constraints.reasoning.signed.filter(|_| context.transcript.has.reasoning) else {
        return;
    };
    for member in context.members().iter().filter(|member| member.sort == MemberSort::Signature) {
        let place = Place { message: Some(member.message), block: member.block, span: member.span };
        let edit = Edit::DropMember { cut: member.cut, member: member.span, lost: true };
        report
            .place(place, "reasoning has a signature, which the provider does not accept".to_owned())
            .predicts(error.render(&Values { message: member.message.get(), ..Values::default() }))
            .fix(Stage::Bytes, Safety::Unsafe, "remove the signature", vec![edit]);
    }
}
