//! The difference between the vendors' names and ours, as text.

use std::collections::BTreeMap;
use std::fmt;

use super::judged::{Judged, Verdict};
use super::known::Known;
use super::vendor::{Kind, Name, VendorNames};

/// How many columns a line of names may have.
const COLUMNS: usize = 100;

/// The difference of one dialect.
#[derive(Debug)]
pub(crate) struct Report {
    dialect: String,
    package: String,
    known_count: usize,
    judged_count: usize,
    /// Names that a dialect should read, by a judgement.
    missing: Vec<Name>,
    /// Names that are neither read nor judged.
    new: Vec<Name>,
    /// Judgements that match nothing.
    unused: Vec<Name>,
}

impl Report {
    /// Compares the names of one dialect.
    pub(crate) fn compare(vendor: &VendorNames, known: &Known, judged: &Judged) -> Self {
        let mut report = Self {
            dialect: vendor.dialect.clone(),
            package: vendor.package.clone(),
            known_count: 0,
            judged_count: 0,
            missing: Vec::new(),
            new: Vec::new(),
            unused: Vec::new(),
        };
        for name in &vendor.names {
            if known.contains(name) {
                report.known_count += 1;
                continue;
            }
            match judged.verdict(&vendor.dialect, name) {
                Some(verdict) => {
                    report.judged_count += 1;
                    if verdict == Verdict::Missing {
                        report.missing.push(name.clone());
                    }
                }
                None => report.new.push(name.clone()),
            }
        }
        report.unused = judged.unused(&vendor.dialect);
        report
    }

    /// The number of entries that need a decision.
    pub(crate) fn difference_count(&self) -> usize {
        self.new.len() + self.unused.len()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { dialect, package, known_count, judged_count, missing, new, unused } = self;
        writeln!(
            f,
            "{dialect} ({package}): {known_count} read, {judged_count} judged ({} missing), {} new, {} stale",
            missing.len(),
            new.len(),
            unused.len()
        )?;
        write_names(f, "new", new)?;
        write_names(f, "stale: the code reads it now, or the vendor removed it;", unused)?;
        write_names(f, "missing, as judged:", missing)
    }
}

/// Writes names by kind, and members by their owner.
fn write_names(f: &mut fmt::Formatter<'_>, what: &str, names: &[Name]) -> fmt::Result {
    let mut kinds: BTreeMap<Kind, Vec<&str>> = BTreeMap::new();
    for name in names {
        kinds.entry(name.kind).or_default().push(&name.name);
    }
    for (kind, names) in kinds {
        writeln!(f, "  {what} {kind} ({})", names.len())?;
        let mut owners: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for name in names {
            let (owner, member) = if kind == Kind::Member { name.rsplit_once('.') } else { None }.unwrap_or(("", name));
            owners.entry(owner).or_default().push(member);
        }
        for (owner, members) in owners {
            let head = if owner.is_empty() { String::new() } else { format!("{owner}: ") };
            for line in lines(&head, &members) {
                writeln!(f, "    {line}")?;
            }
        }
    }
    Ok(())
}

/// The names in lines, the first with a head.
fn lines(head: &str, names: &[&str]) -> Vec<String> {
    let mut lines = vec![head.to_owned()];
    for (index, name) in names.iter().enumerate() {
        let comma = if index + 1 < names.len() { ", " } else { "" };
        let used = lines.last().map_or(0, String::len);
        if used > head.len() && used + name.len() > COLUMNS {
            lines.push(" ".repeat(head.len()));
        }
        if let Some(line) = lines.last_mut() {
            line.push_str(name);
            line.push_str(comma);
        }
    }
    lines.into_iter().map(|line| line.trim_end().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    #[test]
    fn a_report_counts_and_groups_what_differs() {
        let tree =
            Tree::of(&[("crates/seamline-dialects/src/one/wire.rs", r#"const A: &[&str] = &["text", "type"];"#)]);
        let judged = Judged::parse(
            r#"
            [[judged]]
            dialect = "one"
            kind = "block"
            names = ["fallback"]
            verdict = "missing"
            reason = "It opens a turn."
            [[judged]]
            dialect = "one"
            kind = "block"
            names = ["gone"]
            verdict = "kept"
            reason = "It is rare."
            "#,
        )
        .unwrap();
        let name = |kind, name: &str| Name { kind, name: name.to_owned() };
        let vendor = VendorNames {
            dialect: "one".to_owned(),
            package: "vendor 1.0".to_owned(),
            names: vec![
                name(Kind::Block, "fallback"),
                name(Kind::Block, "text"),
                name(Kind::Block, "video"),
                name(Kind::Member, "text.style"),
                name(Kind::Member, "text.tone"),
                name(Kind::Member, "text.type"),
            ],
        };
        let report = Report::compare(&vendor, &Known::read(&tree, "one").unwrap(), &judged);
        assert_eq!(report.difference_count(), 4);
        assert_eq!(
            report.to_string(),
            "one (vendor 1.0): 2 read, 1 judged (1 missing), 3 new, 1 stale\n  \
             new block types (1)\n    video\n  \
             new members (2)\n    text: style, tone\n  \
             stale: the code reads it now, or the vendor removed it; block types (1)\n    gone\n  \
             missing, as judged: block types (1)\n    fallback\n"
        );
    }

    #[test]
    fn long_lists_are_broken_into_lines() {
        let names = ["a_name_of_some_length"; 9];
        let lines = lines("owner: ", &names);
        assert_eq!(lines.len(), 3);
        assert!(lines.iter().all(|line| line.len() <= COLUMNS + 3), "{lines:?}");
    }
}
