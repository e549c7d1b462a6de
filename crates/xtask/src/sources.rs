//! The sources of constraints: the comments before the fields of dialects and providers.

use std::collections::BTreeMap;

use crate::book::DIALECTS;
use crate::tree::Tree;

/// The comments of one set of constraints, by field; the name of a nested field follows a dot. A field without a
/// comment has an empty text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Sources {
    /// The fields that this set fills, with their comments.
    pub(crate) fields: BTreeMap<String, String>,
    /// The constraints that fill the other fields.
    base: Option<String>,
}

/// The sources of a provider: its own set, the set that it extends, and so on.
pub(crate) fn of_provider(tree: &Tree, file: &str) -> Vec<Sources> {
    let mut chain = Vec::new();
    let mut module = file.to_owned();
    let mut name = "constraints".to_owned();
    while let Some(sources) = set_of(tree, &module, &name) {
        let base = sources.base.clone();
        chain.push(sources);
        match base.as_deref().map(|base| base.rsplit_once("::").unwrap_or((&module, base))) {
            Some((of, constant)) => (module, name) = (of.to_owned(), constant.to_owned()),
            None => break,
        }
    }
    chain
}

/// The set with this name in the file of a provider, or else of a dialect.
fn set_of(tree: &Tree, module: &str, name: &str) -> Option<Sources> {
    let paths = [
        format!("{DIALECTS}/providers/{module}.rs"),
        format!("{DIALECTS}/{module}/constraints.rs"),
        format!("{DIALECTS}/{module}/provider.rs"),
    ];
    paths.iter().find_map(|path| sets(tree.text(path)?).remove(name))
}

/// The comment of a field in the first set of the chain that fills the field.
pub(crate) fn comment_of<'s>(chain: &'s [Sources], field: &str) -> &'s str {
    let outer = field.split('.').next().unwrap_or_default();
    for Sources { fields, .. } in chain {
        let comment = |name: &str| fields.get(name).map(String::as_str);
        match (comment(field), comment(outer)) {
            (Some(own), _) if !own.is_empty() => return own,
            (Some(_), Some(around)) => return around,
            (None, Some(around)) if !around.is_empty() => return around,
            _ => {}
        }
    }
    ""
}

/// Every set of constraints in a file, by the name of its constant or field.
pub(crate) fn sets(text: &str) -> BTreeMap<String, Sources> {
    let mut sets = BTreeMap::new();
    let mut comment = "";
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let code = line.trim_start();
        if let Some(said) = code.strip_prefix("// ") {
            comment = said;
        } else if let Some(name) = set_name(code) {
            let end = format!("{}}}", &line[..line.len() - code.len()]);
            let inside: Vec<&str> = lines.by_ref().take_while(|line| !line.starts_with(&end)).collect();
            sets.insert(name.to_owned(), read(&inside));
        } else if let Some(base) = code.strip_prefix("constraints: ").and_then(|rest| rest.strip_suffix(',')) {
            // The provider takes all constraints from another set; the comment gives the source of that.
            let fields = [("constraints".to_owned(), comment.to_owned())].into();
            sets.insert("constraints".to_owned(), Sources { fields, base: Some(base.to_owned()) });
        }
    }
    sets
}

/// The name of the set that starts on a line.
fn set_name(code: &str) -> Option<&str> {
    let (before, _) = code.split_once("Constraints {").filter(|(_, after)| after.is_empty())?;
    let name = before.trim_end_matches([' ', '=', ':']).trim_end_matches(": Constraints");
    name.rsplit(' ').next()
}

/// Reads the fields in the lines of a set. A comment belongs to the field right after it.
fn read(lines: &[&str]) -> Sources {
    let mut sources = Sources::default();
    let mut comment = String::new();
    // The fields around a line, each with its indentation.
    let mut around: Vec<(usize, &str)> = Vec::new();
    let indent_of = |line: &str| line.len() - line.trim_start().len();
    let outermost = lines.iter().map(|line| indent_of(line)).min().unwrap_or_default();
    for line in lines {
        let (text, indent) = (line.trim_start(), indent_of(line));
        if let Some(said) = text.strip_prefix("// ") {
            comment = if comment.is_empty() { said.to_owned() } else { format!("{comment} {said}") };
            continue;
        }
        if let Some(base) = text.strip_prefix("..").filter(|_| indent == outermost) {
            sources.base = Some(base.to_owned());
        }
        if let Some(name) = text.split_once(": ").map(|(name, _)| name).filter(|name| is_field(name)) {
            around.retain(|(outer, _)| *outer < indent);
            around.push((indent, name));
            let path: Vec<&str> = around.iter().map(|(_, name)| *name).collect();
            sources.fields.insert(path.join("."), comment.clone());
        }
        comment.clear();
    }
    sources
}

fn is_field(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: &str = "    constraints: Constraints {\n        // OAC-5, observed\n        // twice.\n        call_id: IdDemand {\n            \
        length_max: 4,\n        },\n        // OAC-2.\n        unanswered: ErrorText(\"a: b\"),\n        orphan: X,\n        \
        ..openai_chat::BASE\n    },\n";
    const BASE: &str = "pub const OTHER: Constraints = Constraints {\n    // OAC-9.\n    input: Y,\n};\n\
        pub const BASE: Constraints = Constraints {\n    // OAC-3.\n    orphan: Y,\n    // OAC-1.\n    input: Y,\n};\n";

    #[test]
    fn a_field_has_only_the_comment_right_before_it() {
        let sets = sets(OWN);
        let expected = [
            ("call_id", "OAC-5, observed twice."),
            ("call_id.length_max", ""),
            ("orphan", ""),
            ("unanswered", "OAC-2."),
        ];
        assert_eq!(
            sets["constraints"].fields,
            expected.map(|(field, said)| (field.to_owned(), said.to_owned())).into()
        );
    }

    #[test]
    fn the_comment_of_an_inherited_field_comes_from_the_base() {
        let own = format!("{DIALECTS}/providers/p.rs");
        let base = format!("{DIALECTS}/openai_chat/constraints.rs");
        let chain = of_provider(&Tree::of(&[(&own, OWN), (&base, BASE)]), "p");
        let fields = ["call_id.length_max", "unanswered", "input", "never"];
        assert_eq!(fields.map(|field| comment_of(&chain, field)), ["OAC-5, observed twice.", "OAC-2.", "OAC-1.", ""]);
    }
}
