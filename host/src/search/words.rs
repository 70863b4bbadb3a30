//! From a text to the words that are looked for: `sendHTTPRequest`, `send_http_request` and "sends HTTP
//! requests" have the same ones.

use frostem::{Algorithm, Stemmer};

/// The longest word, in bytes; what follows is left out. Base64 in a description is no vocabulary.
const LONGEST: usize = 48;

/// Words of a sentence that say nothing about a tool.
const EMPTY: &[&str] = &[
    "a", "all", "an", "and", "any", "are", "as", "at", "be", "by", "can", "do", "does", "for", "from", "has",
    "have", "how", "i", "if", "in", "into", "is", "it", "its", "me", "my", "need", "of", "on", "or", "our",
    "please", "some", "that", "the", "their", "them", "then", "there", "these", "this", "to", "tool", "was",
    "we", "what", "when", "which", "who", "will", "with", "want", "you", "your",
];

/// Whether a word says nothing.
pub(super) fn is_empty(word: &str) -> bool {
    EMPTY.contains(&word)
}

/// What is left of a lower-case word when its grammar is taken away: `sending`, `sends` and `send` are one.
/// The words of other languages mostly stay as they are.
pub(super) fn stem(word: &str) -> String {
    Stemmer::new(Algorithm::English).stem(word).into_owned()
}

/// The words of a text in lower case, in order, at most `most` of them. An identifier gives each of its
/// parts; a character of a script that is written without spaces is a word by itself.
pub(super) fn split(text: &str, most: usize) -> Vec<String> {
    let mut words = Words { done: Vec::new(), word: String::new() };
    let mut before: Option<char> = None;
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if words.done.len() >= most {
            return words.done;
        }
        if !c.is_alphanumeric() {
            // "the customer's" is not a customer and an s.
            if !matches!(c, '\'' | '\u{2019}') {
                words.end();
                before = None;
            }
            continue;
        }
        if stands_alone(c) {
            words.end();
            words.done.push(c.to_string());
            before = None;
            continue;
        }
        if before.is_some_and(|before| begins_a_word(before, c, &rest)) {
            words.end();
        }
        if words.word.len() < LONGEST {
            words.word.extend(c.to_lowercase());
        }
        before = Some(c);
    }
    words.end();
    words.done.truncate(most);
    words.done
}

struct Words {
    done: Vec<String>,
    word: String,
}

impl Words {
    fn end(&mut self) {
        if !self.word.is_empty() {
            self.done.push(std::mem::take(&mut self.word));
        }
    }
}

/// Whether a capital begins a word in the middle of an identifier: `sendMail`, `s3Bucket`, `HTTPServer`; not
/// in `userIDs`, where only an s of the plural follows.
fn begins_a_word(before: char, c: char, rest: &std::str::Chars<'_>) -> bool {
    if !c.is_uppercase() {
        return false;
    }
    if !before.is_uppercase() {
        return true;
    }
    let mut rest = rest.clone();
    match (rest.next(), rest.next()) {
        (Some('s'), after) => after.is_some_and(char::is_lowercase),
        (Some(next), _) => next.is_lowercase(),
        (None, _) => false,
    }
}

/// Chinese, Japanese and Korean: no spaces between words, or none that would help.
fn stands_alone(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{2ffff}')
}

/// Whether two words are the same but for one letter: too many, missing, another, or two in the wrong order.
pub(super) fn one_apart(a: &str, b: &str) -> bool {
    // A letter is at most four bytes; most pairs end here.
    if a.len().abs_diff(b.len()) > 4 {
        return false;
    }
    let same = |(x, y): &(char, char)| x == y;
    let start: usize = a.chars().zip(b.chars()).take_while(same).map(|(letter, _)| letter.len_utf8()).sum();
    let (a, b) = (&a[start..], &b[start..]);
    let end: usize =
        a.chars().rev().zip(b.chars().rev()).take_while(same).map(|(letter, _)| letter.len_utf8()).sum();
    let mut a = a[..a.len() - end].chars();
    let mut b = b[..b.len() - end].chars();
    match ((a.next(), a.next(), a.next()), (b.next(), b.next(), b.next())) {
        ((_, None, _), (_, None, _)) => true,
        ((Some(x), Some(y), None), (Some(v), Some(w), None)) => (x, y) == (w, v),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_taken_apart() {
        for (text, words) in [
            ("sendEmail", "send email"),
            ("send_email.toMany-people", "send email to many people"),
            ("getHTTPResponse", "get http response"),
            ("listS3Buckets v2", "list s3 buckets v2"),
            ("userIDs of the APIs", "user ids of the apis"),
            ("IDString", "id string"),
            ("XML", "xml"),
            ("the customer's e-mail", "the customers e mail"),
            ("Größe_ändern", "größe ändern"),
            ("查找 file", "查 找 file"),
            ("  ***  ", ""),
            ("İ", "i\u{307}"),
        ] {
            assert_eq!(split(text, 100).join(" "), words, "{text}");
        }
        assert_eq!(split("one two three", 2), ["one", "two"]);
        assert_eq!(split(&"x".repeat(1 << 20), 9)[0].len(), LONGEST);
    }

    #[test]
    fn grammar_is_taken_away() {
        for (a, b) in
            [("mails", "mail"), ("sending", "send"), ("invoices", "invoice"), ("deletion", "delete")]
        {
            assert_eq!(stem(a), stem(b));
        }
        assert_ne!(stem("mail"), stem("email"));
        assert_eq!((stem(""), stem("查")), (String::new(), "查".to_owned()));
    }

    #[test]
    fn one_letter_apart() {
        for (a, b) in [
            ("custmer", "customer"),
            ("mail", "email"),
            ("mails", "mail"),
            ("recieve", "receive"),
            ("mall", "mail"),
            ("größe", "grösse"),
            ("same", "same"),
            ("", "a"),
        ] {
            let apart = a != "größe"; // ß against ss is two changes
            assert_eq!((one_apart(a, b), one_apart(b, a)), (apart, apart), "{a} {b}");
        }
        for (a, b) in [("mail", "maple"), ("abcd", "badc"), ("read", "written"), ("aa", "aaaa"), ("ab", "cd")]
        {
            assert!(!one_apart(a, b) && !one_apart(b, a), "{a} {b}");
        }
    }
}
