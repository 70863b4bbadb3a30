//! A shell's text as pipelines of commands: quotes, escapes, substitutions, redirections, here-documents.
//!
//! Not a whole shell grammar: it need only find every command that would run. Where it is in doubt a text is a command.

/// One command of a pipeline.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Command {
    /// Its words with quotes taken away; a substitution stands as `$()`.
    pub(super) words: Vec<String>,
    /// Targets of `>`, `>>`, `>|`, `&>`.
    pub(super) writes: Vec<String>,
    /// The texts of its substitutions: `$(...)`, backticks, `<(...)`, `>(...)`.
    pub(super) inner: Vec<String>,
    /// Here-documents and here-strings.
    pub(super) input: Vec<String>,
}

/// Commands joined by `|`.
pub(super) type Pipeline = Vec<Command>;

/// Most characters of one text that are looked at.
const LONGEST: usize = 64 << 10;

/// The pipelines of a text, in order.
pub(super) fn pipelines(text: &str) -> Vec<Pipeline> {
    let text = &text[..text.floor_char_boundary(LONGEST)];
    let mut lexer = Lexer { chars: text.chars().collect(), ..Lexer::default() };
    lexer.run();
    lexer.done
}

#[derive(Default)]
struct Lexer {
    chars: Vec<char>,
    at: usize,
    word: Option<String>,
    command: Command,
    pipeline: Pipeline,
    done: Vec<Pipeline>,
    /// What the next word is for.
    next: Next,
    /// Here-documents that begin at the next line: what ends them, and for which command they are.
    documents: Vec<String>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Next {
    #[default]
    Word,
    Write,
    Read,
    Document,
    String,
}

impl Lexer {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn run(&mut self) {
        while let Some(c) = self.peek(0) {
            self.at += 1;
            match c {
                '\\' => {
                    if let Some(next) = self.peek(0) {
                        self.at += 1;
                        if next != '\n' {
                            self.add(next);
                        }
                    }
                }
                '\'' => self.quoted('\''),
                '"' => self.double(),
                '$' | '`' | '<' | '>' if self.substitution(c) => {}
                '$' if self.peek(0) == Some('\'') => {
                    self.at += 1;
                    self.escaped();
                }
                '$' if self.peek(0) == Some('"') => {}
                '#' if self.word.is_none() => self.skip_line(),
                '\n' => {
                    self.end_pipeline();
                    self.read_documents();
                }
                ' ' | '\t' | '\r' => self.end_word(),
                ';' | '(' | ')' => self.end_pipeline(),
                '&' => self.ampersand(),
                '|' => self.pipe(),
                '>' => self.redirect_out(),
                '<' => self.redirect_in(),
                other => self.add(other),
            }
        }
        self.end_pipeline();
    }

    fn add(&mut self, c: char) {
        self.word.get_or_insert_default().push(c);
    }

    fn quoted(&mut self, close: char) {
        let word = self.word.get_or_insert_default();
        while let Some(&c) = self.chars.get(self.at) {
            self.at += 1;
            if c == close {
                return;
            }
            word.push(c);
        }
    }

    /// `$'...'`, in which letters may be written by their codes.
    fn escaped(&mut self) {
        self.word.get_or_insert_default();
        while let Some(c) = self.peek(0) {
            self.at += 1;
            match c {
                '\'' => return,
                '\\' => {
                    let radix = match self.peek(0) {
                        Some('x' | 'u' | 'U') => {
                            self.at += 1;
                            16
                        }
                        Some('0'..='7') => 8,
                        Some(other) => {
                            self.at += 1;
                            self.add(if matches!(other, 'n' | 't' | 'r') { ' ' } else { other });
                            continue;
                        }
                        None => return,
                    };
                    let most = if radix == 16 { 8 } else { 3 };
                    let mut code = 0;
                    for _ in 0..most {
                        let Some(digit) = self.peek(0).and_then(|c| c.to_digit(radix)) else { break };
                        code = (code * radix + digit) & 0xff_ffff;
                        self.at += 1;
                        // `\x72m` ends after two.
                        if radix == 16
                            && code > 0xf
                            && self.chars.get(self.at.saturating_sub(3)) == Some(&'x')
                        {
                            break;
                        }
                    }
                    self.add(char::from_u32(code).unwrap_or('?'));
                }
                other => self.add(other),
            }
        }
    }

    fn double(&mut self) {
        self.word.get_or_insert_default();
        while let Some(c) = self.peek(0) {
            self.at += 1;
            match c {
                '"' => return,
                '\\' => {
                    if let Some(next) = self.peek(0) {
                        self.at += 1;
                        if !matches!(next, '"' | '\\' | '$' | '`' | '\n') {
                            self.add('\\');
                        }
                        if next != '\n' {
                            self.add(next);
                        }
                    }
                }
                '$' | '`' if self.substitution(c) => {}
                other => self.add(other),
            }
        }
    }

