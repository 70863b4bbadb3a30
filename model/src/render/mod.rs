//! From a check to what the model reads: token ids in one or more windows, and the features.
//!
//! Same check, same result, on every machine. Nothing in here may look anything up or keep state.
//!
//! Structure is told to the model by ids of the vocabulary's unused entries ([`Mark`]), which no text can
//! produce: all content is tokenised as plain text, special tokens spelled out in it too. The
//! action comes first and is never dropped: arguments that do not fit one window go on in the next, and
//! what is left out of a long value is marked as left out.

mod evidence;
mod features;
mod names;
mod origin;
mod text;

use std::path::Path;

use postern_check::{BlastRadius, Check, Trigger, key_words};

use crate::Error;
use evidence::Evidence;
pub use features::{FEATURES, NAMES as FEATURE_NAMES};
pub(crate) use names::effect as effect_of_name;
use origin::{Domain, Leaf, Origin, Places};
use text::edge;

/// Changes whenever the same check would render to something else; stored with the weights, which are
/// refused if it differs.
pub const RENDER_VERSION: u32 = 1;

/// No window is longer than this many tokens.
pub const MAX_TOKENS: usize = 168;
/// Most windows of one check.
pub const MAX_WINDOWS: usize = 4;

const MAX_TOOL: usize = 16;
const MAX_KEY: usize = 6;
const MAX_HEAD: usize = 22;
const MAX_TAIL: usize = 10;
/// Tokens of arguments in one window, tool included.
const MAX_ACTION: usize = 72;
const MAX_INTENT: usize = 44;
const MAX_RULES: usize = 24;

/// The structure ids: `[unused0]` and on in BERT's vocabulary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i64)]
#[allow(missing_docs, reason = "each says what follows it, or what holds of the value before it")]
pub enum Mark {
    Tool = 1,
    Argument,
    FromUser,
    FromRule,
    FromContext,
    FromNowhere,
    Instructed,
    InsideRule,
    OutsideRule,
    Elided,
    NextWindow,
    AfterUser,
    AfterResult,
    Intent,
    NoIntent,
    Rules,
    Evidence,
    NoContext,
    Snippet,
    EffectNone,
    EffectRead,
    EffectWrite,
    EffectSend,
    EffectIrreversible,
    EffectUnknown,
    Foreign,
}

impl Mark {
    /// All marks with a word near in meaning, from which training starts their vectors.
    pub const ALL: [(Self, &str); 26] = [
        (Self::Tool, "tool"),
        (Self::Argument, "argument"),
        (Self::FromUser, "user"),
        (Self::FromRule, "rule"),
        (Self::FromContext, "document"),
        (Self::FromNowhere, "unknown"),
        (Self::Instructed, "ordered"),
        (Self::InsideRule, "inside"),
        (Self::OutsideRule, "outside"),
        (Self::Elided, "omitted"),
        (Self::NextWindow, "continued"),
        (Self::AfterUser, "request"),
        (Self::AfterResult, "result"),
        (Self::Intent, "purpose"),
        (Self::NoIntent, "nothing"),
        (Self::Rules, "rules"),
        (Self::Evidence, "evidence"),
        (Self::NoContext, "empty"),
        (Self::Snippet, "quote"),
        (Self::EffectNone, "compute"),
        (Self::EffectRead, "read"),
        (Self::EffectWrite, "write"),
        (Self::EffectSend, "send"),
        (Self::EffectIrreversible, "destroy"),
        (Self::EffectUnknown, "action"),
        (Self::Foreign, "foreign"),
    ];

    /// Its id in the vocabulary.
    pub fn id(self) -> i64 {
        self as i64
    }
}

const CLS: i64 = 101;
const SEP: i64 = 102;

/// One window: what the encoder reads at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// Token ids, at most [`MAX_TOKENS`].
    pub ids: Vec<i64>,
    /// How many of them are the action; the rest is what the action is judged by.
    pub action: usize,
}

/// A check as the model reads it.
#[derive(Clone, Debug, PartialEq)]
pub struct Rendered {
    /// At least one window, at most [`MAX_WINDOWS`].
    pub windows: Vec<Window>,
    /// The numbers named by [`FEATURE_NAMES`], not yet normalised.
    pub features: [f32; FEATURES],
}

/// Renders checks with one vocabulary.
pub struct Renderer {
    tokenizer: tokenizers::Tokenizer,
}

