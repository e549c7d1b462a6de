//! The names that different programs give to roles.

use seamline_model::Role;

use crate::json::Value;

/// Reads the role of a message, under the names that most dialects share.
pub(crate) fn named(value: Option<Value<'_, '_>>) -> Role {
    match value.and_then(Value::str).as_deref() {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("system") => Role::System,
        Some("developer") => Role::Developer,
        Some("tool") => Role::Tool,
        Some("function") => Role::Function,
        _ => Role::Unknown,
    }
}

/// Reads the role of a message, in dialects that name it `user`, `assistant` or `system`.
pub(crate) fn read(value: Option<Value<'_, '_>>) -> Role {
    match named(value) {
        role @ (Role::User | Role::Assistant | Role::System) => role,
        _ => Role::Unknown,
    }
}

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

/// Finds the role and its usual name.
pub(crate) fn called(name: &str) -> Option<(Role, &'static str)> {
    known(name).map(|role| (role, role.as_str()))
}

/// Finds the role and its usual name, in dialects that have no developer role.
pub(crate) fn plain(name: &str) -> Option<(Role, &'static str)> {
    match known(name)? {
        Role::Developer => Some((Role::System, Role::System.as_str())),
        role => Some((role, role.as_str())),
    }
}
