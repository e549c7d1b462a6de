//! Repairs: changes of messages that were in the view.

use serde::{Deserialize, Serialize};

use super::{Insert, Meant};
use crate::id::{CallId, RepairId};
use crate::raw::Raw;

/// A change of messages that were in the view.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(from = "StoredRepair")]
pub struct RepairRecord {
    /// The id of the repair.
    pub id: RepairId,
    /// The reason for the change.
    pub kind: RepairKind,
    /// The changes, from the first message to the last. Places are those before the repair.
    pub cuts: Vec<Cut>,
    /// The messages that each cut means.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub meant: Vec<Meant>,
    /// The tool calls that got another id. A host may still give their results under the earlier one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub renamed: Vec<RenamedCall>,
    /// The actions and their reasons, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<Raw>,
}

/// A tool call that got another id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RenamedCall {
    /// The earlier id.
    pub from: CallId,
    /// The id in the view.
    pub to: CallId,
}

/// Tool calls that have other ids in the log than the model gave. A host may give their results under either.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RenamedCalls {
    /// The calls, from the first to the last.
    pub calls: Vec<RenamedCall>,
}

/// The reason for a repair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RepairKind {
    /// Messages were corrected or removed. The report lists the actions.
    Fix,
    /// Committed cycles were moved before the messages that arrived while their tools ran.
    Reorder,
    /// A tool result that came late was put where it belongs.
    LateResult,
}

/// A repair as stores have it. Version 0.1 wrote no kind: there, a repair without a report was a reorder, and one with an
/// empty report a late result.
#[derive(Deserialize)]
struct StoredRepair {
    id: RepairId,
    kind: Option<RepairKind>,
    cuts: Vec<Cut>,
    #[serde(default)]
    meant: Vec<Meant>,
    #[serde(default)]
    renamed: Vec<RenamedCall>,
    report: Option<Raw>,
}

impl From<StoredRepair> for RepairRecord {
    fn from(stored: StoredRepair) -> Self {
        let StoredRepair { id, kind, cuts, meant, renamed, report } = stored;
        let kind = kind.unwrap_or_else(|| match report.as_ref().map(Raw::as_str) {
            None => RepairKind::Reorder,
            Some("[]") => RepairKind::LateResult,
            Some(_) => RepairKind::Fix,
        });
        Self { id, kind, cuts, meant, renamed, report }
    }
}

/// Messages that replace others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cut {
    /// The index of the first message that changes.
    pub at: u64,
    /// The number of messages that are removed.
    pub removed: u64,
    /// The messages that are inserted.
    pub inserted: Vec<Insert>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Record;

    /// A repair as version 0.1 wrote it: without a kind.
    fn old_repair(report: &str) -> Record {
        Record::read(&format!(r#"{{"repair":{{"id":"repair_7","cuts":[]{report}}}}}"#))
    }

    #[test]
    fn a_repair_without_a_kind_gets_its_kind_from_its_report() {
        let cases = [
            ("", RepairKind::Reorder),
            (r#","report":[]"#, RepairKind::LateResult),
            (r#","report":[{"taken_back":"it"}]"#, RepairKind::Fix),
        ];
        for (report, kind) in cases {
            assert!(matches!(old_repair(report), Record::Repair(repair) if repair.kind == kind), "{report}");
        }
    }

    #[test]
    fn a_written_kind_takes_precedence_over_the_report() {
        for kind in [RepairKind::Fix, RepairKind::Reorder, RepairKind::LateResult] {
            let (cuts, meant) = (Vec::new(), Vec::new());
            let repair = Record::Repair(RepairRecord {
                id: "repair_7".into(),
                kind,
                cuts,
                meant,
                renamed: Vec::new(),
                report: None,
            });
            let written = serde_json::to_string(&repair).unwrap();
            assert_eq!(Record::read(&written), repair, "{written}");
        }
    }
}
