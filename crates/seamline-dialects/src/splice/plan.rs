//! Edits sorted by the message that they change.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use seamline_model::{BlockIndex, Edit, MessageIndex, NewText, Role, Transcript};

/// The bytes from which on a message is long.
const LONG_BYTES: usize = 1 << 20;

/// The edits of a list, sorted by the message that they change.
#[derive(Debug, Default)]
pub(crate) struct Plan<'e> {
    messages: Vec<MessagePlan<'e>>,
    /// For each message, and for the end, its position in `messages`. Few messages have a plan, and every message is looked
    /// up.
    places: Vec<Option<NonZeroU32>>,
    /// Tools to be declared, by name.
    pub(crate) declared: &'e [String],
}

/// The changes to one message.
#[derive(Debug, Default)]
pub(crate) struct MessagePlan<'e> {
    /// The edits that end up in this message, as places in the list of edits.
    pub(crate) edits: Vec<usize>,
    pub(crate) removed: bool,
    pub(crate) role: Option<Role>,
    pub(crate) regroup: bool,
    /// Results go before everything else.
    pub(crate) results_first: bool,
    pub(crate) drop_call_list: bool,
    /// The id that the provider gave the item goes.
    pub(crate) drop_item_id: bool,
    pub(crate) fill: Option<NewText>,
    /// Whether the unread members become its text.
    pub(crate) keep_members: bool,
    /// Calls and results in its content are put into form.
    pub(crate) restate: bool,
    /// It becomes the user's under this line.
    pub(crate) take_in: Option<&'e str>,
    /// A member with reasoning that goes into it.
    pub(crate) reasoning: Option<(&'static str, NewText)>,
    /// Whether the message says that it is to be continued.
    pub(crate) continued: bool,
    /// Whether blocks beside results go into a message after it.
    pub(crate) split_results: bool,
    pub(crate) join_previous: bool,
    /// Its content is put into form.
    pub(crate) reform: bool,
    /// Messages that go before this one.
    pub(crate) before: Vec<NewMessage>,
    /// Boxed, because a node of the map has room for eleven plans, and most messages have one block.
    pub(crate) blocks: BTreeMap<BlockIndex, Box<BlockPlan<'e>>>,
    /// Results that go into the message with the results of this one.
    pub(crate) results: Vec<Placed<'e>>,
}

/// A message to be put in.
#[derive(Debug)]
pub(crate) struct NewMessage {
    pub(crate) edit: usize,
    pub(crate) role: Role,
    pub(crate) text: NewText,
}

/// The changes to one block.
#[derive(Debug, Default)]
pub(crate) struct BlockPlan<'e> {
    /// Whether it is removed or moved elsewhere.
    pub(crate) gone: bool,
    /// Whether it is removed. A message that loses its last block stays, empty: the policy decides about it.
    pub(crate) removed: bool,
    /// It becomes text under this line.
    pub(crate) demote: Option<&'e str>,
    /// The id it has or names.
    pub(crate) id: Option<&'e str>,
    /// The call whose id that is, when it is a result.
    pub(crate) call: Option<BlockIndex>,
    pub(crate) name: Option<&'e str>,
    /// Its input is put into form.
    pub(crate) input: bool,
    /// Its parts become one string.
    pub(crate) flatten: bool,
    pub(crate) adopt: bool,
    /// The signature that it gets.
    pub(crate) sign: Option<&'e str>,
    /// The text to write if nothing is left once empty text is removed.
    pub(crate) fill: Option<NewText>,
    /// The text to write if nothing is left once media are removed.
    pub(crate) hoist: Option<NewText>,
    /// A result that says the tool is unavailable follows it.
    pub(crate) close: bool,
    /// A result of the provider's own tools that follows its call here.
    pub(crate) follow: Option<BlockIndex>,
    /// A rebuilt call with this id and name goes before its message.
    pub(crate) rebuild: Option<(&'e str, &'e str, usize)>,
}

