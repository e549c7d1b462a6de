//! Places as JSON pointers.

use seamline_model::{Field, Place, Transcript};

use crate::reader::Form;

/// A place as a JSON pointer into the body.
pub(crate) fn pointer(transcript: &Transcript<'_>, place: &Place, form: Form) -> String {
    let Some(message) = place.message else {
        return String::new();
    };
    let message =
        if transcript.is_bare_list() { format!("/{}", message.0) } else { format!("/{}/{}", form.list, message.0) };
    let Some(block) = place.block else {
        return message;
    };
    let slot = transcript.block(block).slot;
    match slot.field {
        Field::Whole => message,
        Field::Content => format!("{message}/{}/{}", form.content, slot.index),
        Field::Calls => format!("{message}/{}/{}", form.calls, slot.index),
    }
}
