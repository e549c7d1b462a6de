//! A body as the laws read it: its messages, calls and results, and their pairing.

use std::collections::BTreeSet;

use seamline_model::{
    BlockIndex, BlockKind, IrregularityKind, MARK, PairedCall, Pairing, Role, Scope, Span, Transcript,
};
use seamline_testkit::{Dialect, lossless};
use serde_json::Value;

/// A body that was read, and its pairing.
pub(super) struct Reading<'b> {
    pub(super) transcript: Transcript<'b>,
    pairing: Pairing,
}

/// The content of a result.
#[derive(Clone, Copy)]
pub(super) struct Output<'b> {
    /// The content, as written in the body.
    pub(super) content: &'b str,
    /// Whether it is marked as synthetic.
    pub(super) synthetic: bool,
}

/// The mark of a call, and the content of the result that answers it.
pub(super) type Answered<'b> = (Option<&'b str>, Option<&'b str>);

impl<'b> Reading<'b> {
    pub(super) fn of(dialect: Dialect, body: &'b str) -> Result<Self, String> {
        let dialect = seamline_dialects::by_name(dialect.name()).ok_or("no such dialect")?;
        let transcript = dialect.decode(body.as_bytes()).map_err(|error| error.to_string())?;
        let pairing = Pairing::of(&transcript, Scope::ALL.under(dialect.constraints()));
        Ok(Self { transcript, pairing })
    }

    /// The text of a message.
    pub(super) fn message(&self, at: usize) -> Option<&'b str> {
        self.transcript.messages.get(at).map(|message| self.transcript.text(message.span))
    }

    pub(super) fn results(&self) -> impl Iterator<Item = Output<'b>> {
        self.transcript.enumerate_blocks().filter_map(|(block, _)| {
            let content = self.transcript.text(self.transcript.result(block)?.content);
            Some(Output { content, synthetic: self.transcript.is_made_up(block) || content.contains(MARK) })
        })
    }

    /// The mark of every call and the content that answers it, unless that is synthetic.
    pub(super) fn answers(&self) -> Vec<Answered<'b>> {
        let answer = |state: &PairedCall| {
            let block = state.matched?.result;
            let result = self.transcript.result(block)?;
            (!self.transcript.is_made_up(block)).then(|| self.transcript.text(result.content))
        };
        let mark = |state: &PairedCall| mark(self.transcript.text(self.transcript.block(state.call).span));
        self.pairing.calls.iter().map(|state| (mark(state), answer(state))).collect()
    }

    /// Every call and the result that answers it.
    pub(super) fn pairs(&self) -> BTreeSet<(BlockIndex, BlockIndex)> {
        self.pairing.calls.iter().filter_map(|state| Some((state.call, state.matched?.result))).collect()
    }

    /// The message of a block.
    pub(super) fn message_of(&self, block: BlockIndex) -> usize {
        self.transcript.block(block).message.get()
    }

    /// Whether calls and results may still appear once the body can be read, so that this pairing is not final.
    pub(super) fn is_uncertain(&self) -> bool {
        let hides = |kind: &IrregularityKind| {
            !matches!(
                kind,
                IrregularityKind::ByteOrderMark
                    | IrregularityKind::LoneSurrogate
                    | IrregularityKind::ForeignKey { .. }
                    | IrregularityKind::LegacyCall
                    | IrregularityKind::EmptyCallList
                    | IrregularityKind::PartOfOtherRole { .. }
            )
        };
        let misplaced = |kind: &BlockKind, role: Role| match kind {
            BlockKind::Call(_) => role != Role::Assistant,
            BlockKind::Result(_) => !matches!(role, Role::User | Role::Tool),
            _ => false,
        };
        let role = |message| self.transcript.message(message).role;
        self.transcript.irregularities.iter().any(|irregularity| hides(&irregularity.kind))
            || self.transcript.blocks.iter().any(|block| misplaced(&block.kind, role(block.message)))
    }

    /// Whether a text is in the body, decoded or as written. Half a character counts as the replacement character.
    pub(super) fn says(&self, text: &str) -> bool {
        let source =
            self.transcript.text(Span::new(0, self.transcript.source.body.len())).trim_start_matches('\u{feff}');
        let whole = || source.replace("\\ud83d\"", "\\ufffd\"").replace("\\udc4d\"", "\\ufffd\"");
        source.contains(text) || says(source, text) || says(&whole(), text)
    }
}

/// Every non-empty string in a piece of JSON, and every number.
pub(super) fn texts(json: &str) -> Vec<String> {
    let mut texts = Vec::new();
    if let Ok(value) = serde_json::from_str(json) {
        collect(&value, &mut texts);
    }
    texts
}

fn collect(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) if !text.trim().is_empty() => texts.push(text.clone()),
        Value::Number(number) => texts.push(number.to_string()),
        Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
        // The type of a part and pictures are not content of a result.
        Value::Object(fields) => {
            let said = fields.iter().filter(|(key, _)| !matches!(key.as_str(), "type" | "image_url" | "source"));
            said.for_each(|(_, field)| collect(field, texts));
        }
        _ => {}
    }
}

/// Whether a text is in one of the strings of a piece of JSON.
pub(super) fn says(json: &str, text: &str) -> bool {
    let value = serde_json::from_str::<Value>(json);
    value.is_ok_and(|value| lossless::missing_payloads(&value, &[text.to_owned()]).is_empty())
}

/// The mark that a test wrote into a call to identify it: `call-`, a name, a colon.
fn mark(call: &str) -> Option<&str> {
    let start = call.find("call-")?;
    let end = call[start..].find(':')?;
    Some(&call[start..start + end])
}
