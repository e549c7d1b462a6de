//! What a call is called with: the start value and the pieces, which are never joined.

use std::borrow::Cow;

use serde::de::IgnoredAny;

use crate::snapshot::Snapshot;

seamline_model::words! {
    /// Which source of a tool call's input counts when there are several.
    ArgSource {
        /// The deltas, if any came; else the input at the start of the call.
        DeltaWins = "delta_wins",
        /// A delta that begins an object replaces the input at the start; any other delta continues it.
        MergeHeuristic = "merge_heuristic",
        /// The first of deltas and start that is a JSON object, else as `delta_wins`.
        ParsableWins = "parsable_wins",
    }
}

#[expect(clippy::derivable_impls, reason = "the macro that declares the words has no place for the attribute")]
impl Default for ArgSource {
    fn default() -> Self {
        Self::DeltaWins
    }
}

/// The input of a call while it comes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Arguments {
    /// What stood where the call began, as JSON; nothing when that was nothing.
    start: Option<String>,
    deltas: Snapshot,
    /// What the provider repeated at the end.
    whole: Option<String>,
    /// It did so twice, and not with the same.
    has_two: bool,
}

impl Arguments {
    /// Notes what stood at the start. Nothing, an empty object and an empty string say that
    /// the input is to come.
    pub(crate) fn start(&mut self, json: &str) {
        let says = json.trim() != "\"\"" && !says_nothing(json);
        if says && self.start.is_none() {
            self.start = Some(json.trim().to_owned());
        }
    }

    pub(crate) fn push(&mut self, piece: &str) {
        self.deltas.push(piece);
    }

    /// The pieces are text of any kind, about which nothing is guessed.
    pub(crate) fn take_as_it_comes(&mut self) {
        self.deltas.take_as_it_comes();
    }

    /// How many bytes of pieces are kept.
    pub(crate) fn size(&self) -> usize {
        self.deltas.size()
    }

    /// How many bytes more are kept with a further piece, or about so many.
    pub(crate) fn growth(&self, piece: &str) -> usize {
        self.deltas.growth(piece)
    }

    /// Whether anything came of it: that it begins with nothing says only that it is to come.
    pub(crate) fn has_come(&self) -> bool {
        self.whole.is_some() || self.start.as_deref().is_some_and(|start| start != "{}") || !self.deltas.is_blank()
    }

    /// Whether the provider itself gave all of it.
    pub(crate) fn is_repeated_whole(&self) -> bool {
        self.whole.is_some()
    }

    /// Whether pieces were taken for an input that came again and again, and count.
    pub(crate) fn is_snapshot(&self) -> bool {
        let counts = self.whole.as_deref().is_none_or(|whole| !is_json(whole));
        counts && self.repeated().is_some()
    }

    /// Compares all of it with what the provider says of it once more.
    pub(crate) fn recall(&mut self, text: &str) {
        self.has_two |= self.whole.as_deref().is_some_and(|whole| !same_json(whole, text));
    }

    pub(crate) fn whole(&mut self, text: &str) {
        if !text.trim().is_empty() {
            self.recall(text);
            self.whole = Some(text.to_owned());
        }
    }

    /// The text of an input that is no JSON: what the provider repeated at the end, else the pieces.
    pub(crate) fn free_text(&self) -> String {
        self.whole.clone().unwrap_or_else(|| self.deltas.joined().into_owned())
    }

    /// Whether the input came twice, at the start, in pieces or at the end, and not as the same.
    pub(crate) fn differs(&self) -> bool {
        let says = self.start.as_deref().filter(|start| *start != "{}");
        let deltas = Some(self.delta_text()).filter(|deltas| !says_nothing(deltas));
        let whole = self.whole.as_deref().filter(|whole| !says_nothing(whole));
        let differ = |one: &str| deltas.as_deref().is_some_and(|deltas| !same_json(one, deltas));
        self.has_two || says.is_some_and(differ) || whole.is_some_and(differ)
    }

    /// The text of the input; no input is an empty object.
    pub(crate) fn text(&self, source: ArgSource) -> String {
        let text = match (&self.whole, &self.start) {
            (Some(whole), _) if is_json(whole) && !says_nothing(whole) => whole.clone(),
            (_, start) => {
                self.without_whole(start.as_deref(), source).or_else(|| self.whole.clone()).unwrap_or_default()
            }
        };
        if says_nothing(&text) { "{}".to_owned() } else { text }
    }

    fn without_whole(&self, start: Option<&str>, source: ArgSource) -> Option<String> {
        let deltas = Some(self.delta_text()).filter(|deltas| !says_nothing(deltas));
        let Some(deltas) = deltas else { return start.map(str::to_owned) };
        let Some(start) = start else { return Some(deltas.into_owned()) };
        let chosen = match source {
            ArgSource::MergeHeuristic if deltas.trim_start().starts_with('{') => deltas.into_owned(),
            ArgSource::MergeHeuristic => continued(start, &deltas),
            ArgSource::ParsableWins if !is_object(&deltas) && is_object(start) => start.to_owned(),
            ArgSource::DeltaWins | ArgSource::ParsableWins => deltas.into_owned(),
        };
        Some(chosen)
    }

