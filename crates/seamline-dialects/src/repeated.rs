//! Members that every frame of a stream repeats. They are emitted once.

use seamline_model::Span;

use crate::json::Value;

/// The number of members that are remembered.
const MEMBERS_MAX: usize = 32;

/// The last value of each member of an object.
#[derive(Debug, Default)]
pub(crate) struct Repeated {
    members: Vec<Member>,
    /// The member that likely comes next: frames repeat them in order.
    next: usize,
}

#[derive(Debug)]
struct Member {
    name: String,
    /// Its source, from its key on.
    source: String,
}

impl Repeated {
    /// Gives out the members of an object whose value changed, except those that are read elsewhere.
    pub(crate) fn each_new(
        &mut self,
        object: Value<'_, '_>,
        is_elsewhere: impl Fn(&str, Value<'_, '_>) -> bool,
        mut give: impl FnMut(&str, Value<'_, '_>),
    ) {
        for (key, value) in object.members() {
            let source = key.slice(Span { start: key.span().start, end: value.span().end });
            if self.is_expected(source) {
                continue;
            }
            let name = key.name();
            if !is_elsewhere(&name, value) && self.is_new(&name, source) {
                give(&name, value);
            }
        }
    }

    /// Whether a member has the place and the value that it had in the frame before.
    fn is_expected(&mut self, source: &str) -> bool {
        let is_expected = self.members.get(self.next).is_some_and(|member| member.source == source);
        if is_expected {
            self.expect_after(self.next);
        }
        is_expected
    }

    fn is_new(&mut self, name: &str, source: &str) -> bool {
        let Some(place) = self.members.iter().position(|member| member.name == name) else {
            if self.members.len() < MEMBERS_MAX {
                self.members.push(Member { name: name.to_owned(), source: source.to_owned() });
            }
            self.next = 0;
            return true;
        };
        self.expect_after(place);
        let before = &mut self.members[place].source;
        let is_new = before != source;
        if is_new {
            source.clone_into(before);
        }
        is_new
    }

    fn expect_after(&mut self, place: usize) {
        self.next = if place + 1 < self.members.len() { place + 1 } else { 0 };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Document;

    fn new(repeated: &mut Repeated, text: &str) -> String {
        let mut new = String::new();
        let document = Document::read(text).unwrap();
        repeated.each_new(
            document.root(),
            |name, _| name == "else",
            |name, value| {
                new += name;
                new += value.raw();
            },
        );
        new
    }

    #[test]
    fn only_what_changed_is_new() {
        let mut repeated = Repeated::default();
        for (text, wanted) in [
            (r#"{"a":1,"else":0,"b":2}"#, "a1b2"),
            (r#"{"a":1,"else":3,"b":2}"#, ""),
            (r#"{"b":2,"a":1}"#, ""),
            (r#"{"a":3,"c":4,"b":2}"#, "a3c4"),
            (r#"{"a":1,"b":2,"c":4}"#, "a1"),
            (r#"{"a":5,"a":1}"#, "a5a1"),
            (r#"{"a":1}"#, ""),
        ] {
            assert_eq!(new(&mut repeated, text), wanted, "{text}");
        }
    }

    #[test]
    fn a_member_that_is_not_remembered_is_new() {
        let mut repeated = Repeated::default();
        for is_first in [true, false] {
            for at in 0..2 * MEMBERS_MAX {
                let is_new = !new(&mut repeated, &format!(r#"{{"{at}":0}}"#)).is_empty();
                assert_eq!(is_new, is_first || at >= MEMBERS_MAX);
            }
        }
    }
}
