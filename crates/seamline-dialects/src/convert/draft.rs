//! A conversation, fitted to what a dialect can express.

use std::collections::HashSet;

use seamline_model::conversation::{
    Conversation, Family, Fate, LiftedMessage, Lost, Media, ResponseFormat, Says, Settings, ToolDefinition,
};
use seamline_model::{IdDemand, NameDemand};

use super::bend::Bending;
use super::lifting::NOT_CARRIED;
use super::rename::Renaming;
use super::tools::FREE_SCHEMA;
use super::{Members, Renamed, Target};
use crate::json::Json;
use crate::pointer;

/// The abilities of a dialect.
pub(crate) struct Room {
    /// Whether roles must alternate.
    pub(crate) alternates: bool,
    /// Whether system messages may come after other messages.
    pub(crate) system_messages: bool,
    /// Whether the assistant may show media.
    pub(crate) assistant_media: bool,
    /// Whether results may hold media.
    pub(crate) result_media: bool,
    /// Whether the dialect has a block for a refusal.
    pub(crate) refusals: bool,
    /// Whether the dialect has a flag for a failed tool.
    pub(crate) failures: bool,
    /// Whether the id of a call must be unique in the request.
    pub(crate) unique_ids: bool,
    /// The demands on ids of calls and names of tools that every provider meets, where they are narrower than the
    /// dialect's own.
    pub(crate) narrow: Option<(IdDemand, NameDemand)>,
    /// Whether tools must be defined where calls are.
    pub(crate) needs_tools: bool,
    /// Whether the model is named in the body, not in its address.
    pub(crate) names_model: bool,
    /// The member of the body that is the system prompt, if the prompt is not a message.
    pub(crate) prompt: Option<&'static str>,
    /// The families of models whose reasoning is accepted.
    pub(crate) families: &'static [Family],
    /// Whether tools may take any text.
    pub(crate) free_tools: fn(&Target<'_>) -> bool,
    /// Whether a tool can demand input that fits its schema.
    pub(crate) strict_tools: bool,
    /// Settings without a counterpart, by their names in [`Settings::others`].
    pub(crate) lacks: &'static [&'static str],
    /// Which media can be written.
    pub(crate) media: fn(&Media, &Target<'_>) -> bool,
    /// The name of media, if the dialect has one.
    pub(crate) media_name: fn(&Media) -> Option<String>,
    /// Whether the dialect has a level of detail for media.
    pub(crate) media_detail: bool,
}

/// A conversation that a dialect can write: without opaque blocks, with every result right after its call, and with
/// ids and names that the target accepts.
pub(crate) struct Draft {
    pub(crate) system: Vec<String>,
    pub(crate) messages: Vec<LiftedMessage>,
    pub(crate) settings: Settings,
    pub(crate) lost: Vec<Lost>,
    pub(crate) ids: Vec<Renamed>,
    pub(crate) tools: Vec<Renamed>,
    lacks: &'static [&'static str],
}

