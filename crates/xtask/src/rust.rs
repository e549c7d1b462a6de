//! The Rust sources of a tree, parsed with `syn`.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use syn::punctuated::Punctuated;
use syn::{Attribute, Item, Meta, Token};

use crate::source;
use crate::tree::Tree;

/// Every library and program source under `crates/`, by path; files of tests are left out.
pub(crate) struct Sources {
    files: BTreeMap<String, syn::File>,
}

impl Sources {
    /// Parses all sources of the tree.
    pub(crate) fn parse(tree: &Tree) -> Result<Self> {
        let mut files = BTreeMap::new();
        for (path, text) in tree.rust().filter(|(path, _)| is_source(path)) {
            let file = syn::parse_file(text).with_context(|| format!("cannot parse {path}"))?;
            files.insert(path.to_owned(), file);
        }
        Ok(Self { files })
    }

    /// The parsed file at a path.
    pub(crate) fn file(&self, path: &str) -> Option<&syn::File> {
        self.files.get(path)
    }

    /// Path and parsed text of every source, in order.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, &syn::File)> {
        self.files.iter().map(|(path, file)| (path.as_str(), file))
    }
}

fn is_source(path: &str) -> bool {
    path.starts_with("crates/") && path.contains("/src/") && !source::is_test_file(path)
}

/// The items outside of tests, those of inline modules included.
pub(crate) fn items(items: &[Item]) -> Vec<&Item> {
    let mut found = Vec::new();
    let mut waiting: Vec<&Item> = items.iter().rev().collect();
    while let Some(item) = waiting.pop() {
        if is_for_tests(attributes(item)) {
            continue;
        }
        found.push(item);
        if let Item::Mod(module) = item
            && let Some((_, inside)) = &module.content
        {
            waiting.extend(inside.iter().rev());
        }
    }
    found
}

/// The attributes of the kinds of items that the chores read.
pub(crate) fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// True for `#[cfg(test)]`, `#[cfg(doctest)]` and lists that contain one of them.
pub(crate) fn is_for_tests(attributes: &[Attribute]) -> bool {
    let list = |attribute: &Attribute| attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).ok();
    let is_test = |meta: &Meta| meta.path().is_ident("test") || meta.path().is_ident("doctest");
    attributes
        .iter()
        .filter(|attribute| attribute.path().is_ident("cfg"))
        .filter_map(list)
        .any(|metas| metas.iter().any(is_test))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_of_inline_modules_are_listed_and_tests_are_not() {
        let file = syn::parse_file(
            "fn a() {} mod b { struct C; } #[cfg(test)] mod tests { fn d() {} } #[cfg(unix)] fn e() {}",
        )
        .unwrap();
        let kinds: Vec<&str> = items(&file.items)
            .into_iter()
            .map(|item| match item {
                Item::Fn(_) => "fn",
                Item::Mod(_) => "mod",
                Item::Struct(_) => "struct",
                _ => "other",
            })
            .collect();
        assert_eq!(kinds, ["fn", "mod", "struct", "fn"]);
    }

    #[test]
    fn only_sources_of_crates_are_parsed() {
        let tree = Tree::of(&[
            ("crates/a/src/lib.rs", "fn a() {}"),
            ("crates/a/src/tests.rs", "not rust"),
            ("crates/a/tests/suite/main.rs", "not rust"),
            ("fuzz/fuzz_targets/a.rs", "not rust"),
        ]);
        let sources = Sources::parse(&tree).unwrap();
        assert_eq!(sources.files().map(|(path, _)| path).collect::<Vec<_>>(), ["crates/a/src/lib.rs"]);
    }
}
