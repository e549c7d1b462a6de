//! Comments, documents and messages are in plain English.

use super::{Complaint, Subject};
use crate::source;

/// Words that fail the check and that `cargo xtask figures` counts. Written in pieces, as all phrases here, so that this
/// file does not contain them.
pub(crate) const COUNTED: [&str; 7] = [
    concat!("no", "body"),
    concat!("some", "body"),
    concat!("who", "ever"),
    concat!("come ", "back to"),
    concat!("an", "ybody"),
    concat!("sta", "nds"),
    concat!("told ", "of"),
];

/// Advice for the counted words.
const SAY_WHO_ACTS: &str = "say who acts (the provider, the client, the store, the caller) and what it does";

/// Phrases that fail the check unless a harmless word is beside them.
const PHRASES: [Phrase; 2] = [
    Phrase { text: concat!("is", " no"), before: &["there"], after: &["longer", "more"], advice: SAY_NOT },
    Phrase { text: concat!("are", " no"), before: &["there"], after: &["longer", "more"], advice: SAY_NOT },
];

/// Phrases that fail the check in comments and documents. Code may have such names.
const COMMENT_PHRASES: [Phrase; 9] = [
    Phrase { text: concat!("sta", "nd"), before: &[], after: &[], advice: SAY_IT },
    Phrase { text: concat!("sto", "od"), before: &[], after: &[], advice: SAY_IT },
    Phrase { text: concat!("all the ", "same"), before: &[], after: &[], advice: SAY_IT },
    Phrase { text: concat!("some", "one"), before: &[], after: &[], advice: SAY_WHO_ACTS },
    Phrase { text: concat!("aff", "air"), before: &[], after: &[], advice: SAY_IT },
    Phrase { text: concat!("an ", "answer"), before: &[], after: &[], advice: SAY_RESPONSE },
    Phrase { text: concat!("the ", "answer"), before: &[], after: &[], advice: SAY_RESPONSE },
    Phrase { text: concat!("answers", " of"), before: &[], after: &[], advice: SAY_RESPONSE },
    Phrase { text: concat!("the ", "answers"), before: &[], after: &[], advice: SAY_RESPONSE },
];

const SAY_IT: &str = "say plainly what happens";
const SAY_RESPONSE: &str = "the model gives a response, and a tool gives a result";
const SAY_NOT: &str = "say `is not a …`, or name the thing that is missing";

/// Harmless words after a counted word.
const COUNTED_BEFORE: &[&str] = &["for"];

/// The start of a name that makes a riddle of a test.
const RIDDLE_NAME: &str = concat!("fn wh", "at_");

/// The starts of comments without a subject: of any comment, and of documentation.
const RIDDLE_COMMENTS: [&str; 2] = [concat!("Wh", "at is "), concat!("Wh", "at was ")];
const RIDDLE_DOCUMENTATION: &str = concat!("Wh", "at ");

/// The fewest words that the comment of a field has.
const FIELD_WORDS_MIN: usize = 3;

/// A phrase, and the words before and after it that make it harmless.
struct Phrase {
    text: &'static str,
    before: &'static [&'static str],
    after: &'static [&'static str],
    advice: &'static str,
}

pub(super) fn check(subject: &Subject) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for (path, text) in subject.tree.texts() {
        let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line));
        let is_sentence = |line: &str| line.starts_with("why") || line.starts_with("about");
        if is_prose(path) || is_case(path) {
            for (number, line) in lines.filter(|(_, line)| is_prose(path) || is_sentence(line)) {
                complaints.extend(banned(path, number, line));
                complaints.extend(riddle(path, number, line));
            }
        }
        if source::is_rust(path) {
            complaints.extend(short_field_comments(path, text));
        }
    }
    complaints
}

/// True for texts that people of the project write: sources, documents and manifests.
pub(crate) fn is_prose(path: &str) -> bool {
    let is_recorded = ["fixtures/", "examples/"].iter().any(|folder| path.starts_with(folder));
    !is_recorded && [".rs", ".md", ".toml"].iter().any(|end| path.ends_with(end))
}

/// True for the description of a fixture, whose other lines may quote a provider.
fn is_case(path: &str) -> bool {
    path.starts_with("fixtures/") && path.ends_with("/case.toml")
}

fn banned(path: &str, number: usize, line: &str) -> Option<Complaint> {
    let line = spaced(line);
    let phrase = COUNTED.iter().find(|phrase| has_phrase(&line, phrase, &[], COUNTED_BEFORE))?;
    Some(Complaint::at(path, number, format!("`{phrase}`: {SAY_WHO_ACTS}")))
}

