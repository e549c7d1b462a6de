//! A conversation bent to what a dialect has room for.

use seamline_model::conversation::{Conversation, Family, Fate, Lost, Media, Message, Says, Settings, ToolDefinition};

use super::bend::Bending;
use super::rename::Renaming;
use super::{Renamed, Target};

/// What a dialect has room for.
pub(crate) struct Room {
    /// Whether speakers must take turns.
    pub(crate) alternates: bool,
    /// Whether the system may speak in the middle.
    pub(crate) system_messages: bool,
    /// Whether the assistant may show media.
    pub(crate) assistant_media: bool,
    /// Whether results may hold media.
    pub(crate) result_media: bool,
    /// Whether there is a word for declining.
    pub(crate) refusals: bool,
    /// Whether there is a word for a tool's failure.
    pub(crate) failures: bool,
    /// Whether calls must be unlike all others of the request.
    pub(crate) unique_ids: bool,
    /// Whether names must start with a letter or `_`.
    pub(crate) letter_first: bool,
    /// Whether tools must be defined where calls are.
    pub(crate) needs_tools: bool,
    /// Whether the model is named in the body, not in its address.
    pub(crate) names_model: bool,
    /// Whose reasoning is taken back.
    pub(crate) families: &'static [Family],
    /// Which media can be written.
    pub(crate) media: fn(&Media) -> bool,
}

/// A conversation as a dialect can write it: nothing opaque is left, every call is answered
/// right after it, and ids and names are the target's.
pub(crate) struct Draft {
    pub(crate) system: Vec<String>,
    pub(crate) messages: Vec<Message>,
    pub(crate) settings: Settings,
    pub(crate) lost: Vec<Lost>,
    pub(crate) ids: Vec<Renamed>,
    pub(crate) tools: Vec<Renamed>,
}

impl Draft {
    pub(crate) fn of(conversation: &Conversation, target: &Target<'_>, room: &Room) -> Self {
        let mut conversation = conversation.clone();
        conversation.settle(target.missing);
        let mut renaming = Renaming::of(&conversation, target, room);
        renaming.apply(&mut conversation);
        let Conversation { system, messages, settings, left } = conversation;
        let mut bending = Bending::new(room, target.foreign_reasoning, left);
        let system = bending.system(system);
        let messages = bending.messages(messages);
        let mut draft =
            Self { system, messages, settings, lost: bending.lost, ids: renaming.ids, tools: renaming.tools };
        if let Some(model) = target.model {
            draft.settings.model = Some(model.to_owned());
        }
        if room.needs_tools {
            draft.define_tools();
        }
        if !room.names_model {
            draft.leave_to_address();
        }
        draft
    }

    /// Notes a setting that the dialect does not have.
    pub(crate) fn left(&mut self, what: &str, note: &str) {
        let pointer = self.settings.pointer(what).to_owned();
        let what = format!("setting `{what}`");
        self.lost.push(Lost { what, pointer, fate: Fate::Dropped, note: note.to_owned() });
    }

    /// Notes something the dialect demands and nobody said.
    pub(crate) fn added(&mut self, what: &str, note: &str) {
        let lost = Lost { what: what.to_owned(), pointer: String::new(), fate: Fate::Added, note: note.to_owned() };
        self.lost.push(lost);
    }

    /// Tools that are called are defined, by name at least.
    fn define_tools(&mut self) {
        if !self.settings.tools.is_empty() {
            return;
        }
        let blocks = self.messages.iter().flat_map(|message| &message.blocks);
        for block in blocks {
            let Says::Call(call) = &block.says else { continue };
            if self.settings.tools.iter().all(|tool| tool.name != call.name) {
                let (name, pointer) = (call.name.clone(), block.pointer.clone());
                self.settings.tools.push(ToolDefinition { name, description: None, schema: None, pointer });
            }
        }
        if !self.settings.tools.is_empty() {
            self.added("definitions of the tools that are called", "the provider demands them; they take any input");
        }
    }

    /// What stands in the address of the request where this dialect is spoken.
    fn leave_to_address(&mut self) {
        for (is_said, what) in [(self.settings.model.is_some(), "model"), (self.settings.stream.is_some(), "stream")] {
            if is_said {
                let (what, pointer) = (format!("setting `{what}`"), self.settings.pointer(what).to_owned());
                let note = "it is part of the address there, not of the body".to_owned();
                self.lost.push(Lost { what, pointer, fate: Fate::Moved, note });
            }
        }
    }
}
