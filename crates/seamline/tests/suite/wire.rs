//! The calls and results of a body in any dialect, read independently of the library.

use std::collections::BTreeMap;

use seamline_testkit::Dialect;
use seamline_testkit::events::{Event, events};
use serde_json::Value;

/// A call with the result that answers it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Pair {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) input: Value,
    pub(crate) output: String,
    pub(crate) failed: bool,
}

/// The pairs of a body, in the order of their calls. Fails if a call is not answered right after it, a result has no
/// call, or a call is answered twice.
pub(crate) fn pairs(dialect: &str, body: &Value) -> Result<Vec<Pair>, String> {
    let mut pairs = Vec::new();
    let mut open: Vec<Event> = Vec::new();
    let dialect = Dialect::by_name(dialect).ok_or_else(|| format!("unknown dialect `{dialect}`"))?;
    for event in events(dialect, body) {
        match event {
            Event::Call { ref id, .. } => {
                if open.iter().any(|known| matches!(known, Event::Call { id: other, .. } if other == id)) {
                    return Err(format!("two calls at once are called {id}"));
                }
                open.push(event);
            }
            Event::Result { id, output, failed } => {
                let place = open.iter().position(|call| matches!(call, Event::Call { id: other, .. } if *other == id));
                let Some(place) = place else { return Err(format!("result {id} answers nothing before it")) };
                if let Event::Call { at, id, name, input } = open.remove(place) {
                    pairs.push((at, Pair { id, name, input, output, failed }));
                }
            }
            Event::Other if open.is_empty() => {}
            Event::Other => return Err(format!("something is between {open:?} and its result")),
        }
    }
    if !open.is_empty() {
        return Err(format!("{open:?} is not answered"));
    }
    let pairs: BTreeMap<usize, Pair> = pairs.into_iter().collect();
    Ok(pairs.into_values().collect())
}

/// The part of a pair that must survive a round trip: ids may change.
pub(crate) fn without_ids(pairs: Vec<Pair>) -> Vec<(String, Value, String, bool)> {
    pairs.into_iter().map(|pair| (pair.name, pair.input, spelled_alike(pair.output), pair.failed)).collect()
}

/// Spells equal JSON in the same way.
fn spelled_alike(output: String) -> String {
    match serde_json::from_str::<Value>(&output) {
        Ok(value @ (Value::Object(_) | Value::Array(_))) => value.to_string(),
        _ => output,
    }
}
