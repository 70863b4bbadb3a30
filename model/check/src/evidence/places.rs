//! Where the words of a text stand. A value that stands in a text by itself has whole words of it, so
//! only the places of its rarest word need to be looked at: a megabyte costs no more than a page.

/// The places of all words of a folded text, sorted by word.
#[derive(Clone, Debug, Default)]
pub(super) struct WordPlaces(Vec<(u32, u32)>);

/// Most words of a value of which the rarest is sought.
const COMPARED: usize = 8;

impl WordPlaces {
    pub(super) fn of(text: &str) -> Self {
        // Texts are bounded far below 4 GiB; what lay beyond would not be found, which is the strict side.
        let mut places: Vec<(u32, u32)> =
            words(text).filter_map(|(start, word)| Some((hash(word), u32::try_from(start).ok()?))).collect();
        places.sort_unstable();
        Self(places)
    }

    /// Where `needle` stands in `text`, of which these are the places, by itself.
    pub(super) fn find<'a>(&'a self, text: &'a str, needle: &'a str) -> impl Iterator<Item = usize> + 'a {
        let rarest = words(needle)
            .take(COMPARED)
            .map(|(offset, word)| (offset, self.of_word(hash(word))))
            .min_by_key(|(_, places)| places.len());
        let (offset, places) = rarest.unwrap_or((0, &[]));
        // A value of signs alone has no word to go by.
        let plain = (rarest.is_none() && !needle.is_empty())
            .then(|| memchr::memmem::find_iter(text.as_bytes(), needle.as_bytes()));
        let by_word = places.iter().filter_map(move |&(_, place)| (place as usize).checked_sub(offset));
        by_word.chain(plain.into_iter().flatten()).filter(move |&at| stands(text, needle, at))
    }

    fn of_word(&self, word: u32) -> &[(u32, u32)] {
        let start = self.0.partition_point(|&(other, _)| other < word);
        let length = self.0[start..].partition_point(|&(other, _)| other == word);
        &self.0[start..start + length]
    }
}

/// Whether `needle` stands at this place and is not part of a longer word or number.
fn stands(text: &str, needle: &str, at: usize) -> bool {
    if !text.as_bytes()[at..].starts_with(needle.as_bytes()) || !text.is_char_boundary(at) {
        return false;
    }
    let joined = |edge: Option<char>, other: Option<char>| {
        edge.is_some_and(char::is_alphanumeric) && other.is_some_and(char::is_alphanumeric)
    };
    let before = text[..at].chars().next_back();
    let after = text[at + needle.len()..].chars().next();
    !joined(needle.chars().next(), before) && !joined(needle.chars().next_back(), after)
}

/// Runs of letters and digits, with where they begin.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(|word| (word.as_ptr() as usize - text.as_ptr() as usize, word))
}

/// FNV-1a. Two words with one hash cost a comparison, nothing else.
fn hash(word: &str) -> u32 {
    word.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::leaves::whole_matches;
    use super::*;

    #[test]
    fn values_stand_by_themselves() {
        let text = "pay eve@bad.example 12 or 120, pay eve@bad.example.org (not 12x) - pay";
        let places = WordPlaces::of(text);
        let find = |needle: &str| places.find(text, needle).collect::<Vec<_>>();
        assert_eq!(find("12"), [20]);
        assert_eq!(find("eve@bad.example"), [4, 35]);
        assert_eq!(find("pay"), [0, 31, 67]);
        assert_eq!(find("bad.ex"), [0; 0]);
        assert_eq!(find(" - "), [64]);
        assert_eq!(find(""), [0; 0]);
    }

    proptest! {
        #[test]
        fn the_index_finds_what_reading_finds(text in "[ab1.@ é-]{0,60}", needle in "[ab1.@ é-]{1,6}") {
            let places = WordPlaces::of(&text);
            let mut found: Vec<_> = places.find(&text, &needle).collect();
            found.sort_unstable();
            // Reading goes on behind a match, the index sees matches that overlap too.
            let first = whole_matches(&text, &needle).next();
            prop_assert!(first.is_none_or(|first| found.contains(&first)), "{first:?} {found:?}");
            for at in found {
                prop_assert!(stands(&text, &needle, at));
            }
        }
    }
}
