//! Plans the switch to another provider.

use seamline_store::{Record, Switch};

use crate::session::SessionError;
use crate::session::facts::{Batch, Facts};

impl Facts<'_> {
    /// Plans a switch; nothing where the session speaks to that provider already.
    pub(super) fn plan_switch(&self, name: &str) -> Result<Batch, SessionError> {
        let wire = self.wire.named(name)?;
        if (wire.dialect, &wire.options.provider) == (self.wire.dialect, &self.wire.options.provider) {
            return Ok(Batch::default());
        }
        let (dialect, provider) = (wire.dialect.into(), wire.options.provider);
        Ok(Record::Switch(Switch { dialect, provider }).into())
    }
}
