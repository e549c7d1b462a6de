//! Checks of the tree that the compiler cannot make: one file per check.

mod commits;
mod complaint;
mod dialect_arms;
mod fixtures;
mod history;
pub(crate) mod language;
mod layers;
mod lengths;
mod links;
mod log_events;
mod manifests;
mod marks;
mod names;
mod nouns;
mod places;
mod ranks;
mod reasons;
mod source_documents;
mod subject;
mod type_names;
mod words;

pub(crate) use self::complaint::{Complaint, Weight};
pub(crate) use self::history::History;
pub(crate) use self::subject::Subject;

/// A check: lists its complaints about the tree.
type Check = fn(&Subject) -> Vec<Complaint>;

/// Every check, with the sentence that it makes true.
pub(crate) const CHECKS: [(&str, Check); 18] = [
    ("crates depend on lower ranks only", ranks::check),
    ("manifests are uniform", manifests::check),
    ("every dependency has a reason", reasons::check),
    ("files are short", lengths::check),
    ("no unfinished code, ignored tests or silenced lints", words::check),
    ("modules are named after their content", names::check),
    ("names use the words of the list", nouns::check),
    ("public types have names of their own", type_names::check),
    ("crates respect their layers", layers::check),
    ("every log event is in one file of its crate and on its page", log_events::check),
    ("a new dialect changes no file of another one", dialect_arms::check),
    ("fixtures are complete", fixtures::check),
    ("no absolute paths of one machine", places::check),
    ("links lead to existing files", links::check),
    ("every known demand of a provider is checked, or has a reason why not", marks::check),
    ("every entry of a source document has a proof that exercises it", source_documents::check),
    ("texts are in plain English", language::check),
    ("subjects of commits are short", commits::check),
];
