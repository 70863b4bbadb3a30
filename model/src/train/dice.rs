//! A small seeded random source (SplitMix64), so that a training run can be repeated.

use std::cell::Cell;

/// Random choices from a seed.
pub(crate) struct Dice(Cell<u64>);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Cell::new(seed))
    }

    /// The next 64 random bits.
    pub(crate) fn bits(&self) -> u64 {
        let state = self.0.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.0.set(state);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`, which is at least 1.
    pub(crate) fn below(&self, end: usize) -> usize {
        (self.bits() % end.max(1) as u64) as usize
    }

    /// A number of `from..=to`.
    pub(crate) fn between(&self, from: usize, to: usize) -> usize {
        from + self.below(to - from + 1)
    }

    /// Whether something of this probability happens.
    pub(crate) fn chance(&self, probability: f64) -> bool {
        ((self.bits() >> 11) as f64 / (1_u64 << 53) as f64) < probability
    }

    /// One of several.
    pub(crate) fn pick<'a, T>(&self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// One of several, if there are any; else nothing is drawn.
    pub(crate) fn pick_any<'a, T>(&self, items: &'a [T]) -> Option<&'a T> {
        (!items.is_empty()).then(|| self.pick(items))
    }

    /// Puts items in random order.
    pub(crate) fn shuffle<T>(&self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            items.swap(end, self.below(end + 1));
        }
    }
}

/// A number from a text, the same on every machine (FNV-1a).
pub(crate) fn hash(seed: u64, text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325 ^ seed, |h, byte| (h ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
