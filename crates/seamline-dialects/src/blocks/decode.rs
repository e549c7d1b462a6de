//! Reads messages into a transcript.

use seamline_model::{BlockKind, ContentForm, Role};

use crate::foreign_result::OwnResults;
use crate::json::{Kind, Value};
use crate::reader::Reader;
use crate::reading::{self, Elsewhere};
use crate::unknown::is_new_item;

/// The functions with which a dialect reads a message.
pub(crate) struct Shape {
    /// The member that is the list of blocks.
    pub(crate) content: &'static str,
    /// The members of a system message that are settings, which need no content beside them.
    pub(crate) settings: &'static [&'static str],
    /// Reads the role of a message, or its absence.
    pub(crate) role: fn(Option<Value<'_, '_>>) -> Role,
    /// Finds the role that another program calls by this name, and its name in this dialect.
    pub(crate) called: fn(&str) -> Option<(Role, &'static str)>,
    /// How the dialect has results, if it has no role for them.
    pub(crate) results: Option<&'static OwnResults>,
    /// Reads one block of a message with this role, and whether the provider signed it.
    pub(crate) block: for<'d, 'a, 'r> fn(Value<'d, 'a>, Role, &mut Reader<'r>) -> (BlockKind, bool),
}

/// Reads one message.
pub(crate) fn message<'a>(reader: &mut Reader<'a>, value: Value<'_, 'a>, shape: &Shape) {
    reader.begin();
    let (mut said_role, mut content, mut elsewhere) = (None, None, Elsewhere::default());
    let mut settings = Vec::new();
    for (key, member) in value.members() {
        match &*key.name() {
            "role" => reader.set(&mut said_role, member),
            name if name == shape.content => reader.set(&mut content, member),
            name if shape.settings.contains(&name) => settings.push(member),
            name if elsewhere.takes(name, member) => {}
            _ => reader.foreign_member(member),
        }
    }
    let content = elsewhere.or(content, shape.content, reader);
    let is_message = value.is(Kind::Object) && (said_role.is_some() || !is_new_item(value));
    let role = if is_message { (shape.role)(said_role) } else { Role::Unknown };
    let foreign = shape.results.and_then(|own| reader.foreign_result(value, said_role, own));
    let role = foreign.unwrap_or_else(|| reader.role(role, said_role, value, shape.called));
    for setting in settings.iter().filter(|_| role != Role::System) {
        reader.foreign_member(*setting);
    }
    let first = reader.next_block();
    let body = reading::content(reader, content, |reader, element| {
        let (kind, signed) = (shape.block)(element, role, reader);
        reader.foreign_pair(&kind, element);
        (kind, signed)
    });
    let is_setting =
        role == Role::System && matches!(body, ContentForm::Missing | ContentForm::Null) && !settings.is_empty();
    reader.end(value, first, role, if is_setting { ContentForm::Setting } else { body });
}
