//! The input of a call: its start value and its deltas, which are never joined.

use std::borrow::Cow;

use serde::de::IgnoredAny;

use crate::snapshot::Snapshot;

seamline_model::words! {
    /// Which source of a call's input counts if there are several.
    ArgSource default DeltaWins {
        /// The deltas, if any arrived; otherwise the start value.
        DeltaWins = "delta_wins",
        /// A delta that begins an object replaces the start value; any other continues it.
        MergeHeuristic = "merge_heuristic",
        /// The first of deltas and start value that is an object; otherwise as `delta_wins`.
        ParsableWins = "parsable_wins",
    }
}

/// The input of a call while it arrives.
#[derive(Debug, Clone, Default)]
pub(crate) struct Arguments {
    /// The start value as JSON; `None` if it was empty.
    start: Option<String>,
    deltas: Snapshot,
    /// The complete input that the provider repeated at the end.
    whole: Option<String>,
    /// Whether the provider repeated the input twice, with different content.
    has_two: bool,
}

impl Arguments {
    /// Records the start value. `null`, an empty string and no value mean that the input is still to come.
    pub(crate) fn start(&mut self, json: &str) {
        let has_value = json.trim() != "\"\"" && !is_absent(json);
        if has_value && self.start.is_none() {
            self.start = Some(json.trim().to_owned());
        }
    }

    pub(crate) fn push(&mut self, piece: &str) {
        self.deltas.push(piece);
    }

    /// Takes every piece as a delta: the input is free text, so snapshots are not detected.
    pub(crate) fn disable_snapshots(&mut self) {
        self.deltas.disable_snapshots();
    }

    /// The number of bytes of deltas that are kept.
    pub(crate) fn size(&self) -> usize {
        self.deltas.size()
    }

    /// Roughly how many more bytes a further delta would take.
    pub(crate) fn growth(&self, piece: &str) -> usize {
        self.deltas.growth(piece)
    }

    /// Whether any input arrived. An empty start value only means that the input is still to come.
    pub(crate) fn has_arrived(&self) -> bool {
        self.whole.is_some() || self.start.as_deref().is_some_and(|start| start != "{}") || !self.deltas.is_blank()
    }

    /// Whether the provider itself repeated the complete input.
    pub(crate) fn is_repeated_in_full(&self) -> bool {
        self.whole.is_some()
    }

    /// Whether the deltas are read as snapshots, and that reading is used.
    pub(crate) fn is_snapshot(&self) -> bool {
        let counts = self.whole.as_deref().is_none_or(|whole| !is_json(whole));
        counts && self.repeated().is_some()
    }

    /// Compares the complete input with the provider's repetition of it.
    pub(crate) fn recall(&mut self, text: &str) {
        self.has_two |= self.whole.as_deref().is_some_and(|whole| !same_json(whole, text));
    }

