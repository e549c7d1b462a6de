//! JSON pointers (RFC 6901) to places in a body.

use std::borrow::Cow;

use seamline_model::{Field, Place, Transcript};

use crate::json::{Kind, Value};
use crate::reader::Form;

/// Writes a place as a JSON pointer into the body.
pub(crate) fn pointer(transcript: &Transcript<'_>, place: &Place, form: Form) -> String {
    let Some(message) = place.message else {
        return String::new();
    };
    let message =
        if transcript.is_bare_list() { format!("/{}", message.0) } else { format!("/{}/{}", form.list, message.0) };
    let Some(block) = place.block else {
        return message;
    };
    let slot = transcript.block(block).slot();
    match slot.field {
        Field::Whole | Field::Item => message,
        Field::Content => format!("{message}/{}/{}", form.content, slot.index),
        Field::Calls => format!("{message}/{}/{}", form.calls, slot.index),
    }
}

/// Extends a pointer by the key of a member.
pub(crate) fn joined(pointer: &str, key: &str) -> String {
    let key = if key.contains(['~', '/']) {
        Cow::Owned(key.replace('~', "~0").replace('/', "~1"))
    } else {
        Cow::Borrowed(key)
    };
    [pointer, "/", &key].concat()
}

/// Finds the value that a pointer leads to.
pub(crate) fn resolve<'d, 'a>(root: Value<'d, 'a>, pointer: &str) -> Option<Value<'d, 'a>> {
    pointer.split('/').skip(1).map(key).try_fold(root, |value, key| match value.kind() {
        Kind::Array => value.elements().nth(key.parse().ok()?),
        _ => value.object()?.get(&key),
    })
}

/// Writes a pointer as a path of names with dots.
pub(crate) fn name(pointer: &str) -> String {
    pointer.split('/').skip(1).map(key).collect::<Vec<_>>().join(".")
}

fn key(part: &str) -> Cow<'_, str> {
    if part.contains('~') { Cow::Owned(part.replace("~1", "/").replace("~0", "~")) } else { Cow::Borrowed(part) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Document;

    #[test]
    fn a_key_of_any_spelling_is_found_again() {
        let document = Document::read(r#"{"a":[{"x/y~z~1":7}]}"#).unwrap();
        let pointer = joined("/a/0", "x/y~z~1");
        assert_eq!(pointer, "/a/0/x~1y~0z~01");
        assert_eq!(resolve(document.root(), &pointer).map(Value::raw), Some("7"));
        assert_eq!(name(&pointer), "a.0.x/y~z~1");
        assert_eq!(resolve(document.root(), "/a/1").map(Value::raw), None);
    }
}
