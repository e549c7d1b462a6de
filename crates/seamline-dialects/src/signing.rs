//! The signatures that a provider gives the calls of a model, in requests and responses.

use std::borrow::Cow;

use seamline_model::{Signatures, Span};

use crate::Dialect;
use crate::json::{Document, Kind, Object, Value, quoted};

/// The places of signatures in a dialect.
pub(crate) struct Signing {
    /// The messages of a response.
    pub(crate) answered: for<'d, 'a> fn(Object<'d, 'a>) -> Vec<Value<'d, 'a>>,
    /// The calls of a message.
    pub(crate) calls: for<'d, 'a> fn(Value<'d, 'a>) -> Vec<CallSignature<'d, 'a>>,
    /// The documented text in place of a signature that was lost. A provider accepts it, but it signs nothing.
    pub(crate) stand_in: &'static str,
}

/// A call of a model with its signature, if it has one. Ids repeat, so the tool and the input tell calls apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SignableCall {
    /// The id of the call.
    pub id: String,
    /// The name of its tool.
    pub tool: String,
    /// The source of its input, which is JSON.
    pub input: String,
    /// The signature of the provider; empty where the call has none.
    pub signature: String,
}

/// The id of a call and its signature, as the wire has them.
pub(crate) struct CallSignature<'d, 'a> {
    pub(crate) id: Option<Value<'d, 'a>>,
    pub(crate) tool: Option<Value<'d, 'a>>,
    /// The input: an object, or a text that holds one.
    pub(crate) input: Option<Value<'d, 'a>>,
    pub(crate) signature: Option<Value<'d, 'a>>,
}

/// GEM-9: the text that Google documents in place of a signature that was lost, in all its APIs. It accepts the text, which
/// signs nothing.
pub(crate) const NO_SIGNATURE: &str = "skip_thought_signature_validator";

impl CallSignature<'_, '_> {
    fn id(&self) -> Option<Cow<'_, str>> {
        self.id?.str().filter(|id| !id.is_empty())
    }

    /// The signature of the provider, and not the text in place of a lost one.
    fn own(&self, stand_in: &str) -> Option<Cow<'_, str>> {
        self.signature?.str().filter(|signature| !signature.is_empty() && signature != stand_in)
    }

    fn lifted(&self, stand_in: &str) -> Option<SignableCall> {
        let text = |value: Option<Value<'_, '_>>| value.and_then(Value::str).map(Cow::into_owned).unwrap_or_default();
        let input = match self.input {
            Some(input) if input.is(Kind::String) => text(Some(input)),
            Some(input) => input.raw().to_owned(),
            None => String::new(),
        };
        let signature = self.own(stand_in).map(Cow::into_owned).unwrap_or_default();
        Some(SignableCall { id: self.id()?.into_owned(), tool: text(self.tool), input, signature })
    }

    /// The span of the text in place of a lost signature.
    fn span_of(&self, stand_in: &str) -> Option<Span> {
        self.signature.filter(|signature| signature.says(stand_in)).map(Value::span)
    }
}

impl Dialect {
    /// Whether calls of the dialect can have a signature.
    pub const fn has_signed_calls(&self) -> bool {
        self.signing.is_some()
    }

    /// The signed calls of a response; none where it cannot be read.
    pub fn signed_calls(&self, response: &[u8]) -> Vec<SignableCall> {
        let Some((signing, document)) = self.signing.zip(read(response)) else { return Vec::new() };
        let messages = document.root().object().map(signing.answered).unwrap_or_default();
        let calls = messages.into_iter().flat_map(signing.calls);
        calls.filter_map(|call| call.lifted(signing.stand_in)).filter(|call| !call.signature.is_empty()).collect()
    }

    /// The calls of a request that have no signature of the provider; none where it cannot be read.
    pub fn unsigned_calls(&self, body: &[u8]) -> Vec<SignableCall> {
        let Some((signing, document)) = self.signing.zip(read(body)) else { return Vec::new() };
        let calls = messages(&document, self.form.list).flat_map(signing.calls);
        calls
            .filter(|call| call.own(signing.stand_in).is_none())
            .filter_map(|call| call.lifted(signing.stand_in))
            .collect()
    }

