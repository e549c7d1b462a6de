//! The notes of lifting: settings, and members that cannot be read.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use seamline_model::conversation::{Fate, Lost, Other, ResponseFormat, ToolChoice};

use super::lifting::{Lifting, NOT_CARRIED, member};
use crate::json::{Kind, Value};
use crate::members::is_hollow;
use crate::pointer;

/// The most losses that are listed. The others are counted.
const LOST_LISTED_MAX: usize = 1000;

impl Lifting {
    /// Notes something that is left out.
    pub(crate) fn note_dropped(&mut self, what: impl Into<String>, pointer: impl Into<String>, note: &str) {
        self.note_lost(what, pointer, Fate::Dropped, note);
    }

    /// Notes something that changes.
    pub(crate) fn note_lost(&mut self, what: impl Into<String>, pointer: impl Into<String>, fate: Fate, note: &str) {
        if self.conversation.left.len() >= LOST_LISTED_MAX {
            self.more_lost += 1;
            return;
        }
        let lost = Lost { what: what.into(), pointer: pointer.into(), fate, note: note.to_owned() };
        self.conversation.left.push(lost);
    }

    /// Notes how many losses are not listed.
    pub(super) fn note_more_lost(&mut self) {
        if self.more_lost > 0 {
            let (what, note) = (format!("{} more", self.more_lost), "only the first thousand are listed".to_owned());
            self.conversation.left.push(Lost { what, pointer: String::new(), fate: Fate::Dropped, note });
        }
    }

    /// Notes a setting that is carried over unchanged.
    pub(crate) fn other(&mut self, name: &'static str, json: String, pointer: &str) {
        self.conversation.settings.others.insert(name, Other { json, pointer: pointer.to_owned() });
    }

    /// Notes the pointer of a setting that another dialect may not have.
    pub(crate) fn note_pointer(&mut self, name: &'static str, pointer: &str) {
        self.conversation.settings.pointers.insert(name, pointer.to_owned());
    }

    /// Notes the unknown members of an object that are not empty, and the members that a later one with the same key
    /// hides.
    pub(crate) fn note_unknown(&mut self, value: Value<'_, '_>, known: &[&str], pointer: &str) {
        let mut last = vec![None; known.len()];
        for (key, member) in value.members() {
            let name = key.name();
            match known.iter().position(|known| *known == name) {
                Some(place) => {
                    if let Some(earlier) = last[place].replace(member) {
                        self.note_hidden(earlier, member, pointer);
                    }
                }
                None if is_hollow(member) => {}
                None => self.note_dropped(format!("member `{name}`"), pointer::joined(pointer, &name), NOT_CARRIED),
            }
        }
    }

    /// Finds the members of an object that count: of several with one key the last, as for every reader we know. The
    /// others are noted.
    pub(super) fn last_members<'d, 'a>(
        &mut self,
        value: Value<'d, 'a>,
        pointer: &str,
    ) -> Vec<(Value<'d, 'a>, Value<'d, 'a>)> {
        let mut places: HashMap<_, usize> = HashMap::new();
        let mut out: Vec<(Value<'d, 'a>, Value<'d, 'a>)> = Vec::new();
        for (key, member) in value.members() {
            match places.entry(key.name()) {
                Entry::Occupied(place) => {
                    let (_, earlier) = std::mem::replace(&mut out[*place.get()], (key, member));
                    self.note_hidden(earlier, member, pointer);
                }
                Entry::Vacant(place) => {
                    place.insert(out.len());
                    out.push((key, member));
                }
            }
        }
        out
    }

    /// Notes a member that a later one with the same key hides, if their values differ.
    fn note_hidden(&mut self, earlier: Value<'_, '_>, later: Value<'_, '_>, pointer: &str) {
        if !is_hollow(earlier) && earlier.raw() != later.raw() {
            let name = earlier.key().name();
            let note = "a later member of the same key hides it";
            self.note_dropped(format!("earlier `{name}`"), pointer::joined(pointer, &name), note);
        }
    }