    /// The pieces one behind the other, unless they are repeated.
    fn delta_text(&self) -> Cow<'_, str> {
        self.repeated().map_or_else(|| self.deltas.joined(), Cow::Borrowed)
    }

    /// What the pieces say where what is repeated counts once, if it does. Where that is an
    /// object, they cannot be one behind each other: each opens what it does not close.
    fn repeated(&self) -> Option<&str> {
        self.deltas.repeated().filter(|last| self.deltas.is_repeated() || is_object(last))
    }
}

/// An object that goes on: what closed it makes room for what follows.
fn continued(start: &str, deltas: &str) -> String {
    let open = start.strip_suffix('}').unwrap_or(start).trim_end();
    let both = [open, deltas].concat();
    if is_json(&both) { both } else { [start, deltas].concat() }
}

/// Whether a text is that of no input: tools without arguments are called with `null` too
/// (CMP-7).
fn says_nothing(text: &str) -> bool {
    matches!(text.trim(), "" | "null")
}

/// Whether two texts are the same JSON, however it is laid out.
fn same_json(one: &str, other: &str) -> bool {
    let value = |text| serde_json::from_str::<serde_json::Value>(text).ok();
    one == other || value(one).is_some_and(|read| value(other) == Some(read))
}

/// Whether a text is JSON and nothing else.
pub(crate) fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// Whether a text is a JSON object and nothing else.
pub(crate) fn is_object(text: &str) -> bool {
    text.trim_start().starts_with('{') && is_json(text)
}

/// Whether a text is a JSON object that every reader takes: no half of a character, no number
/// beyond all bounds. No other input of a call that takes JSON is fit to be run.
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

/// How many levels an input may have. Readers follow 127, of which the message around it takes some.
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

/// Whether a text is a JSON object that has members.
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
    fn the_six_sequences_of_start_and_pieces() {
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
    fn a_continuation_is_valid_where_it_is_looked_for() {
        let both = r#"{"pattern":"*.c","path":"x"}"#;
        assert_eq!(text(r#"{"pattern":"*.c"}"#, &[r#","path":"x"}"#], ArgSource::MergeHeuristic), both);
        assert_eq!(text(r#"{"a":1}"#, &[r#"{"a":"#, "2}"], ArgSource::MergeHeuristic), r#"{"a":2}"#);
        assert_eq!(text(r#"{"a":1}"#, &[r#"{"a":"#], ArgSource::ParsableWins), r#"{"a":1}"#);
        assert_eq!(text(r#"{"a":1}"#, &[r#"{"a":2}"#], ArgSource::ParsableWins), r#"{"a":2}"#);
    }

    #[test]
    fn snapshots_are_told_from_pieces() {
        assert_eq!(text("", &[r#"{"a":"#, r#"{"a":1"#, r#"{"a":1}"#], ArgSource::DeltaWins), r#"{"a":1}"#);
        assert_eq!(text("", &[r#"{"a":"#, r#"{"a":1"#, "}"], ArgSource::DeltaWins), r#"{"a":1}"#);
        // An object that comes twice is two objects.
        assert_eq!(text("", &[r#"{"a":1}"#, r#"{"a":1}"#], ArgSource::DeltaWins), r#"{"a":1}{"a":1}"#);
        // Both readings begin alike; only joined is it JSON.
        assert_eq!(text("", &[r#"{"a":"#, r#"{"a":1}}"#], ArgSource::DeltaWins), r#"{"a":{"a":1}}"#);
    }

    #[test]
    fn no_input_is_an_empty_object() {
        for (start, deltas) in [("", &[][..]), ("null", &[]), ("\"\"", &[""]), ("{}", &[]), ("", &["nu", "ll"])] {
            assert_eq!(text(start, deltas, ArgSource::DeltaWins), "{}");
        }
        assert_eq!(text(r#"{"a":1}"#, &["null"], ArgSource::DeltaWins), r#"{"a":1}"#);
        for source in [ArgSource::DeltaWins, ArgSource::MergeHeuristic, ArgSource::ParsableWins] {
            assert_eq!(text(r#"{"a":1}"#, &[" ", "\n"], source), r#"{"a":1}"#);
        }
        let mut arguments = Arguments::default();
        arguments.push("{}");
        arguments.whole("null");
        assert_eq!((arguments.text(ArgSource::DeltaWins).as_str(), arguments.free_text().as_str()), ("{}", "null"));
    }

    #[test]
    fn a_free_input_is_taken_as_it_comes() {
        let mut arguments = Arguments::default();
        assert_eq!(arguments.free_text(), "");
        arguments.push("SELECT ");
        arguments.push("1");
        assert_eq!(arguments.free_text(), "SELECT 1");
        arguments.whole("SELECT 12");
        assert_eq!(arguments.free_text(), "SELECT 12");
    }

    #[test]
    fn what_the_provider_repeats_at_the_end_counts_if_it_is_json() {
        let mut arguments = Arguments::default();
        arguments.push(r#"{"a":"#);
        arguments.whole(r#"{"a":1}"#);
        assert_eq!(arguments.text(ArgSource::DeltaWins), r#"{"a":1}"#);
        arguments.whole("{oops");
        assert_eq!(arguments.text(ArgSource::DeltaWins), r#"{"a":"#);
    }
}
