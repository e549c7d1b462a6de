//! The events that this crate logs, all in one place. An event never has the text of a conversation.

use tracing::warn;

/// Warns of a request whose body cannot be read. The client sends it as it is.
pub(crate) fn warn_of_unchecked(error: &seamline::Error) {
    warn!(target: "seamline", %error, "a request is sent unchecked");
}

/// Warns of a broken request that stays broken, because its signature covers the body.
pub(crate) fn warn_of_signed() {
    warn!(target: "seamline", "a broken request is sent as it is, because it is signed already");
}

/// Warns of a rejected conversation that the policy does not repair. The caller gets the error of the provider.
pub(crate) fn warn_of_left(error: &str) {
    warn!(target: "seamline", error, "a rejected conversation is left as it is, as the policy says");
}
