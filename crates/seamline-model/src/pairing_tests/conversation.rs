//! Conversations as the tests of the pairing write them.

use crate::{
    Block, BlockKind, Call, ContentForm, Emptiness, Field, Input, Message, MessageIndex, Parts, ResultBlock, Role,
    Slot, Span, Synthetic, Tool, Tools, Transcript, WireId,
};

/// One block of a conversation, with the id it has or names.
#[derive(Clone, Copy)]
pub(super) enum Part {
    Text,
    Call(&'static str),
    /// A call with this id, of this tool.
    Named(&'static str, &'static str),
    Result(&'static str),
    /// A result with this id, of this tool.
    From(&'static str, &'static str),
    MadeUp(&'static str),
}

use Part::{From, MadeUp, Named, Result, Text};

/// The transcript of a conversation.
pub(super) fn transcript(messages: &[(Role, Vec<Part>)]) -> Transcript<'static> {
    let mut transcript = Transcript::new(b"");
    for (role, parts) in messages {
        let message = MessageIndex(transcript.messages.len() as u32);
        let first_block = transcript.blocks.len() as u32;
        for (index, part) in parts.iter().enumerate() {
            let kind = kind(*part, &mut transcript.tools);
            transcript.has.note(&kind);
            transcript.has.neighbouring_ids = true;
            let slot = Slot { field: Field::Content, index: index as u32 };
            transcript.blocks.push(Block::new(message, Span::default(), slot, kind, false));
        }
        let end_block = transcript.blocks.len() as u32;
        let (role, body) = (*role, ContentForm::Blocks);
        transcript.messages.push(Message {
            role,
            span: Span::default(),
            first_block,
            end_block,
            body,
            is_unknown: false,
        });
    }
    transcript
}

fn kind(part: Part, tools: &mut Tools) -> BlockKind {
    match part {
        Text => BlockKind::Text(Emptiness::Present),
        Part::Call(id) => BlockKind::Call(Call::new(id_of(id), None, Input::Object, tools)),
        Named(id, name) => BlockKind::Call(Call::new(id_of(id), Some(name), Input::Object, tools)),
        Result(id) => result(id, None, false),
        From(id, name) => result(id, Some(tools.add(name)), false),
        MadeUp(id) => result(id, None, true),
    }
}

fn result(id: &'static str, tool: Option<Tool>, synthetic: bool) -> BlockKind {
    BlockKind::Result(ResultBlock {
        id: id_of(id).map(WireId::from),
        tool,
        synthetic: if synthetic { Synthetic::Yes } else { Synthetic::No },
        failed: false,
        has_more: false,
        parts: Parts::Text,
        content: Span::default(),
    })
}

/// The id; `-` means that there is none.
fn id_of(id: &'static str) -> Option<&'static str> {
    (id != "-").then_some(id)
}