impl Draft {
    pub(crate) fn of(mut conversation: Conversation, target: &Target<'_>, room: &Room) -> Self {
        conversation.place_results(target.missing);
        let mut renaming = Renaming::of(&conversation, target, room);
        renaming.apply(&mut conversation);
        let Conversation { system, messages, settings, left, .. } = conversation;
        let mut bending = Bending::new(room, target, left);
        let system = bending.system(system);
        let messages = bending.messages(messages);
        let (ids, tools) = (renaming.ids, renaming.tools);
        let mut draft = Self { system, messages, settings, lost: bending.lost, ids, tools, lacks: room.lacks };
        draft.bend_tools(room, target);
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
    pub(crate) fn note_dropped(&mut self, what: &str, note: &str) {
        let pointer = self.settings.pointer(what).to_owned();
        let what = format!("setting `{what}`");
        self.lost.push(Lost { what, pointer, fate: Fate::Dropped, note: note.to_owned() });
    }

    /// Notes a setting that the dialect has in another form.
    pub(crate) fn note_altered(&mut self, name: &str, note: &str) {
        let pointer = self.settings.pointer(name).to_owned();
        let what = format!("setting `{}`", pointer::name(&pointer));
        self.lost.push(Lost { what, pointer, fate: Fate::Altered, note: note.to_owned() });
    }

    /// Notes something that the dialect demands and the source lacks.
    pub(crate) fn note_added(&mut self, what: &str, note: &str) {
        let lost = Lost { what: what.to_owned(), pointer: String::new(), fate: Fate::Added, note: note.to_owned() };
        self.lost.push(lost);
    }

    /// Fits the definitions of tools to the dialect.
    fn bend_tools(&mut self, room: &Room, target: &Target<'_>) {
        let is_free = (room.free_tools)(target);
        for tool in &mut self.settings.tools {
            let mut note = |what: &str, fate, note: &str| {
                let (what, pointer, note) = (what.to_owned(), tool.pointer.clone(), note.to_owned());
                self.lost.push(Lost { what, pointer, fate, note });
            };
            if !is_free && let Some(free) = tool.free.take() {
                note("tool that takes any text", Fate::Altered, "the text is the member `input` now");
                if free.grammar.is_some() {
                    note("grammar of a tool", Fate::Dropped, "it has no counterpart");
                }
                tool.schema = Some(FREE_SCHEMA.to_owned());
            }
            if !room.strict_tools && tool.strict == Some(true) {
                note("`strict` of a tool", Fate::Dropped, "it has no counterpart");
            }
        }
    }

    /// Takes the settings that are carried over unchanged, under their paths in the dialect.
    pub(crate) fn shared(&mut self, paths: &[(&'static str, &'static str)]) -> Members<'static> {
        let others = &mut self.settings.others;
        let taken = paths.iter().filter_map(|(name, path)| Some((*path, Json::Written(others.remove(name)?.json))));
        taken.collect()
    }

    /// Takes the demanded format of the response, if there is one.
    pub(crate) fn format(&mut self) -> Option<ResponseFormat> {
        self.settings.format.take()
    }

    /// Takes the list of losses, with the settings that the dialect did not take.
    pub(crate) fn all_lost(&mut self) -> Vec<Lost> {
        if self.settings.format.take().is_some() {
            let at = self.settings.pointer("format").to_owned();
            self.note_left(&at, "format");
        }
        // Dialects without this setting allow parallel calls.
        self.settings.others.retain(|name, other| !(*name == "parallel_calls" && other.json == "true"));
        for (name, other) in std::mem::take(&mut self.settings.others) {
            self.note_left(&other.pointer, name);
        }
        std::mem::take(&mut self.lost)
    }

    fn note_left(&mut self, at: &str, name: &str) {
        let note = if self.lacks.contains(&name) { "it has no counterpart" } else { NOT_CARRIED };
        let (what, note) = (format!("setting `{}`", pointer::name(at)), note.to_owned());
        self.lost.push(Lost { what, pointer: at.to_owned(), fate: Fate::Dropped, note });
    }

    /// Defines the tools that are called, at least by name.
    fn define_tools(&mut self) {
        if !self.settings.tools.is_empty() {
            return;
        }
        let blocks = self.messages.iter().flat_map(|message| &message.blocks);
        let mut defined: HashSet<&str> = HashSet::new();
        for block in blocks {
            let Says::Call(call) = &block.says else { continue };
            if defined.insert(&call.name) {
                let (name, pointer) = (call.name.clone(), block.pointer.clone());
                let tool = ToolDefinition { name, description: None, schema: None, strict: None, free: None, pointer };
                self.settings.tools.push(tool);
            }
        }
        if !self.settings.tools.is_empty() {
            self.note_added(
                "definitions of the tools that are called",
                "the provider demands them; they take any input",
            );
        }
    }

    /// Notes the settings that are part of the URL in this dialect.
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
