//! The index over the tools of one server: which words there are, and how much each tool is about each.

use std::collections::HashMap;

use super::words::{is_empty, split, stem};

/// What is known of one tool. Texts of a server: of any length, and not to be believed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Subject<'a> {
    pub(crate) server: &'a str,
    pub(crate) name: &'a str,
    pub(crate) title: &'a str,
    pub(crate) description: &'a str,
    /// Names of arguments, at every depth.
    pub(crate) arguments: Vec<&'a str>,
}

/// How much a word counts in one of a subject's texts.
struct Field {
    /// Of a text of the usual length.
    weight: f32,
    /// In words. A fixed figure rather than the catalog's average: what one tool weighs must not depend
    /// on the others, some of which may not be seen.
    usual: f32,
    /// How much of the weight goes down with the length: 0 none, 1 all.
    by_length: f32,
    /// Words that are read. What comes later says little, and a server cannot fill the memory.
    most: usize,
}

const SERVER: Field = Field { weight: 1.5, usual: 1.0, by_length: 0.3, most: 16 };
const NAME: Field = Field { weight: 4.0, usual: 3.0, by_length: 0.5, most: 32 };
const TITLE: Field = Field { weight: 2.5, usual: 3.0, by_length: 0.5, most: 32 };
const ARGUMENTS: Field = Field { weight: 1.0, usual: 6.0, by_length: 0.75, most: 200 };
const DESCRIPTION: Field = Field { weight: 1.0, usual: 15.0, by_length: 0.75, most: 400 };

/// A word counts at most this many times a field's weight, however often it is said there: a description
/// that repeats itself does not come before a name.
const MOST_OF_A_FIELD: f32 = 3.0;

/// A tool, by its number among those the segment was made of, and how much it is about a word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Posting {
    pub(super) document: u32,
    pub(super) weight: f32,
}

/// The index over the tools of one server. Never changes.
pub(crate) struct Segment {
    documents: usize,
    /// Of each stem the tools, by number.
    postings: Vec<Vec<Posting>>,
    /// Sorted stems, and where their postings are.
    stems: Vec<(Box<str>, u32)>,
    /// Sorted words as they were written, each with its stem's place.
    words: Vec<(Box<str>, u32)>,
}

impl Segment {
    /// The index over these, in this order.
    pub(crate) fn new<'a>(subjects: impl IntoIterator<Item = Subject<'a>>) -> Self {
        let mut building = Building::default();
        for subject in subjects {
            building.add(&subject);
        }
        building.finish()
    }

    /// How many it was made of.
    pub(crate) fn len(&self) -> usize {
        self.documents
    }

    /// The number of a stem, if any tool has it.
    pub(super) fn stem(&self, stem: &str) -> Option<u32> {
        let at = self.stems.binary_search_by(|(known, _)| (**known).cmp(stem)).ok()?;
        Some(self.stems[at].1)
    }

    /// The tools that have a stem.
    pub(super) fn postings(&self, stem: u32) -> &[Posting] {
        &self.postings[stem as usize]
    }

    /// All words, each with its stem's number.
    pub(super) fn words(&self) -> &[(Box<str>, u32)] {
        &self.words
    }

    /// The words that begin so, with the numbers of their stems.
    pub(super) fn beginning<'s>(&'s self, start: &'s str) -> impl Iterator<Item = u32> + 's {
        let from = self.words.partition_point(|(word, _)| **word < *start);
        self.words[from..].iter().take_while(move |(word, _)| word.starts_with(start)).map(|(_, stem)| *stem)
    }
}

impl std::fmt::Debug for Segment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Segment({} tools, {} words)", self.documents, self.words.len())
    }
}

#[derive(Default)]
struct Building {
    documents: u32,
    stems: HashMap<String, u32>,
    /// Word -> its stem. Most words come again and again, and finding the stem is the dearest step.
    words: HashMap<String, u32>,
    postings: Vec<Vec<Posting>>,
}

impl Building {
    fn add(&mut self, subject: &Subject<'_>) {
        let mut weights: HashMap<u32, f32> = HashMap::new();
        let name = split(subject.name, NAME.most);
        // Who writes `sendmail` or `to do` means `send_mail` and `todo` too.
        let joined = if name.len() > 1 { name.concat() } else { String::new() };
        self.field(&SERVER, split(subject.server, SERVER.most), &mut weights);
        self.field(&NAME, name, &mut weights);
        if !joined.is_empty() {
            self.field(&NAME, vec![joined], &mut weights);
        }
        self.field(&TITLE, split(subject.title, TITLE.most), &mut weights);
        let mut description = split(subject.description, DESCRIPTION.most);
        description.retain(|word| !is_empty(word));
        self.field(&DESCRIPTION, description, &mut weights);
        let mut arguments = Vec::new();
        for argument in &subject.arguments {
            let room = ARGUMENTS.most.saturating_sub(arguments.len());
            arguments.extend(split(argument, room));
        }
        self.field(&ARGUMENTS, arguments, &mut weights);
        for (stem, weight) in weights {
            self.postings[stem as usize].push(Posting { document: self.documents, weight });
        }
        self.documents += 1;
    }

    fn field(&mut self, field: &Field, words: Vec<String>, weights: &mut HashMap<u32, f32>) {
        let length = 1.0 - field.by_length + field.by_length * words.len() as f32 / field.usual;
        let mut own: HashMap<u32, f32> = HashMap::new();
        for word in words {
            *own.entry(self.number(word)).or_default() += field.weight / length;
        }
        for (stem, weight) in own {
            *weights.entry(stem).or_default() += weight.min(MOST_OF_A_FIELD * field.weight);
        }
    }

    /// The number of a word's stem.
    fn number(&mut self, word: String) -> u32 {
        if let Some(number) = self.words.get(&word) {
            return *number;
        }
        let postings = &mut self.postings;
        let number = *self.stems.entry(stem(&word)).or_insert_with(|| {
            postings.push(Vec::new());
            u32::try_from(postings.len() - 1).unwrap_or(u32::MAX)
        });
        self.words.insert(word, number);
        number
    }

    fn finish(self) -> Segment {
        let sorted = |map: HashMap<String, u32>| {
            let mut all: Vec<(Box<str>, u32)> =
                map.into_iter().map(|(text, number)| (text.into_boxed_str(), number)).collect();
            all.sort_unstable();
            all
        };
        Segment {
            documents: self.documents as usize,
            postings: self.postings,
            stems: sorted(self.stems),
            words: sorted(self.words),
        }
    }
}
