//! The functions behind URL, TextEncoder and TextDecoder, atob and btoa, crypto and Math.random.

use std::cell::Cell;
use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};
use rquickjs::convert::List;
use rquickjs::{Ctx, Exception, Function, Object, Result, TypedArray};
use url::{Url, form_urlencoded, quirks};

use crate::bindings::wasi::random::random;
use crate::engine::with_bytes;

/// What atob accepts: padding may be left out, and the bits that no byte uses need not be zero.
const FORGIVING: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

thread_local! {
    /// The state of Math.random.
    static RANDOM: Cell<u64> = const { Cell::new(1) };
}

/// Seeds Math.random. Without it each run would draw what the snapshot would have drawn.
pub(crate) fn seed() {
    RANDOM.set(random::get_random_u64() | 1);
}

/// Puts these functions into the prelude's `host`.
pub(crate) fn register<'js>(ctx: &Ctx<'js>, host: &Object<'js>) -> Result<()> {
    host.set("random", Function::new(ctx.clone(), next_random)?)?;
    host.set("randomBytes", Function::new(ctx.clone(), random_bytes)?)?;
    host.set("uuid", Function::new(ctx.clone(), uuid)?)?;
    host.set("encode", Function::new(ctx.clone(), encode)?)?;
    host.set("decode", Function::new(ctx.clone(), decode)?)?;
    host.set("atob", Function::new(ctx.clone(), atob)?)?;
    host.set("btoa", Function::new(ctx.clone(), btoa)?)?;
    host.set("urlParse", Function::new(ctx.clone(), url_parse)?)?;
    host.set("urlSet", Function::new(ctx.clone(), url_set)?)?;
    host.set("formParse", Function::new(ctx.clone(), form_parse)?)?;
    host.set("formText", Function::new(ctx.clone(), form_text)?)?;
    Ok(())
}

// ---- chance -------------------------------------------------------------

/// xorshift64*, in [0, 1). Secrets come from `random_bytes`.
fn next_random() -> f64 {
    let mut x = RANDOM.get();
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    RANDOM.set(x);
    (x.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11) as f64 / (1u64 << 53) as f64
}

fn random_bytes<'js>(ctx: Ctx<'js>, count: u32) -> Result<TypedArray<'js, u8>> {
    TypedArray::new(ctx, random::get_random_bytes(u64::from(count)))
}

/// A version 4 UUID.
fn uuid() -> String {
    let mut text = String::with_capacity(36);
    for (i, byte) in random::get_random_bytes(16).into_iter().enumerate() {
        let byte = match i {
            6 => byte & 0x0f | 0x40,
            8 => byte & 0x3f | 0x80,
            _ => byte,
        };
        if matches!(i, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        let _ = write!(text, "{byte:02x}");
    }
    text
}

// ---- text and bytes -----------------------------------------------------

fn encode<'js>(ctx: Ctx<'js>, text: String) -> Result<TypedArray<'js, u8>> {
    TypedArray::new(ctx, text.into_bytes())
}

/// Decodes UTF-8. Gives the text and how many bytes it used: with `more`, an unfinished character at
/// the end is left for the next piece.
fn decode<'js>(
    ctx: Ctx<'js>,
    view: TypedArray<'js, u8>,
    fatal: bool,
    more: bool,
) -> Result<List<(String, usize)>> {
    let decoded = with_bytes(&view, |bytes| {
        let used = bytes.len() - if more { unfinished(bytes) } else { 0 };
        match std::str::from_utf8(&bytes[..used]) {
            Ok(text) => Some((text.to_owned(), used)),
            Err(_) if fatal => None,
            Err(_) => Some((String::from_utf8_lossy(&bytes[..used]).into_owned(), used)),
        }
    });
    decoded.map(List).ok_or_else(|| Exception::throw_type(&ctx, "the bytes are not UTF-8"))
}

/// How many bytes at the end are the beginning of a character.
fn unfinished(bytes: &[u8]) -> usize {
    let tail = bytes.utf8_chunks().last().map_or(&[][..], |chunk| chunk.invalid());
    match std::str::from_utf8(tail) {
        Err(error) if error.error_len().is_none() => tail.len(),
        _ => 0,
    }
}

/// Bytes as a string with one character each.
fn latin1(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

fn atob(text: String) -> Option<String> {
    let text: Vec<u8> = text.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
    FORGIVING.decode(text).ok().map(|bytes| latin1(&bytes))
}

fn btoa(text: String) -> Option<String> {
    let bytes: Option<Vec<u8>> = text.chars().map(|c| u8::try_from(u32::from(c)).ok()).collect();
    bytes.map(|bytes| STANDARD.encode(bytes))
}

// ---- URLs ---------------------------------------------------------------

/// What the URL class shows: href, origin, protocol, username, password, host, hostname, port,
/// pathname, search, hash.
fn parts(url: &Url) -> Vec<String> {
    let texts: [&str; 9] = [
        quirks::protocol(url),
        quirks::username(url),
        quirks::password(url),
        quirks::host(url),
        quirks::hostname(url),
        quirks::port(url),
        quirks::pathname(url),
        quirks::search(url),
        quirks::hash(url),
    ];
    let mut all = vec![quirks::href(url).to_owned(), quirks::origin(url)];
    all.extend(texts.map(str::to_owned));
    all
}

/// The parts of a URL, or nothing if it is none.
fn url_parse(text: String, base: Option<String>) -> Vec<String> {
    let url = match base {
        Some(base) => Url::parse(&base).and_then(|base| base.join(&text)),
        None => Url::parse(&text),
    };
    url.map(|url| parts(&url)).unwrap_or_default()
}

/// The parts of `href` after one of them was set. What does not fit changes nothing, as on the web.
fn url_set(href: String, part: String, value: String) -> Vec<String> {
    let Ok(mut url) = Url::parse(&href) else { return Vec::new() };
    match part.as_str() {
        "protocol" => drop(quirks::set_protocol(&mut url, &value)),
        "username" => drop(quirks::set_username(&mut url, &value)),
        "password" => drop(quirks::set_password(&mut url, &value)),
        "host" => drop(quirks::set_host(&mut url, &value)),
        "hostname" => drop(quirks::set_hostname(&mut url, &value)),
        "port" => drop(quirks::set_port(&mut url, &value)),
        "pathname" => quirks::set_pathname(&mut url, &value),
        "search" => quirks::set_search(&mut url, &value),
        "hash" => quirks::set_hash(&mut url, &value),
        _ => {}
    }
    parts(&url)
}

/// `a=1&b=2` as names and values in turn.
fn form_parse(text: String) -> Vec<String> {
    form_urlencoded::parse(text.as_bytes())
        .flat_map(|(name, value)| [name.into_owned(), value.into_owned()])
        .collect()
}

/// The opposite of `form_parse`.
fn form_text(pairs: Vec<String>) -> String {
    let mut out = form_urlencoded::Serializer::new(String::new());
    for pair in pairs.chunks_exact(2) {
        out.append_pair(&pair[0], &pair[1]);
    }
    out.finish()
}
