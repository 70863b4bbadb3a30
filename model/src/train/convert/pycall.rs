//! Reads one Python call with literal arguments, as BFCL writes its answers: `mv(source='a', destination='b')`.
//! Nothing is ever evaluated; what is not a literal is an error.

use std::iter::Peekable;
use std::str::Chars;

use serde_json::{Map, Number, Value};

/// A call as it is written.
#[derive(Debug, PartialEq)]
pub(super) struct Call {
    pub(super) name: String,
    /// Arguments without a name, in order; they come first.
    pub(super) positional: Vec<Value>,
    pub(super) named: Map<String, Value>,
}

/// Nested deeper than this is refused.
const MOST_DEPTH: usize = 32;

impl Call {
    /// Reads a call that makes up the whole text.
    ///
    /// # Errors
    /// A sentence about what is not as expected.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut reader = Reader { chars: text.chars().peekable() };
        let name = reader.word();
        if name.is_empty() {
            return Err("a call starts with a name".into());
        }
        reader.expect('(')?;
        let mut call = Self { name, positional: Vec::new(), named: Map::new() };
        while !reader.takes(')') {
            match reader.argument()? {
                (Some(name), value) => {
                    call.named.insert(name, value);
                }
                (None, value) => call.positional.push(value),
            }
            if !reader.takes(',') {
                reader.expect(')')?;
                break;
            }
        }
        match reader.next() {
            None => Ok(call),
            Some(c) => Err(format!("`{c}` after the call's end")),
        }
    }
}

struct Reader<'a> {
    chars: Peekable<Chars<'a>>,
}

impl Reader<'_> {
    fn peek(&mut self) -> Option<char> {
        while self.chars.next_if(|c| c.is_whitespace()).is_some() {}
        self.chars.peek().copied()
    }

    fn next(&mut self) -> Option<char> {
        self.peek();
        self.chars.next()
    }

    fn takes(&mut self, c: char) -> bool {
        self.peek() == Some(c) && self.chars.next().is_some()
    }

    fn expect(&mut self, c: char) -> Result<(), String> {
        match self.next() {
            Some(found) if found == c => Ok(()),
            Some(found) => Err(format!("`{found}` where `{c}` should be")),
            None => Err(format!("the text ends where `{c}` should be")),
        }
    }

    /// Letters, digits, underscores and dots.
    fn word(&mut self) -> String {
        self.peek();
        let mut word = String::new();
        while let Some(c) = self.chars.next_if(|c| c.is_alphanumeric() || matches!(c, '_' | '.')) {
            word.push(c);
        }
        word
    }

    fn argument(&mut self) -> Result<(Option<String>, Value), String> {
        if !self.peek().is_some_and(|c| c.is_alphabetic() || c == '_') {
            return Ok((None, self.value(0)?));
        }
        let word = self.word();
        if self.takes('=') {
            return Ok((Some(word), self.value(0)?));
        }
        Ok((None, constant(&word)?))
    }

    fn value(&mut self, depth: usize) -> Result<Value, String> {
        if depth > MOST_DEPTH {
            return Err("nested too deeply".into());
        }
        match self.peek() {
            Some(quote @ ('\'' | '"')) => self.string(quote).map(Value::String),
            Some('[') => self.items('[', ']', depth).map(Value::Array),
            Some('(') => self.items('(', ')', depth).map(Value::Array),
            Some('{') => self.fields(depth).map(Value::Object),
            Some(c) if c.is_ascii_digit() || matches!(c, '-' | '+' | '.') => self.number(),
            Some(c) if c.is_alphabetic() => constant(&self.word()),
            Some(c) => Err(format!("`{c}` begins no literal")),
            None => Err("the text ends where a value should be".into()),
        }
    }

    fn items(&mut self, open: char, close: char, depth: usize) -> Result<Vec<Value>, String> {
        self.expect(open)?;
        let mut items = Vec::new();
        while !self.takes(close) {
            items.push(self.value(depth + 1)?);
            if !self.takes(',') {
                self.expect(close)?;
                break;
            }
        }
        Ok(items)
    }

    fn fields(&mut self, depth: usize) -> Result<Map<String, Value>, String> {
        self.expect('{')?;
        let mut fields = Map::new();
        while !self.takes('}') {
            let key = match self.value(depth + 1)? {
                Value::String(key) => key,
                other => other.to_string(),
            };
            self.expect(':')?;
            fields.insert(key, self.value(depth + 1)?);
            if !self.takes(',') {
                self.expect('}')?;
                break;
            }
        }
        Ok(fields)
    }

    fn number(&mut self) -> Result<Value, String> {
        let mut text = String::new();
        while let Some(c) =
            self.chars.next_if(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '.' | '_'))
        {
            text.push(c);
        }
        let plain = text.replace('_', "");
        if let Ok(whole) = plain.trim_start_matches('+').parse::<i64>() {
            return Ok(whole.into());
        }
        let number = plain.parse().ok().and_then(Number::from_f64);
        number.map(Value::Number).ok_or_else(|| format!("`{text}` is no number"))
    }

    fn string(&mut self, quote: char) -> Result<String, String> {
        self.expect(quote)?;
        let mut text = String::new();
        loop {
            match self.chars.next().ok_or("a string without an end")? {
                c if c == quote => return Ok(text),
                '\\' => match self.chars.next().ok_or("a string without an end")? {
                    'n' => text.push('\n'),
                    't' => text.push('\t'),
                    'r' => text.push('\r'),
                    'x' => text.push(self.code(2)?),
                    'u' => text.push(self.code(4)?),
                    c @ ('\\' | '\'' | '"') => text.push(c),
                    // Python keeps the backslash of an escape that it does not know
                    c => text.extend(['\\', c]),
                },
                c => text.push(c),
            }
        }
    }

    fn code(&mut self, digits: usize) -> Result<char, String> {
        let hex: String = self.chars.by_ref().take(digits).collect();
        u32::from_str_radix(&hex, 16)
            .ok()
            .and_then(char::from_u32)
            .ok_or_else(|| format!("`{hex}` is no character's code"))
    }
}

