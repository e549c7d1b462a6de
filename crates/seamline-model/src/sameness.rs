//! Compares two transcripts independently of the positions of their bytes.

use crate::{Block, BlockKind, Irregularity, IrregularityKind, Member, RequestFacts, Span, Thinking, Transcript};

impl Transcript<'_> {
    /// Whether both transcripts have the same content: every span holds the same text, at whatever position.
    pub fn says_the_same(&self, other: &Transcript<'_>) -> bool {
        let texts = Texts { one: self, two: other };
        (&self.model, self.has, self.envelope, &self.facts) == (&other.model, other.has, other.envelope, &other.facts)
            && texts.messages()
            && all(&self.blocks, &other.blocks, |one, two| texts.blocks(one, two))
            && texts.requests(&self.request, &other.request)
            && all(&self.members, &other.members, |one, two| texts.members(one, two))
            && all(&self.irregularities, &other.irregularities, |one, two| texts.irregularities(one, two))
            && all(&self.items, &other.items, |one, two| {
                (one.kind, one.of, &one.id, one.readable) == (two.kind, two.of, &two.id, two.readable)
                    && texts.same(one.type_span, two.type_span)
            })
    }
}

fn all<T>(one: &[T], two: &[T], same: impl Fn(&T, &T) -> bool) -> bool {
    one.len() == two.len() && one.iter().zip(two).all(|(one, two)| same(one, two))
}

/// Two transcripts whose texts are compared.
struct Texts<'t, 'a, 'b> {
    one: &'t Transcript<'a>,
    two: &'t Transcript<'b>,
}

impl Texts<'_, '_, '_> {
    fn same(&self, one: Span, two: Span) -> bool {
        self.one.text(one) == self.two.text(two)
    }

    /// Compares the messages and the bytes between them.
    fn messages(&self) -> bool {
        self.one.messages.len() == self.two.messages.len()
            && self.same(self.one.closing(), self.two.closing())
            && self.one.enumerate().zip(&self.two.messages).all(|((index, one), two)| {
                (one.role, one.body, one.range()) == (two.role, two.body, two.range())
                    && self.same(one.span, two.span)
                    && self.same(self.one.lead(index), self.two.lead(index))
            })
    }

    fn blocks(&self, one: &Block, two: &Block) -> bool {
        let named = |block: &Block, transcript: &Transcript<'_>| match &block.kind {
            BlockKind::Call(call) => transcript.name(call.tool).map(str::to_owned),
            BlockKind::Result(result) => transcript.name(result.tool).map(str::to_owned),
            _ => None,
        };
        let content = |block: &Block| match &block.kind {
            BlockKind::Result(result) => result.content,
            _ => Span::default(),
        };
        (one.message, one.slot(), one.is_signed()) == (two.message, two.slot(), two.is_signed())
            && std::mem::discriminant(&one.kind) == std::mem::discriminant(&two.kind)
            && self.same(one.span, two.span)
            && self.same(content(one), content(two))
            && named(one, self.one) == named(two, self.two)
    }

    fn members(&self, one: &Member, two: &Member) -> bool {
        (one.message, one.block, one.sort, &one.key, one.owner)
            == (two.message, two.block, two.sort, &two.key, two.owner)
            && self.same(one.key_span, two.key_span)
            && self.same(one.span, two.span)
            && self.same(one.cut, two.cut)
    }

    fn irregularities(&self, one: &Irregularity, two: &Irregularity) -> bool {
        let alike = match (&one.kind, &two.kind) {
            (
                IrregularityKind::DuplicateKey { key, cut },
                IrregularityKind::DuplicateKey { key: other_key, cut: other_cut },
            ) => key == other_key && self.same(*cut, *other_cut),
            (
                IrregularityKind::WordlessText { patch: Some((place, text)), empty },
                IrregularityKind::WordlessText { patch: Some((other_place, other_text)), empty: other_empty },
            ) => (text, empty) == (other_text, other_empty) && self.same(*place, *other_place),
            (one, two) => one == two,
        };
        alike && (one.message, one.block) == (two.message, two.block) && self.same(one.span, two.span)
    }

    fn requests(&self, one: &RequestFacts, two: &RequestFacts) -> bool {
        let thinking = match (one.thinking, two.thinking) {
            (Thinking::On(one), Thinking::On(two)) => self.same(one, two),
            (one, two) => one == two,
        };
        let tools = match (&one.tools, &two.tools) {
            (Some(one), Some(two)) => {
                self.same(one.cut, two.cut)
                    && all(&one.tools, &two.tools, |one, two| {
                        one.name == two.name && self.same(one.span, two.span) && self.same(one.cut, two.cut)
                    })
            }
            (one, two) => one.is_none() && two.is_none(),
        };
        thinking
            && tools
            && (&one.forced_tool, one.cache_marks, one.container) == (&two.forced_tool, two.cache_marks, two.container)
    }
}
