//! Maps the call ids of a conversation to ids that another provider accepts.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::{IdDemand, IdForm};

/// Maps the call ids of a conversation to ids that a provider accepts. The map is injective, deterministic and
/// idempotent, so a call and its result still have the same id.
///
/// ```
/// use seamline_model::{Alphabet, IdDemand, IdMap};
///
/// let demand = IdDemand { alphabet: Alphabet::Word, length_max: 40, prefix: "call_", ..IdDemand::ANY };
/// let map = IdMap::of(demand, ["toolu_1", "hist_tool_4f2a", "call_7|fc_9", "functions.bash:0"]);
/// assert_eq!(map.get("toolu_1"), Some("toolu_1"));
/// assert_eq!(map.get("hist_tool_4f2a"), Some("call_4f2a"));
/// assert_eq!(map.get("call_7|fc_9"), Some("call_7"));
/// assert!(map.get("functions.bash:0").unwrap().starts_with("call_"));
/// ```
#[derive(Debug, Clone)]
pub struct IdMap {
    demand: IdDemand,
    ids: BTreeMap<String, String>,
    taken: HashSet<String>,
}

impl IdMap {
    /// The map for all ids of a conversation. All ids must be given at once, because ids that stay unchanged are
    /// reserved before others are made.
    pub fn of<'i>(demand: IdDemand, ids: impl IntoIterator<Item = &'i str>) -> Self {
        let (kept, changed): (BTreeSet<_>, BTreeSet<_>) = ids.into_iter().partition(|id| is_kept(&demand, id));
        let mut map = Self { demand, ids: BTreeMap::new(), taken: HashSet::new() };
        for id in kept {
            map.insert(id, id.to_owned());
        }
        for id in changed {
            let made = map.replacement(id);
            map.insert(id, made);
        }
        map
    }

    /// A map without ids, for a conversation that grows: an id that is added later changes no earlier one.
    pub fn growing(demand: IdDemand) -> Self {
        Self { demand, ids: BTreeMap::new(), taken: HashSet::new() }
    }

    /// Adds an id, and gives its new id. An id that is already there keeps the new id that it has.
    pub fn add(&mut self, id: &str) -> String {
        if let Some(made) = self.ids.get(id) {
            return made.clone();
        }
        let is_free = is_kept(&self.demand, id) && !self.taken.contains(id);
        let made = if is_free { id.to_owned() } else { self.replacement(id) };
        self.insert(id, made.clone());
        made
    }

    /// Reserves an id: no other id becomes this one from now on.
    pub fn reserve(&mut self, id: &str) {
        self.taken.insert(id.to_owned());
    }

    /// The new id of an id.
    pub fn get(&self, id: &str) -> Option<&str> {
        self.ids.get(id).map(String::as_str)
    }

    /// A new id for a repeated occurrence of an id, where ids must be unique; `occurrence` is 1 for the second.
    pub fn again(&mut self, id: &str, occurrence: usize) -> String {
        let made = self.demand.made(&format!("{id}@{occurrence}"), |made| self.taken.contains(made));
        self.taken.insert(made.clone());
        made
    }

    fn insert(&mut self, id: &str, made: String) {
        self.taken.insert(made.clone());
        self.ids.insert(id.to_owned(), made);
    }

    fn replacement(&self, id: &str) -> String {
        let is_free = |made: &str| self.demand.takes(made) && !self.taken.contains(made);
        match rewritten(&self.demand, id).filter(|made| is_free(made)) {
            Some(made) => made,
            None => self.demand.made(id, |made| self.taken.contains(made)),
        }
    }
}

/// Whether an id can be sent unchanged.
fn is_kept(demand: &IdDemand, id: &str) -> bool {
    demand.takes(id) && !id.starts_with(IdForm::INTERNAL) && of_composite(id).is_none()
}

/// The id as the provider would have seen it. A client's internal id is the provider's id with another prefix, and some
/// clients append the item id to the call id.
fn rewritten(demand: &IdDemand, id: &str) -> Option<String> {
    if let Some(call) = of_composite(id) {
        return is_kept(demand, call).then(|| call.to_owned());
    }
    let rest = id.strip_prefix(IdForm::INTERNAL)?;
    let rest = rest.trim_start_matches(IdForm::INTERNAL);
    (!rest.is_empty()).then(|| format!("{}{rest}", demand.prefix))
}

