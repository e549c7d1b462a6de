//! The names that our code reads, taken from the sources of a dialect.

use std::collections::{BTreeMap, BTreeSet};

use super::rust_text::{Token, tokens};
use super::vendor::{Kind, Name};
use crate::source;
use crate::tree::Tree;

/// The folder with one folder per dialect.
const DIALECTS: &str = "crates/seamline-dialects/src/";
/// The words for why a provider stopped.
const STOPS: &str = "crates/seamline-model/src/stop.rs";
/// The texts of providers' errors.
const ERRORS: &str = "crates/seamline-guard/src/";
/// The files of a dialect that read its streams.
const STREAMS: &str = "/stream";
/// The files whose names are not read: signs by which a dialect is recognised, and its list of words.
const UNREAD: [&str; 2] = ["/detect.rs", "/words.rs"];

/// The names that one dialect reads.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// Strings in the sources of the dialect.
    words: BTreeSet<String>,
    /// Strings in the sources that read streams.
    streamed: BTreeSet<String>,
    /// Members by the type that has them, from tables such as `("text", &["type", "text"])`.
    tables: BTreeMap<String, BTreeSet<String>>,
    /// Endings that a type is recognised by.
    endings: BTreeSet<String>,
    /// Beginnings and endings that are removed before a name is compared.
    starts: BTreeSet<String>,
    tails: BTreeSet<String>,
    stops: BTreeSet<String>,
    errors: Vec<String>,
}

impl Known {
    /// Reads the sources of a dialect; `None` if the tree has no such dialect.
    pub(crate) fn read(tree: &Tree, dialect: &str) -> Option<Self> {
        let own = format!("{DIALECTS}{dialect}/");
        if !tree.contains(&own) {
            return None;
        }
        let mut known = Self::default();
        for (path, text) in tree.rust().filter(|(path, _)| !source::is_test_file(path)) {
            if path == STOPS {
                known.stops.extend(texts(text));
            } else if path.starts_with(ERRORS) {
                known.errors.extend(texts(text).flat_map(|pattern| alternatives(&pattern)));
            } else if is_read_by(path, &own) {
                let tokens = tokens(text);
                if path.contains(STREAMS) {
                    known.streamed.extend(texts(text));
                }
                known.add(&tokens);
            }
        }
        Some(known)
    }

    /// Whether the code reads a name of a vendor.
    pub(crate) fn contains(&self, name: &Name) -> bool {
        let text = name.name.as_str();
        match name.kind {
            Kind::Role => self.words.contains(text),
            Kind::Item | Kind::Block => {
                let short =
                    |tail: &String| text.strip_suffix(tail.as_str()).is_some_and(|text| self.words.contains(text));
                let has_ending = self.endings.iter().any(|ending| text.ends_with(ending));
                self.words.contains(text) || has_ending || self.tails.iter().any(short)
            }
            Kind::Member => {
                let (owner, member) = text.rsplit_once('.').unwrap_or(("", text));
                self.tables.get(owner).unwrap_or(&self.words).contains(member)
            }
            Kind::Event => self.has_event(text) || self.endings.iter().any(|ending| text.ends_with(ending)),
            // The words are compared in lower case; a dialect may read some of them before.
            Kind::Stop => {
                let lower = text.to_ascii_lowercase();
                [&self.stops, &self.streamed].into_iter().any(|words| words.contains(text) || words.contains(&lower))
            }
            Kind::Error => self.errors.iter().any(|error| source::contains_name(error, text)),
        }
    }

    /// Events are compared whole, without a common beginning, or by what they are about and what happened to it.
    fn has_event(&self, name: &str) -> bool {
        let short = self.starts.iter().filter_map(|start| name.strip_prefix(start.as_str()));
        let has = |name: &str| {
            let parts = name.rsplit_once('.');
            let words = &self.streamed;
            words.contains(name) || parts.is_some_and(|(what, state)| words.contains(what) && words.contains(state))
        };
        std::iter::once(name).chain(short).any(has)
    }

    fn add(&mut self, tokens: &[Token]) {
        for (at, token) in tokens.iter().enumerate() {
            let Token::Text(text) = token else { continue };
            self.words.insert(text.clone());
            if let Some((_, [Token::Word(word), Token::Mark('(')])) = tokens[..at].split_last_chunk::<2>() {
                let among = match word.as_str() {
                    "ends_with" => Some(&mut self.endings),
                    "strip_prefix" => Some(&mut self.starts),
                    "strip_suffix" => Some(&mut self.tails),
                    _ => None,
                };
                among.map(|among| among.insert(text.clone()));
            }
            let is_row = matches!(tokens[..at].last(), Some(Token::Mark('(')));
            if is_row && let [Token::Mark(','), Token::Mark('&'), Token::Mark('['), rest @ ..] = &tokens[at + 1..] {
                self.tables.entry(text.clone()).or_default().extend(list(rest));
            }
        }
    }
}

