//! Amounts of money as people write them.

use std::fmt;

/// An amount, exact to a ten-thousandth.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Amount {
    /// In ten-thousandths of the currency.
    pub(super) value: i128,
    /// ISO 4217, in capitals; `None` when none was named.
    pub(super) currency: Option<&'static str>,
}

/// Ten-thousandths in one.
pub(super) const ONE: i128 = 10_000;
/// Longer numbers are no amounts.
const MOST_DIGITS: usize = 24;

impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, part) = (self.value / ONE, (self.value % ONE).unsigned_abs());
        let sign = if self.value < 0 && whole == 0 { "-" } else { "" };
        write!(f, "{sign}{whole}")?;
        if part > 0 {
            let digits = format!("{part:04}");
            let short = digits.trim_end_matches('0');
            write!(f, ".{short:0<2}")?;
        }
        if let Some(currency) = self.currency {
            write!(f, " {currency}")?;
        }
        Ok(())
    }
}

/// The currency that a word or sign names.
pub(super) fn currency(word: &str) -> Option<&'static str> {
    Some(match word.to_lowercase().as_str() {
        "eur" | "€" | "euro" | "euros" => "EUR",
        "usd" | "$" | "dollar" | "dollars" | "us$" | "bucks" => "USD",
        "gbp" | "£" | "pound" | "pounds" => "GBP",
        "chf" | "franc" | "francs" | "fr." | "sfr" => "CHF",
        "jpy" | "¥" | "yen" => "JPY",
        "inr" | "₹" | "rupee" | "rupees" => "INR",
        "sek" => "SEK",
        "nok" => "NOK",
        "dkk" => "DKK",
        "pln" | "zł" => "PLN",
        "cad" => "CAD",
        "aud" => "AUD",
        "cny" | "yuan" => "CNY",
        "brl" => "BRL",
        "czk" => "CZK",
        _ => return None,
    })
}

/// A number with decimals and separators of thousands, in ten-thousandths. `None` when it is none, or when it may
/// mean two things (`1.000`).
pub(super) fn number(text: &str) -> Option<i128> {
    let readings = readings(text)?;
    (readings.0 == readings.1).then_some(readings.0)
}

/// The smallest and the largest that a number may mean.
pub(super) fn readings(text: &str) -> Option<(i128, i128)> {
    let (negative, text) = match text.strip_prefix(['-', '−']) {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let digits = text.chars().filter(char::is_ascii_digit).count();
    let fits = digits > 0
        && digits <= MOST_DIGITS
        && text.starts_with(|c: char| c.is_ascii_digit())
        && text.ends_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_digit() || is_separator(c));
    if !fits {
        return None;
    }
    let sign = if negative { -1 } else { 1 };
    let last = text.chars().rfind(|c| matches!(c, '.' | ','));
    let as_decimal = last.and_then(|mark| {
        let (whole, part) = text.rsplit_once(mark)?;
        let single = !whole.contains(mark);
        (single && grouped(whole)).then(|| exact(whole, part)).flatten()
    });
    let as_whole = grouped(text).then(|| exact(text, "")).flatten();
    let found = match (as_decimal, as_whole) {
        (Some(decimal), Some(whole)) => {
            // "1,000" is a thousand to most; "1.000" is one or a thousand.
            if last == Some(',') { (whole, whole) } else { (decimal.min(whole), decimal.max(whole)) }
        }
        (Some(one), None) | (None, Some(one)) => (one, one),
        (None, None) => return None,
    };
    let (a, b) = (found.0 * sign, found.1 * sign);
    Some((a.min(b), a.max(b)))
}

fn is_separator(c: char) -> bool {
    matches!(c, '.' | ',' | '\'' | '’' | ' ' | '\u{a0}' | '\u{202f}' | '_')
}

/// Whether a whole number has no separators, or one kind of them before every three digits.
fn grouped(text: &str) -> bool {
    let Some(mark) = text.chars().find(|c| is_separator(*c)) else { return true };
    let mut groups = text.split(mark);
    let first = groups
        .next()
        .is_some_and(|first| (1..=3).contains(&first.len()) && first.bytes().all(|b| b.is_ascii_digit()));
    first && groups.all(|group| group.len() == 3 && group.bytes().all(|byte| byte.is_ascii_digit()))
}

