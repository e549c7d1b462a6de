//! Members that a dialect itself does not have, or that some providers count.

use seamline_model::{Emptiness, Member, MemberSort, Span};

use crate::json::{Kind, Value};
use crate::reader::Reader;
use crate::reading::emptiness;

/// How many members of one message or block are noted. Cutting one out takes a look at
/// those before it, and nothing sensible has more.
const NOTED_MAX: u32 = 32;

impl Reader<'_> {
    /// Notes a member of the message or block being read, which is `owner` in error texts.
    pub(crate) fn member(&mut self, parent: Value<'_, '_>, key: Value<'_, '_>, sort: MemberSort, owner: &'static str) {
        if !self.may_note(NOTED_MAX) {
            return;
        }
        let Some((_, value)) = parent.members().find(|(name, _)| name.span() == key.span()) else {
            return;
        };
        let (message, block) = self.place();
        self.transcript.members.push(Member {
            message,
            block,
            sort,
            key: key.name().into(),
            owner,
            key_span: key.span(),
            span: Span { start: key.span().start, end: value.span().end },
            cut: cut_of(parent, key),
        });
    }
}

/// Whether a value is a text, list or object with nothing in it.
pub(crate) fn is_hollow(value: Value<'_, '_>) -> bool {
    match value.kind() {
        Kind::String => emptiness(value) != Emptiness::Present,
        Kind::Array => value.elements().next().is_none(),
        Kind::Object => value.members().next().is_none(),
        Kind::Null => true,
        Kind::Number | Kind::True | Kind::False => false,
    }
}

/// What to cut so that a member is gone and its object stays well-formed: what stands
/// between it and the one before goes along, or what stands between it and the next.
pub(crate) fn cut_of(parent: Value<'_, '_>, key: Value<'_, '_>) -> Span {
    let mut before: Option<Span> = None;
    let mut members = parent.members();
    while let Some((name, value)) = members.next() {
        if name.span() != key.span() {
            before = Some(value.span());
            continue;
        }
        return match (before, members.next()) {
            (Some(before), _) => Span { start: before.end, end: value.span().end },
            (None, Some((next, _))) => Span { start: name.span().start, end: next.span().start },
            (None, None) => Span { start: name.span().start, end: value.span().end },
        };
    }
    Span::default()
}
