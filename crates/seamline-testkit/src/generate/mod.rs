//! Random conversations, good and broken, and the styles to write them in.
//!
//! ```
//! use proptest::prelude::*;
//! use seamline_testkit::{Dialect, generate, render, strict};
//!
//! proptest!(|(transcript in generate::good(), style in generate::style())| {
//!     let text = render::render(Dialect::OpenAiChat, &transcript, style);
//!     let body = serde_json::from_str(&text)?;
//!     prop_assert!(strict::check(Dialect::OpenAiChat, &body).is_empty());
//! });
//! ```

mod breaker;
mod fit;
mod good;
mod mangled;
mod plan;
pub(crate) mod wire;

use proptest::{collection, prelude::*, sample::select};

pub use breaker::Breaker;
pub use fit::fit;
pub use good::good;
pub use mangled::{Body, Mangled, mangled};
pub use wire::{WireBreaker, WireDamage};

use crate::{
    Dialect,
    text::{Escapes, Layout, Style},
    transcript::Transcript,
};

/// The most breaks of a good conversation.
pub const DAMAGES_MAX: usize = 4;

/// One break and its place. Places are counted among those that fit, and wrap around.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The kind of the break.
    pub breaker: Breaker,
    /// The place of the break.
    pub place: usize,
}

/// A good conversation and its broken form.
#[derive(Clone, Debug, PartialEq)]
pub struct Broken {
    /// The good conversation.
    pub before: Transcript,
    /// The breaks, in order.
    pub damages: Vec<Damage>,
    /// The broken conversation.
    pub transcript: Transcript,
}

impl Broken {
    /// Breaks `before` in each of these ways, in order. A break without a fitting place does nothing.
    pub fn new(before: Transcript, damages: Vec<Damage>) -> Self {
        let mut transcript = before.clone();
        for damage in &damages {
            damage.breaker.apply(&mut transcript, damage.place);
        }
        Self { before, damages, transcript }
    }

    /// The same breaks of a conversation that the provider of a dialect accepts.
    #[must_use]
    pub fn fit(self, dialect: Dialect) -> Self {
        Self::new(fit(dialect, self.before), self.damages)
    }
}

/// A good conversation that was broken in one to [`DAMAGES_MAX`] ways.
///
/// Dialects reject different breaks, and two breaks may undo each other, so a provider may accept the outcome.
pub fn broken() -> impl Strategy<Value = Broken> {
    let damages = collection::vec(damage(), 1..=DAMAGES_MAX);
    (good(), damages).prop_map(|(before, damages)| Broken::new(before, damages))
}

/// One break and its place.
pub fn damage() -> impl Strategy<Value = Damage> {
    (select(&Breaker::ALL[..]), 0..1000_usize).prop_map(|(breaker, place)| Damage { breaker, place })
}

/// A style to write a body in.
pub fn style() -> impl Strategy<Value = Style> {
    let layouts = [Layout::Compact, Layout::Spaced, Layout::Indented(2), Layout::Indented(4), Layout::IndentedCrlf(2)];
    let escapes = [Escapes::Needed, Escapes::All];
    (select(layouts.to_vec()), select(escapes.to_vec())).prop_map(|(layout, escapes)| Style { layout, escapes })
}

#[cfg(test)]
mod tests;
