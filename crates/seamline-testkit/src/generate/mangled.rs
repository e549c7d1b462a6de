//! Broken conversations whose bodies are broken as well.

use proptest::{collection, prelude::*, sample::select};

use super::{Broken, WireBreaker, WireDamage, damage, good};
use crate::{
    Dialect,
    lossless::missing_payloads,
    render,
    text::{self, Style},
};

/// The most breaks of one body.
const WIRE_DAMAGES_MAX: usize = 3;
/// The most breaks of the conversation in it.
const DAMAGES_MAX: usize = 2;

/// A good conversation after breaks of the conversation and of its body.
#[derive(Clone, Debug, PartialEq)]
pub struct Mangled {
    /// The conversation after its breaks.
    pub broken: Broken,
    /// The breaks of each body, in order.
    pub wire: Vec<WireDamage>,
}

/// A body as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body {
    /// The text, which strict parsers may refuse.
    pub text: String,
    /// The texts that a repair must keep.
    pub payloads: Vec<String>,
}

impl Mangled {
    /// The body in a dialect. A break without a fitting place does nothing.
    pub fn render(&self, dialect: Dialect, style: Style) -> Body {
        let transcript = &self.broken.clone().fit(dialect).transcript;
        let mut body = render::body(dialect, transcript);
        let mut payloads = transcript.payloads();
        for damage in &self.wire {
            payloads.extend(damage.breaker.apply(dialect, &mut body, damage.place));
        }
        // A break may have replaced a text.
        let gone = missing_payloads(&body, &payloads);
        payloads.retain(|payload| !payload.is_empty() && !gone.contains(payload));
        let mark = if self.has(WireBreaker::ByteOrderMark) { "\u{feff}" } else { "" };
        Body { text: format!("{mark}{}", text::write(&body, style)), payloads }
    }

    fn has(&self, breaker: WireBreaker) -> bool {
        self.wire.iter().any(|damage| damage.breaker == breaker)
    }
}

/// A conversation that was broken up to twice, in bodies that are broken one to three times.
pub fn mangled() -> impl Strategy<Value = Mangled> {
    let damages = collection::vec(damage(), 0..=DAMAGES_MAX);
    let wire = collection::vec(wire_damage(), 1..=WIRE_DAMAGES_MAX);
    (good(), damages, wire).prop_map(|(before, damages, wire)| Mangled { broken: Broken::new(before, damages), wire })
}

fn wire_damage() -> impl Strategy<Value = WireDamage> {
    (select(&WireBreaker::ALL[..]), 0..1000_usize).prop_map(|(breaker, place)| WireDamage { breaker, place })
}
