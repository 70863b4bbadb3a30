//! Amounts of money, and numbers of calls.

use super::{GLUE, Words, has, negated, only};
use crate::constraints::money::{self, Amount};
use crate::constraints::rule::{Rule, What};

pub(super) fn amount(words: &Words, before: Option<&Rule>) -> Option<Rule> {
    const AROUND: &[&str] = &[
        "MOST", "MORE", "TOTAL", "EACH", "pay", "spend", "transfer", "payment", "payments", "send", "make",
        "budget", "cost", "costs", "price", "money", "buy", "amount", "amounts", "purchase", "total",
        "paying", "spending", "limit", "single",
    ];
    let (at, length, value, mut currency) = money_in(words)?;
    let rest: Vec<(String, String)> = words[..at].iter().chain(&words[at + length..]).cloned().collect();
    let about_money = has(
        &rest,
        &[
            "pay", "spend", "transfer", "payment", "payments", "budget", "buy", "money", "amount",
            "purchase", "price", "cost",
        ],
    );
    let inherited = match before {
        Some(Rule::Each(amount) | Rule::Total(amount)) => Some(amount.currency),
        _ => None,
    };
    if currency.is_none() {
        currency = inherited.flatten();
        // A bare number is money only where money is spoken of.
        if !about_money && inherited.is_none() {
            return None;
        }
    }
    let most = has(&rest, &["MOST", "budget", "limit"]) && !negated(&rest) && !has(&rest, &["MORE"]);
    let not_more = negated(&rest) && has(&rest, &["MORE"]) && !has(&rest, &["MOST"]);
    let follows = inherited.is_some() && !negated(&rest) && !has(&rest, &["MORE"]);
    if !(most || not_more || follows) || !only(&rest, &[AROUND, GLUE]) || value < 0 {
        return None;
    }
    let amount = Amount { value, currency };
    let each =
        has(&rest, &["EACH", "payment", "pay", "transfer", "purchase"]) && !has(&rest, &["TOTAL", "budget"]);
    Some(if each { Rule::Each(amount) } else { Rule::Total(amount) })
}

/// The one amount among the words: where, how many words, its value and currency.
fn money_in(words: &Words) -> Option<(usize, usize, i128, Option<&'static str>)> {
    let mut found = None;
    let mut at = 0;
    while at < words.len() {
        let pair = words.get(at + 1).map(|next| format!("{} {}", words[at].1, next.1));
        let one = |text: &str, length| {
            let (least, most, currency) = money::amount(text)?;
            (least == most).then_some((at, length, least, currency))
        };
        let next = pair
            .and_then(|pair| one(&pair, 2))
            .filter(|found| found.3.is_some())
            .or_else(|| one(&words[at].1, 1));
        match next {
            // "3 payments of 50 EUR" says two things at once.
            Some(_) if found.is_some() => return None,
            Some(next) => {
                at += next.1;
                found = Some(next);
            }
            None => at += 1,
        }
    }
    found
}

fn what_of_count(word: &str) -> Option<What> {
    Some(match word {
        "calls" | "call" | "actions" | "steps" => What::Call,
        "mail" | "messages" | "message" => What::Mail,
        "payments" | "payment" => What::Payment,
        "deletions" => What::Deletion,
        "posts" | "post" => What::Post,
        "changes" | "change" | "edits" => What::Change,
        "invitations" | "invites" => What::Share,
        "commands" => What::Run,
        "writes" => What::Write,
        _ => return None,
    })
}

fn whole(word: &str) -> Option<u32> {
    const WORDS: &[&str] = &[
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
        "twelve",
    ];
    let named = WORDS.iter().position(|name| *name == word).and_then(|n| u32::try_from(n).ok());
    named.or_else(|| {
        let value = money::number(word)?;
        (value % money::ONE == 0).then(|| u32::try_from(value / money::ONE).ok()).flatten()
    })
}

pub(super) fn count(words: &Words) -> Option<Rule> {
    const AROUND: &[&str] =
        &["MOST", "MORE", "TOTAL", "make", "send", "do", "pay", "run", "write", "single", "tool", "use"];
    let at = words.iter().position(|(word, _)| whole(word).is_some())?;
    let most = whole(&words[at].0)?;
    let what = what_of_count(&words.get(at + 1)?.0)?;
    let rest: Vec<(String, String)> = words[..at].iter().chain(&words[at + 2..]).cloned().collect();
    let limits = (has(&rest, &["MOST"]) && !negated(&rest))
        || (has(&rest, &["MORE"]) && negated(&rest))
        || (has(&rest, &["only"]) && !negated(&rest) && !has(&rest, &["MORE"]));
    if !limits {
        return None;
    }
    if only(&rest, &[AROUND, GLUE]) {
        return Some(Rule::Count { most, what });
    }
    // "at most 3 calls to crm/get"
    let (tool, others) = rest.split_last()?;
    let named = tool.1.contains(['/', '_']) && !tool.1.contains("//") && !tool.1.starts_with(['/', '.', '~']);
    (named && what == What::Call && only(others, &[AROUND, GLUE]))
        .then(|| Rule::CountTool { most, tool: tool.1.clone() })
}
