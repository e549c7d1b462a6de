//! Roles as they are called by different programs.

use seamline_model::Role;

/// Who speaks under a name that some program or dialect has for it.
pub(crate) fn known(name: &str) -> Option<Role> {
    match name.to_ascii_lowercase().as_str() {
        "user" | "human" => Some(Role::User),
        "assistant" | "ai" | "model" | "bot" => Some(Role::Assistant),
        "system" => Some(Role::System),
        "developer" => Some(Role::Developer),
        _ => None,
    }
}

/// The same where only these roles have a name of their own.
pub(crate) fn plain(name: &str) -> Option<(Role, &'static str)> {
    match known(name)? {
        Role::Developer => Some((Role::System, Role::System.as_str())),
        role => Some((role, role.as_str())),
    }
}
