//! The table of vendors' types, and the names that their packages define.

use std::fmt;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use crate::tree::Tree;

/// The path of the table.
pub(crate) const TABLE: &str = "crates/xtask/drift/dialects.toml";
/// The path of the program that reads the types.
const READER: &str = "crates/xtask/drift/read_types.py";

/// The table of dialects.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table {
    /// One row per dialect.
    pub(crate) dialect: Vec<Row>,
}

/// The types of one dialect.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Row {
    /// The dialect's name.
    pub(crate) name: String,
    /// The package with its types.
    package: String,
    types: Vec<Entry>,
}

/// One type of a package.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    kind: Kind,
    from: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    of: Option<String>,
    #[serde(default)]
    inside: Vec<String>,
    #[serde(default)]
    each_member: bool,
}

/// The kind of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// The type of an item of the conversation.
    Item,
    /// The type of a block of a message.
    Block,
    /// The role of a message.
    Role,
    /// The member of an object, as `object.member`.
    Member,
    /// The reason why the provider stopped.
    Stop,
    /// An event of a stream, or the type of a piece in it.
    Event,
    /// The type of an error.
    Error,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Item => "item types",
            Self::Block => "block types",
            Self::Role => "roles",
            Self::Member => "members",
            Self::Stop => "stop reasons",
            Self::Event => "stream events",
            Self::Error => "error types",
        })
    }
}

/// A name that a vendor defines.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub(crate) struct Name {
    /// The use of the name on the wire.
    pub(crate) kind: Kind,
    /// The name itself.
    pub(crate) name: String,
}

/// The names of one dialect.
#[derive(Debug, Deserialize)]
pub(crate) struct VendorNames {
    /// The dialect's name.
    pub(crate) dialect: String,
    /// The package and its version.
    pub(crate) package: String,
    /// The names, in order.
    pub(crate) names: Vec<Name>,
}

impl Table {
    /// Reads the table.
    pub(crate) fn read(tree: &Tree) -> Result<Self> {
        let text = tree.text(TABLE).with_context(|| format!("{TABLE} is missing"))?;
        toml::from_str(text).with_context(|| format!("cannot read {TABLE}"))
    }

    /// Reads the types with a Python that has the packages.
    pub(crate) fn ask(&self, python: &Path, root: &Path) -> Result<Vec<VendorNames>> {
        let question = serde_json::to_vec(&self.dialect)?;
        let mut child = Command::new(python)
            .arg(root.join(READER))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start `{}`", python.display()))?;
        let mut pipe = child.stdin.take().context("the reader of types has no standard input")?;
        pipe.write_all(&question)?;
        drop(pipe);
        let output = child.wait_with_output()?;
        if !output.status.success() {
            bail!(
                "{READER} failed ({})\nhint: a vendor may have moved a type; correct its place in {TABLE}",
                output.status
            );
        }
        serde_json::from_slice(&output.stdout).with_context(|| format!("{READER} printed something else than names"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The Python modules of `drift/fixtures`, read like a package of a vendor.
    fn names_of(types: &str) -> Option<Vec<String>> {
        let crate_root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = crate_root.ancestors().nth(2).unwrap();
        let python = Path::new("python3");
        if Command::new(python).arg("--version").output().is_err() {
            println!("skipped: this machine has no python3");
            return None;
        }
        let table = format!("[[dialect]]\nname = \"one\"\npackage = \"none\"\ntypes = [{types}]\n");
        let table: Table = toml::from_str(&table).unwrap();
        let vendors = table.ask(python, root).unwrap();
        assert_eq!(vendors[0].package, "none");
        Some(vendors[0].names.iter().map(|name| format!("{:?} {}", name.kind, name.name)).collect())
    }

    #[test]
    fn variants_of_a_union_are_named_by_their_tag() {
        let Some(names) = names_of(r#"{ kind = "block", from = "fixtures.typed:Block", inside = ["content"] }"#) else {
            return;
        };
        assert_eq!(
            names,
            [
                "Block image",
                "Block text",
                "Block tool_result",
                "Member image.source",
                "Member text.text",
                "Member tool_result.content",
                "Member tool_result.tool_use_id",
            ]
        );
    }

    #[test]
    fn an_object_without_a_tag_gives_its_members_under_the_given_name() {
        let Some(names) = names_of(
            r#"{ kind = "member", of = "request", from = "fixtures.typed:Request" },
               { kind = "stop", from = "fixtures.typed:Reason" },
               { kind = "stop", from = "fixtures.typed:Request.effort" }"#,
        ) else {
            return;
        };
        assert_eq!(
            names,
            ["Member request.effort", "Member request.messages", "Stop OTHER", "Stop STOP", "Stop high", "Stop low"]
        );
    }

    #[test]
    fn aliases_of_members_and_nested_deltas_are_read() {
        let Some(names) = names_of(r#"{ kind = "event", from = "fixtures.modelled:Event", inside = ["delta"] }"#)
        else {
            return;
        };
        assert_eq!(
            names,
            [
                "Event content_block_delta",
                "Event message_delta",
                "Event text_delta",
                "Member content_block_delta.delta",
                "Member delta.stopReason",
                "Member message_delta.delta",
                "Member text_delta.text",
            ]
        );
    }

    #[test]
    fn every_member_of_a_union_without_tags_is_a_block() {
        let Some(names) = names_of(r#"{ kind = "block", each_member = true, from = "fixtures.modelled:Part" }"#) else {
            return;
        };
        assert_eq!(names, ["Block functionCall", "Block text", "Member functionCall.name"]);
    }

    #[test]
    fn the_table_names_dialects_once_and_in_order() {
        let text = include_str!("../../drift/dialects.toml");
        let table: Table = toml::from_str(text).unwrap();
        let names: Vec<&str> = table.dialect.iter().map(|row| row.name.as_str()).collect();
        let mut sorted = names.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(names, sorted);
    }
}
