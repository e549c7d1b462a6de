//! The methods, one file per group.

mod bodies;
mod guards;
mod hooks;
mod host;
mod sessions;
mod streams;
mod upkeep;

use std::sync::LazyLock;

use crate::table::Method;

/// Every method of the host.
pub static METHODS: LazyLock<Vec<&'static Method>> = LazyLock::new(|| {
    let files = [
        host::GROUPS,
        bodies::GROUPS,
        streams::GROUPS,
        sessions::GROUPS,
        hooks::GROUPS,
        upkeep::GROUPS,
        guards::GROUPS,
    ];
    files.into_iter().flatten().copied().flatten().collect()
});