/// A result in its new place.
#[derive(Debug)]
pub(crate) enum Placed<'e> {
    /// A result from elsewhere, with the media that belong to it.
    Moved { result: BlockIndex, call: BlockIndex, media: &'e [BlockIndex], edit: usize },
    /// A new one.
    New { call: BlockIndex, text: &'e str, edit: usize },
}

impl Placed<'_> {
    fn call(&self) -> BlockIndex {
        match self {
            Self::Moved { call, .. } | Self::New { call, .. } => *call,
        }
    }
}

impl<'e> MessagePlan<'e> {
    /// The plan of one of its blocks, if one of the edits is about it.
    pub(crate) fn block(&self, block: BlockIndex) -> Option<&BlockPlan<'e>> {
        self.blocks.get(&block).map(|plan| &**plan)
    }

    /// Whether blocks were taken out for good.
    pub(crate) fn removes_blocks(&self) -> bool {
        self.blocks.values().any(|block| block.removed)
    }

    /// Whether the message itself stays as it is, whatever goes before or answers it.
    pub(crate) fn keeps_message(&self) -> bool {
        let Self { edits, blocks, removed, join_previous, .. } = self;
        edits.is_empty() && blocks.is_empty() && !removed && !join_previous
    }
}

impl<'e> Plan<'e> {
    pub(crate) fn new(transcript: &Transcript<'_>, edits: &'e [Edit]) -> Self {
        let mut plan = Self { places: vec![None; transcript.messages.len() + 1], ..Self::default() };
        for (index, edit) in edits.iter().enumerate() {
            plan.add(transcript, index, edit);
        }
        for message in &mut plan.messages {
            // Results with one id answer their calls in turn, so they must be in order.
            message.results.sort_by_key(Placed::call);
        }
        plan
    }

    /// How many bytes the short messages have that edits are about, which is about what will be written for them. A long
    /// one makes its own room when it is written.
    pub(crate) fn bytes(&self, transcript: &Transcript<'_>) -> usize {
        let touched = transcript.messages.iter().zip(&self.places).filter(|(_, place)| place.is_some());
        touched.map(|(message, _)| message.span.len()).filter(|bytes| *bytes < LONG_BYTES).sum()
    }

