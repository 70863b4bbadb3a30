//! What a run has done and spent so far, as far as constraints count it.

use std::collections::BTreeMap;

use super::call::{ConstraintCall, View};
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

impl Spent {
    /// Counts a call.
    pub fn reserve(&mut self, call: &ConstraintCall<'_>) {
        let view = View::of(call);
        for what in &view.acts {
            let count = self.counts.entry(*what).or_default();
            *count = count.saturating_add(1);
        }
        let count = self.tools.entry(tool_id(call)).or_default();
        *count = count.saturating_add(1);
        if view.is(What::Payment) {
            for cost in &view.costs {
                let amount = self.amounts.entry(cost.currency).or_default();
                *amount = amount.saturating_add(cost.value.max(0));
            }
        }
    }

    /// Takes a reserved call back.
    pub fn release(&mut self, call: &ConstraintCall<'_>) {
        let view = View::of(call);
        for what in &view.acts {
            if let Some(count) = self.counts.get_mut(what) {
                *count = count.saturating_sub(1);
            }
        }
        if let Some(count) = self.tools.get_mut(&tool_id(call)) {
            *count = count.saturating_sub(1);
        }
        if view.is(What::Payment) {
            for cost in &view.costs {
                if let Some(amount) = self.amounts.get_mut(&cost.currency) {
                    *amount = amount.saturating_sub(cost.value.max(0)).max(0);
                }
            }
        }
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

fn tool_id(call: &ConstraintCall<'_>) -> String {
    format!("{}/{}", call.server, call.tool)
}

/// Whether a tool is the one that a constraint names.
pub(super) fn is_tool(id: &str, named: &str) -> bool {
    id.eq_ignore_ascii_case(named)
        || id.split_once('/').is_some_and(|(_, tool)| tool.eq_ignore_ascii_case(named))
}