impl Renderer {
    /// Reads `tokenizer.json` from bytes; `path` is for the error.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it is no tokenizer or has another vocabulary than the encoder's.
    pub fn from_bytes(bytes: &[u8], path: &Path) -> Result<Self, Error> {
        let mut tokenizer = tokenizers::Tokenizer::from_bytes(bytes)
            .map_err(|e| Error::invalid(path, format!("no tokenizer: {e}")))?;
        for (token, id) in
            [("[PAD]", 0), ("[unused0]", 1), ("[unused25]", 26), ("[CLS]", 101), ("[SEP]", 102)]
        {
            if tokenizer.token_to_id(token) != Some(id) {
                return Err(Error::invalid(path, format!("{token} has not the id {id}: another vocabulary")));
            }
        }
        // The published file truncates and pads at 128.
        tokenizer.with_padding(None);
        tokenizer.with_truncation(None).map_err(|e| Error::invalid(path, e))?;
        // "[SEP]" in a text is text.
        tokenizer.set_encode_special_tokens(true);
        Ok(Self { tokenizer })
    }

    /// The ids of a text: content only, never a mark or a special token.
    ///
    /// # Errors
    /// [`Error::Tokenizer`] if the tokenizer fails.
    pub fn tokens(&self, text: &str) -> Result<Vec<i64>, Error> {
        let encoding =
            self.tokenizer.encode_fast(text, false).map_err(|e| Error::Tokenizer(e.to_string()))?;
        Ok(encoding.get_ids().iter().map(|&id| i64::from(id)).collect())
    }

    /// Renders one check.
    ///
    /// # Errors
    /// [`Error::Tokenizer`] if the tokenizer fails.
    pub fn render(&self, check: &Check) -> Result<Rendered, Error> {
        let places = Places::of(check);
        let leaves = places.leaves(check);
        let tool_words = text::stems(key_words(&check.action.tool));
        let evidence = Evidence::of(&places.context, &tool_words, &leaves);

        let tool = self.tool(check)?;
        let (groups, mut elided) = self.pack(&leaves, &evidence, MAX_ACTION - tool.len() - 3)?;
        elided |= groups.len() > MAX_WINDOWS;
        let reason = self.reason(check, &places, &evidence)?;
        let last = groups.len().min(MAX_WINDOWS) - 1;
        let mut windows = Vec::with_capacity(last + 1);
        for (index, group) in groups.iter().take(MAX_WINDOWS).enumerate() {
            let mut ids = vec![CLS];
            ids.extend(&tool);
            if index > 0 {
                ids.push(Mark::NextWindow.id());
            }
            ids.extend(group);
            if index == last && groups.len() > MAX_WINDOWS {
                ids.push(Mark::Elided.id());
            }
            ids.push(SEP);
            let action = ids.len();
            ids.extend(reason.iter().take(MAX_TOKENS - action - 1));
            ids.push(SEP);
            windows.push(Window { ids, action });
        }
        let features = features::of(check, &places, &leaves, &evidence, elided);
        Ok(Rendered { windows, features })
    }

    fn tool(&self, check: &Check) -> Result<Vec<i64>, Error> {
        let effect = match names::effect(&check.action.tool) {
            Some(BlastRadius::None) => Mark::EffectNone,
            Some(BlastRadius::Read) => Mark::EffectRead,
            Some(BlastRadius::Write) => Mark::EffectWrite,
            Some(BlastRadius::ExternalSend) => Mark::EffectSend,
            Some(BlastRadius::Irreversible) => Mark::EffectIrreversible,
            None => Mark::EffectUnknown,
        };
        let mut ids = vec![Mark::Tool.id(), effect.id()];
        ids.extend(self.words(&check.action.tool, MAX_TOOL)?);
        Ok(ids)
    }

    /// The words of a name, shortened from the front if there are too many: the verb of
    /// `server.tool` stands at the end.
    fn words(&self, name: &str, most: usize) -> Result<Vec<i64>, Error> {
        let name = &name[edge(name, name.len().saturating_sub(400))..];
        let ids = self.tokens(&key_words(name).join(" "))?;
        if ids.len() <= most {
            return Ok(ids);
        }
        let mut short = vec![Mark::Elided.id()];
        short.extend(&ids[ids.len() - most + 1..]);
        Ok(short)
    }