/// The call id in `call_id|item_id`.
fn of_composite(id: &str) -> Option<&str> {
    let (call, item) = id.split_once('|')?;
    let is_item = !item.contains('|') && item.contains('_');
    (is_item && !call.is_empty()).then_some(call)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Alphabet;

    fn demand(alphabet: Alphabet, length_max: usize, prefix: &'static str) -> IdDemand {
        IdDemand { alphabet, length_max, prefix, ..IdDemand::ANY }
    }

    fn demands() -> [IdDemand; 6] {
        [
            demand(Alphabet::Word, usize::MAX, "toolu_"),
            demand(Alphabet::Any, 40, "call_"),
            demand(Alphabet::Any, 64, "call_"),
            demand(Alphabet::Any, usize::MAX, "call_"),
            demand(Alphabet::Word, 64, "tooluse_"),
            demand(Alphabet::Exactly(9), 9, ""),
        ]
    }

    /// Ids of every kind found in practice, each in many variants.
    fn ids() -> Vec<String> {
        let form = |n: usize| match n % 12 {
            0 => format!("toolu_{n}"),
            1 => format!("call_{n}"),
            2 => format!("hist_tool_{}", n / 3),
            3 => format!("functions.bash:{n}"),
            4 => format!("call_{}|fc_{n}", n / 2),
            5 => format!("{n}-{}", "x".repeat(60)),
            6 => format!("{n:09}"),
            7 => format!("hist_tool_hist_tool_{n}"),
            8 => format!("call_call_{n}"),
            9 => format!("call{n} "),
            10 => format!("é{n}|"),
            _ => format!("hist_tool_{n}.{n}"),
        };
        (0..12_000).map(form).chain(["", " ", "hist_tool_", "|"].map(str::to_owned)).collect()
    }

    #[test]
    fn thousands_of_ids_stay_different_and_become_legal() {
        let ids = ids();
        let distinct: BTreeSet<&str> = ids.iter().map(String::as_str).collect();
        for demand in demands() {
            let map = IdMap::of(demand, ids.iter().map(String::as_str));
            let made: BTreeSet<&str> = distinct.iter().filter_map(|id| map.get(id)).collect();
            assert_eq!(made.len(), distinct.len(), "{demand:?}");
            assert!(made.iter().all(|id| demand.takes(id) && !id.starts_with("hist_tool_")), "{demand:?}");
        }
    }

    #[test]
    fn the_map_is_independent_of_order_and_idempotent() {
        let ids = ids();
        for demand in demands() {
            let map = IdMap::of(demand, ids.iter().map(String::as_str));
            let turned = IdMap::of(demand, ids.iter().rev().map(String::as_str));
            assert_eq!(map.ids, turned.ids);
            let again = IdMap::of(demand, map.ids.values().map(String::as_str));
            assert!(again.ids.iter().all(|(id, made)| id == made), "{demand:?}");
        }
    }

    #[test]
    fn a_clients_internal_ids_get_the_providers_prefix() {
        let tables =
            [("hist_tool_abc123def", "call_abc123def", "toolu_abc123def"), ("call_x|fc_y", "call_x", "call_x")];
        for (id, openai, anthropic) in tables {
            assert_eq!(IdMap::of(demand(Alphabet::Any, 40, "call_"), [id]).get(id), Some(openai));
            assert_eq!(IdMap::of(demand(Alphabet::Word, 64, "toolu_"), [id]).get(id), Some(anthropic));
        }
    }

    #[test]
    fn legal_ids_of_the_provider_stay_unchanged() {
        let kimi = demand(Alphabet::Any, usize::MAX, "call_");
        assert_eq!(IdMap::of(kimi, ["functions.read:12"]).get("functions.read:12"), Some("functions.read:12"));
        let mistral = demand(Alphabet::Exactly(9), 9, "");
        assert_eq!(IdMap::of(mistral, ["abc123XYZ"]).get("abc123XYZ"), Some("abc123XYZ"));
    }

    #[test]
    fn each_repeated_id_gets_a_new_id() {
        let mut map = IdMap::of(demand(Alphabet::Word, 64, "call_"), ["call_0"]);
        let (second, third) = (map.again("call_0", 1), map.again("call_0", 2));
        assert!(second != third && second != "call_0");
    }
}
