//! Hours of the day and days of the week.

use super::{GLUE, Words, has, negated, only};
use crate::constraints::rule::{Rule, What};

/// Minutes of a time of the day, and how many words it took.
fn time(words: &Words) -> Option<(u16, usize)> {
    let word = words.first()?.0.as_str();
    let (digits, mut half) = match word.find(|c: char| !c.is_ascii_digit() && c != ':' && c != '.') {
        Some(at) => (&word[..at], &word[at..]),
        None => (word, ""),
    };
    let mut length = 1;
    if half.is_empty()
        && let Some((next, _)) = words.get(1)
        && matches!(next.as_str(), "am" | "pm" | "a.m" | "p.m" | "h" | "o'clock" | "uhr")
    {
        half = next;
        length = 2;
    }
    let (hours, minutes) = digits.split_once([':', '.']).unwrap_or((digits, "0"));
    let (hours, minutes): (u16, u16) = (hours.parse().ok()?, minutes.parse().ok()?);
    let hours = match half {
        "am" | "a.m" if (1..=12).contains(&hours) => hours % 12,
        "pm" | "p.m" if (1..=12).contains(&hours) => hours % 12 + 12,
        "" | "h" | "o'clock" | "uhr" => hours,
        _ => return None,
    };
    ((hours < 24 && minutes < 60) || (hours == 24 && minutes == 0)).then_some((hours * 60 + minutes, length))
}

pub(super) fn hours(words: &Words) -> Option<Rule> {
    const AROUND: &[&str] = &[
        "run", "work", "act", "calls", "call", "do", "anything", "send", "mail", "pay", "payments", "local",
        "time", "make", "between", "until", "after", "before", "outside", "hours", "use", "tools", "during",
        "till",
    ];
    let days = only(
        words,
        &[&["weekdays", "weekends", "weekend", "run", "work", "calls", "do", "anything", "during"], GLUE],
    );
    if days
        && ((has(words, &["weekdays"]) && has(words, &["only"]) && !negated(words))
            || (has(words, &["weekends", "weekend"]) && negated(words)))
    {
        return Some(Rule::Weekdays);
    }
    let mut times = Vec::new();
    let mut rest = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let range = words[at].0.split_once(['-', '–']).and_then(|(from, to)| {
            let part = |text: &str| time(&[(text.to_owned(), text.to_owned())]);
            Some((part(from)?.0, part(to)?.0))
        });
        if let Some((from, to)) = range {
            times.extend([from, to]);
            at += 1;
        } else if let Some((minutes, length)) = time(&words[at..]) {
            times.push(minutes);
            at += length;
        } else {
            rest.push(words[at].clone());
            at += 1;
        }
    }
    if times.is_empty() || !only(&rest, &[AROUND, GLUE]) {
        return None;
    }
    let not = negated(&rest);
    let (from, to) = match times[..] {
        [from, to]
            if has(&rest, &["between", "from"])
                && has(&rest, &["only"]) != (not && has(&rest, &["outside"])) =>
        {
            (from, to)
        }
        [from, to] if has(&rest, &["outside"]) && not => (from, to),
        [after] if has(&rest, &["after"]) && !has(&rest, &["before"]) => {
            if not {
                (0, after)
            } else if has(&rest, &["only"]) {
                (after, 24 * 60)
            } else {
                return None;
            }
        }
        [before] if has(&rest, &["before"]) && !has(&rest, &["after"]) => {
            if not {
                (before, 24 * 60)
            } else if has(&rest, &["only"]) {
                (0, before)
            } else {
                return None;
            }
        }
        _ => return None,
    };
    // "never between 9 and 17" says the opposite.
    if not && has(&rest, &["between"]) && !has(&rest, &["outside"]) {
        return None;
    }
    let what = if has(&rest, &["mail"]) {
        What::Mail
    } else if has(&rest, &["pay", "payments"]) {
        What::Payment
    } else {
        What::Call
    };
    Some(Rule::Hours { from, to, what })
}
