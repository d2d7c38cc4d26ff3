//! Splits Painless source into tokens.

use crate::error::ScriptError;
use crate::types::Literal;

/// One token and the position where it starts, in UTF-16 units as in Java.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Token {
    pub kind: TokenKind,
    pub at: u32,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TokenKind {
    Name(String),
    Literal(Literal),
    Symbol(&'static str),
    /// A regular expression and the letters of its flags.
    Regex(String, String),
    End,
}

/// Symbols, longest first.
const SYMBOLS: &[&str] = &[
    ">>>=", "==~", "===", "!==", "<<=", ">>=", ">>>", "==", "!=", "<=", ">=", "&&", "||", "++", "--", "+=",
    "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<", ">>", "->", "?:", "?.", "::", "=~", "+", "-", "*", "/",
    "%", "<", ">", "=", "!", "~", "&", "|", "^", "?", ":", ".", ",", ";", "(", ")", "[", "]", "{", "}",
];

/// Reads the whole source.
pub(crate) fn tokens(source: &str) -> Result<Vec<Token>, ScriptError> {
    let mut lexer = Lexer { rest: source, at: 0 };
    let mut tokens: Vec<Token> = Vec::new();
    loop {
        let token = match tokens.last() {
            Some(last) if last.is_dot() => lexer.member()?,
            last => lexer.next(last.is_some_and(Token::ends_operand))?,
        };
        let is_end = token.kind == TokenKind::End;
        tokens.push(token);
        if is_end {
            return Ok(tokens);
        }
    }
}

/// Names that cannot end an operand: a `/` after them starts a regular expression.
const KEYWORDS: &[&str] = &[
    "break",
    "catch",
    "continue",
    "do",
    "else",
    "for",
    "if",
    "in",
    "instanceof",
    "new",
    "return",
    "throw",
    "try",
    "while",
];

impl Token {
    /// Whether the name of a member follows.
    fn is_dot(&self) -> bool {
        matches!(self.kind, TokenKind::Symbol("." | "?."))
    }

    /// Whether a `/` after this token means division, and a `.` the choice of a member.
    fn ends_operand(&self) -> bool {
        match &self.kind {
            TokenKind::Name(name) => !KEYWORDS.contains(&name.as_str()),
            TokenKind::Symbol(symbol) => matches!(*symbol, ")" | "]" | "}"),
            TokenKind::Literal(_) | TokenKind::Regex(..) => true,
            TokenKind::End => false,
        }
    }
}

struct Lexer<'s> {
    rest: &'s str,
    at: u32,
}

