//! Types that share a name.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use syn::{Ident, Item, Visibility};

use super::Table;
use super::table::Row;
use crate::rust::{self, Sources};

/// A name with this many definitions is listed, even if at most one is public.
const LISTED_MIN: usize = 3;

#[derive(Default)]
struct Definitions {
    all: usize,
    public: usize,
}

pub(super) fn table(sources: &Sources) -> Table {
    let mut names: BTreeMap<String, Definitions> = BTreeMap::new();
    for item in sources.files().flat_map(|(_, file)| rust::items(&file.items)) {
        let Some((name, visibility)) = defined(item) else { continue };
        let definitions = names.entry(name.to_string()).or_default();
        definitions.all += 1;
        definitions.public += usize::from(matches!(visibility, Visibility::Public(_)));
    }
    let shared = |counted: fn(&Definitions) -> usize| names.values().filter(|found| counted(found) > 1).count();
    let mut rows = vec![Row::counts(
        "names with more than one definition",
        &[shared(|found| found.public), shared(|found| found.all)],
    )];
    let is_listed = |found: &Definitions| found.public > 1 || found.all >= LISTED_MIN;
    let mut worst: Vec<(String, Definitions)> = names.into_iter().filter(|(_, found)| is_listed(found)).collect();
    worst.sort_by_key(|(_, found)| Reverse((found.public, found.all)));
    rows.extend(worst.into_iter().map(|(name, found)| Row::counts(format!("`{name}`"), &[found.public, found.all])));
    Table {
        title: "types with the same name",
        columns: vec!["pub", "any visibility"],
        rows,
        note: "structs, enums, unions, traits and aliases of all crates, outside of tests; two `pub` or three in all are listed.",
    }
}

fn defined(item: &Item) -> Option<(&Ident, &Visibility)> {
    match item {
        Item::Enum(item) => Some((&item.ident, &item.vis)),
        Item::Struct(item) => Some((&item.ident, &item.vis)),
        Item::Trait(item) => Some((&item.ident, &item.vis)),
        Item::Type(item) => Some((&item.ident, &item.vis)),
        Item::Union(item) => Some((&item.ident, &item.vis)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Tree;

    #[test]
    fn names_are_compared_across_crates() {
        let tree = Tree::of(&[
            ("crates/a/src/lib.rs", "pub struct Place; pub enum Once {} struct Kept;"),
            ("crates/b/src/lib.rs", "pub enum Place {} type Kept = u8; pub(crate) trait Place2 {}"),
            ("crates/b/src/c.rs", "struct Place;"),
        ]);
        let rows = table(&Sources::parse(&tree).unwrap()).rows;
        let expected = [Row::counts("names with more than one definition", &[1, 2]), Row::counts("`Place`", &[2, 3])];
        assert_eq!(rows, expected);
    }
}