    /// Packs the leaves into groups of at most `room` tokens, in order; those that point at something
    /// come first. Says too whether anything was left out of a value.
    fn pack(
        &self,
        leaves: &[Leaf],
        evidence: &Evidence,
        room: usize,
    ) -> Result<(Vec<Vec<i64>>, bool), Error> {
        let mut order: Vec<&Leaf> = leaves.iter().collect();
        order.sort_by_key(|leaf| !leaf.pieces.iter().any(|piece| piece.kind.points()));
        let mut groups = vec![Vec::new()];
        let mut elided = false;
        for leaf in order {
            if groups.len() > MAX_WINDOWS {
                break;
            }
            let (ids, cut) = self.leaf(leaf, evidence)?;
            elided |= cut;
            let full = groups.last().is_some_and(|group: &Vec<i64>| group.len() + ids.len() > room);
            if full {
                groups.push(Vec::new());
            }
            if let Some(group) = groups.last_mut() {
                group.extend(ids);
            }
        }
        Ok((groups, elided))
    }

    /// `argument KEY origin VALUE`, and whether the value was shortened.
    fn leaf(&self, leaf: &Leaf, evidence: &Evidence) -> Result<(Vec<i64>, bool), Error> {
        let mut ids = vec![Mark::Argument.id()];
        ids.extend(self.words(&leaf.key, MAX_KEY)?);
        ids.push(match leaf.origin() {
            Origin::User => Mark::FromUser.id(),
            Origin::Rule => Mark::FromRule.id(),
            Origin::Context => Mark::FromContext.id(),
            Origin::Nowhere => Mark::FromNowhere.id(),
        });
        let pieces = &leaf.pieces;
        if pieces.iter().any(|piece| piece.at.is_some_and(|at| evidence.instructed(at))) {
            ids.push(Mark::Instructed.id());
        }
        if pieces.iter().any(|piece| piece.domain == Domain::Outside) {
            ids.push(Mark::OutsideRule.id());
        } else if pieces.iter().any(|piece| piece.domain == Domain::Inside) {
            ids.push(Mark::InsideRule.id());
        }
        if pieces.iter().any(|piece| piece.foreign) {
            ids.push(Mark::Foreign.id());
        }
        // Only the ends of a long value are tokenised: it may be a megabyte.
        let (head, tail) = ends(&leaf.value, MAX_HEAD * 8, MAX_TAIL * 8);
        let head = self.tokens(head)?;
        let tail = self.tokens(tail)?;
        if tail.is_empty() && head.len() <= MAX_HEAD + MAX_TAIL {
            ids.extend(head);
            return Ok((ids, false));
        }
        let tail = if tail.is_empty() { &head } else { &tail };
        ids.extend(head.iter().take(MAX_HEAD));
        ids.push(Mark::Elided.id());
        ids.extend(&tail[tail.len().saturating_sub(MAX_TAIL)..]);
        Ok((ids, true))
    }

    /// What the action is judged by: trigger, intent, rules, evidence.
    fn reason(&self, check: &Check, places: &Places, evidence: &Evidence) -> Result<Vec<i64>, Error> {
        let mut ids = vec![match check.trigger {
            Trigger::User => Mark::AfterUser.id(),
            Trigger::ToolResult => Mark::AfterResult.id(),
        }];
        if places.intent.trim().is_empty() {
            ids.push(Mark::NoIntent.id());
        } else {
            ids.push(Mark::Intent.id());
            ids.extend(self.shortened(&places.intent, MAX_INTENT)?);
        }
        if !places.rules.trim().is_empty() {
            ids.push(Mark::Rules.id());
            ids.extend(self.shortened(&places.rules, MAX_RULES)?);
        }
        if evidence.snippets.is_empty() {
            ids.push(Mark::NoContext.id());
            return Ok(ids);
        }
        ids.push(Mark::Evidence.id());
        for snippet in &evidence.snippets {
            ids.push(Mark::Snippet.id());
            ids.extend(self.tokens(snippet)?);
        }
        Ok(ids)
    }

    /// A text in at most `most` tokens: whole, or two thirds from its head and a third from its tail
    /// with a mark between.
    fn shortened(&self, text: &str, most: usize) -> Result<Vec<i64>, Error> {
        let (head, tail) = ends(text, most * 8, most * 4);
        let mut ids = self.tokens(head)?;
        let tail = self.tokens(tail)?;
        if tail.is_empty() && ids.len() <= most {
            return Ok(ids);
        }
        let tail = if tail.is_empty() { ids.clone() } else { tail };
        ids.truncate(most * 2 / 3);
        ids.push(Mark::Elided.id());
        ids.extend(&tail[tail.len().saturating_sub(most - ids.len())..]);
        Ok(ids)
    }
}

/// The head and the tail of a text in bytes; the tail is empty if head and tail together are all of it.
fn ends(text: &str, head: usize, tail: usize) -> (&str, &str) {
    if text.len() <= head + tail {
        return (text, "");
    }
    (&text[..edge(text, head)], &text[edge(text, text.len() - tail)..])
}

#[cfg(test)]
mod tests;
