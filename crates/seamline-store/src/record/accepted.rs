//! Findings that the caller accepted.

use serde::{Deserialize, Serialize};

use super::EntryId;
use crate::id::CallId;

/// Findings that the caller accepted. They replace those that it accepted before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accepted {
    /// The accepted findings.
    pub findings: Vec<AcceptedFinding>,
}

/// A finding by its rule and its place. A later finding of the same rule at another place is not accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceptedFinding {
    /// The code of the rule.
    pub code: String,
    /// The message that it is about, if it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<EntryId>,
    /// The index of the block in that message, if it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block: Option<u64>,
    /// The ids of the calls that it is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<CallId>,
}

impl AcceptedFinding {
    /// Whether this covers another finding: one of the same rule at the same place, about no other call.
    pub fn covers(&self, other: &Self) -> bool {
        (&self.code, self.entry, self.block) == (&other.code, other.entry, other.block)
            && other.calls.iter().all(|call| self.calls.contains(call))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(calls: &[&str]) -> AcceptedFinding {
        let calls = calls.iter().map(|call| CallId::from(*call)).collect();
        AcceptedFinding { code: "PAIR001".to_owned(), entry: Some(EntryId(4, 0)), block: Some(1), calls }
    }

    #[test]
    fn only_the_same_rule_at_the_same_place_is_covered() {
        let accepted = finding(&["a", "b"]);
        assert!(accepted.covers(&accepted) && accepted.covers(&finding(&["b"])));
        let others = [
            finding(&["a", "c"]),
            AcceptedFinding { code: "PAIR002".to_owned(), ..accepted.clone() },
            AcceptedFinding { entry: Some(EntryId(4, 1)), ..accepted.clone() },
            AcceptedFinding { entry: None, ..accepted.clone() },
            AcceptedFinding { block: None, ..accepted.clone() },
        ];
        for other in others {
            assert!(!accepted.covers(&other), "{other:?}");
        }
    }
}
