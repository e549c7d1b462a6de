//! Methods and fields of `Session`, the type that a host holds.

use std::collections::BTreeSet;

use syn::{ImplItem, Item, ItemImpl, Type, Visibility};

use super::Table;
use super::table::Row;
use crate::rust::{self, Sources};

/// The crate whose `Session` is measured.
const CRATE: &str = "crates/seamline/src/";
const NAME: &str = "Session";

#[derive(Default)]
struct Shape {
    fields: usize,
    public_methods: usize,
    private_methods: usize,
    files: BTreeSet<String>,
}

pub(super) fn table(sources: &Sources) -> Table {
    let mut shape = Shape::default();
    for (path, file) in sources.files().filter(|(path, _)| path.starts_with(CRATE)) {
        for item in rust::items(&file.items) {
            shape.add(path, item);
        }
    }
    let rows = vec![
        Row::counts("fields", &[shape.fields]),
        Row::counts("public methods", &[shape.public_methods]),
        Row::counts("private methods", &[shape.private_methods]),
        Row::counts("files with `impl Session`", &[shape.files.len()]),
    ];
    Table {
        title: "Session",
        columns: vec!["count"],
        rows,
        note: "of the crate seamline; `pub(crate)` and `pub(super)` count as private, methods of traits are left out.",
    }
}

impl Shape {
    fn add(&mut self, path: &str, item: &Item) {
        match item {
            Item::Struct(item) if item.ident == NAME => self.fields += item.fields.len(),
            Item::Impl(block) if is_inherent(block) => {
                self.files.insert(path.to_owned());
                for method in &block.items {
                    let ImplItem::Fn(method) = method else { continue };
                    match method.vis {
                        Visibility::Public(_) => self.public_methods += 1,
                        Visibility::Restricted(_) | Visibility::Inherited => self.private_methods += 1,
                    }
                }
            }
            _ => {}
        }
    }
}

fn is_inherent(block: &ItemImpl) -> bool {
    let Type::Path(path) = &*block.self_ty else { return false };
    block.trait_.is_none() && path.path.segments.last().is_some_and(|last| last.ident == NAME)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    #[test]
    fn methods_are_counted_over_all_files() {
        let tree = Tree::of(&[
            (
                "crates/seamline/src/session.rs",
                "pub struct Session<S> { a: u8, b: S }\nimpl<S> Session<S> { pub fn a() {} }",
            ),
            (
                "crates/seamline/src/session/b.rs",
                "impl Drop for Session { fn drop() {} }\nimpl super::Session { pub(crate) fn b() {} fn c() {} const D: u8 = 0; }",
            ),
            ("crates/seamline/src/session/c.rs", "impl Other { fn d() {} }"),
            ("crates/other/src/lib.rs", "struct Session { a: u8 }"),
        ]);
        let rows = table(&Sources::parse(&tree).unwrap()).rows;
        let expected = [
            Row::counts("fields", &[2]),
            Row::counts("public methods", &[1]),
            Row::counts("private methods", &[2]),
            Row::counts("files with `impl Session`", &[2]),
        ];
        assert_eq!(rows, expected);
    }
}
