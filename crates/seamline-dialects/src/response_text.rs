//! Writes the objects of a response over the objects that a stream began with.

use std::collections::HashMap;

use seamline_model::{Assembled, AssembledBlock, AssembledCall, Content, Piece};

use crate::json::{Document, escape_into, quoted, readable};

/// The members of an object with their JSON, in the order they came.
#[derive(Debug, Default)]
pub(crate) struct ObjectText {
    members: Vec<(String, String)>,
    places: HashMap<String, usize>,
}

impl ObjectText {
    /// Reads the members of an object. Text that is not a JSON object has none.
    pub(crate) fn of(base: &str) -> Self {
        let mut object = Self::default();
        if let Ok(document) = Document::read(base) {
            for (key, value) in document.root().members() {
                object.set(&key.name(), value.raw());
            }
        }
        object
    }

    /// Sets a member at its place, or adds it at the end.
    pub(crate) fn set(&mut self, name: &str, json: impl Into<String>) {
        if let Some(&place) = self.places.get(name) {
            self.members[place].1 = json.into();
        } else {
            self.places.insert(name.to_owned(), self.members.len());
            self.members.push((name.to_owned(), json.into()));
        }
    }

    /// Adds a member unless it exists.
    pub(crate) fn set_default(&mut self, name: &str, json: &str) {
        if self.get(name).is_none() {
            self.set(name, json);
        }
    }

    /// Sets several members.
    pub(crate) fn set_all(&mut self, members: &[(String, String)]) {
        for (name, json) in members.iter().filter(|(_, json)| !json.is_empty()) {
            self.set(name, json.as_str());
        }
    }

    /// The JSON of a member.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.places.get(name).map(|&place| self.members[place].1.as_str()).filter(|json| !json.is_empty())
    }

    /// Removes a member and returns its JSON.
    pub(crate) fn take(&mut self, name: &str) -> Option<String> {
        // The empty entry that remains is not written.
        let place = self.places.remove(name)?;
        Some(std::mem::take(&mut self.members[place].1)).filter(|json| !json.is_empty())
    }

    /// The object with these members alone.
    pub(crate) fn only(&self, names: &[&str]) -> String {
        let mut out = Self::default();
        out.set_all(
            &names.iter().filter_map(|name| Some(((*name).to_owned(), self.get(name)?.to_owned()))).collect::<Vec<_>>(),
        );
        out.write()
    }

    /// The members. Those that were removed have no JSON.
    pub(crate) fn members(&self) -> &[(String, String)] {
        &self.members
    }

    /// Writes the object. Members may hold the whole message, so each is copied once.
    pub(crate) fn write(&self) -> String {
        let members = || self.members.iter().filter(|(_, json)| !json.is_empty());
        let length: usize = members().map(|(name, json)| name.len() + json.len() + 4).sum();
        let mut out = String::with_capacity(length + 2);
        out.push('{');
        for (index, (name, json)) in members().enumerate() {
            out.push_str(if index == 0 { "\"" } else { ",\"" });
            escape_into(&mut out, name);
            out.push_str("\":");
            out.push_str(json);
        }
        out.push('}');
        out
    }
}

/// Sets the id of a call if the object has none, and says whether it did.
pub(crate) fn set_id(object: &mut ObjectText, name: &str, call: &AssembledCall) -> bool {
    let says_nothing = |json: &str| json == "null" || json.trim_matches('"').trim().is_empty();
    let is_missing = object.get(name).is_none_or(says_nothing);
    if is_missing {
        object.set(name, quoted(&call.id));
    }
    is_missing
}

/// Writes a list of JSON values.
pub(crate) fn list_text(values: &[String]) -> String {
    let length: usize = values.iter().map(|value| value.len() + 1).sum();
    let mut out = String::with_capacity(length + 2);
    out.push('[');
    for (index, value) in values.iter().enumerate() {
        out.push_str(if index == 0 { "" } else { "," });
        out.push_str(value);
    }
    out.push(']');
    out
}

/// Writes a message with these blocks, unless it is empty or holds only reasoning.
pub(crate) fn message_of(
    role: &str,
    list: &str,
    blocks: &[&AssembledBlock],
    write: fn(&AssembledBlock) -> String,
) -> Vec<String> {
    if !blocks.iter().any(|block| says_something(block)) {
        return Vec::new();
    }
    let mut message = ObjectText::default();
    message.set("role", role);
    message.set(list, list_text(&blocks.iter().map(|block| write(block)).collect::<Vec<_>>()));
    vec![message.write()]
}

/// Whether a block is more than reasoning or empty text.
fn says_something(block: &AssembledBlock) -> bool {
    match &block.content {
        Content::Text(text) => block.piece != Piece::Reasoning && !text.text.is_empty(),
        Content::Call(_) | Content::Opaque => true,
    }
}

/// Whether a block is an empty text, which most providers write and few accept.
pub(crate) fn is_empty_text(block: &AssembledBlock) -> bool {
    block.piece == Piece::Text && block.text().is_some_and(str::is_empty)
}

/// Writes the token usage as an object.
pub(crate) fn usage_text(message: &Assembled) -> Option<String> {
    let mut usage = ObjectText::default();
    usage.set_all(&message.usage);
    (!message.usage.is_empty()).then(|| usage.write())
}

/// Writes the input of a call. Input that is not JSON, or that readers refuse, is kept as a string, which every check
/// of a conversation finds.
pub(crate) fn input_text(call: &AssembledCall) -> String {
    let is_json = Document::read(&call.arguments).is_ok() && readable(&call.arguments).is_none();
    if is_json { call.arguments.clone() } else { quoted(&call.arguments) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_set_where_they_stand() {
        let mut object = ObjectText::of(r#"{"a": 1, "b\n":[2], "c":{}}"#);
        object.set("a", "3");
        object.set("d", quoted("x"));
        object.set_default("d", "null");
        assert_eq!(object.take("c").as_deref(), Some("{}"));
        assert_eq!(object.get("c"), None);
        assert_eq!(object.write(), r#"{"a":3,"b\n":[2],"d":"x"}"#);
        assert_eq!(ObjectText::of("").write(), "{}");
        assert_eq!(ObjectText::of("[1]").write(), "{}");
    }
}
