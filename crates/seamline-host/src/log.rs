//! The events that this crate logs, all in one place. An event never has the text of a conversation.

use tracing::warn;

use crate::error::RpcError;
use crate::object::ObjectKind;

/// Warns of an object that fails to close when the host ends.
pub(crate) fn warn_of_unclosed(kind: ObjectKind, error: &RpcError) {
    warn!(kind = kind.as_str(), code = error.code, "an object could not be closed");
}
