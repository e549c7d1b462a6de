//! Signatures that a provider gave tool calls.

use std::collections::BTreeMap;
use std::sync::Arc;

/// The signatures that a provider gave tool calls, by the id of the call. A copy is cheap.
///
/// ```
/// let signatures: seamline_model::Signatures = [("call_1".to_owned(), "c2ln".to_owned())].into_iter().collect();
/// assert_eq!((signatures.get("call_1"), signatures.get("call_2")), (Some("c2ln"), None));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Signatures(Arc<BTreeMap<String, String>>);

impl Signatures {
    /// The signature of the call with this id.
    pub fn get(&self, call_id: &str) -> Option<&str> {
        self.0.get(call_id).map(String::as_str)
    }

    /// Whether no signature is known.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<(String, String)> for Signatures {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(signatures: I) -> Self {
        let is_usable = |(id, signature): &(String, String)| !id.is_empty() && !signature.is_empty();
        Self(Arc::new(signatures.into_iter().filter(is_usable).collect()))
    }
}
