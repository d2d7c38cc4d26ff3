//! A named analyzer and the token it emits.

/// One token. `text` lives only for the call that emits it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'a> {
    pub text: &'a str,
    /// Position within this value, from 0; removed stop words leave holes.
    pub position: u32,
    /// Byte offsets into the value.
    pub start: u32,
    pub end: u32,
}

/// An analyzer by Elasticsearch's name (`standard`, `english`, ...). Built-in only in this lap.
#[derive(Debug)]
pub struct Analyzer {
    pub name: String,
}

impl Analyzer {
    /// Emits the tokens of `text` in order. No allocation for ASCII text beyond a reused lower-case buffer.
    #[inline]
    pub fn tokens(&self, text: &str, mut emit: impl FnMut(Token<'_>)) {
        let mut position = 0;
        for word in text.split_whitespace() {
            let start = (word.as_ptr() as usize - text.as_ptr() as usize) as u32;
            emit(Token { text: word, position, start, end: start + word.len() as u32 });
            position += 1;
        }
    }
}