    pub(crate) fn set_whole(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.recall(text);
            self.whole = Some(text.to_owned());
        }
    }

    /// The text of free input: the provider's repetition at the end, otherwise the deltas.
    pub(crate) fn free_text(&self) -> String {
        self.whole.clone().unwrap_or_else(|| self.deltas.joined().into_owned())
    }

    /// Whether the input arrived more than once (start, deltas, end) with different content.
    pub(crate) fn differs(&self) -> bool {
        let start = self.start.as_deref().filter(|start| *start != "{}");
        let deltas = Some(self.delta_text()).filter(|deltas| !is_absent(deltas));
        let whole = self.whole.as_deref().filter(|whole| !is_absent(whole));
        let differ = |one: &str| deltas.as_deref().is_some_and(|deltas| !same_json(one, deltas));
        self.has_two || start.is_some_and(differ) || whole.is_some_and(differ)
    }

    /// The text of the input; an absent input gives an empty object.
    pub(crate) fn text(&self, source: ArgSource) -> String {
        let text = match (&self.whole, &self.start) {
            (Some(whole), _) if is_json(whole) && !is_absent(whole) => whole.clone(),
            (_, start) => {
                self.without_whole(start.as_deref(), source).or_else(|| self.whole.clone()).unwrap_or_default()
            }
        };
        if is_absent(&text) { "{}".to_owned() } else { text }
    }

    fn without_whole(&self, start: Option<&str>, source: ArgSource) -> Option<String> {
        let deltas = Some(self.delta_text()).filter(|deltas| !is_absent(deltas));
        let Some(deltas) = deltas else { return start.map(str::to_owned) };
        let Some(start) = start else { return Some(deltas.into_owned()) };
        let chosen = match source {
            ArgSource::MergeHeuristic if deltas.trim_start().starts_with('{') => deltas.into_owned(),
            ArgSource::MergeHeuristic => join_object(start, &deltas),
            // An empty start value only means that the input is still to come.
            ArgSource::ParsableWins if !is_object(&deltas) && is_object(start) && start != "{}" => start.to_owned(),
            ArgSource::DeltaWins | ArgSource::ParsableWins => deltas.into_owned(),
        };
        Some(chosen)
    }

    /// The deltas joined, unless they are snapshots.
    fn delta_text(&self) -> Cow<'_, str> {
        self.repeated().map_or_else(|| self.deltas.joined(), Cow::Borrowed)
    }

    /// The text if the deltas are snapshots. If that text is an object, the deltas cannot be parts of one text: each
    /// opens brackets that it does not close.
    fn repeated(&self) -> Option<&str> {
        self.deltas.repeated().filter(|last| self.deltas.is_repeated() || is_object(last))
    }
}

/// Joins an object and its continuation: the closing bracket of the start is dropped.
fn join_object(start: &str, deltas: &str) -> String {
    let open = start.strip_suffix('}').unwrap_or(start).trim_end();
    let both = [open, deltas].concat();
    if is_json(&both) { both } else { [start, deltas].concat() }
}

/// Whether a text means that there is no input; some models call tools without arguments with `null` (CMP-7).
fn is_absent(text: &str) -> bool {
    matches!(text.trim(), "" | "null")
}

/// Whether two texts are the same JSON, whatever their layout.
fn same_json(one: &str, other: &str) -> bool {
    let value = |text| serde_json::from_str::<serde_json::Value>(text).ok();
    one == other || value(one).is_some_and(|read| value(other) == Some(read))
}

/// Whether a text is exactly one JSON value.
pub(crate) fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Whether a text is exactly one JSON object.
pub(crate) fn is_object(text: &str) -> bool {
    text.trim_start().starts_with('{') && is_json(text)
}

/// Whether a text is a JSON object that every parser accepts: no half of a surrogate pair, no number out of range, no
/// excessive nesting. Only such input of a call may be run.
///
/// ```
/// use seamline_assemble::is_plain_object;
///
/// assert!(is_plain_object(r#"{"amount":10}"#));
/// assert!(!is_plain_object(r#"{"amount":10"#) && !is_plain_object("[10]"));
/// ```
pub fn is_plain_object(text: &str) -> bool {
    let is_object = text.trim_start().starts_with('{');
    is_object && serde_json::from_str::<serde_json::Value>(text).is_ok_and(|value| is_flat(&value))
}

/// The highest nesting of an input. Parsers accept 127 levels, and the message around the input takes some of them.
const LEVELS_MAX: usize = 100;

fn is_flat(value: &serde_json::Value) -> bool {
    let mut level = vec![value];
    for _ in 0..=LEVELS_MAX {
        let below = level.iter().flat_map(|value| match value {
            serde_json::Value::Array(elements) => elements.iter().collect(),
            serde_json::Value::Object(members) => members.values().collect(),
            _ => Vec::new(),
        });
        level = below.collect();
        if level.is_empty() {
            return true;
        }
    }
    false
}

