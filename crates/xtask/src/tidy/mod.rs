//! What must be true of the tree and no compiler checks: one file per check.

mod complaint;
mod fixtures;
mod layers;
mod lengths;
mod links;
mod manifests;
mod marks;
mod names;
mod places;
mod ranks;
mod reasons;
mod subject;
mod words;

pub(crate) use self::complaint::{Complaint, Weight};
pub(crate) use self::subject::Subject;

/// A check: what is wrong with the tree.
type Check = fn(&Subject) -> Vec<Complaint>;

/// Every check, with the question it answers.
pub(crate) const CHECKS: [(&str, Check); 11] = [
    ("crates depend on lower ranks only", ranks::check),
    ("manifests are uniform", manifests::check),
    ("every dependency has a reason", reasons::check),
    ("files are short", lengths::check),
    ("nothing is left undone or switched off", words::check),
    ("modules are named after what they hold", names::check),
    ("crates do not know what they should not", layers::check),
    ("fixtures are complete", fixtures::check),
    ("no machine's own paths", places::check),
    ("links lead somewhere", links::check),
    ("what is known of providers is checked, or said not to be", marks::check),
];
