//! The text of an entry, and lists of blocks.

use super::message::{Call, Message};
use crate::json::{Object, elements, quoted, relisted, string};

/// The text that the carrier holds for content that is not text, such as an image. The content itself stays where it is.
pub(crate) const OTHER: &str = "[content that is not text]";

/// The text of a content: a string, the text blocks of a list, or any other value as it is written.
pub(crate) fn text_of(content: Option<&str>) -> String {
    match content {
        None | Some("null") => String::new(),
        Some(raw) => string(raw).or_else(|| Some(text_of_blocks(&elements(raw)?))).unwrap_or_else(|| raw.to_owned()),
    }
}

fn text_of_blocks(blocks: &[&str]) -> String {
    let texts: Vec<String> = blocks.iter().filter_map(|block| block_text(block)).collect();
    if texts.is_empty() && !blocks.is_empty() { OTHER.to_owned() } else { texts.join("\n") }
}

/// The text of a text block.
pub(crate) fn block_text(block: &str) -> Option<String> {
    string(block).or_else(|| Object::of(block).filter(|block| block.says("type", &["text"]))?.string("text"))
}

pub(crate) fn text_block(text: &str) -> String {
    format!(r#"{{"type":"text","text":{}}}"#, quoted(text))
}

/// Writes a content with another text, in the form that the content has. Blocks that are not text stay.
pub(crate) fn with_text(content: Option<&str>, text: &str) -> String {
    match content.and_then(|content| Some((content, elements(content)?))) {
        None => quoted(text),
        Some((content, blocks)) => {
            let others = blocks.iter().filter(|block| block_text(block).is_none()).map(|block| (*block).to_owned());
            relisted(content, &std::iter::once(text_block(text)).chain(others).collect::<Vec<_>>())
        }
    }
}

/// How the calls in a list of blocks are written.
pub(crate) struct CallBlocks {
    /// The types that a call may have; repairs write the first one.
    pub(crate) types: &'static [&'static str],
    pub(crate) arguments: &'static str,
}

impl CallBlocks {
    /// The message in a list of blocks: its text and its calls.
    pub(crate) fn read(&self, blocks: &[&str]) -> (String, Vec<Call>) {
        let calls: Vec<Call> = blocks.iter().enumerate().filter_map(|(index, block)| self.call(index, block)).collect();
        let texts: Vec<String> = blocks.iter().filter_map(|block| block_text(block)).collect();
        let is_other = texts.is_empty() && calls.is_empty() && !blocks.is_empty();
        (if is_other { OTHER.to_owned() } else { texts.join("\n") }, calls)
    }

    fn call(&self, index: usize, block: &str) -> Option<Call> {
        let block = Object::of(block).filter(|block| block.says("type", self.types))?;
        Some(call(&block, index, &["id"], &["name"], &[self.arguments]))
    }

    /// Whether a block is text or a call, and so a part of the message.
    pub(crate) fn is_shown(&self, block: &str) -> bool {
        block_text(block).is_some() || Object::of(block).is_some_and(|block| block.says("type", self.types))
    }

    /// The blocks of a changed message. Blocks that the carrier does not show stay where they are.
    pub(crate) fn changed(&self, blocks: &[&str], before: &Message, after: &Message) -> Vec<String> {
        let is_same_text = before.text == after.text;
        let added = after.text.strip_prefix(before.text.as_str()).filter(|added| !added.is_empty());
        let replaces = !is_same_text && (before.text.is_empty() || added.is_none());
        let mut out = Vec::new();
        if replaces && !after.text.is_empty() {
            out.push(text_block(&after.text));
        }
        for (index, block) in blocks.iter().enumerate() {
            if block_text(block).is_some() {
                if !replaces {
                    out.push((*block).to_owned());
                }
            } else if let Some(old) = before.calls.iter().find(|call| call.index == Some(index)) {
                let new = after.calls.iter().find(|call| call.index == Some(index));
                out.extend(new.map(|new| self.changed_call(block, old, new)));
            } else {
                out.push((*block).to_owned());
            }
        }
        if let Some(added) = added.filter(|_| !replaces) {
            out.push(text_block(added.trim_start_matches('\n')));
        }
        out.extend(after.calls.iter().filter(|call| call.index.is_none()).map(|call| self.new_call(call)));
        out
    }

    fn changed_call(&self, block: &str, old: &Call, new: &Call) -> String {
        let Some(object) = Object::of(block).filter(|_| !new.says_the_same(old)) else { return block.to_owned() };
        object.with(&call_changes(old, new, ["id", "name", self.arguments]))
    }

    pub(crate) fn new_call(&self, call: &Call) -> String {
        let (id, name) = (call.id.as_deref().unwrap_or_default(), call.name.as_deref().unwrap_or_default());
        let kind = self.types.first().copied().unwrap_or_default();
        let arguments = arguments_value(&call.arguments);
        format!(r#"{{"type":"{kind}","id":{},"name":{},"{}":{arguments}}}"#, quoted(id), quoted(name), self.arguments)
    }
}

/// Reads a call whose members may have several names.
pub(crate) fn call(object: &Object<'_>, index: usize, ids: &[&str], names: &[&str], arguments: &[&str]) -> Call {
    let arguments = object.first(arguments).map_or_else(
        || "{}".to_owned(),
        |(_, raw)| match raw {
            "null" => "{}".to_owned(),
            raw => string(raw).unwrap_or_else(|| raw.to_owned()),
        },
    );
    Call {
        id: id_of(object, ids),
        name: object.first(names).and_then(|(_, raw)| string(raw)),
        arguments,
        index: Some(index),
    }
}

/// The id in one of several members. A number is an id, too.
pub(crate) fn id_of(object: &Object<'_>, names: &[&str]) -> Option<String> {
    let (_, raw) = object.first(names)?;
    string(raw).or_else(|| raw.starts_with(|first: char| first.is_ascii_digit()).then(|| raw.to_owned()))
}

/// The changes that make an old call a new one; `names` are the members of its id, its name and its arguments.
pub(crate) fn call_changes<'n>(old: &Call, new: &Call, names: [&'n str; 3]) -> Vec<(&'n str, Option<String>)> {
    let [id, name, arguments] = names;
    let mut changes = Vec::new();
    if old.id != new.id {
        changes.push((id, new.id.as_deref().map(quoted)));
    }
    if old.name != new.name {
        changes.push((name, new.name.as_deref().map(quoted)));
    }
    if old.arguments != new.arguments {
        changes.push((arguments, Some(arguments_value(&new.arguments))));
    }
    changes
}

/// Arguments as a value: an object where they are one, else a string.
pub(crate) fn arguments_value(arguments: &str) -> String {
    if Object::of(arguments).is_some() { arguments.to_owned() } else { quoted(arguments) }
}
