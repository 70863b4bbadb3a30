//! Clauses and words of a constraint, in a form in which many ways of saying a thing are one.

use super::money;

/// Words at which a new clause may begin after a comma, "and" or "but".
const LEADS: &[&str] = &[
    "never", "no", "not", "only", "do", "don't", "dont", "don’t", "at", "max", "maximum", "ask", "always",
    "confirm", "must", "please", "nothing", "keep", "be", "use", "read", "up", "make", "without", "stay",
    "check", "get",
];
/// Longer constraints are not parsed.
const LONGEST: usize = 2000;

/// The clauses of a constraint, as written.
pub(super) fn clauses(text: &str) -> Vec<String> {
    let text = text.trim();
    if text.is_empty() {
        return Vec::new();
    }
    if text.len() > LONGEST {
        return vec![text.to_owned()];
    }
    let mut out = Vec::new();
    for sentence in sentences(text) {
        let words: Vec<&str> = sentence.split_whitespace().collect();
        let mut from = 0;
        for at in 1..words.len() {
            let comma = words[at - 1].ends_with(',');
            let joined = matches!(words[at].to_lowercase().as_str(), "and" | "but");
            let next =
                words.get(at + usize::from(joined)).map(|word| word.to_lowercase()).unwrap_or_default();
            let open =
                words[from..at].iter().any(|word| matches!(word.to_lowercase().as_str(), "between" | "from"));
            let rest = &words[at + usize::from(joined)..];
            let number = is_amount(rest)
                && rest.iter().any(|word| {
                    matches!(
                        tidy(word).to_lowercase().as_str(),
                        "total" | "all" | "payment" | "each" | "transfer"
                    )
                });
            if (comma || joined) && (LEADS.contains(&tidy(&next)) || (number && !open)) {
                push(&words[from..at], &mut out);
                from = at + usize::from(joined);
            }
        }
        push(&words[from..], &mut out);
    }
    out
}

fn is_amount(words: &[&str]) -> bool {
    words.first().is_some_and(|word| {
        money::amount(word.trim_end_matches([',', '.'])).is_some() || money::currency(word).is_some()
    })
}

fn push(words: &[&str], out: &mut Vec<String>) {
    let clause = words.join(" ");
    let clause = clause.trim_end_matches([',', '.', ';', '!']).trim();
    let clause = clause.strip_prefix("and ").unwrap_or(clause);
    if !clause.is_empty() {
        out.push(clause.to_owned());
    }
}

/// Split at full stops that end something, semicolons and lines.
fn sentences(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut from = 0;
    for (at, c) in text.char_indices() {
        let after = text[at + c.len_utf8()..].chars().next();
        let ends = match c {
            '\n' | ';' => true,
            '.' | '!' => after.is_none_or(char::is_whitespace),
            _ => false,
        };
        if ends {
            out.push(&text[from..at]);
            from = at + c.len_utf8();
        }
    }
    out.push(&text[from..]);
    out.retain(|sentence| !sentence.trim().is_empty());
    out
}

/// A word without the marks around it.
pub(super) fn tidy(word: &str) -> &str {
    word.trim_matches(|c: char| {
        matches!(c, '"' | '\'' | '`' | '“' | '”' | '‘' | '’' | '(' | ')' | ',' | ':' | '!' | '?')
    })
    .trim_end_matches('.')
}

