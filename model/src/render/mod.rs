//! From a check to what the model reads: a frame, one or more windows, and the features.
//!
//! Same check, same result, on every machine. Nothing in here may look anything up or keep state.
//!
//! Structure is told to the model by ids of the vocabulary's unused entries ([`Mark`]), which no text can
//! produce: all content is tokenised as plain text, special tokens spelled out in it too. The
//! frame is what all calls of a run share: the request and the rules. In a window the
//! action comes first and is never dropped: arguments that do not fit one window go on in the next, and
//! what is left out of a long value is marked as left out. What does not fit all windows is an overflow, which
//! is no reason to allow anything.

mod features;
mod names;
mod snippets;

use std::path::Path;

use postern_check::evidence::{DomainRule, Evidence, Leaf, Origin, Sources, fold, telling};
use postern_check::{BlastRadius, Check, Trigger, key_words};

use crate::Error;
pub(crate) use features::delegates;
pub use features::{FEATURES, feature_names};
pub(crate) use names::effect as effect_of_name;
use snippets::{Snippet, snippets};

/// Changes whenever the same check would render to something else; stored with the weights, which are
/// refused if it differs.
pub const RENDER_VERSION: u32 = 2;

/// No frame is longer than this many tokens.
pub const MAX_FRAME: usize = 96;
/// No window is longer than this many tokens.
pub const MAX_TOKENS: usize = 176;
/// Most windows of one check.
pub const MAX_WINDOWS: usize = 8;

const MAX_TOOL: usize = 16;
const MAX_KEY: usize = 6;
const MAX_HEAD: usize = 22;
const MAX_TAIL: usize = 10;
/// Tokens of arguments in one window, tool included.
const MAX_ACTION: usize = 80;
const MAX_INTENT: usize = 62;
const MAX_RULES: usize = 28;
/// A value with authority that is longer than this, in bytes, cannot be judged by its ends.
const MAX_AUTHORITY: usize = 4096;
/// Of any other value so much is searched for what must be judged, in bytes.
const MAX_SEEN: usize = 64 << 10;
/// Tokens of one stretch from the middle of a value.
const MAX_MIDDLE: usize = 48;
/// Tokens of what was decoded from one value.
const MAX_DECODED: usize = 32;
/// Tools that were called before are named up to this many.
const MAX_STEPS: usize = 3;

/// The structure ids: `[unused0]` and on in BERT's vocabulary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i64)]
#[allow(missing_docs, reason = "each says what follows it, or what holds of the value before it")]
pub enum Mark {
    Tool = 1,
    Argument,
    FromUser,
    FromRule,
    FromTrusted,
    FromScript,
    FromField,
    FromProse,
    FromNowhere,
    FromOrder,
    AlsoOrdered,
    InsideRule,
    OutsideRule,
    Foreign,
    Elided,
    Decoded,
    Hidden,
    NextWindow,
    AfterUser,
    AfterResult,
    Intent,
    NoIntent,
    Rules,
    Steps,
    NoContext,
    Quote,
    Order,
    Override,
    ToAssistant,
    EffectNone,
    EffectRead,
    EffectWrite,
    EffectSend,
    EffectIrreversible,
    EffectUnknown,
}