fn exact(whole: &str, part: &str) -> Option<i128> {
    if part.len() > 4 || !part.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let whole: String = whole.chars().filter(char::is_ascii_digit).collect();
    let whole: i128 = whole.parse().ok()?;
    let part: i128 = format!("{part:0<4}").parse().ok()?;
    whole.checked_mul(ONE)?.checked_add(part)
}

/// An amount with its currency before or behind it, in one text: `EUR 1,250.00`, `$50`, `50€`, `50`.
pub(super) fn amount(text: &str) -> Option<(i128, i128, Option<&'static str>)> {
    let text = text.trim();
    let is_number = |c: char| c.is_ascii_digit() || matches!(c, '-' | '−');
    let start = text.find(is_number)?;
    let end = text.rfind(|c: char| c.is_ascii_digit())? + 1;
    let (before, number, after) = (text[..start].trim(), text.get(start..end)?, text[end..].trim());
    let after = after.trim_end_matches(".-").trim_end_matches(".–");
    let named = match (before, after) {
        ("", "") => None,
        (word, "") | ("", word) => Some(currency(word)?),
        _ => return None,
    };
    let (least, most) = readings(number)?;
    Some((least, most, named))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_are_read_as_people_write_them() {
        for (text, expected) in [
            ("200", 200.0),
            ("1,000", 1000.0),
            ("1,250.50", 1250.5),
            ("1.250,50", 1250.5),
            ("1'250.50", 1250.5),
            ("1 250,5", 1250.5),
            ("0.05", 0.05),
            ("12,5", 12.5),
            ("1,000,000", 1e6),
            ("1.000.000", 1e6),
            ("-3.20", -3.2),
            ("1_000", 1000.0),
        ] {
            assert_eq!(number(text).map(|value| value as f64 / ONE as f64), Some(expected), "{text}");
        }
        for odd in [
            "",
            "a",
            "1.000",
            "1,2,3",
            "12,34,567.8",
            "1.2.3",
            ".5",
            "5.",
            "1e3",
            "--1",
            "1..2",
            "99999999999999999999999999",
        ] {
            assert_eq!(number(odd), None, "{odd}");
        }
        assert_eq!(readings("1.000"), Some((ONE, 1000 * ONE)));
        assert_eq!(amount("EUR 1,250.00"), Some((1250 * ONE, 1250 * ONE, Some("EUR"))));
        assert_eq!(amount("50€"), Some((50 * ONE, 50 * ONE, Some("EUR"))));
        assert_eq!(amount("50 apples"), None);
        assert_eq!(amount("in 2 days"), None);
    }

    proptest! {
        #[test]
        fn what_is_shown_is_read_again(value in 0_i128..10_000_000_000_000, which in 0_usize..4) {
            let shown = Amount { value, currency: [None, Some("EUR"), Some("USD"), Some("CHF")][which] };
            let (least, most, currency) = amount(&shown.to_string()).unwrap();
            // Three decimals may be read as a thousand; the value is among the readings.
            prop_assert!(least == value || most == value, "{} {} {}", shown, least, most);
            prop_assert_eq!(currency, shown.currency);
        }

        #[test]
        fn separators_change_nothing(whole in 0_u64..10_000_000, cents in 0_u32..100) {
            let plain = format!("{whole}.{cents:02}");
            let digits = whole.to_string();
            let groups: Vec<&str> = digits.as_bytes().rchunks(3).rev().map(|group| std::str::from_utf8(group).unwrap()).collect();
            let expected = number(&plain).unwrap();
            prop_assert_eq!(number(&format!("{}.{cents:02}", groups.join(","))), Some(expected));
            prop_assert_eq!(number(&format!("{},{cents:02}", groups.join("."))), Some(expected));
            prop_assert_eq!(number(&format!("{}.{cents:02}", groups.join("'"))), Some(expected));
        }

        #[test]
        fn any_text_can_be_given(text in "\\PC{0,40}") {
            let _ = (number(&text), amount(&text));
        }
    }
}
