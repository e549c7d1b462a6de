//! Places as JSON pointers.

use seamline_model::{Field, Place, Transcript};

/// A place as a JSON pointer into the body.
pub(crate) fn pointer(transcript: &Transcript<'_>, place: &Place) -> String {
    let Some(message) = place.message else {
        return String::new();
    };
    let list = if transcript.is_bare_list() { "" } else { "/messages" };
    let message = format!("{list}/{}", message.0);
    let Some(block) = place.block else {
        return message;
    };
    let slot = transcript.block(block).slot;
    match slot.field {
        Field::Whole => message,
        Field::Content => format!("{message}/content/{}", slot.index),
        Field::Calls => format!("{message}/tool_calls/{}", slot.index),
    }
}
