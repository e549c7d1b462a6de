//! `WIRE006 call-input`

use seamline_model::{BlockIndex, Edit, Field, Input, InputForm, Safety, Stage};

use crate::context::Context;
use crate::rule::{Report, declare_rule};

declare_rule! {
    /// # What it does
    /// Finds calls whose input is not written as the dialect wants it: as an object, or as a string that holds JSON.
    ///
    /// # Why is this bad?
    /// The provider rejects the request. It happens when arguments were cut off, encoded twice, or never arrived.
    ///
    /// # Fix safety
    /// Safe: the input keeps what it says in the right form; what cannot be an object is wrapped in one.
    ///
    /// # References
    /// ANT-3, OAC-1; case 29
    WIRE006 "call-input" in Wire, Error, Safe
}

fn check(context: &Context<'_, '_>, report: &mut Report) {
    for state in &context.pairing.calls {
        let Some(call) = context.transcript.call(state.call) else {
            continue;
        };
        let (error, right) = match context.constraints.input {
            InputForm::Object(error) => (error, call.input == Input::Object),
            InputForm::Text(error) => (error, call.input == Input::Text),
        };
        // A call in a legacy field takes its form when it moves.
        if right || is_legacy(context, state.call) {
            continue;
        }
        let id = context.id(state.call);
        report
            .block(
                context,
                state.call,
                format!("input of call `{id}` is {}", found(call.input)),
            )
            .call_id(id)
            .predicts(error.render(&context.values(state.call, id)))
            .fix(
                Stage::Form,
                Safety::Safe,
                "write it in the right form",
                vec![Edit::SetInput { call: state.call }],
            );
    }
}

fn is_legacy(context: &Context<'_, '_>, call: BlockIndex) -> bool {
    context.transcript.block(call).slot.field == Field::Whole
}

fn found(input: Input) -> &'static str {
    match input {
        Input::Object => "an object",
        Input::Text => "a string",
        Input::Null => "null",
        Input::Missing => "missing",
        Input::Other => "in another form",
    }
}
