//! Names in code use the words of the list in `CONTRIBUTING.md`: a model gives a response, and a tool gives a result.

use super::{Complaint, Subject};
use crate::source;

/// The verb of that list which no value and no type is named after. A result answers a call, and a function may act so.
const VERB: &str = "answer";

/// Names with the verb in the third person, each with the reason.
const KEPT: [(&str, &str); 2] = [
    ("Answers", "the fate of a result that answers a call"),
    ("may_answer", "a predicate: whether a message may answer calls"),
];

/// Crates whose names are not read, each with the reason.
const APART: [(&str, &str); 1] =
    [("crates/seamline-testkit/", "it judges the other crates and shares no code with them")];

pub(super) fn check(subject: &Subject) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    for (path, text) in subject.tree.rust().filter(|(path, _)| is_read(path)) {
        let text = source::without_texts(text);
        for (number, line) in source::without_tests(&text) {
            let found = names(line).find(|name| is_noun(name));
            complaints.extend(found.map(|name| {
                let message = format!("`{}`: name it after the response or the tool result", name.text);
                Complaint::at(path, number, message)
            }));
        }
    }
    complaints
}

fn is_read(path: &str) -> bool {
    let is_apart = APART.iter().any(|(folder, _)| path.starts_with(folder));
    path.starts_with("crates/") && path.contains("/src/") && !source::is_test_file(path) && !is_apart
}

/// A name in a line of code.
#[derive(Debug)]
struct Name<'t> {
    text: &'t str,
    before: &'t str,
    after: &'t str,
}

fn names(line: &str) -> impl Iterator<Item = Name<'_>> {
    let start = line.as_ptr() as usize;
    source::words(line).map(move |text| {
        let at = text.as_ptr() as usize - start;
        Name { text, before: &line[..at], after: &line[at + text.len()..] }
    })
}

/// True for a name with the verb that is not a function.
fn is_noun(name: &Name<'_>) -> bool {
    let is_kept = KEPT.iter().any(|(kept, _)| *kept == name.text);
    has_verb(name.text) && !is_kept && !is_function(name)
}

/// True for a function that is defined, called or passed on. Its name begins with the verb.
fn is_function(name: &Name<'_>) -> bool {
    let is_defined = name.before.ends_with("fn ");
    let is_called = name.after.starts_with('(') || name.before.ends_with("::") && name.after.starts_with([')', ',']);
    name.text.starts_with(VERB) && (is_defined || is_called)
}

/// True if one of the words of a name is the verb; its participles are harmless.
fn has_verb(name: &str) -> bool {
    // The capitals of a constant do not begin words.
    let name = if name.contains(|c: char| c.is_lowercase()) { name.to_owned() } else { name.to_lowercase() };
    let spaced: String = name.chars().flat_map(|c| [c.is_uppercase().then_some('_'), Some(c)]).flatten().collect();
    spaced.split('_').any(|word| word.to_lowercase().trim_end_matches('s') == VERB)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(text: &str) -> Vec<String> {
        Subject::complaints(&[("crates/a/src/b.rs", text)], check)
    }

    #[test]
    fn values_fields_and_types_named_after_the_verb_are_found() {
        for name in ["AnswerBody", "Answer", "answer", "answers", "server_answer", "ANSWERS_MAX", "is_answer"] {
            let found = complaints(&format!("let a = {name};\n"));
            let expected =
                format!("error: crates/a/src/b.rs:1: `{name}`: name it after the response or the tool result");
            assert_eq!(found, [expected]);
        }
        assert_eq!(complaints("fn answer(answer: u8) {}\n").len(), 1);
    }

    #[test]
    fn functions_participles_texts_and_tests_pass() {
        let text = "fn answer(&self) {}\nfn answer_calls<T>() {}\nlet is_answered = a.answer(b);\njobs.map(Job::answer);\n\
            Fate::Answers(call);\nlet unanswered = \"an answer\"; // answer\n#[cfg(test)]\nmod tests {\n    let answer;\n}\n";
        assert_eq!(complaints(text), Vec::<String>::new());
    }
}