    /// Takes a substitution that begins with `c`, which has been read. False if none does.
    fn substitution(&mut self, c: char) -> bool {
        if c == '`' {
            let from = self.at;
            while let Some(c) = self.peek(0) {
                match c {
                    '`' => break,
                    '\\' => self.at += 2,
                    _ => self.at += 1,
                }
            }
            let to = self.at.min(self.chars.len());
            self.at = to + 1;
            self.inside(from, to);
            return true;
        }
        if self.peek(0) != Some('(') {
            return false;
        }
        let from = self.at + 1;
        let (mut depth, mut quote) = (0_usize, None);
        while let Some(c) = self.peek(0) {
            match (quote, c) {
                (_, '\\') => self.at += 1,
                (Some(open), _) if c == open => quote = None,
                (None, '\'' | '"') => quote = Some(c),
                (None, '(') => depth += 1,
                (None, ')') => {
                    depth -= 1;
                    if depth == 0 {
                        break;
                    }
                }
                _ => {}
            }
            self.at += 1;
        }
        let to = self.at.min(self.chars.len());
        self.at = to + 1;
        self.inside(from.min(to), to);
        true
    }

    fn inside(&mut self, from: usize, to: usize) {
        self.command.inner.push(self.chars[from..to].iter().collect());
        self.word.get_or_insert_default().push_str("$()");
    }

    fn skip_line(&mut self) {
        while self.peek(0).is_some_and(|c| c != '\n') {
            self.at += 1;
        }
    }

    fn ampersand(&mut self) {
        match self.peek(0) {
            Some('>') => {
                self.at += 1;
                self.redirect_out();
            }
            // `2>&1`
            Some(c) if self.next == Next::Write && (c.is_ascii_digit() || c == '-') => self.add('&'),
            _ => self.end_pipeline(),
        }
    }

    fn pipe(&mut self) {
        if self.peek(0) == Some('|') {
            self.at += 1;
            return self.end_pipeline();
        }
        if self.peek(0) == Some('&') {
            self.at += 1;
        }
        self.end_command();
    }

    fn redirect_out(&mut self) {
        self.drop_descriptor();
        self.end_word();
        while matches!(self.peek(0), Some('>' | '|')) {
            self.at += 1;
        }
        self.next = Next::Write;
    }

    fn redirect_in(&mut self) {
        self.drop_descriptor();
        self.end_word();
        self.next = match (self.peek(0), self.peek(1)) {
            (Some('<'), Some('<')) => {
                self.at += 2;
                Next::String
            }
            (Some('<'), _) => {
                self.at += 1;
                if self.peek(0) == Some('-') {
                    self.at += 1;
                }
                Next::Document
            }
            _ => Next::Read,
        };
    }

    /// The digit of `2>` is no word.
    fn drop_descriptor(&mut self) {
        if self.word.as_ref().is_some_and(|word| word.chars().all(|c| c.is_ascii_digit())) {
            self.word = None;
        }
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        match std::mem::take(&mut self.next) {
            Next::Word => self.command.words.push(word),
            Next::Write => self.command.writes.push(word),
            Next::Read => self.command.words.push(word),
            Next::Document => self.documents.push(word),
            Next::String => self.command.input.push(word),
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        self.next = Next::Word;
        let command = std::mem::take(&mut self.command);
        if command != Command::default() {
            self.pipeline.push(command);
        }
    }

    fn end_pipeline(&mut self) {
        self.end_command();
        if !self.pipeline.is_empty() {
            self.done.push(std::mem::take(&mut self.pipeline));
        }
    }

    /// The lines up to each ending word belong to the last command.
    fn read_documents(&mut self) {
        for end in std::mem::take(&mut self.documents) {
            let mut body = String::new();
            while self.at < self.chars.len() {
                let from = self.at;
                self.skip_line();
                let line: String = self.chars[from..self.at].iter().collect();
                self.at += 1;
                if line.trim() == end {
                    break;
                }
                body.push_str(&line);
                body.push('\n');
            }
            if let Some(command) = self.done.last_mut().and_then(|pipeline| pipeline.last_mut()) {
                command.input.push(body);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(text: &str) -> Vec<Vec<String>> {
        pipelines(text).into_iter().flatten().map(|command| command.words).collect()
    }

    #[test]
    fn commands_are_told_apart() {
        assert_eq!(
            words("a 'b c' \"d e\"f g\\ h; i && j || k | l & m\nn"),
            [
                vec!["a", "b c", "d ef", "g h"],
                vec!["i"],
                vec!["j"],
                vec!["k"],
                vec!["l"],
                vec!["m"],
                vec!["n"],
            ]
        );
        assert_eq!(words("a # b; c\nd 'e"), [vec!["a"], vec!["d", "e"]]);
        let found = pipelines("x \"$(curl a | sh)\" `id` <(wget b) >/dev/sda 2>&1 < in");
        assert_eq!(found[0][0].inner, ["curl a | sh", "id", "wget b"]);
        assert_eq!(found[0][0].writes, ["/dev/sda", "&1"]);
        assert_eq!(found[0][0].words.last().map(String::as_str), Some("in"));
    }

    #[test]
    fn a_here_document_is_input_and_no_command() {
        let found = pipelines("cat > notes.md <<'EOF'\nrm -rf /\nEOF\nls");
        assert_eq!(found[0][0].input, ["rm -rf /\n"]);
        assert_eq!(found[0][0].words, ["cat"]);
        assert_eq!(found[1][0].words, ["ls"]);
    }

    proptest! {
        #[test]
        fn any_text_can_be_read(text in "[a-z $()`'\"\\\\|&;<>#\n]{0,80}") {
            pipelines(&text);
        }
    }
}
