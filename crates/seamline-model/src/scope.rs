//! How far from its call a result is searched.

use crate::{Carrier, Constraints, Joint};

/// How far from its call a result is recognised. A result in its call's own span, with the same id, is always
/// recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scope {
    /// Recognises results after the next assistant message.
    pub late: bool,
    /// Recognises results before the call.
    pub early: bool,
    /// Recognises results with another id.
    pub misaddressed: bool,
    /// Recognises them even if neither the name of the tool nor the position proves which call they answer.
    pub unproven: bool,
    /// Which messages with calls share one span, because they are answered together.
    pub joint: Joint,
    /// A span lasts until the next calls, even if assistant messages come before them.
    pub lasting: bool,
    /// The tool and the order tell which call a result answers, if one of the two has no id.
    pub by_tool: bool,
    /// The prefixes that the dialects give to ids, to recognise two forms of one id.
    pub prefixes: &'static [&'static [&'static str]],
}

impl Scope {
    /// Recognises results wherever it is certain which call they answer.
    pub const ALL: Self = Self {
        late: true,
        early: true,
        misaddressed: true,
        unproven: false,
        joint: Joint::Apart,
        lasting: false,
        by_tool: false,
        prefixes: &[],
    };

    /// The scope under a provider's demands: a result that the provider accepts is always recognised.
    #[must_use]
    pub fn under(self, demands: &Constraints) -> Self {
        let lasting = demands.carrier == Carrier::Items;
        let by_tool = !demands.call_id.demanded && !lasting;
        let prefixes = demands.call_id.known_prefixes;
        Self { late: self.late || lasting, joint: demands.joint_results, lasting, by_tool, prefixes, ..self }
    }
}