fn constant(word: &str) -> Result<Value, String> {
    match word {
        "True" => Ok(true.into()),
        "False" => Ok(false.into()),
        "None" => Ok(Value::Null),
        _ => Err(format!("`{word}` is no literal")),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use serde_json::json;

    /// Texts with what they mean.
    const MEANT: &[(&str, &str)] = &[
        ("a.b()", r#"["a.b", [], {}]"#),
        ("cd(folder='doc ument')", r#"["cd", [], {"folder": "doc ument"}]"#),
        ("sort('x')", r#"["sort", ["x"], {}]"#),
        ("f( 1, -2.5 , key = \"it's\" ,)", r#"["f", [1, -2.5], {"key": "it's"}]"#),
        (
            "f(a=[1, [True, None]], b={'k': (1, 2), 'l': {}})",
            r#"["f", [], {"a": [1, [true, null]], "b": {"k": [1, 2], "l": {}}}]"#,
        ),
        (r"f('a\n\x41\u00e9\'\d')", r#"["f", ["a\nAé'\\d"], {}]"#),
        ("f(1_000, 1e3)", r#"["f", [1000, 1000.0], {}]"#),
    ];

    #[test]
    fn literals_are_read() {
        for (text, meant) in MEANT {
            let call = Call::parse(text).unwrap();
            let meant: Value = serde_json::from_str(meant).unwrap();
            assert_eq!(json!([call.name, call.positional, call.named]), meant, "{text}");
        }
    }

    #[test]
    fn anything_else_is_refused() {
        let deep = format!("f({}1{})", "[".repeat(100), "]".repeat(100));
        for text in [
            "",
            "f",
            "f(",
            "f(a=)",
            "f(x)",
            "f('a",
            "f(1)2",
            "f(a=1+1)",
            "f([1)",
            "f({'a' 1})",
            "f(-)",
            &deep,
        ] {
            assert!(Call::parse(text).is_err(), "{text}");
        }
    }
}
