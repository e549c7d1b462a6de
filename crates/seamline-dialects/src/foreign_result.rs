//! Messages with the role of a tool, in dialects that have no such role: their providers reject the request.

use std::borrow::Cow;

use seamline_model::{IrregularityKind, Role, UnreadableEntry};

use crate::ids::RESULT_ID_KEYS;
use crate::json::{Json, Kind, Object, Style, Value};
use crate::kept::words;
use crate::members::is_hollow;
use crate::reader::Reader;

/// How a dialect without the role of a tool has results.
pub(crate) struct OwnResults {
    /// Whether a block of a message is a result.
    pub(crate) is_result: fn(Object<'_, '_>) -> bool,
    /// Writes a result as the members of a message, given the id of its call and its output.
    pub(crate) write: for<'a> fn(Json<'a>, Json<'a>) -> Vec<(&'static str, Json<'a>)>,
}

/// The members of such a message that its form in this dialect does not have.
const OWN_KEYS: &[&str] = &["role", "content", "name", "type"];

impl Reader<'_> {
    /// Reads a message with the role of a tool. One whose content is results gets the role of the user, one that names its
    /// call becomes a result, and any other can only be kept as text. Returns nothing for a message of another role.
    pub(crate) fn foreign_result(
        &mut self,
        message: Value<'_, '_>,
        said: Option<Value<'_, '_>>,
        own: &OwnResults,
    ) -> Option<Role> {
        let said = said.filter(|role| role.says("tool") || role.says("function"))?;
        let members = message.object()?;
        let content = members.get("content");
        let mut parts = content.into_iter().flat_map(Value::elements).peekable();
        if parts.peek().is_some() && parts.all(|part| part.object().is_some_and(own.is_result)) {
            self.note(IrregularityKind::ForeignRole { expected: Role::User.as_str() }, said.span());
            return Some(Role::User);
        }
        let id = RESULT_ID_KEYS.iter().find_map(|key| members.get(key)).filter(|id| id.is(Kind::String));
        match id {
            Some(id) => {
                self.unknown_block(message);
                let output = match content {
                    Some(text) if text.is(Kind::String) => Json::Raw(text.raw()),
                    Some(content) if !content.is(Kind::Null) => Json::Text(words(content).into_owned()),
                    _ => Json::Text(String::new()),
                };
                let written = (own.write)(Json::Raw(id.raw()), output);
                let mut written: Vec<_> = written.into_iter().map(|(key, json)| (Cow::Borrowed(key), json)).collect();
                let is_own = |key: &str| OWN_KEYS.contains(&key) || RESULT_ID_KEYS.contains(&key);
                let others = message.members().filter(|(key, member)| !is_own(&key.name()) && !is_hollow(*member));
                written.extend(others.map(|(key, member)| (Cow::Borrowed(key.raw_str()), Json::Raw(member.raw()))));
                let own = Style::of(&[]).text(&Json::Members(written), 0);
                self.note(IrregularityKind::ForeignPair { own }, message.span());
                // Its members are those of a result in another form.
                let (index, _) = self.place();
                let own_members = self.transcript.members.partition_point(|member| member.message < index);
                self.transcript.members.truncate(own_members);
            }
            None => self.note(IrregularityKind::UnreadableMessage { found: UnreadableEntry::ToolRole }, message.span()),
        }
        Some(Role::Unknown)
    }
}
