//! Comments, documents and messages are in plain English.

mod script;

use self::script::Line;
use super::{Complaint, Subject};
use crate::source;

/// Words that fail the check and that `cargo xtask figures` counts. Written in pieces, as all phrases here, so that this
/// file does not contain them.
pub(crate) const COUNTED: [&str; 10] = [
    concat!("no", "body"),
    concat!("some", "body"),
    concat!("who", "ever"),
    concat!("come ", "back to"),
    concat!("comes ", "back to"),
    concat!("came ", "back to"),
    concat!("coming ", "back to"),
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
const COMMENT_PHRASES: [Phrase; 15] = [
    Phrase { text: concat!("sta", "nd"), before: &[], after: &[], advice: SAY_IT },
    Phrase { text: concat!("sto", "od"), before: &[], after: &[], advice: SAY_IT },
    Phrase { text: concat!("all the ", "same"), before: &[], after: &[], advice: SAY_IT },
    Phrase { text: concat!("some", "one"), before: &[], after: &[], advice: SAY_WHO_ACTS },
    Phrase { text: concat!("aff", "air"), before: &[], after: &[], advice: SAY_IT },
    Phrase { text: concat!("an ", "answer"), before: &[], after: &[], advice: SAY_RESPONSE },
    Phrase { text: concat!("the ", "answer"), before: &[], after: &[], advice: SAY_RESPONSE },
    Phrase { text: concat!("answers", " of"), before: &[], after: &[], advice: SAY_RESPONSE },
    Phrase { text: concat!("the ", "answers"), before: &[], after: &[], advice: SAY_RESPONSE },
    Phrase { text: concat!("own ", "answers"), before: &[], after: &[], advice: SAY_RESPONSE },
    Phrase { text: concat!("further ", "answers"), before: &[], after: &[], advice: SAY_RESPONSE },
    Phrase { text: concat!("missing ", "answer"), before: &[], after: &[], advice: SAY_RESPONSE },
    Phrase { text: concat!("goes", " out"), before: &[], after: &["of"], advice: SAY_SENT },
    Phrase { text: concat!("went", " out"), before: &[], after: &["of"], advice: SAY_SENT },
    Phrase { text: concat!("as it", " came"), before: &[], after: &[], advice: SAY_SENT },
];

const SAY_IT: &str = "say plainly what happens";
const SAY_SENT: &str = "say that the request is sent or forwarded, and that its bytes are unchanged";
const SAY_RESPONSE: &str = "the model gives a response, and a tool gives a result";
const SAY_NOT: &str = "say `is not a …`, or name the thing that is missing";

/// Harmless words after a counted word.
const COUNTED_BEFORE: &[&str] = &["for"];

/// The start of a name that makes a riddle of a test.
const RIDDLE_NAME: &str = concat!("fn wh", "at_");

/// The start of a comment without a subject.
const RIDDLE_COMMENT: &str = concat!("Wh", "at ");

/// The start of a sentence whose subject comes late.
const LATE_SUBJECT: &str = concat!("O", "f ");

/// The start of a hint that lists names without a noun for them.
const HINTS_WITHOUT_NOUN: [&str; 2] = [concat!("\"there are", " {}"), concat!("\"there are", " `{}")];

/// The fewest words that the comment of a field or a variant has.
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
        let is_sentence = |line: &str| line.starts_with("why") || line.starts_with("about");
        if is_prose(path) || is_case(path) {
            let lines = script::lines(path, text);
            for (index, line) in lines.iter().enumerate() {
                if !is_prose(path) && !is_sentence(line.text) {
                    continue;
                }
                let next = lines.get(index + 1).filter(|_| is_prose(path));
                let found = banned(line).or_else(|| riddle(line)).or_else(|| wrapped(line, next?));
                complaints.extend(found.map(|message| Complaint::at(path, index + 1, message)));
            }
        }
        if source::is_rust(path) {
            complaints.extend(short_comments(path, text));
        }
    }
    complaints
}

/// True for texts that people of the project write: sources, documents and manifests.
pub(crate) fn is_prose(path: &str) -> bool {
    let is_recorded = ["fixtures/", "examples/"].iter().any(|folder| path.starts_with(folder));
    let is_script = path.starts_with("crates/") && script::is_script(path);
    !is_recorded && (is_script || [".rs", ".md", ".toml"].iter().any(|end| path.ends_with(end)))
}

/// True for the description of a fixture, whose other lines may quote a provider.
fn is_case(path: &str) -> bool {
    path.starts_with("fixtures/") && path.ends_with("/case.toml")
}

fn banned(line: &Line<'_>) -> Option<String> {
    let text = spaced(line.text);
    let phrase = COUNTED.iter().find(|phrase| has_phrase(&text, phrase, &[], COUNTED_BEFORE))?;
    Some(format!("`{phrase}`: {SAY_WHO_ACTS}"))
}

