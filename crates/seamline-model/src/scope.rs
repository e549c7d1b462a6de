//! How far from its call a result is looked for.

use crate::{Carrier, Constraints};

/// How far from its call a result is recognised. Step 1 always applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scope {
    /// After the next assistant message.
    pub late: bool,
    /// Before the call.
    pub early: bool,
    /// Under another id.
    pub misaddressed: bool,
    /// Neighbouring messages with calls share one span: they are answered together.
    pub joint: bool,
    /// A span lasts until the next calls, whatever the assistant says before.
    pub lasting: bool,
}

impl Scope {
    /// Everything that can be told.
    pub const ALL: Self = Self { late: true, early: true, misaddressed: true, joint: false, lasting: false };

    /// The scope where a provider demands this: a result that it takes is always recognised.
    #[must_use]
    pub fn under(self, demands: &Constraints) -> Self {
        let lasting = demands.carrier == Carrier::Items;
        Self { late: self.late || lasting, joint: demands.joint_answers, lasting, ..self }
    }
}