impl<'s> Lexer<'s> {
    fn skip(&mut self, bytes: usize) -> &'s str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.at += taken.encode_utf16().count() as u32;
        self.rest = rest;
        taken
    }

    fn skip_space(&mut self) -> Result<(), ScriptError> {
        loop {
            let trimmed = self.rest.trim_start();
            self.skip(self.rest.len() - trimmed.len());
            if self.rest.starts_with("//") {
                let end = self.rest.find('\n').unwrap_or(self.rest.len());
                self.skip(end);
            } else if self.rest.starts_with("/*") {
                match self.rest.find("*/") {
                    Some(end) => {
                        self.skip(end + 2);
                    }
                    None => return Err(self.unexpected(self.rest)),
                }
            } else {
                return Ok(());
            }
        }
    }

    fn unexpected(&self, text: &str) -> ScriptError {
        ScriptError::argument(self.at, format!("unexpected character [{text}]."))
    }

    /// Reads the token after a dot. The item of a list may be named by its number (`list.0`).
    fn member(&mut self) -> Result<Token, ScriptError> {
        self.skip_space()?;
        let at = self.at;
        let digits = self.rest.find(|next: char| !next.is_ascii_digit()).unwrap_or(self.rest.len());
        match digits {
            0 => self.next(false),
            _ if self.rest.starts_with('0') => {
                Ok(Token { kind: TokenKind::Name(self.skip(1).to_owned()), at })
            }
            digits => Ok(Token { kind: TokenKind::Name(self.skip(digits).to_owned()), at }),
        }
    }

    /// Reads the next token. `is_divided`: a `/` here means division, and a `.` the choice of a member.
    fn next(&mut self, is_divided: bool) -> Result<Token, ScriptError> {
        self.skip_space()?;
        let at = self.at;
        let Some(first) = self.rest.chars().next() else { return Ok(Token { kind: TokenKind::End, at }) };
        let is_fraction =
            first == '.' && !is_divided && self.rest[1..].starts_with(|next: char| next.is_ascii_digit());
        let kind = if first.is_ascii_digit() || is_fraction {
            TokenKind::Literal(self.number()?)
        } else if first == '\'' || first == '"' {
            TokenKind::Literal(self.text(first)?)
        } else if first.is_ascii_alphabetic() || first == '_' || first == '$' {
            let end = self
                .rest
                .find(|next: char| !(next.is_ascii_alphanumeric() || next == '_' || next == '$'))
                .unwrap_or(self.rest.len());
            match self.skip(end) {
                "true" => TokenKind::Literal(Literal::Bool(true)),
                "false" => TokenKind::Literal(Literal::Bool(false)),
                "null" => TokenKind::Literal(Literal::Null),
                name => TokenKind::Name(name.to_owned()),
            }
        } else if first == '/' && !is_divided {
            self.regex()?
        } else {
            match SYMBOLS.iter().find(|symbol| self.rest.starts_with(**symbol)) {
                Some(symbol) => {
                    self.skip(symbol.len());
                    TokenKind::Symbol(symbol)
                }
                None => return Err(self.unexpected(&first.to_string())),
            }
        };
        Ok(Token { kind, at })
    }

    /// Reads `/pattern/flags`.
    fn regex(&mut self) -> Result<TokenKind, ScriptError> {
        let mut is_escaped = false;
        let end = self.rest.char_indices().skip(1).find(|(_, character)| {
            let ends = *character == '\n' || (*character == '/' && !is_escaped);
            is_escaped = *character == '\\' && !is_escaped;
            ends
        });
        let Some((end @ 2.., '/')) = end else { return Err(self.unexpected("/")) };
        let pattern = self.rest[1..end].to_owned();
        self.skip(end + 1);
        let flags = self.rest.find(|next: char| !"cilmsUux".contains(next)).unwrap_or(self.rest.len());
        Ok(TokenKind::Regex(pattern, self.skip(flags).to_owned()))
    }

    fn text(&mut self, quote: char) -> Result<Literal, ScriptError> {
        let mut text = String::new();
        let mut characters = self.rest.char_indices().skip(1);
        while let Some((index, character)) = characters.next() {
            match character {
                '\\' => match characters.next() {
                    Some((_, escaped)) if escaped == '\\' || escaped == quote => text.push(escaped),
                    Some((_, 'n')) => text.push('\n'),
                    Some((_, 't')) => text.push('\t'),
                    Some((_, 'r')) => text.push('\r'),
                    _ => return Err(self.unexpected(&self.rest[..index])),
                },
                _ if character == quote => {
                    self.skip(index + 1);
                    return Ok(Literal::Str(text.into()));
                }
                _ => text.push(character),
            }
        }
        Err(self.unexpected(self.rest))
    }

    fn number(&mut self) -> Result<Literal, ScriptError> {
        let at = self.at;
        let bytes = self.rest.as_bytes();
        let radix = match bytes {
            [b'0', b'x' | b'X', ..] => 16,
            [b'0', b'0'..=b'7', ..] => 8,
            _ => 10,
        };
        let mut end = if radix == 16 { 2 } else { 0 };
        let mut is_decimal = false;
        while let Some(byte) = bytes.get(end) {
            match byte {
                b'0'..=b'9' => {}
                b'a'..=b'f' | b'A'..=b'F' if radix == 16 => {}
                b'.' if radix == 10 && !is_decimal && bytes.get(end + 1).is_some_and(u8::is_ascii_digit) => {
                    is_decimal = true;
                }
                b'e' | b'E' if radix == 10 => {
                    let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
                    if !bytes.get(end + 1 + sign).is_some_and(u8::is_ascii_digit) {
                        break;
                    }
                    is_decimal = true;
                    end += sign;
                }
                _ => break,
            }
            end += 1;
        }
        let digits = self.skip(end);
        let suffix = self.rest.bytes().next().map(|byte| byte.to_ascii_lowercase());
        let invalid = |kind: &str| ScriptError::argument(at, format!("Invalid {kind} constant [{digits}]."));
        match suffix {
            Some(b'f') if radix == 10 => {
                self.skip(1);
                return digits.parse().map(Literal::Float).map_err(|_| invalid("float"));
            }
            Some(b'd') if radix == 10 => {
                self.skip(1);
                return digits.parse().map(Literal::Double).map_err(|_| invalid("double"));
            }
            _ if is_decimal => return digits.parse().map(Literal::Double).map_err(|_| invalid("double")),
            _ => {}
        }
        let bare = if radix == 16 { &digits[2..] } else { digits };
        // The least whole number is written as the negation of a literal that is one too large. Here such a
        // literal wraps; in Java it does not.
        if suffix == Some(b'l') {
            self.skip(1);
            return match u64::from_str_radix(bare, radix) {
                Ok(number) if number <= 1 << 63 => Ok(Literal::Long(number as i64)),
                _ => Err(invalid("long")),
            };
        }
        match i64::from_str_radix(bare, radix) {
            Ok(number) if i32::try_from(number).is_ok() || number == 1 << 31 => {
                Ok(Literal::Int(number as i32))
            }
            _ => Err(invalid("int")),
        }
    }
}