/// A phrase, a name of a test or the start of a comment that a reader must guess at.
fn riddle(line: &Line<'_>) -> Option<String> {
    if line.text.contains(RIDDLE_NAME) {
        return Some("the name of a test says the condition and the expectation".to_owned());
    }
    let is_riddle = |said: &str| said.starts_with(RIDDLE_COMMENT) && !said.ends_with('?');
    if line.is_comment && line.said.is_some_and(is_riddle) {
        return Some("a comment starts with a noun (what it is) or a verb (what it does)".to_owned());
    }
    if line.said.is_some_and(has_late_subject) {
        return Some(format!("`{LATE_SUBJECT}…` at the start of a sentence: begin with the subject"));
    }
    if HINTS_WITHOUT_NOUN.iter().any(|hint| line.text.contains(hint)) {
        return Some("a hint names the kind of the things it lists: `the dialects are {}`".to_owned());
    }
    let finds = |line: &str, phrase: &Phrase| has_phrase(line, phrase.text, phrase.before, phrase.after);
    let mut texts = COMMENT_PHRASES.iter().filter(|_| line.said.is_some());
    let spaced = spaced(line.text);
    let in_text = || texts.find(|phrase| finds(&line.text.to_lowercase(), phrase));
    let found = PHRASES.iter().find(|phrase| finds(&spaced, phrase)).or_else(in_text)?;
    Some(format!("`{}`: {}", found.text, found.advice))
}

/// Whether a sentence starts with the thing that it selects from. The first word of a line may continue a sentence only
/// in lower case.
fn has_late_subject(said: &str) -> bool {
    let starts = |sentence: &str| {
        let after = sentence.trim_start().strip_prefix(LATE_SUBJECT);
        after.is_some_and(|after| !after.starts_with("course") && after.starts_with(|c: char| c.is_ascii_lowercase()))
    };
    starts(said) || [". ", ": ", "? ", "| "].iter().any(|end| said.split(end).skip(1).any(starts))
}

/// A phrase that begins on one line of a comment or a document and ends on the next.
fn wrapped(line: &Line<'_>, next: &Line<'_>) -> Option<String> {
    let (one, other) = (line.said?.trim_end().to_lowercase(), next.said?.trim_start().to_lowercase());
    let (joined, seam) = (format!("{one} {other}"), one.len());
    let spans = |phrase: &str, before: &[&str], after: &[&str]| {
        let mut places = places_of(&joined, phrase, before, after);
        places.any(|at| at < seam && seam < at + phrase.len())
    };
    let counted =
        COUNTED.iter().find(|phrase| spans(phrase, &[], COUNTED_BEFORE)).map(|phrase| (*phrase, SAY_WHO_ACTS));
    let mut others = PHRASES.iter().chain(&COMMENT_PHRASES);
    let mut other = || others.find(|phrase| spans(phrase.text, phrase.before, phrase.after));
    let (phrase, advice) = counted.or_else(|| other().map(|phrase| (phrase.text, phrase.advice)))?;
    Some(format!("`{phrase}`, over two lines: {advice}"))
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
    places_of(line, phrase, before, after).next().is_some()
}

/// The places of a phrase, as whole words, without one of these words before it and without one of these after it.
fn places_of(line: &str, phrase: &str, before: &[&str], after: &[&str]) -> impl Iterator<Item = usize> {
    let is_meant = move |at: usize| {
        let (start, end) = (&line[..at], &line[at + phrase.len()..]);
        let is_word = !start.ends_with(char::is_alphanumeric) && !end.starts_with(char::is_alphanumeric);
        let is_break = |c: char| !c.is_alphanumeric();
        let is_harmless = start.trim_end().rsplit(is_break).next().is_some_and(|word| before.contains(&word))
            || end.trim_start().split(is_break).next().is_some_and(|word| after.contains(&word));
        is_word && !is_harmless
    };
    line.match_indices(phrase).map(|(at, _)| at).filter(move |at| is_meant(*at))
}

