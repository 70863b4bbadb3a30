//! Addresses and subjects of mail.

use postern_check::evidence::Folded;

use super::kinds::Roles;
use super::leaves::Leaf;
use super::shown;
use crate::policy::Finding;

/// An argument that names mailboxes, or a subject.
pub(super) fn check(leaf: &Leaf<'_>, roles: Roles, value: &str, out: &mut Vec<Finding>) {
    if breaks(value, roles.mail) {
        out.push(Finding::at(
            "mail-header",
            leaf.path,
            format!("a line break in a header: {}", shown(value)),
        ));
    }
    if !roles.mail || !value.contains('@') && !value.contains('＠') || value.len() > 8192 {
        return;
    }
    for mailbox in value.split([',', ';', '\n']) {
        if let Some(what) = looks_alike(mailbox.trim()) {
            out.push(Finding::at("mail-look-alike", leaf.path, format!("{what}: {}", shown(mailbox.trim()))));
            return;
        }
    }
}

/// Whether a line break stands before something more. Of recipients a list by lines is one all the same.
fn breaks(value: &str, recipients: bool) -> bool {
    let lower = value.to_ascii_lowercase();
    let encoded = recipients && (lower.contains("%0a") || lower.contains("%0d"));
    let mut lines =
        value.trim().split(['\n', '\r', '\u{2028}', '\u{85}']).filter(|line| !line.trim().is_empty());
    let first = lines.next().is_some();
    encoded
        || (first
            && lines.any(|line| {
                !recipients
                    || line.split_once(':').is_some_and(|(name, _)| !name.contains('@'))
                    || !line.contains('@')
            }))
}

/// What makes an address look like another, in words.
fn looks_alike(mailbox: &str) -> Option<&'static str> {
    let (shown_name, address) = match (mailbox.rfind('<'), mailbox.rfind('>')) {
        (Some(open), Some(close)) if open < close => (&mailbox[..open], &mailbox[open + 1..close]),
        _ => ("", mailbox),
    };
    if let Some(inner) = address_in(shown_name)
        && !inner.eq_ignore_ascii_case(address.trim())
    {
        return Some("the name shown is another address");
    }
    let (local, domain) = address.rsplit_once('@')?;
    // `a@corp.test@bad.example` is read as the first by a person.
    if local.contains('@') {
        return Some("an address within an address");
    }
    if domain_deceives(domain) {
        return Some("a domain that looks like another");
    }
    let folded = Folded::of(local);
    (folded.confusable() > 0 || folded.hidden() > 0).then_some("a mailbox that looks like another")
}

fn address_in(text: &str) -> Option<&str> {
    let at = text.find('@')?;
    let edge = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '(' | ')' | '<' | '>' | '[' | ']');
    let start = text[..at]
        .rfind(edge)
        .map_or(0, |before| before + text[before..].chars().next().map_or(1, char::len_utf8));
    let end = text[at..].find(edge).map_or(text.len(), |after| at + after);
    let address = &text[start..end];
    (address.contains('.') && start < at).then_some(address)
}

/// Whether a domain mixes scripts, or is another one in letters that cannot be told from its own.
fn domain_deceives(domain: &str) -> bool {
    let domain = domain.trim().trim_end_matches('.');
    let written;
    let domain = if domain.to_ascii_lowercase().contains("xn--") {
        written = url::quirks::domain_to_unicode(domain);
        written.as_str()
    } else {
        domain
    };
    if domain.is_ascii() {
        return false;
    }
    let folded = Folded::of(domain);
    let whole = || {
        // All of it in another script, yet read as Latin, under an ending in Latin letters.
        domain
            .split('.')
            .any(|label| !label.is_ascii() && is_other_script(label) && Folded::of(label).text().is_ascii())
            && domain.rsplit('.').next().is_some_and(str::is_ascii)
    };
    let odd = domain.chars().any(|c| matches!(c, '\u{ff01}'..='\u{ff5e}' | '。' | '․' | '∕'));
    folded.confusable() > 0 || folded.hidden() > 0 || odd || whole()
}

fn is_other_script(label: &str) -> bool {
    label.chars().any(|c| matches!(c, '\u{370}'..='\u{3ff}' | '\u{400}'..='\u{52f}'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_another_is_found() {
        for bad in [
            "ann@cоrp.test",
            "ann@раура.com",
            "\"ceo@corp.test\" <eve@bad.example>",
            "ceo@corp.test <eve@bad.example>",
            "a@corp.test@bad.example",
            "ann@corp\u{200b}.test",
            "аnn@corp.test",
            "ann@ｃｏｒｐ.test",
            "ann@xn--crp-sed.test",
        ] {
            assert!(looks_alike(bad).is_some(), "{bad}");
        }
        for fine in [
            "ann@corp.test",
            "Ann Lee <ann@corp.test>",
            "\"ann@corp.test\" <ANN@corp.test>",
            "jürgen@müller.de",
            "имя@пример.рф",
            "a+b@corp.test",
            "@ann",
            "ann at corp",
            "",
            "名前@例え.jp",
        ] {
            assert!(looks_alike(fine).is_none(), "{fine}");
        }
    }

    #[test]
    fn a_line_break_adds_a_header() {
        assert!(breaks("a@corp.test\r\nBcc: eve@bad.example", true));
        assert!(breaks("Hello\nBcc: eve@bad.example", false));
        assert!(breaks("a@corp.test%0abcc:eve@bad.example", true));
        assert!(!breaks("Hello world\n", false));
        assert!(!breaks("a@corp.test\nb@corp.test", true));
        assert!(!breaks("100%0 off", false));
    }
}
