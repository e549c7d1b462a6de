//! Fits messages to a dialect: moves or rewrites blocks that it cannot hold.

use seamline_model::conversation::{
    Family, Fate, LiftedBlock, LiftedMessage, LiftedResult, Lost, Media, MediaSource, Opaque, Reasoning, Says, Speaker,
};
use seamline_model::{Fence, MARK, label};

use super::{ForeignReasoning, Room, Target, failure, mime};

/// The words for blocks that are kept as text, as a repair has them.
const FOREIGN: &str = "a block of another dialect, kept as text";
const UNREADABLE: &str = "a block that could not be read, kept as text";

/// The state of fitting: the losses, and the blocks that wait for the user's next message.
pub(super) struct Bending<'r> {
    room: &'r Room,
    target: &'r Target<'r>,
    pub(super) lost: Vec<Lost>,
    waiting: Vec<LiftedBlock>,
}

impl<'r> Bending<'r> {
    pub(super) fn new(room: &'r Room, target: &'r Target<'r>, lost: Vec<Lost>) -> Self {
        Self { room, target, lost, waiting: Vec::new() }
    }

    /// Writes the system texts before the conversation.
    pub(super) fn system(&mut self, blocks: Vec<LiftedBlock>) -> Vec<String> {
        let mut texts = Vec::new();
        for block in blocks {
            match block.says {
                Says::Text(text) if text.trim().is_empty() => {}
                Says::Text(text) => texts.push(text),
                Says::Opaque(opaque) => texts.extend(self.opaque(&opaque, &block.pointer)),
                _ => self.lose("part of the system text", &block.pointer, Fate::Dropped, "it is not text"),
            }
        }
        texts
    }