    pub(crate) fn get(&self, message: MessageIndex) -> Option<&MessagePlan<'e>> {
        let place = (*self.places.get(message.get())?)?;
        self.messages.get(place.get() as usize - 1)
    }

    /// The plan of the block, if one of the edits is about it.
    pub(crate) fn block(&self, transcript: &Transcript<'_>, block: BlockIndex) -> Option<&BlockPlan<'e>> {
        self.get(transcript.block(block).message)?.block(block)
    }

    fn add(&mut self, transcript: &Transcript<'_>, index: usize, edit: &'e Edit) {
        match edit {
            // A pass is about bytes or about blocks, never about both, and this one is about blocks.
            Edit::Patch { .. } | Edit::DropMember { .. } => {}
            Edit::Synthesize { call, text } => {
                let message = transcript.block(*call).message;
                self.message(message).results.push(Placed::New { call: *call, text, edit: index });
            }
            Edit::Relocate { result, call, media } => {
                for block in media.iter().chain([result]) {
                    self.touch(transcript, *block).gone = true;
                }
                let message = transcript.block(*call).message;
                self.message(message).results.push(Placed::Moved { result: *result, call: *call, media, edit: index });
            }
            Edit::Readdress { result, call, id } => {
                let plan = self.own(transcript, *result, index);
                (plan.id, plan.call) = (Some(id.as_str()), Some(*call));
            }
            Edit::Demote { block, heading } => self.own(transcript, *block, index).demote = Some(heading),
            Edit::ReconstructCall { result, id, name } => {
                self.touch(transcript, *result).rebuild = Some((id, name, index));
            }
            Edit::Remove { block } => {
                let plan = self.own(transcript, *block, index);
                plan.gone = true;
                plan.removed = true;
            }
            Edit::SetCallId { call, id } => self.own(transcript, *call, index).id = Some(id),
            Edit::SetToolName { block, name } => self.own(transcript, *block, index).name = Some(name),
            Edit::Sign { call, signature } => {
                self.own(transcript, *call, index).sign = Some(signature);
            }
            Edit::SetContent { message } => self.whole(*message, index).reform = true,
            Edit::DeclareTools { names } => self.declared = names,
            Edit::SetInput { call } => self.own(transcript, *call, index).input = true,
            Edit::FlattenResult { result } => self.own(transcript, *result, index).flatten = true,
            Edit::AddReasoning { message, field, text } => {
                self.whole(*message, index).reasoning = Some((field, text));
            }
            Edit::Continue { message } => self.whole(*message, index).continued = true,
            Edit::AdoptLegacyCall { call } => self.own(transcript, *call, index).adopt = true,
            Edit::FillResult { result, text } => self.own(transcript, *result, index).fill = Some(text),
            Edit::HoistMedia { result, text } => self.own(transcript, *result, index).hoist = Some(text),
            Edit::CloseServerCall { call } => self.own(transcript, *call, index).close = true,
            Edit::RejoinServerResult { result, call } => {
                self.touch(transcript, *result).gone = true;
                self.own(transcript, *call, index).follow = Some(*result);
                // Behind a result of the client it needs a message of its own.
                if transcript.result(*call).is_some() {
                    self.message(transcript.block(*call).message).regroup = true;
                }
            }
            Edit::RemoveMessage { message } => self.whole(*message, index).removed = true,
            Edit::RemoveCallList { message } => self.whole(*message, index).drop_call_list = true,
            Edit::RemoveItemId { message } => self.whole(*message, index).drop_item_id = true,
            Edit::SplitResults { message } => self.whole(*message, index).split_results = true,
            Edit::Regroup { message } => self.whole(*message, index).regroup = true,
            Edit::SetRole { message, role } => self.whole(*message, index).role = Some(*role),
            Edit::ResultsFirst { message } => self.whole(*message, index).results_first = true,
            Edit::FillMessage { message, text } => self.whole(*message, index).fill = Some(text),
            Edit::KeepMembers { message } => self.whole(*message, index).keep_members = true,
            Edit::Restate { message } => self.whole(*message, index).restate = true,
            Edit::TakeIn { message, heading } => self.whole(*message, index).take_in = Some(heading),
            Edit::JoinPrevious { message } => self.whole(*message, index).join_previous = true,
            Edit::InsertMessage { before, role, text } => {
                self.message(*before).before.push(NewMessage { edit: index, role: *role, text });
            }
        }
    }

    fn message(&mut self, message: MessageIndex) -> &mut MessagePlan<'e> {
        let next = NonZeroU32::MIN.saturating_add(self.messages.len() as u32);
        let place = *self.places[message.get()].get_or_insert(next);
        if place == next {
            self.messages.push(MessagePlan::default());
        }
        &mut self.messages[place.get() as usize - 1]
    }

    /// The plan of a message that an edit ends up in.
    fn whole(&mut self, message: MessageIndex, edit: usize) -> &mut MessagePlan<'e> {
        let plan = self.message(message);
        plan.edits.push(edit);
        plan
    }

    /// The plan of a block, without the edit ending up in its message.
    fn touch(&mut self, transcript: &Transcript<'_>, block: BlockIndex) -> &mut BlockPlan<'e> {
        let plan = self.message(transcript.block(block).message);
        // Whatever pairing touches leaves its message in the order providers want.
        plan.results_first = true;
        plan.blocks.entry(block).or_default()
    }

    /// The plan of a block whose edit ends up in its own message.
    fn own(&mut self, transcript: &Transcript<'_>, block: BlockIndex, edit: usize) -> &mut BlockPlan<'e> {
        self.whole(transcript.block(block).message, edit);
        self.touch(transcript, block)
    }
}