/// Comments of fields and variants that have too few words.
fn short_comments(path: &str, text: &str) -> Vec<Complaint> {
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
            if let Some((number, words)) = comment.take().filter(|_| is_field(line) || is_variant(line)) {
                let count = words.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count();
                if count < FIELD_WORDS_MIN {
                    let message =
                        format!("`{}`: a comment of a field or variant has at least three words", words.trim());
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

/// True for `Name`, with or without content or a value.
fn is_variant(line: &str) -> bool {
    let rest = line.trim_start_matches(|c: char| c.is_ascii_alphanumeric());
    let ends_well = rest.is_empty() || [",", "(", " {", " ="].iter().any(|end| rest.starts_with(end));
    line.starts_with(|c: char| c.is_ascii_uppercase()) && ends_well
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
        let longer = format!("// {}ies\n// it {} for it\n", COUNTED[0], COUNTED[8]);
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
        for marker in ["//", "///", "//!"] {
            let comment = format!("{marker} {RIDDLE_COMMENT}follows is wrong.\n");
            assert_eq!(complaints_about("crates/xtask/src/a.rs", &comment).len(), 1, "{comment}");
            let question = format!("{marker} {RIDDLE_COMMENT}is wrong?\nlet a = \"{RIDDLE_COMMENT}wrong\";\n");
            assert_eq!(complaints_about("crates/xtask/src/a.rs", &question), Vec::<String>::new());
        }
        let later = format!("/// The store keeps it. {RIDDLE_COMMENT}else?\n");
        assert_eq!(complaints_about("crates/xtask/src/a.rs", &later), Vec::<String>::new());
    }

    #[test]
    fn a_sentence_with_a_late_subject_is_found() {
        for sentence in ["two keys the last counts.", "a large file only the start is read."] {
            for before in ["", "It reads a value. ", "| S0-09 | "] {
                let text = format!("{before}{LATE_SUBJECT}{sentence}\n");
                assert_eq!(complaints_about("crates/a/src/b.rs", &format!("// {text}")).len(), 1, "{text}");
                assert_eq!(complaints_about("docs/a.md", &text).len(), 1, "{text}");
            }
            let code = format!("let it = \"{LATE_SUBJECT}{sentence}\";\n");
            assert_eq!(complaints_about("crates/a/src/b.rs", &code), Vec::<String>::new());
        }
        let harmless = format!("// {LATE_SUBJECT}course it does.\n// One {}two.\n", LATE_SUBJECT.to_lowercase());
        assert_eq!(complaints_about("crates/a/src/b.rs", &harmless), Vec::<String>::new());
    }

    #[test]
    fn a_hint_without_a_noun_is_found() {
        for hint in HINTS_WITHOUT_NOUN {
            let text = format!("let hint = format!({hint}\", names);\n");
            assert_eq!(complaints_about("crates/a/src/b.rs", &text).len(), 1, "{text}");
        }
        let named = "let hint = format!(\"the dialects are {}\", names);\n";
        assert_eq!(complaints_about("crates/a/src/b.rs", named), Vec::<String>::new());
    }

    #[test]
    fn a_phrase_over_two_lines_of_a_comment_is_found_at_the_first_one() {
        let (first, second) = COUNTED[3].split_once(' ').unwrap();
        let expected = |path: &str| [format!("error: {path}:1: `{}`, over two lines: {SAY_WHO_ACTS}", COUNTED[3])];
        for (path, mark) in [("crates/a/src/b.rs", "/// "), ("crates/a/b.py", "# "), ("crates/a/b.ts", " * ")] {
            let text = format!("{mark}A session {first}\n{mark}{second} is open.\n");
            let text = if mark == " * " { format!("/** x\n{text}*/\n") } else { text };
            let found = complaints_about(path, &text);
            let line = if mark == " * " { 2 } else { 1 };
            assert_eq!(found, expected(path).map(|it| it.replace(":1: ", &format!(":{line}: "))), "{path}");
        }
        assert_eq!(complaints_about("docs/a.md", &format!("It {first}\n{second} it.\n")), expected("docs/a.md"));
        for apart in
            [format!("// It {first}\nlet a = 1;\n// {second} it.\n"), format!("// It {first}\n//\n// {second}\n")]
        {
            assert_eq!(complaints_about("crates/a/src/b.rs", &apart), Vec::<String>::new(), "{apart}");
        }
    }

    #[test]
    fn scripts_of_the_packages_are_checked_and_those_of_examples_are_not() {
        let phrase = COMMENT_PHRASES[0].text;
        for (path, comment) in [
            ("crates/a/lib/b.cjs", format!("// it {phrase} here\n")),
            ("crates/a/lib/b.mjs", format!("/** it {phrase} here */\n")),
            ("crates/a/types/b.d.ts", format!("/**\n * it {phrase} here\n */\n")),
            ("crates/a/b.py", format!("# it {phrase} here\n")),
            ("crates/a/b.py", format!("def a():\n    \"\"\"it\n    {phrase} here\n    \"\"\"\n")),
        ] {
            assert_eq!(complaints_about(path, &comment).len(), 1, "{path}: {comment}");
            assert_eq!(complaints_about(path, &format!("a.{phrase}(b)\n")), Vec::<String>::new(), "{path}");
            assert_eq!(complaints_about(&path.replace("crates", "examples"), &comment), Vec::<String>::new());
        }
        assert_eq!(complaints_about("crates/a/b.js", &format!("let a = '{}'\n", COUNTED[0])).len(), 1);
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
            format!(
                "error: crates/xtask/src/a.rs:{line}: `{said}`: a comment of a field or variant has at least three words"
            )
        };
        assert_eq!(
            complaints_about("crates/xtask/src/a.rs", text),
            [expected(2, "It could."), expected(10, "Its name.")]
        );
    }

    #[test]
    fn the_comment_of_a_variant_has_three_words() {
        for variant in ["B,", "B(u8),", "B {", "B = 1,", "B"] {
            let text = format!("enum A {{\n    /// It does.\n    #[c]\n    {variant}\n}}\n");
            assert_eq!(
                complaints_about("crates/xtask/src/a.rs", &text),
                [
                    "error: crates/xtask/src/a.rs:2: `It does.`: a comment of a field or variant has at least three words"
                ]
            );
        }
    }

    #[test]
    fn comments_of_functions_and_paths_are_not_fields() {
        let text = "/// Runs.\nfn a(b: u8) {}\n/// Short.\npub mod c;\n";
        assert_eq!(complaints_about("crates/xtask/src/a.rs", text), Vec::<String>::new());
    }
}
