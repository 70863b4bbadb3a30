//! A map that forgets what was not used for longest.

use std::borrow::Borrow;
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;

/// Keeps the `most` entries that were used last.
pub(crate) struct Lru<K, V> {
    most: usize,
    clock: u64,
    entries: HashMap<K, (u64, V)>,
    /// By the time of their last use.
    used: BTreeMap<u64, K>,
}

impl<K: Hash + Eq + Clone, V> Lru<K, V> {
    pub(crate) fn new(most: usize) -> Self {
        Self { most, clock: 0, entries: HashMap::new(), used: BTreeMap::new() }
    }

    /// The value of a key, which counts as a use.
    pub(crate) fn get<Q>(&mut self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let (last, value) = self.entries.get_mut(key)?;
        self.clock += 1;
        if let Some(key) = self.used.remove(last) {
            self.used.insert(self.clock, key);
        }
        *last = self.clock;
        Some(value)
    }

    /// Keeps a value; the one that was not used for longest goes if there are too many.
    pub(crate) fn put(&mut self, key: K, value: V) {
        self.clock += 1;
        if let Some((last, _)) = self.entries.insert(key.clone(), (self.clock, value)) {
            self.used.remove(&last);
        }
        self.used.insert(self.clock, key);
        if self.entries.len() > self.most
            && let Some((_, oldest)) = self.used.pop_first()
        {
            self.entries.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_not_used_for_longest_goes() {
        let mut lru = Lru::new(2);
        let look = |lru: &mut Lru<&str, i32>| ["a", "b", "c", "d"].map(|key| lru.get(key).copied());
        lru.put("a", 1);
        lru.put("b", 2);
        assert_eq!(lru.get("a"), Some(&1));
        lru.put("c", 3);
        assert_eq!(look(&mut lru), [Some(1), None, Some(3), None]);
        lru.put("a", 4);
        lru.put("d", 5);
        assert_eq!(look(&mut lru), [Some(4), None, None, Some(5)]);
        assert_eq!((lru.entries.len(), lru.used.len()), (2, 2));
    }
}
