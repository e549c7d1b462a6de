//! The space that is left for a file.

use std::path::Path;

/// The least space that an opening needs: SQLite makes an index of this size beside the file.
#[cfg(unix)]
const LEAST: u64 = 64 * 1024;

/// Whether the file system has no space left for the files of a store, or they have reached the size limit of this
/// process.
#[cfg(unix)]
pub(crate) fn is_used_up(path: &Path) -> bool {
    let folder = path.parent().unwrap_or(path);
    let is_full = rustix::fs::statvfs(folder).is_ok_and(|left| left.f_bavail.saturating_mul(left.f_frsize) < LEAST);
    is_full || is_at_limit(path)
}

#[cfg(unix)]
#[expect(clippy::disallowed_methods, reason = "a file store inspects its files")]
fn is_at_limit(path: &Path) -> bool {
    let Some(limit) = rustix::process::getrlimit(rustix::process::Resource::Fsize).current else { return false };
    let size = |end: &str| std::fs::metadata(crate::file::beside(path, end)).map_or(0, |found| found.len());
    ["", "-wal", "-shm"].iter().any(|end| size(end).saturating_add(LEAST) > limit)
}

#[cfg(not(unix))]
pub(crate) fn is_used_up(_path: &Path) -> bool {
    false
}