/// Whether a text is a JSON object with members.
pub(crate) fn has_members(text: &str) -> bool {
    let is_empty = || text.trim().strip_prefix('{').is_some_and(|rest| rest.trim_start() == "}");
    is_object(text) && !is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(start: &str, deltas: &[&str], source: ArgSource) -> String {
        let mut arguments = Arguments::default();
        arguments.start(start);
        for delta in deltas {
            arguments.push(delta);
        }
        arguments.text(source)
    }

    #[test]
    fn start_value_and_deltas_combine_as_documented() {
        let wins = |start: &str, deltas: &[&str]| text(start, deltas, ArgSource::DeltaWins);
        let object = r#"{"command":"ls"}"#;
        assert_eq!(wins(object, &[object]), object);
        assert_eq!(wins("", &[r#"{"command""#, r#":"ls"}"#]), object);
        assert_eq!(wins(object, &[]), object);
        assert_eq!(wins("null", &[object]), object);
        assert_eq!(wins(object, &[r#","path":"x"}"#]), r#","path":"x"}"#);
        assert_eq!(wins("{}", &[object]), object);
    }

    #[test]
    fn the_merge_heuristic_joins_a_continuation() {
        let both = r#"{"pattern":"*.c","path":"x"}"#;
        assert_eq!(text(r#"{"pattern":"*.c"}"#, &[r#","path":"x"}"#], ArgSource::MergeHeuristic), both);
        assert_eq!(text(r#"{"a":1}"#, &[r#"{"a":"#, "2}"], ArgSource::MergeHeuristic), r#"{"a":2}"#);
        assert_eq!(text(r#"{"a":1}"#, &[r#"{"a":"#], ArgSource::ParsableWins), r#"{"a":1}"#);
        assert_eq!(text(r#"{"a":1}"#, &[r#"{"a":2}"#], ArgSource::ParsableWins), r#"{"a":2}"#);
    }

    #[test]
    fn snapshots_are_distinguished_from_deltas() {
        assert_eq!(text("", &[r#"{"a":"#, r#"{"a":1"#, r#"{"a":1}"#], ArgSource::DeltaWins), r#"{"a":1}"#);
        assert_eq!(text("", &[r#"{"a":"#, r#"{"a":1"#, "}"], ArgSource::DeltaWins), r#"{"a":1}"#);
        // An object that arrives twice is two objects.
        assert_eq!(text("", &[r#"{"a":1}"#, r#"{"a":1}"#], ArgSource::DeltaWins), r#"{"a":1}{"a":1}"#);
        // Both readings start the same; only the joined text is JSON.
        assert_eq!(text("", &[r#"{"a":"#, r#"{"a":1}}"#], ArgSource::DeltaWins), r#"{"a":{"a":1}}"#);
    }

    #[test]
    fn an_absent_input_is_an_empty_object() {
        for (start, deltas) in [("", &[][..]), ("null", &[]), ("\"\"", &[""]), ("{}", &[]), ("", &["nu", "ll"])] {
            assert_eq!(text(start, deltas, ArgSource::DeltaWins), "{}");
        }
        assert_eq!(text(r#"{"a":1}"#, &["null"], ArgSource::DeltaWins), r#"{"a":1}"#);
        for source in [ArgSource::DeltaWins, ArgSource::MergeHeuristic, ArgSource::ParsableWins] {
            assert_eq!(text(r#"{"a":1}"#, &[" ", "\n"], source), r#"{"a":1}"#);
        }
        let mut arguments = Arguments::default();
        arguments.push("{}");
        arguments.set_whole("null");
        assert_eq!((arguments.text(ArgSource::DeltaWins).as_str(), arguments.free_text().as_str()), ("{}", "null"));
    }

    #[test]
    fn free_input_is_kept_unchanged() {
        let mut arguments = Arguments::default();
        assert_eq!(arguments.free_text(), "");
        arguments.push("SELECT ");
        arguments.push("1");
        assert_eq!(arguments.free_text(), "SELECT 1");
        arguments.set_whole("SELECT 12");
        assert_eq!(arguments.free_text(), "SELECT 12");
    }

    #[test]
    fn the_repetition_at_the_end_counts_if_it_is_json() {
        let mut arguments = Arguments::default();
        arguments.push(r#"{"a":"#);
        arguments.set_whole(r#"{"a":1}"#);
        assert_eq!(arguments.text(ArgSource::DeltaWins), r#"{"a":1}"#);
        arguments.set_whole("{oops");
        assert_eq!(arguments.text(ArgSource::DeltaWins), r#"{"a":"#);
    }
}