/// A phrase, a name of a test or the start of a comment that a reader must guess at.
fn riddle(path: &str, number: usize, line: &str) -> Option<Complaint> {
    let code = line.trim_start();
    if code.contains(RIDDLE_NAME) {
        return Some(Complaint::at(path, number, "the name of a test says the condition and the expectation"));
    }
    let comment = code.strip_prefix("//").map(|rest| rest.trim_start_matches(['/', '!', ' ']));
    let is_documentation = code.starts_with("///") || code.starts_with("//!");
    let is_riddle = |said: &str| {
        let mut starts = RIDDLE_COMMENTS.iter();
        let is_start = starts.any(|start| said.starts_with(start));
        (is_start || is_documentation && said.starts_with(RIDDLE_DOCUMENTATION)) && !said.ends_with('?')
    };
    if comment.is_some_and(is_riddle) {
        return Some(Complaint::at(path, number, "a comment starts with a noun (what it is) or a verb (what it does)"));
    }
    let finds = |line: &str, phrase: &Phrase| has_phrase(line, phrase.text, phrase.before, phrase.after);
    let spaced = spaced(line);
    let is_text = comment.is_some() || std::path::Path::new(path).extension().is_some_and(|kind| kind == "md");
    let mut texts = COMMENT_PHRASES.iter().filter(|_| is_text);
    let in_text = || texts.find(|phrase| finds(&line.to_lowercase(), phrase));
    let found = PHRASES.iter().find(|phrase| finds(&spaced, phrase)).or_else(in_text)?;
    Some(Complaint::at(path, number, format!("`{}`: {}", found.text, found.advice)))
}

/// True if the line has the phrase in any case, as whole words; underscores part words, so that names of tests count.
pub(crate) fn contains_phrase(line: &str, phrase: &str) -> bool {
    has_phrase(&spaced(line), phrase, &[], &[])
}

fn spaced(line: &str) -> String {
    line.chars().map(|c| if c == '_' { ' ' } else { c.to_ascii_lowercase() }).collect()
}

/// True if the line has the phrase without one of these words before it and without one of these after it.
fn has_phrase(line: &str, phrase: &str, before: &[&str], after: &[&str]) -> bool {
    line.match_indices(phrase).any(|(at, _)| {
        let (start, end) = (&line[..at], &line[at + phrase.len()..]);
        let is_word = !start.ends_with(char::is_alphanumeric) && !end.starts_with(char::is_alphanumeric);
        let is_break = |c: char| !c.is_alphanumeric();
        let is_harmless = start.trim_end().rsplit(is_break).next().is_some_and(|word| before.contains(&word))
            || end.trim_start().split(is_break).next().is_some_and(|word| after.contains(&word));
        is_word && !is_harmless
    })
}

/// Comments of fields that have too few words.
fn short_field_comments(path: &str, text: &str) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    let mut comment: Option<(usize, String)> = None;
    let mut in_attribute = false;
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if let Some(said) = line.strip_prefix("///") {
            let (_, words) = comment.get_or_insert_with(|| (index + 1, String::new()));
            words.push_str(said);
        } else if in_attribute || line.starts_with("#[") {
            in_attribute = !line.ends_with(']');
        } else {
            if let Some((number, words)) = comment.take().filter(|_| is_field(line)) {
                let count = words.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count();
                if count < FIELD_WORDS_MIN {
                    let message = format!("`{}`: the comment of a field has at least three words", words.trim());
                    complaints.push(Complaint::at(path, number, message));
                }
            }
            comment = None;
        }
    }
    complaints
}

