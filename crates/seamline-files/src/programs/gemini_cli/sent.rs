//! The conversation that Gemini CLI sends: turns of one role that follow each other are joined.

use super::fold::Active;
use super::turn::{Role, Source, Turn, has};
use crate::json::Object;
use crate::session::CarriedMessage;

/// The replacement for a lost signature. Gemini CLI adds it to the first call of each message of the running turn.
const SIGNATURE: &str = "\"skip_thought_signature_validator\"";

/// A message of the request.
pub(super) struct Sent {
    pub(super) role: Role,
    pub(super) parts: Vec<Part>,
}

/// A part of a message of the request.
pub(super) struct Part {
    pub(super) text: String,
    /// The index of the active message that holds the part, and the place in it.
    pub(super) active: usize,
    pub(super) source: Source,
}

/// The messages of the request.
pub(super) fn sent(messages: &mut [Active<Vec<Turn>>]) -> Vec<Sent> {
    let mut sent: Vec<Sent> = Vec::new();
    for (active, message) in messages.iter_mut().enumerate() {
        for turn in std::mem::take(&mut message.held) {
            let parts = turn.parts.into_iter().map(|(source, text)| Part { text, active, source });
            match sent.last_mut().filter(|last| last.role == turn.role) {
                Some(last) => last.parts.extend(parts),
                None => sent.push(Sent { role: turn.role, parts: parts.collect() }),
            }
        }
    }
    sign(&mut sent);
    sent
}

/// Signs the calls of the running turn, which begins with the last text of the user.
fn sign(sent: &mut [Sent]) {
    let is_start = |message: &Sent| {
        let holds = |member: &str| message.parts.iter().any(|part| has(&part.text, member));
        message.role == Role::User && holds("text") && !holds("functionResponse")
    };
    let start = sent.iter().rposition(is_start).unwrap_or_default();
    for message in sent[start..].iter_mut().filter(|message| message.role == Role::Model) {
        let call = message.parts.iter_mut().find(|part| has(&part.text, "functionCall"));
        if let Some(call) = call.filter(|call| !has(&call.text, "thoughtSignature"))
            && let Some(part) = Object::of(&call.text)
        {
            call.text = part.with(&[("thoughtSignature", Some(SIGNATURE.to_owned()))]);
        }
    }
}

/// The messages of the request, as messages of a carrier.
pub(super) fn carried(messages: &[Active<Vec<Turn>>], sent: Vec<Sent>) -> Vec<CarriedMessage> {
    let carry = |message: Sent| {
        let owners: Vec<usize> = message.parts.iter().map(|part| messages[part.active].place().record).collect();
        let parts: Vec<&str> = message.parts.iter().map(|part| part.text.as_str()).collect();
        let text = format!("{{\"role\":\"{}\",\"parts\":[{}]}}", message.role.name(), parts.join(","));
        CarriedMessage { record: owners.first().copied().unwrap_or_default(), part: 0, owners, text }
    };
    sent.into_iter().map(carry).collect()
}