    /// Fits each message to the dialect.
    pub(super) fn messages(&mut self, messages: Vec<LiftedMessage>) -> Vec<LiftedMessage> {
        let mut out: Vec<LiftedMessage> = Vec::with_capacity(messages.len());
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
                self.push(&mut out, LiftedMessage { speaker: message.speaker, blocks });
            }
        }
        self.flush(&mut out);
        out
    }

    /// Writes the blocks that wait for the user as a message.
    fn flush(&mut self, out: &mut Vec<LiftedMessage>) {
        if !self.waiting.is_empty() {
            let blocks = std::mem::take(&mut self.waiting);
            self.push(out, LiftedMessage { speaker: Speaker::User, blocks });
        }
    }

    fn push(&self, out: &mut Vec<LiftedMessage>, message: LiftedMessage) {
        match out.last_mut() {
            Some(last) if self.room.alternates && last.speaker == message.speaker => last.blocks.extend(message.blocks),
            _ => out.push(message),
        }
    }

    fn blocks(&mut self, speaker: Speaker, blocks: Vec<LiftedBlock>) -> Vec<LiftedBlock> {
        let (mut out, mut after) = (Vec::with_capacity(blocks.len()), Vec::new());
        for block in blocks {
            if block.is_blank() {
                continue;
            }
            let pointer = block.pointer;
            match block.says {
                Says::Result(result) => {
                    let (result, hoisted) = self.fit_result(*result);
                    out.push(LiftedBlock::new(Says::Result(Box::new(result)), pointer));
                    after.extend(hoisted);
                }
                Says::Media(media) if speaker == Speaker::Assistant && !self.room.assistant_media => {
                    let what = format!("{} of the assistant", media.kind.as_str());
                    self.lose(what, &pointer, Fate::Moved, "only the user shows media there, so the user does");
                    let media = self.block(Says::Media(media), &pointer);
                    self.waiting.extend(media);
                }
                Says::Refusal(text) if speaker != Speaker::Assistant => {
                    self.lose("refusal", &pointer, Fate::Text, "only the assistant declines");
                    out.push(LiftedBlock::new(Says::Text(text), pointer));
                }
                says => out.extend(self.block(says, &pointer)),
            }
        }
        out.extend(after);
        out
    }

    /// Fits a block to the dialect, if it can be written there.
    fn block(&mut self, says: Says, pointer: &str) -> Option<LiftedBlock> {
        let says = match says {
            Says::Reasoning(reasoning) => self.reasoning(*reasoning, pointer)?,
            Says::Media(media) if !(self.room.media)(&media, self.target) => self.unshown(&media, pointer),
            Says::Media(media) => {
                self.about(&media, pointer);
                Says::Media(media)
            }
            Says::Refusal(text) if !self.room.refusals => {
                self.lose("refusal", pointer, Fate::Text, "there is no word for it there");
                Says::Text(text)
            }
            Says::Opaque(opaque) => Says::Text(self.opaque(&opaque, pointer)?),
            Says::Call(mut call) => {
                if call.free.is_some() && !(self.room.free_tools)(self.target) {
                    call.free = None;
                    let note = "the text is the member `input` now";
                    self.lose("call of a tool that takes any text", pointer, Fate::Altered, note);
                }
                if call.signature.is_some() && !self.room.families.contains(&Family::Gemini) {
                    call.signature = None;
                    self.lose("signature of a call", pointer, Fate::Dropped, "only Gemini's models read it");
                }
                Says::Call(call)
            }
            says @ (Says::Text(_) | Says::Result(_) | Says::Refusal(_)) => says,
        };
        Some(LiftedBlock::new(says, pointer))
    }

    /// Writes a block that only its own dialect knows as text, unless it holds no words.
    fn opaque(&mut self, opaque: &Opaque, pointer: &str) -> Option<String> {
        let what = format!("`{}`", opaque.kind);
        match (opaque.spoken, opaque.kind.as_str()) {
            (true, "") => self.lose("unreadable part", pointer, Fate::Text, "its own dialect does not know its form"),
            (true, _) => self.lose(what, pointer, Fate::Text, "no other dialect knows it"),
            (false, _) => self.lose(what, pointer, Fate::Dropped, "it is for its own provider alone"),
        }
        // Its own words cannot end the marks, so they are not taken for what the speaker says.
        let heading = if opaque.kind.is_empty() { UNREADABLE } else { FOREIGN };
        opaque.spoken.then(|| Fence::around(heading, &opaque.raw).text(&opaque.raw))
    }

    /// Notes the properties of media that the dialect cannot express.
    fn about(&mut self, media: &Media, pointer: &str) {
        let kind = media.kind.as_str();
        let written = (self.room.media_name)(media);
        if let Some(name) = media.name.as_deref().filter(|name| !name.trim().is_empty()) {
            match written {
                Some(written) if written.contains(name) => {}
                Some(written) => {
                    self.lose(
                        format!("name of the {kind}"),
                        pointer,
                        Fate::Altered,
                        &format!("it is `{written}` there"),
                    );
                }
                None => self.lose(format!("name of the {kind}"), pointer, Fate::Dropped, "it has no counterpart"),
            }
        }
        // `auto` is the default everywhere.
        let detail = media.detail.as_deref().filter(|detail| !matches!(*detail, "" | "auto"));
        if detail.is_some() && !self.room.media_detail {
            self.lose(format!("`detail` of the {kind}"), pointer, Fate::Dropped, "it has no counterpart");
        }
    }

    fn reasoning(&mut self, reasoning: Reasoning, pointer: &str) -> Option<Says> {
        let is_genuine = reasoning.seal.is_some() || reasoning.family == Family::Plain;
        if is_genuine && self.room.families.contains(&reasoning.family) {
            return Some(Says::Reasoning(Box::new(reasoning)));
        }
        let as_text = self.target.foreign_reasoning == ForeignReasoning::Text && !reasoning.text.trim().is_empty();
        let fate = if as_text { Fate::Text } else { Fate::Dropped };
        self.lose("reasoning", pointer, fate, "only the models that wrote it take it back");
        as_text.then_some(Says::Text(reasoning.text))
    }

    /// Writes a text for media that the dialect cannot hold.
    fn unshown(&mut self, media: &Media, pointer: &str) -> Says {
        let kind = media.kind.as_str();
        let (place, note) = match &media.source {
            MediaSource::Url(url) => (url, "media at an address are not fetched there"),
            MediaSource::File(_, id) => (id, "the file lies with the provider it was given to"),
            MediaSource::Data(_) => {
                self.lose(kind, pointer, Fate::Dropped, "there is no place for this kind of media");
                return Says::Text(format!("{MARK} ({} was removed: this provider does not accept it)", mime(media)));
            }
        };
        self.lose(kind, pointer, Fate::Text, note);
        if media.name.as_deref().is_some_and(|name| !name.trim().is_empty()) {
            self.lose(format!("name of the {kind}"), pointer, Fate::Dropped, "only where it lies is said");
        }
        Says::Text(format!("[{kind}: {place}]"))
    }

    /// Fits a result, and collects the blocks that must come after the results.
    fn fit_result(&mut self, result: LiftedResult) -> (LiftedResult, Vec<LiftedBlock>) {
        let LiftedResult { id, name, blocks, failed } = result;
        let (mut kept, mut hoisted) = (Vec::new(), Vec::new());
        for block in blocks {
            let pointer = block.pointer;
            let says = self.in_result(block.says, &pointer);
            let Some(block) = self.block(says, &pointer) else { continue };
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
            let line = format!("{MARK} what tool call {} returned beside text:", label(&id));
            hoisted.insert(0, LiftedBlock::new(Says::Text(line), hoisted[0].pointer.clone()));
            if kept.is_empty() {
                let follows = Says::Text(failure::FOLLOWS.to_owned());
                kept.push(LiftedBlock::new(follows, hoisted[0].pointer.clone()));
            }
        }
        if !self.room.failures {
            mark(&mut kept, failed, self.target.made_up);
        }
        (LiftedResult { id, name, blocks: kept, failed }, hoisted)
    }

    /// Fits the content of a result. Blocks that only the assistant may use become text.
    fn in_result(&mut self, says: Says, pointer: &str) -> Says {
        let text = match says {
            Says::Call(call) => format!("{}({})", call.name, call.input),
            Says::Reasoning(reasoning) => reasoning.text,
            Says::Refusal(text) => text,
            says @ (Says::Text(_) | Says::Media(_) | Says::Opaque(_) | Says::Result(_)) => return says,
        };
        self.lose("what only the assistant says", pointer, Fate::Text, "it is in a result");
        Says::Text(text)
    }

    fn lose(&mut self, what: impl Into<String>, pointer: &str, fate: Fate, note: &str) {
        let lost = Lost { what: what.into(), pointer: pointer.to_owned(), fate, note: note.to_owned() };
        self.lost.push(lost);
    }
}

/// Says in the text of a result whether the tool failed.
fn mark(blocks: &mut Vec<LiftedBlock>, failed: bool, made_up: &[String]) {
    match blocks.first_mut() {
        Some(LiftedBlock { says: Says::Text(text), .. }) => {
            *text = failure::marked(text, failed, failure::is_made_up(text, made_up));
        }
        _ if failed => blocks.insert(0, LiftedBlock::new(Says::Text(failure::marked("", failed, false)), "")),
        _ => {}
    }
}
