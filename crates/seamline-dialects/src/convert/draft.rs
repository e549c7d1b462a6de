//! A conversation bent to what a dialect has room for.

use seamline_model::MARK;
use seamline_model::conversation::{
    Answer, Block, Conversation, Family, Fate, Lost, Media, MediaSource, Message, Reasoning, Says, Settings, Speaker,
    ToolDefinition,
};

use super::rename::Renaming;
use super::{ForeignReasoning, Renamed, Target, failure, mime};

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
        let mut bending = Bending { room, reasoning: target.foreign_reasoning, lost: left, waiting: Vec::new() };
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

/// What is bent, and what has to wait for the user's next message.
struct Bending<'r> {
    room: &'r Room,
    reasoning: ForeignReasoning,
    lost: Vec<Lost>,
    waiting: Vec<Block>,
}

impl Bending<'_> {
    fn system(&mut self, blocks: Vec<Block>) -> Vec<String> {
        let mut texts = Vec::new();
        for block in blocks {
            match block.says {
                Says::Text(text) if text.trim().is_empty() => {}
                Says::Text(text) => texts.push(text),
                Says::Opaque(opaque) => {
                    self.lose(format!("`{}`", opaque.kind), &block.pointer, Fate::Dropped, "no other dialect knows it");
                }
                _ => self.lose("part of the system text", &block.pointer, Fate::Dropped, "it is no text"),
            }
        }
        texts
    }

    fn messages(&mut self, messages: Vec<Message>) -> Vec<Message> {
        let mut out: Vec<Message> = Vec::with_capacity(messages.len());
        for mut message in messages {
            if message.speaker == Speaker::System && !self.room.system_messages {
                message.speaker = Speaker::User;
                let pointer = message.blocks.first().map_or(String::new(), |block| block.pointer.clone());
                let note = "the system speaks only at the start there, so the user says it";
                self.lose("system message", &pointer, Fate::Moved, note);
            }
            let mut blocks = self.blocks(message.speaker, message.blocks);
            match message.speaker {
                Speaker::User => blocks.append(&mut self.waiting),
                Speaker::System | Speaker::Assistant
                    if out.last().is_some_and(|last| last.speaker == Speaker::Assistant) =>
                {
                    self.flush(&mut out);
                }
                Speaker::System | Speaker::Assistant => {}
            }
            if !blocks.is_empty() {
                self.push(&mut out, Message { speaker: message.speaker, blocks });
            }
        }
        self.flush(&mut out);
        out
    }

    /// What waits for the user gets a message of its own.
    fn flush(&mut self, out: &mut Vec<Message>) {
        if !self.waiting.is_empty() {
            let blocks = std::mem::take(&mut self.waiting);
            self.push(out, Message { speaker: Speaker::User, blocks });
        }
    }

    fn push(&self, out: &mut Vec<Message>, message: Message) {
        match out.last_mut() {
            Some(last) if self.room.alternates && last.speaker == message.speaker => last.blocks.extend(message.blocks),
            _ => out.push(message),
        }
    }

    fn blocks(&mut self, speaker: Speaker, blocks: Vec<Block>) -> Vec<Block> {
        let (mut out, mut after) = (Vec::with_capacity(blocks.len()), Vec::new());
        for block in blocks {
            if block.is_blank() {
                continue;
            }
            let pointer = block.pointer;
            match block.says {
                Says::Result(answer) => {
                    let (answer, hoisted) = self.answer(answer);
                    out.push(Block::new(Says::Result(answer), pointer));
                    after.extend(hoisted);
                }
                Says::Media(media) if speaker == Speaker::Assistant && !self.room.assistant_media => {
                    let what = format!("{} of the assistant", media.kind.as_str());
                    self.lose(what, &pointer, Fate::Moved, "only the user shows media there, so the user does");
                    let media = self.block(Says::Media(media), &pointer);
                    self.waiting.extend(media);
                }
                says => out.extend(self.block(says, &pointer)),
            }
        }
        out.extend(after);
        out
    }

    /// A block as the dialect can write it; nothing if it cannot.
    fn block(&mut self, says: Says, pointer: &str) -> Option<Block> {
        let says = match says {
            Says::Reasoning(reasoning) => self.reasoning(reasoning, pointer)?,
            Says::Media(media) if !(self.room.media)(&media) => self.unshown(&media, pointer),
            Says::Refusal(text) if !self.room.refusals => {
                self.lose("refusal", pointer, Fate::Text, "there is no word for it there");
                Says::Text(text)
            }
            Says::Opaque(opaque) if opaque.spoken => {
                self.lose(format!("`{}`", opaque.kind), pointer, Fate::Text, "no other dialect knows it");
                Says::Text(opaque.raw)
            }
            Says::Opaque(opaque) => {
                self.lose(format!("`{}`", opaque.kind), pointer, Fate::Dropped, "it is for its own provider alone");
                return None;
            }
            Says::Call(mut call) => {
                if call.seal.is_some() && !self.room.families.contains(&Family::Gemini) {
                    call.seal = None;
                    self.lose("signature of a call", pointer, Fate::Dropped, "only Gemini's models read it");
                }
                Says::Call(call)
            }
            says @ (Says::Text(_) | Says::Result(_) | Says::Media(_) | Says::Refusal(_)) => says,
        };
        Some(Block::new(says, pointer))
    }

    fn reasoning(&mut self, reasoning: Reasoning, pointer: &str) -> Option<Says> {
        let is_genuine = reasoning.seal.is_some() || reasoning.family == Family::Plain;
        if is_genuine && self.room.families.contains(&reasoning.family) {
            return Some(Says::Reasoning(reasoning));
        }
        let as_text = self.reasoning == ForeignReasoning::Text && !reasoning.text.trim().is_empty();
        let fate = if as_text { Fate::Text } else { Fate::Dropped };
        self.lose("reasoning", pointer, fate, "only the models that wrote it take it back");
        as_text.then_some(Says::Text(reasoning.text))
    }

    /// Words for media that cannot be shown.
    fn unshown(&mut self, media: &Media, pointer: &str) -> Says {
        let kind = media.kind.as_str();
        let (place, note) = match &media.source {
            MediaSource::Url(url) => (url, "media at an address are not fetched there"),
            MediaSource::File(id) => (id, "the file lies with the provider it was given to"),
            MediaSource::Data(_) => {
                self.lose(kind, pointer, Fate::Dropped, "there is no place for this kind of media");
                return Says::Text(format!("{MARK} ({} stood here, which cannot be shown)", mime(media)));
            }
        };
        self.lose(kind, pointer, Fate::Text, note);
        Says::Text(format!("[{kind}: {place}]"))
    }

    /// A result, and what of it must stand after the results.
    fn answer(&mut self, answer: Answer) -> (Answer, Vec<Block>) {
        let Answer { id, name, blocks, failed } = answer;
        let (mut kept, mut hoisted) = (Vec::new(), Vec::new());
        for block in blocks {
            let pointer = block.pointer;
            let Some(block) = self.block(block.says, &pointer) else { continue };
            if matches!(block.says, Says::Media(_)) && !self.room.result_media {
                self.lose(
                    "media in a result",
                    &pointer,
                    Fate::Moved,
                    "results hold text alone there; the user shows it",
                );
                hoisted.push(block);
            } else if !block.is_blank() || !self.room.alternates {
                kept.push(block);
            }
        }
        if !hoisted.is_empty() {
            let line = format!("[synthetic] what tool call {id} returned beside text:");
            hoisted.insert(0, Block::new(Says::Text(line), hoisted[0].pointer.clone()));
            if kept.is_empty() {
                let follows = Says::Text(failure::FOLLOWS.to_owned());
                kept.push(Block::new(follows, hoisted[0].pointer.clone()));
            }
        }
        if !self.room.failures {
            mark(&mut kept, failed);
        }
        (Answer { id, name, blocks: kept, failed }, hoisted)
    }

    fn lose(&mut self, what: impl Into<String>, pointer: &str, fate: Fate, note: &str) {
        let lost = Lost { what: what.into(), pointer: pointer.to_owned(), fate, note: note.to_owned() };
        self.lost.push(lost);
    }
}

/// Says in the text of a result whether the tool failed.
fn mark(blocks: &mut Vec<Block>, failed: bool) {
    match blocks.first_mut() {
        Some(Block { says: Says::Text(text), .. }) => *text = failure::marked(text, failed),
        _ if failed => blocks.insert(0, Block::new(Says::Text(failure::marked("", failed)), "")),
        _ => {}
    }
}
