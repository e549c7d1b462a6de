//! A map that knows which of its entries were not used for the longest time.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

/// A map whose oldest entries its owner can remove. To read an entry is to use it.
#[derive(Debug)]
pub(crate) struct Recent<K, V> {
    by_key: HashMap<K, (u64, V)>,
    by_use: BTreeMap<u64, K>,
    uses: u64,
}

impl<K, V> Default for Recent<K, V> {
    fn default() -> Self {
        Self { by_key: HashMap::new(), by_use: BTreeMap::new(), uses: 0 }
    }
}

impl<K: Copy + Eq + Hash, V> Recent<K, V> {
    pub(crate) fn get(&mut self, key: &K) -> Option<&mut V> {
        let (used, value) = self.by_key.get_mut(key)?;
        self.uses += 1;
        self.by_use.remove(used);
        self.by_use.insert(self.uses, *key);
        *used = self.uses;
        Some(value)
    }

    /// Adds an entry. Returns the one that it replaces.
    pub(crate) fn put(&mut self, key: K, value: V) -> Option<V> {
        let before = self.remove(&key);
        self.uses += 1;
        self.by_use.insert(self.uses, key);
        self.by_key.insert(key, (self.uses, value));
        before
    }

    pub(crate) fn remove(&mut self, key: &K) -> Option<V> {
        let (used, value) = self.by_key.remove(key)?;
        self.by_use.remove(&used);
        Some(value)
    }

    /// Removes the entry that was not used for the longest time.
    pub(crate) fn remove_oldest(&mut self) -> Option<V> {
        let (_, key) = self.by_use.pop_first()?;
        self.by_key.remove(&key).map(|(_, value)| value)
    }

    pub(crate) fn len(&self) -> usize {
        self.by_key.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_entry_that_was_not_used_for_the_longest_time_is_the_oldest() {
        let mut recent = Recent::default();
        for key in ["a", "b", "c"] {
            assert_eq!(recent.put(key, key.to_owned()), None);
        }
        assert_eq!(recent.get(&"a").cloned().as_deref(), Some("a"));
        assert_eq!(recent.put("b", "new".to_owned()).as_deref(), Some("b"));
        assert_eq!(recent.remove_oldest().as_deref(), Some("c"));
        assert_eq!((recent.remove(&"a").as_deref(), recent.len(), recent.get(&"a")), (Some("a"), 1, None));
        assert_eq!((recent.remove_oldest().as_deref(), recent.remove_oldest()), (Some("new"), None));
    }
}