/// Whether a file belongs to the dialect or to all dialects.
fn is_read_by(path: &str, own: &str) -> bool {
    let Some(inside) = path.strip_prefix(DIALECTS) else { return false };
    let is_shared = !inside.contains('/') || ["blocks/", "convert/"].iter().any(|folder| inside.starts_with(folder));
    !UNREAD.iter().any(|file| path.ends_with(file)) && (is_shared || path.starts_with(own))
}

fn texts(file: &str) -> impl Iterator<Item = String> {
    tokens(file).into_iter().filter_map(|token| match token {
        Token::Text(text) => Some(text),
        Token::Word(_) | Token::Mark(_) => None,
    })
}

/// A pattern of an error, and the words in its groups of alternatives: `file_(?:lost|found)` has two.
fn alternatives(pattern: &str) -> Vec<String> {
    let is_word = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let mut found = vec![pattern.to_owned()];
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once("(?:") {
        let start = before.rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_').map_or(0, |at| at + 1);
        let group = after.split_once(')').map_or("", |(group, _)| group);
        let words = group.split('|').filter(|word| is_word(word));
        found.extend(words.map(|word| format!("{}{word}", &before[start..])));
        rest = after;
    }
    found
}

/// The strings of a list up to its end.
fn list(tokens: &[Token]) -> impl Iterator<Item = String> + '_ {
    tokens.iter().take_while(|token| **token != Token::Mark(']')).filter_map(|token| match token {
        Token::Text(text) => Some(text.clone()),
        Token::Word(_) | Token::Mark(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: &[(&str, &str)] = &[
        (
            "crates/seamline-dialects/src/one/wire.rs",
            concat!(
                r#"const TYPES: &[(&str, &[&str])] = &[("text", &["type", "text"])];"#,
                r#"fn a(kind: &str) { kind.ends_with("_tool_result"); kind.strip_prefix("response."); }"#,
                r#"const KEYS: &[&str] = &["input", "output"];"#,
                r#"fn b(kind: &str) { kind.strip_suffix("_call"); const TOOLS: &[&str] = &["search"]; }"#,
                "\n#[cfg(test)]\nmod tests {\n    const A: &str = \"only_in_a_test\";\n}\n",
            ),
        ),
        ("crates/seamline-dialects/src/one/stream.rs", r#"const EVENTS: &[&str] = &["delta", "input"];"#),
        ("crates/seamline-dialects/src/one/detect.rs", r#"const SIGN: &str = "only_a_sign";"#),
        ("crates/seamline-dialects/src/two/wire.rs", r#"const A: &str = "of_another";"#),
        ("crates/seamline-dialects/src/reading.rs", r#"const A: &str = "shared";"#),
        (STOPS, r#"fn a() { match "" { "end_turn" => {} } }"#),
        (
            "crates/seamline-guard/src/errors/one.rs",
            r#"const A: &str = r"type: (?:api_error|overloaded_error)\b|file_(?:lost|found)";"#,
        ),
    ];

    fn has(kind: Kind, name: &str) -> bool {
        let known = Known::read(&Tree::of(FILES), "one").unwrap();
        known.contains(&Name { kind, name: name.to_owned() })
    }

    #[test]
    fn names_are_read_from_the_sources_of_the_dialect_and_from_shared_ones() {
        for name in ["text", "shared", "web_search_tool_result", "search_call"] {
            assert!(has(Kind::Block, name), "{name}");
        }
        for name in ["of_another", "only_a_sign", "only_in_a_test", "maps_call"] {
            assert!(!has(Kind::Block, name), "{name}");
        }
        assert!(Known::read(&Tree::of(FILES), "three").is_none());
    }

    #[test]
    fn a_table_of_members_is_exact_for_its_type() {
        assert!(has(Kind::Member, "text.text"));
        assert!(!has(Kind::Member, "text.input"));
        assert!(has(Kind::Member, "other.input"));
    }

    #[test]
    fn an_event_may_have_a_beginning_and_a_state() {
        assert!(has(Kind::Event, "response.input.delta"));
        assert!(has(Kind::Event, "delta"));
        assert!(!has(Kind::Event, "response.output.delta"));
    }

    #[test]
    fn stop_reasons_and_errors_have_their_own_places() {
        assert!(has(Kind::Stop, "END_TURN"));
        assert!(has(Kind::Stop, "delta") && !has(Kind::Stop, "text"));
        assert!(has(Kind::Error, "overloaded_error"));
        assert!(!has(Kind::Error, "loaded_error"));
        assert!(has(Kind::Error, "file_lost") && !has(Kind::Error, "file_kept"));
    }
}
