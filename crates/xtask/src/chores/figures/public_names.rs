//! Public names of the crate `seamline`, per module.

use std::collections::BTreeSet;

use syn::{Item, UseTree, Visibility};

use super::Table;
use super::table::{Row, total};
use crate::rust::{self, Sources};

/// The crate whose names are counted.
const CRATE: &str = "seamline";
/// Modules inside modules beyond this depth are not counted.
const DEPTH_MAX: usize = 4;

pub(super) fn table(sources: &Sources) -> Table {
    let mut rows = Vec::new();
    if let Some(root) = Module::root(sources, CRATE) {
        count(sources, &root, CRATE, DEPTH_MAX, &mut rows);
    }
    rows.push(total(&rows));
    Table {
        title: "public names of seamline",
        columns: vec!["names"],
        rows,
        note: "items and re-exports; a public module counts as one name of its parent.",
    }
}

/// A module of one of our crates.
#[derive(Clone)]
struct Module<'s> {
    /// The crate's folder under `crates/`.
    folder: String,
    /// The folder that holds the files of child modules.
    children: String,
    items: &'s [Item],
}

/// One public name of a module, and the module that it names if it names one.
struct Name<'s> {
    text: String,
    module: Option<Module<'s>>,
}

fn count(sources: &Sources, module: &Module<'_>, path: &str, depth: usize, rows: &mut Vec<Row>) {
    let names = module.names(sources);
    let distinct: BTreeSet<&str> = names.iter().map(|name| name.text.as_str()).collect();
    rows.push(Row::counts(format!("`{path}`"), &[distinct.len()]));
    for name in names {
        if let Some(inner) = name.module
            && depth > 0
        {
            count(sources, &inner, &format!("{path}::{}", name.text), depth - 1, rows);
        }
    }
}

impl<'s> Module<'s> {
    fn root(sources: &'s Sources, folder: &str) -> Option<Self> {
        let children = format!("crates/{folder}/src");
        let file = sources.file(&format!("{children}/lib.rs"))?;
        Some(Self { folder: folder.to_owned(), children, items: &file.items })
    }

    fn child(&self, sources: &'s Sources, name: &str) -> Option<Self> {
        let module = self.items.iter().find_map(|item| match item {
            Item::Mod(module) if module.ident == name => Some(module),
            _ => None,
        })?;
        let children = format!("{}/{name}", self.children);
        let items = if let Some((_, items)) = &module.content {
            items
        } else {
            let files = [format!("{children}.rs"), format!("{children}/mod.rs")];
            &files.iter().find_map(|path| sources.file(path))?.items
        };
        Some(Self { folder: self.folder.clone(), children, items })
    }

    /// The module at a path that a `use` of this module names.
    fn resolve(&self, sources: &'s Sources, path: &[String]) -> Option<Self> {
        let (first, rest) = path.split_first()?;
        let start = match first.as_str() {
            "crate" => Self::root(sources, &self.folder)?,
            "self" => self.clone(),
            name => match self.child(sources, name) {
                Some(child) => child,
                None => Self::root(sources, &name.replace('_', "-"))?,
            },
        };
        rest.iter().try_fold(start, |module, name| module.child(sources, name))
    }

    fn names(&self, sources: &'s Sources) -> Vec<Name<'s>> {
        let mut names = Vec::new();
        for item in self.items.iter().filter(|item| !rust::is_for_tests(rust::attributes(item))) {
            if !matches!(visibility(item), Some(Visibility::Public(_))) {
                continue;
            }
            match item {
                Item::Use(item) => self.reexported(sources, &item.tree, &[], &mut names),
                Item::Mod(item) => {
                    let text = item.ident.to_string();
                    names.push(Name { module: self.child(sources, &text), text });
                }
                item => names.extend(defined(item).map(|text| Name { text, module: None })),
            }
        }
        names
    }

    fn reexported(&self, sources: &'s Sources, tree: &UseTree, before: &[String], names: &mut Vec<Name<'s>>) {
        let longer = |name: &syn::Ident| [before, &[name.to_string()]].concat();
        match tree {
            UseTree::Path(path) => self.reexported(sources, &path.tree, &longer(&path.ident), names),
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.reexported(sources, tree, before, names);
                }
            }
            UseTree::Name(name) => {
                let module = self.resolve(sources, &longer(&name.ident));
                names.push(Name { text: name.ident.to_string(), module });
            }
            UseTree::Rename(rename) => {
                let module = self.resolve(sources, &longer(&rename.ident));
                names.push(Name { text: rename.rename.to_string(), module });
            }
            UseTree::Glob(_) => match self.resolve(sources, before) {
                Some(module) => names.extend(module.names(sources)),
                None => names.push(Name { text: format!("{}::*", before.join("::")), module: None }),
            },
        }
    }
}

fn visibility(item: &Item) -> Option<&Visibility> {
    match item {
        Item::Const(item) => Some(&item.vis),
        Item::Enum(item) => Some(&item.vis),
        Item::Fn(item) => Some(&item.vis),
        Item::Mod(item) => Some(&item.vis),
        Item::Static(item) => Some(&item.vis),
        Item::Struct(item) => Some(&item.vis),
        Item::Trait(item) => Some(&item.vis),
        Item::Type(item) => Some(&item.vis),
        Item::Union(item) => Some(&item.vis),
        Item::Use(item) => Some(&item.vis),
        _ => None,
    }
}

/// The name that an item defines, `use` and `mod` aside.
fn defined(item: &Item) -> Option<String> {
    let name = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(name.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    #[test]
    fn names_of_modules_and_of_reexported_modules_are_counted() {
        let tree = Tree::of(&[
            (
                "crates/seamline/src/lib.rs",
                "mod check; pub mod session; pub use check::{Checked, check as look}; pub use session::inner::*;\n\
                 pub use seamline_rules::policy; pub(crate) fn hidden() {} #[cfg(doctest)] pub struct Readme;",
            ),
            ("crates/seamline/src/check.rs", "pub struct Checked; pub fn check() {}"),
            ("crates/seamline/src/session.rs", "pub mod inner; pub struct Session;"),
            ("crates/seamline/src/session/inner.rs", "pub enum A {} pub const B: u8 = 0; enum C {}"),
            ("crates/seamline-rules/src/lib.rs", "pub mod policy { pub struct Policy; }"),
        ]);
        let rows = table(&Sources::parse(&tree).unwrap()).rows;
        let expected = [
            // `session`, `Checked`, `look`, `A`, `B`, `policy`.
            Row::counts("`seamline`", &[6]),
            Row::counts("`seamline::session`", &[2]),
            Row::counts("`seamline::session::inner`", &[2]),
            Row::counts("`seamline::policy`", &[1]),
            Row::counts("total", &[11]),
        ];
        assert_eq!(rows, expected);
    }
}