impl Mark {
    /// All marks with a word near in meaning, from which training starts their vectors.
    pub const ALL: [(Self, &str); 35] = [
        (Self::Tool, "tool"),
        (Self::Argument, "argument"),
        (Self::FromUser, "user"),
        (Self::FromRule, "rule"),
        (Self::FromTrusted, "trusted"),
        (Self::FromScript, "script"),
        (Self::FromField, "record"),
        (Self::FromProse, "document"),
        (Self::FromNowhere, "unknown"),
        (Self::FromOrder, "ordered"),
        (Self::AlsoOrdered, "mentioned"),
        (Self::InsideRule, "inside"),
        (Self::OutsideRule, "outside"),
        (Self::Foreign, "foreign"),
        (Self::Elided, "omitted"),
        (Self::Decoded, "translated"),
        (Self::Hidden, "hidden"),
        (Self::NextWindow, "continued"),
        (Self::AfterUser, "request"),
        (Self::AfterResult, "result"),
        (Self::Intent, "purpose"),
        (Self::NoIntent, "nothing"),
        (Self::Rules, "rules"),
        (Self::Steps, "steps"),
        (Self::NoContext, "empty"),
        (Self::Quote, "quote"),
        (Self::Order, "order"),
        (Self::Override, "ignore"),
        (Self::ToAssistant, "assistant"),
        (Self::EffectNone, "compute"),
        (Self::EffectRead, "read"),
        (Self::EffectWrite, "write"),
        (Self::EffectSend, "send"),
        (Self::EffectIrreversible, "destroy"),
        (Self::EffectUnknown, "action"),
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
    /// Token ids of the request and the rules, at most [`MAX_FRAME`]: what all calls of a run share.
    pub frame: Vec<i64>,
    /// At least one window, at most [`MAX_WINDOWS`].
    pub windows: Vec<Window>,
    /// The numbers named by [`feature_names`], not yet normalised.
    pub features: [f32; FEATURES],
    /// What the tool's name says of its effect, if it says it plainly.
    pub effect: Option<BlastRadius>,
    /// How well the arguments with authority are grounded, by the evidence; `None` if there are none.
    pub grounded: Option<f32>,
    /// Part of the action did not fit all windows: whatever the model says, nobody has seen it all.
    pub overflow: bool,
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
            [("[PAD]", 0), ("[unused0]", 1), ("[unused34]", 35), ("[CLS]", 101), ("[SEP]", 102)]
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

    /// Renders one check with the evidence that it holds itself.
    ///
    /// # Errors
    /// [`Error::Tokenizer`] if the tokenizer fails.
    pub fn render(&self, check: &Check) -> Result<Rendered, Error> {
        let sources = Sources::of(check);
        let evidence = Evidence::from_sources(&check.action, &sources);
        self.render_with(check, &sources, &evidence)
    }

    /// Renders one check with evidence that was made before.
    ///
    /// # Errors
    /// [`Error::Tokenizer`] if the tokenizer fails.
    pub fn render_with(
        &self,
        check: &Check,
        sources: &Sources,
        evidence: &Evidence,
    ) -> Result<Rendered, Error> {
        let tool = self.tool(check)?;
        let (groups, unseen) = self.pack(&evidence.leaves, MAX_ACTION - tool.len() - 3)?;
        let overflow = unseen || groups.len() > MAX_WINDOWS;
        let reason = self.reason(check, sources, evidence)?;
        let last = groups.len().min(MAX_WINDOWS) - 1;
        let mut windows = Vec::with_capacity(last + 1);
        for (index, group) in groups.iter().take(MAX_WINDOWS).enumerate() {
            let mut ids = vec![CLS];
            ids.extend(&tool);
            if index > 0 {
                ids.push(Mark::NextWindow.id());
            }
            ids.extend(group);
            if index == last && overflow {
                ids.push(Mark::Elided.id());
            }
            ids.push(SEP);
            let action = ids.len();
            ids.extend(reason.iter().take(MAX_TOKENS - action - 1));
            ids.push(SEP);
            windows.push(Window { ids, action });
        }
        let features = features::of(check, evidence, overflow);
        Ok(Rendered {
            frame: self.frame(check)?,
            windows,
            features,
            effect: names::effect(&check.action.tool),
            grounded: evidence.grounded(),
            overflow,
        })
    }

    /// The request and the rules.
    fn frame(&self, check: &Check) -> Result<Vec<i64>, Error> {
        let mut ids = vec![CLS];
        if check.intent.trim().is_empty() {
            ids.push(Mark::NoIntent.id());
        } else {
            ids.push(Mark::Intent.id());
            ids.extend(self.shortened(&check.intent, MAX_INTENT)?);
        }
        let rules = check.constraints.join("\n");
        if !rules.trim().is_empty() {
            ids.push(Mark::Rules.id());
            ids.extend(self.shortened(&rules, MAX_RULES)?);
        }
        ids.push(SEP);
        Ok(ids)
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
        let name = &name[name.floor_char_boundary(name.len().saturating_sub(400))..];
        let ids = self.tokens(&key_words(name).join(" "))?;
        if ids.len() <= most {
            return Ok(ids);
        }
        let mut short = vec![Mark::Elided.id()];
        short.extend(&ids[ids.len() - most + 1..]);
        Ok(short)
    }

    /// Packs the leaves into groups of at most `room` tokens, in order; those with authority and those that point at
    /// something come first. Says too whether a value is longer than anybody looked.
    fn pack(&self, leaves: &[Leaf], room: usize) -> Result<(Vec<Vec<i64>>, bool), Error> {
        let mut order: Vec<&Leaf> = leaves.iter().collect();
        order.sort_by_key(|leaf| (!leaf.authority, !leaf.pieces.iter().any(|piece| piece.kind.points())));
        let mut groups = vec![Vec::new()];
        let mut unseen = false;
        for leaf in order {
            if groups.len() > MAX_WINDOWS {
                break;
            }
            for ids in self.leaf(leaf)? {
                let full = groups
                    .last()
                    .is_some_and(|group: &Vec<i64>| !group.is_empty() && group.len() + ids.len() > room);
                if full {
                    groups.push(Vec::new());
                }
                if let Some(group) = groups.last_mut() {
                    group.extend(ids.into_iter().take(room));
                }
            }
            unseen |= leaf.value.len() > if leaf.authority { MAX_AUTHORITY } else { MAX_SEEN };
        }
        Ok((groups, unseen))
    }

    /// `argument KEY origin VALUE`; after it what was encoded in the value, and for a long value further stretches of it.
    fn leaf(&self, leaf: &Leaf) -> Result<Vec<Vec<i64>>, Error> {
        let mut start = vec![Mark::Argument.id()];
        start.extend(self.words(&leaf.key, MAX_KEY)?);
        start.push(match leaf.origin() {
            Origin::User => Mark::FromUser.id(),
            Origin::Constraint => Mark::FromRule.id(),
            Origin::Trusted => Mark::FromTrusted.id(),
            Origin::Literal => Mark::FromScript.id(),
            Origin::Field => Mark::FromField.id(),
            Origin::Prose => Mark::FromProse.id(),
            Origin::Nowhere => Mark::FromNowhere.id(),
            Origin::Order => Mark::FromOrder.id(),
        });
        let pieces = &leaf.pieces;
        if pieces.iter().any(|piece| piece.ordered > 0.0 && piece.origin != Origin::Order) {
            start.push(Mark::AlsoOrdered.id());
        }
        if pieces.iter().any(|piece| piece.domain == DomainRule::Outside) {
            start.push(Mark::OutsideRule.id());
        } else if pieces.iter().any(|piece| piece.domain == DomainRule::Inside) {
            start.push(Mark::InsideRule.id());
        }
        if pieces.iter().any(|piece| piece.foreign) {
            start.push(Mark::Foreign.id());
        }
        if leaf.hidden > 0 {
            start.push(Mark::Hidden.id());
        }
        // What cannot be told from other letters is shown as what it looks like; the mark says that it is not.
        let looks;
        let text = if leaf.hidden > 0 {
            looks = fold(&leaf.value[..leaf.value.floor_char_boundary(MAX_SEEN)]);
            &looks
        } else {
            &leaf.value
        };
        let (value, long) = self.value(text)?;
        let mut out = vec![[start.as_slice(), &value].concat()];
        if long {
            for group in self.middle(&leaf.value)? {
                out.push([start.as_slice(), &[Mark::Elided.id()], &group].concat());
            }
        }
        for decoded in leaf.decoded.iter().take(2) {
            let mut ids = start.clone();
            ids.push(Mark::Decoded.id());
            ids.extend(self.shortened(&decoded.text, MAX_DECODED)?);
            out.push(ids);
        }
        Ok(out)
    }

    /// A value's tokens: of a long one both ends, and whether it is long.
    fn value(&self, value: &str) -> Result<(Vec<i64>, bool), Error> {
        // Only the ends of a long value are tokenised: it may be a megabyte.
        let (head, tail) = ends(value, MAX_HEAD * 8, MAX_TAIL * 8);
        let head = self.tokens(head)?;
        let tail = self.tokens(tail)?;
        if tail.is_empty() && head.len() <= MAX_HEAD + MAX_TAIL {
            return Ok((head, false));
        }
        let tail = if tail.is_empty() { &head } else { &tail };
        let mut ids: Vec<i64> = head.iter().take(MAX_HEAD).copied().collect();
        ids.push(Mark::Elided.id());
        ids.extend(&tail[tail.len().saturating_sub(MAX_TAIL)..]);
        Ok((ids, true))
    }

    /// What the middle of a long value has that must be judged, in groups of at most [`MAX_MIDDLE`] tokens.
    fn middle(&self, value: &str) -> Result<Vec<Vec<i64>>, Error> {
        let folded = fold(&value[..value.floor_char_boundary(MAX_SEEN)]);
        let mut groups: Vec<Vec<i64>> = Vec::new();
        for (start, end) in telling(&folded) {
            // More than the windows hold is an overflow anyway.
            if groups.len() > MAX_WINDOWS {
                break;
            }
            let ids = self.tokens(&folded[start..end])?;
            for part in ids.chunks(MAX_MIDDLE - 1) {
                match groups.last_mut() {
                    Some(group) if group.len() + part.len() < MAX_MIDDLE => group.extend(part),
                    _ => groups.push(part.to_vec()),
                }
            }
        }
        Ok(groups)
    }

    /// What the action is judged by beside the frame: trigger, earlier steps, orders, where the values stand.
    fn reason(&self, check: &Check, sources: &Sources, evidence: &Evidence) -> Result<Vec<i64>, Error> {
        let mut ids = vec![match check.trigger {
            Trigger::User => Mark::AfterUser.id(),
            Trigger::ToolResult => Mark::AfterResult.id(),
        }];
        if sources.results().is_empty() {
            ids.push(Mark::NoContext.id());
            return Ok(ids);
        }
        ids.push(Mark::Steps.id());
        let results = sources.results();
        for source in &results[results.len().saturating_sub(MAX_STEPS)..] {
            let own = source.tool().rsplit(['.', '/']).next().unwrap_or_default();
            ids.extend(self.words(own, MAX_KEY)?);
        }
        for Snippet { order, text } in snippets(sources, evidence) {
            match order {
                Some(order) => {
                    ids.push(Mark::Order.id());
                    if order.signs.overrides {
                        ids.push(Mark::Override.id());
                    }
                    if order.signs.to_assistant {
                        ids.push(Mark::ToAssistant.id());
                    }
                }
                None => ids.push(Mark::Quote.id()),
            }
            ids.extend(self.tokens(text)?);
        }
        Ok(ids)
    }

    /// A text in at most `most` tokens: whole, or two thirds from its head and a third from its tail
    /// with a mark between.
    fn shortened(&self, text: &str, most: usize) -> Result<Vec<i64>, Error> {
        let text = &fold(text);
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
    (&text[..text.floor_char_boundary(head)], &text[text.floor_char_boundary(text.len() - tail)..])
}

#[cfg(test)]
mod tests;
