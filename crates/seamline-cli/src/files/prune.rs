//! Removal of the old bytes of repairs.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::state::{State, entries, numbers};
use super::undo::Record;
use crate::failure::Failure;
use crate::time;

/// Limits of a prune: the copies that it keeps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// Repairs before this time are removed, in milliseconds since 1970.
    pub(crate) since: u64,
    /// The most bytes that stay; the oldest go first.
    pub(crate) bytes_max: Option<u64>,
}

/// Counts of the copies that a prune kept and removed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Pruned {
    /// The repairs that can no longer be undone.
    pub(crate) repairs: usize,
    /// The bytes that were removed.
    pub(crate) bytes: u64,
    /// The repairs that can still be undone.
    pub(crate) left: usize,
    /// The bytes that stay.
    pub(crate) bytes_left: u64,
}

/// A repair in the state folder.
struct Kept {
    path: PathBuf,
    at: u64,
    /// The hashes of the bytes that it needs.
    needs: Vec<String>,
}

/// Bytes in the state folder.
struct Object {
    path: PathBuf,
    at: u64,
    bytes: u64,
}

/// Removes old repairs, and the bytes that no repair needs. A copy that `undo --force` made counts from the time it was
/// written.
pub(crate) fn prune(bounds: Bounds) -> Result<Pruned, Failure> {
    let state = State::find()?;
    if !state.is_there() {
        return Ok(Pruned::default());
    }
    let _alone = state.lock()?;
    run(&state, bounds).map_err(|error| Failure::io("prune the old bytes", &error))
}

fn run(state: &State, bounds: Bounds) -> std::io::Result<Pruned> {
    let (folders, objects) = state.folders()?;
    let mut repairs = Vec::new();
    for folder in &folders {
        for number in numbers(folder)? {
            let path = folder.join(number.to_string());
            // A record that cannot be read serves no undo.
            let record = std::fs::read_to_string(&path).ok().and_then(|text| Record::read(&text).ok());
            let at = record.as_ref().and_then(|record| time::parse(&record.time, 0)).unwrap_or_default();
            let needs = record.map(|record| record.needs().map(str::to_owned).collect()).unwrap_or_default();
            repairs.push(Kept { path, at, needs });
        }
    }
    let mut objects = entries(&objects)?.into_iter().filter_map(object).collect::<Vec<_>>();
    repairs.sort_by_key(|repair| repair.at);
    objects.sort_by_key(|object| object.at);
    let stays = choose(&repairs, &objects, bounds);
    let mut pruned = Pruned::default();
    for repair in &repairs[..repairs.len() - stays] {
        std::fs::remove_file(&repair.path)?;
        pruned.repairs += 1;
    }
    pruned.left = stays;
    let kept = &repairs[repairs.len() - stays..];
    let needed: HashSet<&str> = kept.iter().flat_map(|repair| &repair.needs).map(String::as_str).collect();
    let mut room = bounds.bytes_max.map(|max| max.saturating_sub(size_of(&objects, &needed)));
    for object in objects.iter().rev() {
        let is_needed = needed.contains(name(&object.path));
        let fits = room.is_none_or(|room| object.bytes <= room);
        if is_needed || object.at >= bounds.since && fits {
            pruned.bytes_left += object.bytes;
            room = room.map(|room| if is_needed { room } else { room - object.bytes });
        } else {
            std::fs::remove_file(&object.path)?;
            pruned.bytes += object.bytes;
        }
    }
    for folder in &folders {
        remove_empty(folder);
    }
    Ok(pruned)
}

/// The number of repairs that stay, counted from the newest.
fn choose(repairs: &[Kept], objects: &[Object], bounds: Bounds) -> usize {
    let mut needed = HashSet::new();
    let young = repairs.iter().rev().take_while(|repair| repair.at >= bounds.since);
    let fitting = young.take_while(|repair| {
        needed.extend(repair.needs.iter().map(String::as_str));
        bounds.bytes_max.is_none_or(|max| size_of(objects, &needed) <= max)
    });
    fitting.count()
}

fn size_of(objects: &[Object], needed: &HashSet<&str>) -> u64 {
    objects.iter().filter(|object| needed.contains(name(&object.path))).map(|object| object.bytes).sum()
}

fn object(path: PathBuf) -> Option<Object> {
    let found = path.metadata().ok().filter(std::fs::Metadata::is_file)?;
    let since = found.modified().unwrap_or(SystemTime::now()).duration_since(UNIX_EPOCH).unwrap_or_default();
    Some(Object { path, at: u64::try_from(since.as_millis()).unwrap_or(u64::MAX), bytes: found.len() })
}

fn name(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

/// Removes the folder of a file without repairs. No other process uses it while this one holds the lock.
fn remove_empty(folder: &Path) {
    if numbers(folder).is_ok_and(|numbers| numbers.is_empty()) {
        // A folder with anything else in it stays.
        let _ = std::fs::remove_file(folder.join("lock"));
        let _ = std::fs::remove_dir(folder);
    }
}
