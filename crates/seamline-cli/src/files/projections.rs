//! The rows in databases of Codex that describe a rollout which is repaired.
//!
//! They say up to which byte Codex has read the rollout, so that they are wrong behind a repair. They are removed before the
//! rollout is replaced: Codex makes them again from whatever rollout it finds. An undo gives the old ones back.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use seamline::files::database::{DatabaseError, Journal, Projection};
use serde::{Deserialize, Serialize};

use super::state::State;
use crate::failure::Failure;

/// The variable with the folder of Codex for its databases, if it is not the folder of its sessions.
const FOLDER: &str = "CODEX_SQLITE_HOME";

/// The removed rows of one database, as an undo record has them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ProjectionRecord {
    database: PathBuf,
    rollout: String,
    /// The hash of the journal with the rows.
    pub(super) journal: String,
}

/// The rows that a repair has to remove.
pub(super) struct Projections {
    rows: Vec<(Projection, Journal)>,
    pub(super) records: Vec<ProjectionRecord>,
}

impl Projections {
    /// Finds the rows that are wrong when the file at `path` becomes `after`, and keeps a copy of them.
    pub(super) fn of(state: &State, path: &Path, (before, after): (&[u8], &[u8])) -> Result<Self, Failure> {
        // Codex counts the bytes of the unpacked file.
        let is_packed = path.extension().is_some_and(|extension| extension == "zst");
        let same = before.iter().zip(after).take_while(|(old, new)| old == new).count();
        let unchanged = if is_packed { 0 } else { same as u64 };
        let (mut rows, mut records) = (Vec::new(), Vec::new());
        for projection in projections_of(path)? {
            let Some(journal) = projection.rows(unchanged).map_err(|error| failed(&projection.database, &error))?
            else {
                continue;
            };
            let bytes = serde_json::to_vec(&journal).map_err(|error| Failure::new(error.to_string()))?;
            records.push(ProjectionRecord {
                database: projection.database.clone(),
                rollout: projection.rollout.clone(),
                journal: state.keep(&bytes)?,
            });
            rows.push((projection, journal));
        }
        Ok(Self { rows, records })
    }

    /// Removes the rows, then makes the repair. If that fails, the rows are there again.
    pub(super) fn removed(&self, repair: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
        let mut removed = Vec::new();
        let mut remove = || {
            for (projection, journal) in &self.rows {
                projection.remove(journal).map_err(|error| failed(&projection.database, &error))?;
                removed.push((projection, journal));
            }
            Ok(())
        };
        let outcome = remove().and_then(|()| repair());
        if outcome.is_err() {
            for (projection, journal) in removed {
                // Without the rows Codex reads the rollout from its beginning.
                let _ = projection.restore(journal);
            }
        }
        outcome
    }
}

/// The views that Codex may keep of a rollout, in all its databases.
fn projections_of(rollout: &Path) -> Result<Vec<Projection>, Failure> {
    let told = std::env::var_os(FOLDER).filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let mut found = Vec::new();
    for folder in Projection::home(rollout).into_iter().chain(told.as_deref()) {
        let entries = match std::fs::read_dir(folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            entries => entries.map_err(|error| Failure::io("look for the databases of Codex", &error))?,
        };
        let databases = entries.filter_map(|entry| Some(entry.ok()?.path()));
        found.extend(databases.filter_map(|database| Projection::of(rollout, &database)));
    }
    found.sort_by(|one, other| one.database.cmp(&other.database));
    found.dedup();
    Ok(found)
}

/// Removes what Codex wrote for the repaired rollout, restores the rollout, and gives the old rows back.
pub(super) fn restored(
    state: &State,
    records: &[ProjectionRecord],
    restore: impl FnOnce() -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut rows = Vec::new();
    // A database that is gone is made again by Codex.
    for record in records.iter().filter(|record| record.database.exists()) {
        let journal: Journal = serde_json::from_slice(&state.get(&record.journal)?)
            .map_err(|error| Failure::new(format!("the journal of the repair is damaged: {error}")))?;
        rows.push((Projection { database: record.database.clone(), rollout: record.rollout.clone() }, journal));
    }
    for (projection, journal) in &rows {
        let none = Journal { changes: Vec::new(), ..journal.clone() };
        projection.restore(&none).map_err(|error| failed(&projection.database, &error))?;
    }
    restore()?;
    for (projection, journal) in &rows {
        projection.restore(journal).map_err(|error| failed(&projection.database, &error))?;
    }
    Ok(())
}

fn failed(database: &Path, error: &DatabaseError) -> Failure {
    let database = database.display();
    let hint = match error {
        DatabaseError::Busy | DatabaseError::Changed => "close Codex, then try again".to_owned(),
        _ => format!("close Codex and move `{database}` to another folder; Codex makes it again from the rollouts"),
    };
    Failure::new(format!(
        "Codex notes in `{database}` how far it has read the session, and that cannot be reset: {error}"
    ))
    .with_hint(hint)
}
