//! Previews of repairs.

use super::{RepairResult, stored_options};
use crate::Options;
use crate::repair::RepairAction;
use crate::session::facts::Facts;
use crate::session::{PersistRepairs, SessionError};

/// A repair that is planned but not made.
///
/// ```
/// use std::sync::Arc;
/// use seamline::Policy;
/// use seamline::session::{Session, SessionOptions};
/// use seamline::store::MemoryStore;
///
/// # futures_executor::block_on(async {
/// let store = Arc::new(MemoryStore::new());
/// let mut session = Session::create(store, "s-1".parse()?, SessionOptions::default()).await?;
/// session.append(r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"src"}]}"#).await?;
///
/// let preview = session.preview_repair(Policy::default())?;
/// assert!(preview.result.id.is_some() && preview.before != preview.after);
/// assert_eq!((preview.stored.len(), preview.left_to_requests.len()), (1, 0));
/// assert_eq!(session.repair().await?.id, preview.result.id);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Debug, Clone)]
pub struct RepairPreview {
    /// The repair. It has an id if a part of it would be stored.
    pub result: RepairResult,
    /// The actions that would be stored.
    pub stored: Vec<RepairAction>,
    /// The actions that would not be stored: each request makes them.
    pub left_to_requests: Vec<RepairAction>,
    /// The stored messages as a request body without other members, in the current dialect.
    pub before: Vec<u8>,
    /// The same after the repair is stored.
    pub after: Vec<u8>,
    /// The options of the repair.
    pub options: Options,
}

impl Facts<'_> {
    /// Plans a repair with these options, and says which part of it `persist` and the dialects of the messages let a
    /// session store.
    pub(in crate::session) fn preview_repair(
        &self,
        options: &Options,
        persist: PersistRepairs,
    ) -> Result<RepairPreview, SessionError> {
        let (result, batch) = self.plan_repair(options, persist)?;
        let (before, mut stored) = (self.bare_body()?, result.repairs.clone());
        let options_of_repair = stored_options(self.wire, options, persist);
        let Some(batch) = batch else {
            let (after, left_to_requests) = (before.clone(), std::mem::take(&mut stored));
            return Ok(RepairPreview { result, stored, left_to_requests, before, after, options: options_of_repair });
        };
        let (mut state, mut records) = (self.state.clone(), batch.records);
        state.name(&mut records);
        (self.next..).zip(&records).for_each(|(seq, record)| state.apply(seq, self.now, record));
        let repaired = Facts { state: &state, ..*self };
        let left_to_requests = repaired.plan_repair(options, persist)?.0.repairs;
        for left in &left_to_requests {
            let is_same = |action: &RepairAction| (action.code, &action.call_id) == (left.code, &left.call_id);
            if let Some(at) = stored.iter().position(is_same) {
                stored.remove(at);
            }
        }
        let after = repaired.bare_body()?;
        Ok(RepairPreview { result, stored, left_to_requests, before, after, options: options_of_repair })
    }

    /// The view as a request body without other members, in the current dialect.
    fn bare_body(&self) -> Result<Vec<u8>, SessionError> {
        let (entries, envelope) = self.wire.rendered(self.entries())?.for_envelope("{}");
        self.wire.body(&envelope, entries.iter().map(|entry| &entry.message))
    }
}