/// True for `name: Type,` with any visibility.
fn is_field(line: &str) -> bool {
    let declared = line.strip_prefix("pub").map_or(line, |rest| match rest.strip_prefix('(') {
        Some(scope) => scope.split_once(')').map_or(scope, |(_, rest)| rest),
        None => rest,
    });
    let Some((name, of)) = declared.trim_start().split_once(':') else { return false };
    let name = name.strip_prefix("r#").unwrap_or(name);
    let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
    is_name && of.starts_with(' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints_about(path: &str, text: &str) -> Vec<String> {
        Subject::complaints(&[(path, text)], check)
    }

    #[test]
    fn every_banned_phrase_is_found_in_comments_strings_and_documents() {
        for phrase in &COUNTED {
            let expected = |path: &str, line: usize| {
                format!(
                    "error: {path}:{line}: `{phrase}`: say who acts (the provider, the client, the store, the caller) \
                     and what it does"
                )
            };
            let comment = format!("fn a() {{}}\n// {phrase} does it\n");
            assert_eq!(complaints_about("crates/xtask/src/a.rs", &comment), [expected("crates/xtask/src/a.rs", 2)]);
            let string = format!("let a = \"{}'s\";\n", phrase.to_uppercase());
            assert_eq!(complaints_about("crates/xtask/src/a.rs", &string), [expected("crates/xtask/src/a.rs", 1)]);
            let test = format!("fn a_file_{}_reads() {{}}\n", phrase.replace(' ', "_"));
            assert_eq!(complaints_about("crates/xtask/src/a.rs", &test), [expected("crates/xtask/src/a.rs", 1)]);
            assert_eq!(complaints_about("docs/a.md", phrase), [expected("docs/a.md", 1)]);
            assert_eq!(
                complaints_about("clippy.toml", &format!("reason = \"{phrase}\"")),
                [expected("clippy.toml", 1)]
            );
        }
    }

    #[test]
    fn longer_words_recorded_inputs_and_harmless_neighbours_pass() {
        let longer = format!("// {}ies\n// it {} for it\n", COUNTED[0], COUNTED[5]);
        assert_eq!(complaints_about("crates/xtask/src/a.rs", &longer), Vec::<String>::new());
        assert_eq!(complaints_about("examples/a.md", COUNTED[0]), Vec::<String>::new());
        assert_eq!(complaints_about("docs/images/a.svg", COUNTED[0]), Vec::<String>::new());
    }

    #[test]
    fn some_phrases_are_found_in_comments_and_documents_only() {
        for phrase in &COMMENT_PHRASES {
            let text = phrase.text;
            assert_eq!(complaints_about("docs/a.md", &format!("it {text} here")).len(), 1, "{text}");
            assert_eq!(complaints_about("crates/xtask/src/a.rs", &format!("// it {text} here\n")).len(), 1, "{text}");
            let code = format!("let it = a.{}(b);\n", text.replace(' ', "_"));
            assert_eq!(complaints_about("crates/xtask/src/a.rs", &code), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn phrases_are_found_unless_a_neighbour_makes_them_harmless() {
        for phrase in &PHRASES {
            let found = complaints_about("docs/a.md", &format!("It {} store.", phrase.text));
            assert_eq!(found, [format!("error: docs/a.md:1: `{}`: {SAY_NOT}", phrase.text)]);
            let name = format!("fn a_file_{}_store() {{}}\n", phrase.text.replace(' ', "_"));
            assert_eq!(complaints_about("crates/xtask/src/a.rs", &name).len(), 1);
            let harmless =
                format!("There {0} store, and it {0} longer one. It {0}w one. \"there {0} store\"", phrase.text);
            assert_eq!(complaints_about("docs/a.md", &harmless), Vec::<String>::new());
        }
    }

    #[test]
    fn riddles_in_names_and_at_the_start_of_comments_are_found() {
        let name = format!("    {RIDDLE_NAME}is_wrong() {{}}\n");
        let expected = "error: crates/xtask/src/a.rs:1: the name of a test says the condition and the expectation";
        assert_eq!(complaints_about("crates/xtask/src/a.rs", &name), [expected]);
        for start in RIDDLE_COMMENTS {
            for marker in ["//", "///", "//!"] {
                let comment = format!("{marker} {start}wrong with it.\n");
                assert_eq!(complaints_about("crates/xtask/src/a.rs", &comment).len(), 1, "{comment}");
                let question = format!("{marker} {start}wrong with it?\nlet a = \"{start}wrong\";\n");
                assert_eq!(complaints_about("crates/xtask/src/a.rs", &question), Vec::<String>::new());
            }
        }
    }

    #[test]
    fn documentation_starts_with_a_noun_or_a_verb() {
        for marker in ["///", "//!"] {
            let riddle = format!("{marker} {RIDDLE_DOCUMENTATION}a store keeps.\n");
            assert_eq!(complaints_about("crates/xtask/src/a.rs", &riddle).len(), 1, "{riddle}");
        }
        let harmless = format!(
            "// {RIDDLE_DOCUMENTATION}follows is checked.\n/// The store keeps it. {RIDDLE_DOCUMENTATION}else?\n"
        );
        assert_eq!(complaints_about("crates/xtask/src/a.rs", &harmless), Vec::<String>::new());
    }

    #[test]
    fn of_a_fixture_only_its_description_is_checked() {
        let case = format!("text = '{0}'\nwhy = '{0}'\n", COUNTED[0]);
        let found = complaints_about("fixtures/rules/a/b/c/case.toml", &case);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("error: fixtures/rules/a/b/c/case.toml:2: "), "{found:?}");
        assert_eq!(complaints_about("fixtures/rules/a/b/c/notes.md", COUNTED[0]), Vec::<String>::new());
    }

    #[test]
    fn the_comment_of_a_field_has_three_words() {
        let text = "struct A {\n    /// It could.\n    #[serde(\n        default\n    )]\n    pub(crate) a: bool,\n    \
                    /// Every commit passed\n    /// its check.\n    pub b: bool,\n    /// Its name.\n    r#type: B,\n}\n";
        let expected = |line: usize, said: &str| {
            format!("error: crates/xtask/src/a.rs:{line}: `{said}`: the comment of a field has at least three words")
        };
        assert_eq!(
            complaints_about("crates/xtask/src/a.rs", text),
            [expected(2, "It could."), expected(10, "Its name.")]
        );
    }

    #[test]
    fn comments_of_variants_functions_and_paths_are_not_fields() {
        let text = "enum A {\n    /// It does.\n    B,\n}\n/// Runs.\nfn a(b: u8) {}\n/// Short.\npub mod c;\n";
        assert_eq!(complaints_about("crates/xtask/src/a.rs", text), Vec::<String>::new());
    }
}