/// Phrases that mean the same, longest first.
const PHRASES: &[(&str, &str)] = &[
    ("do not ever", "NOT"),
    ("should not be", "NOT"),
    ("must not be", "NOT"),
    ("may not be", "NOT"),
    ("under no circumstances", "NOT"),
    ("do not", "NOT"),
    ("must not", "NOT"),
    ("should not", "NOT"),
    ("may not", "NOT"),
    ("can not", "NOT"),
    ("never", "NOT"),
    ("don't", "NOT"),
    ("don’t", "NOT"),
    ("dont", "NOT"),
    ("cannot", "NOT"),
    ("can't", "NOT"),
    ("mustn't", "NOT"),
    ("without", "NOT"),
    ("avoid", "NOT"),
    ("refrain from", "NOT"),
    ("not more than", "MOST"),
    ("no more than", "MOST"),
    ("never more than", "MOST"),
    ("at most", "MOST"),
    ("maximum of", "MOST"),
    ("max of", "MOST"),
    ("up to", "MOST"),
    ("maximum", "MOST"),
    ("max.", "MOST"),
    ("max", "MOST"),
    ("limit of", "MOST"),
    ("more than", "MORE"),
    ("greater than", "MORE"),
    ("larger than", "MORE"),
    ("higher than", "MORE"),
    ("above", "MORE"),
    ("over", "MORE"),
    ("exceeding", "MORE"),
    ("exceed", "MORE"),
    ("in total", "TOTAL"),
    ("altogether", "TOTAL"),
    ("overall", "TOTAL"),
    ("in all", "TOTAL"),
    ("total", "TOTAL"),
    ("per run", "TOTAL"),
    ("per payment", "EACH"),
    ("per transfer", "EACH"),
    ("per transaction", "EACH"),
    ("per purchase", "EACH"),
    ("for each payment", "EACH"),
    ("each", "EACH"),
    ("at once", "EACH"),
    ("single payment", "payment"),
    ("single transfer", "payment"),
    ("no", "NO"),
    ("not", "NOT"),
    ("read-only", "read only"),
    ("readonly", "read only"),
    ("e-mails", "mail"),
    ("e-mail", "mail"),
    ("emails", "mail"),
    ("email", "mail"),
    ("mails", "mail"),
    ("emailing", "sending mail"),
    ("mailing", "sending mail"),
    ("tool calls", "calls"),
    ("api calls", "calls"),
    ("api requests", "calls"),
    ("third parties", "outsiders"),
    ("third party", "outsiders"),
    ("requests", "calls"),
    ("transfers", "payments"),
    ("transactions", "payments"),
    ("purchases", "payments"),
    ("transfer of", "payment of"),
    ("ask me", "ASK"),
    ("ask the user", "ASK"),
    ("check with me", "ASK"),
    ("get my approval", "ASK"),
    ("get my ok", "ASK"),
    ("get approval", "ASK"),
    ("wait for my approval", "ASK"),
    ("confirm with me", "ASK"),
    ("confirm with the user", "ASK"),
    ("ask for confirmation", "ASK"),
    ("ask for approval", "ASK"),
    ("ask", "ASK"),
    ("confirm", "ASK"),
    ("make sure to", ""),
    ("make sure you", ""),
    ("outside of", "outside"),
];
/// Words that change nothing.
const FILLERS: &[&str] = &[
    "please",
    "the",
    "a",
    "an",
    "ever",
    "just",
    "very",
    "kindly",
    "strictly",
    "really",
    "you",
    "i",
    "that",
    "are",
    "is",
    "allowed",
    "should",
    "may",
    "must",
    "be",
    "absolutely",
    "also",
    "so",
    "then",
    "agent",
    "let",
    "script",
    "always",
];

/// The words of a clause: small letters, phrases that mean the same made one, fillers gone. Names of files and
/// mailboxes keep their own letters in the second of each pair.
pub(super) fn words(clause: &str) -> Vec<(String, String)> {
    let raw: Vec<&str> = clause.split_whitespace().map(tidy).filter(|word| !word.is_empty()).collect();
    let lower: Vec<String> = raw.iter().map(|word| word.to_lowercase()).collect();
    let mut out = Vec::new();
    let mut at = 0;
    while at < raw.len() {
        let phrase = PHRASES.iter().filter_map(|(phrase, one)| {
            let parts: Vec<&str> = phrase.split(' ').collect();
            let fits = lower[at..].len() >= parts.len()
                && parts.iter().zip(&lower[at..]).all(|(part, word)| part == word);
            fits.then_some((parts.len(), *one))
        });
        // The longest; of those the first.
        if let Some((length, one)) = phrase.max_by_key(|(length, _)| *length) {
            out.extend(
                one.split(' ').filter(|word| !word.is_empty()).map(|word| (word.to_owned(), word.to_owned())),
            );
            at += length;
            continue;
        }
        if !FILLERS.contains(&lower[at].as_str()) {
            out.push((lower[at].clone(), raw[at].to_owned()));
        }
        at += 1;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_fall_into_clauses() {
        assert_eq!(
            clauses("Only mail to corp.test and never more than 100 EUR. Be kind; no posts"),
            ["Only mail to corp.test", "never more than 100 EUR", "Be kind", "no posts",]
        );
        assert_eq!(
            clauses("at most 200 EUR per payment, 1,000 in total"),
            ["at most 200 EUR per payment", "1,000 in total"]
        );
        assert_eq!(clauses("only between 9:00 and 17:00"), ["only between 9:00 and 17:00"]);
        assert_eq!(
            clauses("only send to ann@corp.test and bob@corp.test"),
            ["only send to ann@corp.test and bob@corp.test"]
        );
    }

    #[test]
    fn ways_of_saying_are_one() {
        let one = |text| words(text).into_iter().map(|(word, _)| word).collect::<Vec<_>>().join(" ");
        assert_eq!(one("Please do not ever send e-mails"), "NOT send mail");
        assert_eq!(one("No more than 3 tool calls in total"), "MOST 3 calls TOTAL");
    }
}
