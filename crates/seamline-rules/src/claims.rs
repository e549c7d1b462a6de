//! Tracks what edits change, so that no two edits change the same thing in one pass.

use std::collections::BTreeSet;

use seamline_model::{BlockIndex, Edit, Fix, MessageIndex, Span, Transcript};

/// Everything that the fixes taken so far change.
pub(crate) struct Claims<'t, 'a> {
    transcript: &'t Transcript<'a>,
    blocks: BTreeSet<(BlockIndex, Aspect)>,
    messages: BTreeSet<(MessageIndex, Aspect)>,
    /// The messages of the claimed blocks: an edit of a whole message also affects its blocks.
    around: BTreeSet<MessageIndex>,
    spans: BTreeSet<Span>,
}

impl<'t, 'a> Claims<'t, 'a> {
    pub(crate) fn new(transcript: &'t Transcript<'a>) -> Self {
        Self {
            transcript,
            blocks: BTreeSet::new(),
            messages: BTreeSet::new(),
            around: BTreeSet::new(),
            spans: BTreeSet::new(),
        }
    }

    /// Takes a fix and returns `true`, unless one of its edits overlaps an earlier fix.
    pub(crate) fn take(&mut self, fix: &Fix) -> bool {
        let overlaps = fix.edits.iter().any(|edit| self.overlaps(edit));
        if !overlaps {
            for edit in &fix.edits {
                self.claim(edit);
            }
        }
        !overlaps
    }

    fn overlaps(&self, edit: &Edit) -> bool {
        match claim_of(edit) {
            Claim::Block(block, aspect) => {
                self.messages.contains(&(self.transcript.block(block).message, Aspect::Whole))
                    || Aspect::ALL.iter().any(|other| aspect.overlaps(*other) && self.blocks.contains(&(block, *other)))
            }
            Claim::Message(message, aspect) => {
                let taken = |other: &Aspect| aspect.overlaps(*other) && self.messages.contains(&(message, *other));
                (aspect == Aspect::Whole && self.around.contains(&message)) || Aspect::ALL.iter().any(taken)
            }
            Claim::Bytes(span) => {
                let before = self.spans.range(..=span).next_back().is_some_and(|other| other.end > span.start);
                let after = self.spans.range(span..).next().is_some_and(|other| other.start < span.end);
                before || after
            }
            Claim::Nothing => false,
        }
    }

    fn claim(&mut self, edit: &Edit) {
        match claim_of(edit) {
            Claim::Block(block, aspect) => {
                self.around.insert(self.transcript.block(block).message);
                self.blocks.insert((block, aspect));
            }
            Claim::Message(message, aspect) => {
                self.messages.insert((message, aspect));
            }
            Claim::Bytes(span) => {
                self.spans.insert(span);
            }
            Claim::Nothing => {}
        }
    }
}

/// The thing that an edit changes.
pub(crate) enum Claim {
    Block(BlockIndex, Aspect),
    Message(MessageIndex, Aspect),
    Bytes(Span),
    Nothing,
}

/// The aspect of a block or message that an edit changes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Aspect {
    /// Its existence and its kind.
    Whole,
    /// Its position in the conversation.
    Place,
    /// Its id or address.
    Id,
    /// The tool name.
    Name,
    /// Its role or continuation mark.
    Role,
    /// The content it holds.
    Content,
    /// Its list of calls.
    Calls,
    /// The reasoning it holds.
    Reasoning,
}

impl Aspect {
    const ALL: [Self; 8] =
        [Self::Whole, Self::Place, Self::Id, Self::Name, Self::Role, Self::Content, Self::Calls, Self::Reasoning];

    /// Two edits of one thing overlap if they change the same aspect, or if one of them changes its existence.
    fn overlaps(self, other: Self) -> bool {
        self == other || self == Self::Whole || other == Self::Whole
    }
}

/// The thing that an edit changes.
pub(crate) fn claim_of(edit: &Edit) -> Claim {
    match edit {
        Edit::Patch { span, .. } | Edit::DropMember { cut: span, .. } => Claim::Bytes(*span),
        Edit::Synthesize { .. } | Edit::InsertMessage { .. } | Edit::DeclareTools { .. } => Claim::Nothing,
        Edit::Relocate { result: block, .. }
        | Edit::RejoinServerResult { result: block, .. }
        | Edit::Sign { call: block, .. } => Claim::Block(*block, Aspect::Place),
        Edit::Demote { block, .. }
        | Edit::ReconstructCall { result: block, .. }
        | Edit::Remove { block }
        | Edit::AdoptLegacyCall { call: block } => Claim::Block(*block, Aspect::Whole),
        Edit::Readdress { result: block, .. } | Edit::SetCallId { call: block, .. } => Claim::Block(*block, Aspect::Id),
        Edit::SetToolName { block, .. } => Claim::Block(*block, Aspect::Name),
        Edit::SetInput { call: block }
        | Edit::FlattenResult { result: block }
        | Edit::FillResult { result: block, .. }
        | Edit::HoistMedia { result: block, .. }
        | Edit::CloseServerCall { call: block } => Claim::Block(*block, Aspect::Content),
        Edit::RemoveMessage { message }
        | Edit::Regroup { message }
        | Edit::SplitResults { message }
        | Edit::FillMessage { message, .. }
        | Edit::KeepMembers { message }
        | Edit::Restate { message }
        | Edit::TakeIn { message, .. }
        | Edit::JoinPrevious { message } => Claim::Message(*message, Aspect::Whole),
        Edit::SetRole { message, .. } | Edit::Continue { message } => Claim::Message(*message, Aspect::Role),
        Edit::AddReasoning { message, .. } => Claim::Message(*message, Aspect::Reasoning),
        Edit::RemoveCallList { message } => Claim::Message(*message, Aspect::Calls),
        Edit::RemoveItemId { message } => Claim::Message(*message, Aspect::Id),
        Edit::SetContent { message } => Claim::Message(*message, Aspect::Content),
        Edit::ResultsFirst { message } => Claim::Message(*message, Aspect::Place),
    }
}
