//! What the dialects whose messages are lists of blocks share when they write a message that
//! came in pieces.

use std::borrow::Cow;
use std::collections::HashMap;

use seamline_model::AssembledCall;

use crate::json::{Document, quoted};

/// An object that is begun with what came and gets members set. What nobody knows stays.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    /// In the order they came; those that were taken out have no value.
    members: Vec<(String, Option<String>)>,
    places: HashMap<String, usize>,
}

impl Draft {
    /// The object that a text holds; an empty one when it holds none.
    pub(crate) fn of(base: &str) -> Self {
        let mut draft = Self::default();
        if let Ok(document) = Document::read(base) {
            for (key, value) in document.root().members() {
                draft.set(&key.name(), value.raw());
            }
        }
        draft
    }

    /// Gives a member a value, where it stands or at the end.
    pub(crate) fn set(&mut self, name: &str, json: impl Into<String>) {
        let json = Some(json.into());
        if let Some(&place) = self.places.get(name) {
            self.members[place].1 = json;
        } else {
            self.places.insert(name.to_owned(), self.members.len());
            self.members.push((name.to_owned(), json));
        }
    }

    /// Gives a member a value if it has none.
    pub(crate) fn set_missing(&mut self, name: &str, json: impl FnOnce() -> String) {
        if self.get(name).is_none() {
            self.set(name, json());
        }
    }

    pub(crate) fn set_all(&mut self, members: &[(String, String)]) {
        for (name, json) in members {
            self.set(name, json.as_str());
        }
    }

    pub(crate) fn remove(&mut self, name: &str) {
        if let Some(&place) = self.places.get(name) {
            self.members[place].1 = None;
        }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.members.get(*self.places.get(name)?)?.1.as_deref()
    }

    /// The name of the first member.
    pub(crate) fn first(&self) -> Option<&str> {
        self.members.first().map(|(name, _)| name.as_str())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.members.iter().all(|(_, json)| json.is_none())
    }

    pub(crate) fn write(&self) -> String {
        let mut out = "{".to_owned();
        for (name, json) in &self.members {
            let Some(json) = json else { continue };
            if out.len() > 1 {
                out.push(',');
            }
            out.push_str(&quoted(name));
            out.push(':');
            out.push_str(json);
        }
        out.push('}');
        out
    }
}

/// A list of what is written already.
pub(crate) fn list(elements: &[String]) -> String {
    ["[", &elements.join(","), "]"].concat()
}

/// Sets a member to an object of members as they came, if there are any.
pub(crate) fn set_object(draft: &mut Draft, name: &str, members: &[(String, String)]) {
    let mut object = Draft::default();
    object.set_all(members);
    if !object.is_empty() {
        draft.set(name, object.write());
    }
}

/// The input of a call. What is no JSON is kept as text, which every check of a conversation
/// finds.
pub(crate) fn input(call: &AssembledCall) -> Cow<'_, str> {
    if Document::read(&call.arguments).is_ok() {
        Cow::Borrowed(&call.arguments)
    } else {
        quoted(&call.arguments).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_knows_stays_where_it_was() {
        let mut draft = Draft::of(r#"{"type":"text","odd":[1, 2],"text":"","text":"a","gone":1}"#);
        draft.set("text", "\"b\"");
        draft.set_missing("type", || "\"x\"".to_owned());
        draft.set_missing("more", || "2".to_owned());
        draft.remove("gone");
        assert_eq!(draft.write(), r#"{"type":"text","odd":[1, 2],"text":"b","more":2}"#);
        assert_eq!(Draft::of("[1]").write(), "{}");
    }
}