    /// Puts signatures in the places of the texts that replace lost ones; `None` where there is nothing to put. A call
    /// without such a text is left alone: a repair signs it where the provider demands it.
    pub fn with_signatures(&self, body: &[u8], signatures: &Signatures) -> Option<Vec<u8>> {
        let (signing, document) = self.signing.zip(read(body))?;
        let mut new = Vec::with_capacity(body.len());
        let mut at = 0;
        for call in messages(&document, self.form.list).flat_map(signing.calls) {
            let Some((span, id)) = call.span_of(signing.stand_in).zip(call.id()) else { continue };
            let Some(signature) = signatures.get(&id) else { continue };
            new.extend_from_slice(body.get(at..span.start as usize)?);
            new.extend_from_slice(quoted(signature).as_bytes());
            at = span.end as usize;
        }
        new.extend_from_slice(body.get(at..).filter(|_| at > 0)?);
        Some(new)
    }

    /// Whether a request has a text in place of a lost signature. It is a search for bytes.
    pub fn may_have_stand_ins(&self, body: &[u8]) -> bool {
        self.signing.is_some_and(|signing| memchr::memmem::find(body, signing.stand_in.as_bytes()).is_some())
    }
}

fn read(text: &[u8]) -> Option<Document<'_>> {
    Document::read(std::str::from_utf8(text).ok()?).ok()
}

/// The messages of a request; a bare list is the list of messages.
fn messages<'d, 'a>(document: &'d Document<'a>, list: &str) -> impl Iterator<Item = Value<'d, 'a>> {
    let root = document.root();
    let listed = root.object().and_then(|body| body.get(list));
    let held = if root.is(Kind::Array) { Some(root) } else { listed };
    held.into_iter().flat_map(Value::elements)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::by_name;

    fn gemini(signature: &str) -> String {
        format!(r#"{{"role":"model","parts":[{{"functionCall":{{"id":"c1","name":"ls","args":{{}}}}{signature}}}]}}"#)
    }

    fn chat(extra: &str) -> String {
        format!(r#"{{"role":"assistant","tool_calls":[{{"id":"c1","type":"function","function":{{}}{extra}}}]}}"#)
    }

    #[test]
    fn signatures_are_read_and_put_in_the_places_of_stand_ins() {
        let stand_in = "skip_thought_signature_validator";
        let google = |signature: &str| {
            let member = format!(r#","thoughtSignature":"{signature}""#);
            let body = format!(r#"{{"contents":[{}]}}"#, gemini(&member));
            ("gemini_generate", body, format!(r#"{{"candidates":[{{"content":{}}}]}}"#, gemini(&member)))
        };
        let openai = |signature: &str| {
            let member = format!(r#","extra_content":{{"google":{{"thought_signature":"{signature}"}}}}"#);
            let body = format!(r#"{{"messages":[{}]}}"#, chat(&member));
            ("openai_chat", body, format!(r#"{{"choices":[{{"message":{}}}]}}"#, chat(&member)))
        };
        for [own, replaced, empty] in
            [[google("c2ln"), google(stand_in), google("")], [openai("c2ln"), openai(stand_in), openai("")]]
        {
            let dialect = by_name(own.0).unwrap();
            let signed = dialect.signed_calls(own.2.as_bytes()).into_iter();
            let known: Signatures = signed.map(|call| (call.id, call.signature)).collect();
            assert_eq!(known.get("c1"), Some("c2ln"));
            assert_eq!(
                (dialect.signed_calls(replaced.2.as_bytes()), dialect.signed_calls(empty.2.as_bytes())),
                (vec![], vec![])
            );
            assert_eq!(dialect.unsigned_calls(own.1.as_bytes()), []);
            let tool = if own.0 == "openai_chat" { "" } else { "ls" };
            let input = if own.0 == "openai_chat" { "" } else { "{}" };
            let call = SignableCall {
                id: "c1".to_owned(),
                tool: tool.to_owned(),
                input: input.to_owned(),
                signature: String::new(),
            };
            for body in [&replaced.1, &empty.1] {
                assert_eq!(dialect.unsigned_calls(body.as_bytes()), std::slice::from_ref(&call));
            }
            let signed = |body: &str| {
                dialect.with_signatures(body.as_bytes(), &known).map(|new| String::from_utf8(new).unwrap())
            };
            assert_eq!((signed(&replaced.1), signed(&own.1), signed(&empty.1)), (Some(own.1.clone()), None, None));
            assert!(dialect.may_have_stand_ins(replaced.1.as_bytes()) && !dialect.may_have_stand_ins(own.1.as_bytes()));
        }
        let anthropic = by_name("anthropic_messages").unwrap();
        assert!(!anthropic.has_signed_calls() && anthropic.signed_calls(b"{}").is_empty());
    }
}
