//! The path from the last record to the first one, in files whose records name their parent.

use std::collections::HashMap;
use std::hash::Hash;

use super::catalogue::{FILE007, FILE008, FILE009, FILE010};
use super::{Defect, RecordEdit};
use crate::json::quoted;

/// A record of such a file. Its ids are texts, or numbers of texts.
pub(crate) struct Node<I> {
    /// The id of the record; a record without one has no place on the path.
    pub(crate) id: Option<I>,
    /// The id of its parent; nothing for the first record of a conversation.
    pub(crate) parent: Option<I>,
    /// Whether the member that names the parent is missing. A program writes it in each record.
    pub(crate) lacks_parent: bool,
    /// A number that is the same for records that say the same.
    pub(crate) hash: u64,
    /// Whether the record belongs to the conversation of the path.
    pub(crate) is_member: bool,
}

/// How a program follows the parents.
pub(crate) struct Walk {
    /// The member that names the parent.
    pub(crate) parent: &'static str,
    /// Whether the parents of the first records are in another file.
    pub(crate) starts_elsewhere: bool,
}

/// The path through the records.
pub(crate) struct Chain {
    /// The records on it, from the first to the last one.
    pub(crate) records: Vec<usize>,
    pub(crate) defects: Vec<Defect>,
}

impl Walk {
    /// Walks from a record to the first one. Where a parent is missing, the walk goes on at the record before, as the repair
    /// would connect it. `text` gives the text of an id.
    pub(crate) fn from<'t, I: Copy + Eq + Hash>(
        &self,
        last: Option<usize>,
        nodes: &[Node<I>],
        text: impl Fn(I) -> &'t str,
    ) -> Chain {
        let mut by_id: HashMap<I, usize> = HashMap::new();
        let mut defects = Vec::new();
        for (record, node) in nodes.iter().enumerate() {
            let Some(id) = node.id else { continue };
            match by_id.get(&id) {
                None => {
                    by_id.insert(id, record);
                }
                Some(first) => defects.extend((nodes[*first].hash == node.hash).then(|| copy(record))),
            }
        }
        // A copy has the place of the first record with its id.
        let first = |record: usize| nodes[record].id.and_then(|id| by_id.get(&id)).copied().unwrap_or(record);
        let opening = if self.starts_elsewhere { opening(nodes, &by_id) } else { 0 };
        let mut at = last.map(first);
        let mut records = Vec::new();
        let mut seen = vec![false; nodes.len()];
        while let Some(record) = at {
            seen[record] = true;
            records.push(record);
            let node = &nodes[record];
            if node.parent.is_none() && !node.lacks_parent {
                break;
            }
            let found = node.parent.and_then(|parent| by_id.get(&parent)).copied();
            at = found.filter(|parent| !seen[*parent]);
            if at.is_some() {
                continue;
            }
            at = before(nodes, record, &seen);
            let is_first = record < opening || at.is_none() && (self.starts_elsewhere || node.lacks_parent);
            if found.is_some() || !is_first {
                defects.push(self.cut(
                    record,
                    (node, found.is_some()),
                    at.and_then(|before| nodes[before].id).map(&text),
                ));
            }
        }
        records.reverse();
        defects.sort_by_key(|defect| defect.record);
        Chain { records, defects }
    }

    /// The defect of a record whose parent does not lead to the first record.
    fn cut<I>(&self, record: usize, (node, is_cycle): (&Node<I>, bool), before: Option<&str>) -> Defect {
        let (kind, message) = match (is_cycle, before) {
            _ if node.lacks_parent => (&FILE007, "it names no parent"),
            (true, _) => (&FILE010, "its parents lead back to the record itself"),
            (false, Some(_)) => (&FILE007, "its parent is not in the file"),
            (false, None) => (&FILE008, "its parent is not in the file"),
        };
        let parent = before.map_or_else(|| "null".to_owned(), quoted);
        let edits = vec![RecordEdit::Set { record, member: self.parent, value: Some(parent) }];
        Defect { kind, record, message: message.to_owned(), edits }
    }
}

/// The number of records up to the last one of those that open the conversation: each has its parent in another file. A
/// compaction agent has several of them, and a chain that is cut behind them is damaged.
fn opening<I: Copy + Eq + Hash>(nodes: &[Node<I>], by_id: &HashMap<I, usize>) -> usize {
    let opens = |node: &Node<I>| node.parent.is_some_and(|parent| !by_id.contains_key(&parent));
    let behind = nodes.iter().position(|node| node.id.is_some() && node.is_member && !opens(node));
    behind.unwrap_or(nodes.len())
}

/// The record of the conversation before a record in the file.
fn before<I>(nodes: &[Node<I>], record: usize, seen: &[bool]) -> Option<usize> {
    let fits = |at: &usize| nodes[*at].id.is_some() && nodes[*at].is_member && !seen[*at];
    (0..record).rev().find(fits)
}

/// The defect of a record that is in the file before. A record with the same id that says something else stays, because
/// the file may have been written by two processes.
fn copy(record: usize) -> Defect {
    let message = "the same record is in the file before".to_owned();
    Defect { kind: &FILE009, record, message, edits: vec![RecordEdit::Remove { record }] }
}
