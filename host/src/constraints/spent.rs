//! What a run has done and spent so far, as far as constraints count it.

use std::collections::{BTreeMap, BTreeSet};

use super::call::{ConstraintCall, View};
use super::money::Amount;
use super::rule::What;

/// Counts and amounts over one run. A call is reserved before it is dispatched and released if it never was, so that
/// calls under way at the same time cannot spend the same budget.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    counts: BTreeMap<What, u32>,
    tools: BTreeMap<String, u32>,
    /// In ten-thousandths, by currency; `None` is what was paid without one.
    amounts: BTreeMap<Option<&'static str>, i128>,
}

/// What one call was counted as: taken back as exactly that, whatever has become known of the call since.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reserved {
    acts: BTreeSet<What>,
    tool: String,
    amounts: Vec<(Option<&'static str>, i128)>,
}

impl Reserved {
    pub(super) fn of(view: &View<'_>) -> Self {
        let costs = view.costs.iter().filter(|_| view.is(What::Payment));
        Self {
            acts: view.acts.clone(),
            tool: format!("{}/{}", view.call.server, view.call.tool),
            amounts: costs.map(|cost| (cost.currency, cost.value.max(0))).collect(),
        }
    }
}

impl Spent {
    /// Counts a call.
    pub fn reserve(&mut self, call: &ConstraintCall<'_>) -> Reserved {
        let reserved = Reserved::of(&View::of(call));
        self.add(&reserved);
        reserved
    }

    pub(super) fn add(&mut self, reserved: &Reserved) {
        for what in &reserved.acts {
            let count = self.counts.entry(*what).or_default();
            *count = count.saturating_add(1);
        }
        let count = self.tools.entry(reserved.tool.clone()).or_default();
        *count = count.saturating_add(1);
        for (currency, value) in &reserved.amounts {
            let amount = self.amounts.entry(*currency).or_default();
            *amount = amount.saturating_add(*value);
        }
    }

    /// Takes a reserved call back.
    pub fn release(&mut self, reserved: &Reserved) {
        for what in &reserved.acts {
            if let Some(count) = self.counts.get_mut(what) {
                *count = count.saturating_sub(1);
            }
        }
        if let Some(count) = self.tools.get_mut(&reserved.tool) {
            *count = count.saturating_sub(1);
        }
        for (currency, value) in &reserved.amounts {
            if let Some(amount) = self.amounts.get_mut(currency) {
                *amount = amount.saturating_sub(*value).max(0);
            }
        }
    }

    /// Everything that is counted, for people: `mails: 2`, `paid: 150 EUR`.
    pub fn told(&self) -> Vec<String> {
        let counts = self.counts.iter().filter(|(_, count)| **count > 0);
        let counts = counts.map(|(what, count)| format!("{}: {count}", what.name()));
        let amounts = self.amounts.iter().filter(|(_, value)| **value > 0);
        let paid = |(currency, value): (&Option<&'static str>, &i128)| {
            format!("paid: {}", Amount { value: *value, currency: *currency })
        };
        counts.chain(amounts.map(paid)).collect()
    }

    pub(super) fn count(&self, what: What) -> u32 {
        self.counts.get(&what).copied().unwrap_or(0)
    }

    /// Calls of a tool, named `server/tool` or by its own name.
    pub(super) fn of_tool(&self, tool: &str) -> u32 {
        self.tools.iter().filter(|(id, _)| is_tool(id, tool)).map(|(_, count)| *count).sum()
    }

    /// What was paid in a currency, and in none; all of it for `None`. And whether some was paid in another.
    pub(super) fn amount(&self, currency: Option<&str>) -> (i128, bool) {
        let mut sum = 0_i128;
        let mut others = false;
        for (paid_in, amount) in &self.amounts {
            if currency.is_none() || paid_in.is_none() || *paid_in == currency {
                sum = sum.saturating_add(*amount);
            } else {
                others |= *amount > 0;
            }
        }
        (sum, others)
    }
}

/// Whether a tool is the one that a constraint names.
pub(super) fn is_tool(id: &str, named: &str) -> bool {
    id.eq_ignore_ascii_case(named)
        || id.split_once('/').is_some_and(|(_, tool)| tool.eq_ignore_ascii_case(named))
}
