//! The names that different programs give to roles.

use seamline_model::Role;

/// Finds the role that some program or dialect calls by this name.
pub(crate) fn known(name: &str) -> Option<Role> {
    match name.to_ascii_lowercase().as_str() {
        "user" | "human" => Some(Role::User),
        "assistant" | "ai" | "model" | "bot" => Some(Role::Assistant),
        "system" => Some(Role::System),
        "developer" => Some(Role::Developer),
        _ => None,
    }
}

/// Finds the role and its usual name, in dialects that have no developer role.
pub(crate) fn plain(name: &str) -> Option<(Role, &'static str)> {
    match known(name)? {
        Role::Developer => Some((Role::System, Role::System.as_str())),
        role => Some((role, role.as_str())),
    }
}
