//! Members that a dialect does not define, or that some providers limit.

use seamline_model::{Emptiness, Member, MemberKind, MemberSort, Source, Span};

use crate::json::{Kind, Value};
use crate::reader::Reader;
use crate::reading::emptiness;

impl Reader<'_> {
    /// Notes a member of the message or block being read, given by its value. `owner` names the type of the block in
    /// error texts.
    pub(crate) fn member(&mut self, value: Value<'_, '_>, sort: MemberSort, owner: &'static str) {
        if !self.density.has_place_for(self.transcript.members.len()) {
            return;
        }
        let (message, block) = self.place();
        let key = value.key();
        let span = Span { start: key.span().start, end: value.span().end };
        let cut = cut_around(self.transcript.source, span);
        let key_span = key.span();
        let key = key.name();
        let kind = kind_of(&key);
        let key = key.into();
        self.transcript.members.push(Member { message, block, sort, kind, key, owner, key_span, span, cut });
    }

    /// Notes a member that the dialect does not define, even if its value is empty: strict providers refuse it by its
    /// name.
    pub(crate) fn foreign_member(&mut self, value: Value<'_, '_>) {
        self.member(value, MemberSort::Foreign { empty: is_hollow(value) }, "");
        let is_of_message = |member: &Member| member.block.is_none() && member.is_unknown();
        if matches!(value.kind(), Kind::Object | Kind::Array)
            && self.transcript.members.last().is_some_and(is_of_message)
        {
            self.unknown_member(value);
        }
    }

    /// Notes a member that the dialect defines and some of its providers do not.
    pub(crate) fn spare_member(&mut self, value: Value<'_, '_>) {
        self.member(value, MemberSort::Spare { empty: is_hollow(value) }, "");
    }
}

/// The content of a member with this name, in any dialect or program.
fn kind_of(key: &str) -> MemberKind {
    match key {
        "tool_calls" => MemberKind::Calls,
        "function_call" => MemberKind::OnlyCall,
        "name" => MemberKind::Name,
        "refusal" => MemberKind::Refusal,
        "thinking" => MemberKind::Thinking,
        "thinkingSignature" => MemberKind::ThinkingSignature,
        "images" | "image" | "videos" | "video" | "files" | "attachments" => MemberKind::Media,
        _ => MemberKind::Other,
    }
}

/// Finds the span to cut to remove a member, judged by the bytes around it, so that an object with many members is
/// walked once and not once for each.
fn cut_around(source: Source<'_>, member: Span) -> Span {
    let blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    let (before, after) = source.around(member);
    if let Some(kept) = before.trim_ascii_end().strip_suffix(b",") {
        let gone = before.len() - kept.trim_ascii_end().len();
        return Span { start: member.start - gone as u32, end: member.end };
    }
    let gap = after.iter().take_while(|byte| blank(byte)).count();
    let Some(b',') = after.get(gap) else { return member };
    let next = gap + 1 + after[gap + 1..].iter().take_while(|byte| blank(byte)).count();
    Span { start: member.start, end: member.end + next as u32 }
}

/// Whether a value is `null`, or a blank text, an empty list or an empty object.
pub(crate) fn is_hollow(value: Value<'_, '_>) -> bool {
    match value.kind() {
        Kind::String => emptiness(value) != Emptiness::Present,
        Kind::Array => value.elements().next().is_none(),
        Kind::Object => value.members().next().is_none(),
        Kind::Null => true,
        Kind::Number | Kind::True | Kind::False => false,
    }
}

/// Finds the span to cut to remove a member of the body and keep the body well-formed. It includes the text between
/// the member and the one before it, or else the one after it.
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