    /// Reads a member that should be a string. A number is read by its digits; any other value is noted.
    pub(crate) fn field(&mut self, value: Value<'_, '_>, key: &str, pointer: &str) -> Option<String> {
        let member = member(value, key)?;
        if member.is(Kind::Number) {
            return Some(member.raw().to_owned());
        }
        if !member.is(Kind::String) && !is_hollow(member) {
            self.note_dropped(format!("member `{key}`"), pointer::joined(pointer, key), "it is not text");
        }
        member.str().map(String::from)
    }

    /// Reads a member that should be true or false. Any other value is noted.
    pub(crate) fn switch(&mut self, value: Value<'_, '_>, key: &str, pointer: &str) -> Option<bool> {
        let member = member(value, key)?;
        match member.kind() {
            Kind::True => return Some(true),
            Kind::False => return Some(false),
            _ if is_hollow(member) => {}
            _ => self.note_dropped(
                format!("member `{key}`"),
                pointer::joined(pointer, key),
                "it is neither true nor false",
            ),
        }
        None
    }

    /// Reads a setting that is a number, as it was written.
    pub(crate) fn number(&mut self, value: Value<'_, '_>, pointer: &str) -> Option<String> {
        if !value.is(Kind::Number) {
            self.note_ill_formed(pointer, "it is not a number");
        }
        number(value)
    }

    /// Reads a setting that is a string.
    pub(crate) fn word(&mut self, value: Value<'_, '_>, pointer: &str) -> Option<String> {
        if !value.is(Kind::String) {
            self.note_ill_formed(pointer, "it is not text");
        }
        value.str().map(String::from)
    }

    /// Reads a setting that is true or false.
    pub(crate) fn flag(&mut self, value: Value<'_, '_>, pointer: &str) -> Option<bool> {
        if !matches!(value.kind(), Kind::True | Kind::False) {
            self.note_ill_formed(pointer, "it is neither true nor false");
            return None;
        }
        Some(value.is(Kind::True))
    }

    /// Reads a setting that is a string or a list of strings.
    pub(crate) fn words(&mut self, value: Value<'_, '_>, pointer: &str) -> Vec<String> {
        let is_text = |value: Value<'_, '_>| value.is(Kind::String);
        let is_list = value.is(Kind::Array) && value.elements().all(is_text);
        if !is_text(value) && !is_list {
            self.note_ill_formed(pointer, "it is not a list of texts");
        }
        strings(value)
    }

    /// Takes the tool choice of a request, and notes one that is not carried over.
    pub(crate) fn tool_choice(&mut self, choice: Option<ToolChoice>, pointer: &str) {
        self.note_pointer("tool_choice", pointer);
        if choice.is_none() {
            self.note_ill_formed(pointer, NOT_CARRIED);
        }
        self.conversation.settings.tool_choice = choice;
    }

    /// Takes the format that a request demands of its response, and notes one that is not carried over.
    pub(crate) fn response_format(&mut self, format: Option<ResponseFormat>, pointer: &str) {
        self.note_pointer("format", pointer);
        if format.is_none() {
            self.note_ill_formed(pointer, NOT_CARRIED);
        }
        self.conversation.settings.format = format;
    }

    /// Notes a setting whose value has the wrong type.
    pub(crate) fn note_ill_formed(&mut self, pointer: &str, note: &str) {
        let name = pointer::name(pointer);
        self.note_dropped(format!("setting `{name}`"), pointer, note);
    }
}

/// A number as it was written.
fn number(value: Value<'_, '_>) -> Option<String> {
    value.is(Kind::Number).then(|| value.raw().to_owned())
}

/// The texts of a list, or the one there is.
fn strings(value: Value<'_, '_>) -> Vec<String> {
    match value.str() {
        Some(text) => vec![text.into_owned()],
        None => value.elements().filter_map(Value::str).map(String::from).collect(),
    }
}
