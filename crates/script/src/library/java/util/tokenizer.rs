//! `java.util.StringTokenizer`.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::cmp::Ordering;
use std::rc::Rc;
use std::sync::Arc;

use super::super::Class;
use crate::error::{Outcome, ScriptError};
use crate::values::{JavaObject, Value};

pub(in super::super) const CLASS: Class = Class {
    name: "StringTokenizer",
    constants: &[],
    statics: &[],
    call: no_static,
    construct: Some(constructed),
};

/// What separates tokens if a script does not say it.
const WHITE: &str = " \t\n\r\x0C";
/// Most separators in bytes: a character of the text is searched among them.
const SEPARATORS_BYTES_MAX: usize = 1024;

#[derive(Debug)]
struct Tokenizer {
    text: Arc<str>,
    separators: RefCell<Separators>,
    /// Whether separators are tokens, too.
    shows_separators: bool,
    /// The index of the byte from which the next token is searched.
    next: Cell<usize>,
}

/// The characters that separate tokens.
#[derive(Debug)]
struct Separators {
    /// Bit `n` is set if the ASCII character `n` is one.
    ascii: u128,
    /// The others, ascending.
    others: Box<[char]>,
}

impl Separators {
    fn of(separators: &str, at: u32) -> Outcome<Separators> {
        if separators.len() > SEPARATORS_BYTES_MAX {
            return Err(ScriptError::argument(
                at,
                format!("the separators of a StringTokenizer have at most {SEPARATORS_BYTES_MAX} bytes"),
            ));
        }
        let (ascii, mut others): (Vec<char>, Vec<char>) =
            separators.chars().partition(|separator| separator.is_ascii());
        others.sort_unstable();
        let ascii = ascii.into_iter().fold(0, |bits, separator| bits | 1u128 << u32::from(separator));
        Ok(Separators { ascii, others: others.into() })
    }

    /// Takes as long for many separators as for few.
    fn has(&self, letter: char) -> bool {
        match letter.is_ascii() {
            true => self.ascii >> u32::from(letter) & 1 == 1,
            false => self.others.binary_search(&letter).is_ok(),
        }
    }
}

fn no_static(_: &str, _: &[Value], _: u32) -> Outcome<Option<Value>> {
    Ok(None)
}

fn constructed(_: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
    let (text, separators, shows_separators) = match arguments {
        [Value::Str(text)] => (text, WHITE, false),
        [Value::Str(text), Value::Str(separators)] => (text, &**separators, false),
        [Value::Str(text), Value::Str(separators), Value::Bool(shows)] => (text, &**separators, *shows),
        _ => return Ok(None),
    };
    let text = text.clone();
    let separators = RefCell::new(Separators::of(separators, at)?);
    Ok(Some(Value::Object(Rc::new(Tokenizer { text, separators, shows_separators, next: Cell::new(0) }))))
}

impl Tokenizer {
    /// Returns where the token begins that follows a place; the end of the text if there is none.
    fn start(&self, from: usize) -> usize {
        if self.shows_separators {
            return from;
        }
        let separators = self.separators.borrow();
        let found = self.text[from..].find(|char: char| !separators.has(char));
        found.map_or(self.text.len(), |length| from + length)
    }

    /// Returns where the token ends that begins at a place.
    fn end(&self, start: usize) -> usize {
        let separators = self.separators.borrow();
        let found = self.text[start..].find(|char: char| separators.has(char));
        match found {
            None => self.text.len(),
            Some(0) => start + self.text[start..].chars().next().map_or(0, char::len_utf8),
            Some(length) => start + length,
        }
    }

    fn take(&self, at: u32) -> Outcome<Value> {
        let start = self.start(self.next.get());
        if start >= self.text.len() {
            return Err(ScriptError::new(at, "no_such_element_exception", ""));
        }
        let end = self.end(start);
        self.next.set(end);
        Ok(Value::str(&self.text[start..end]))
    }

    fn count(&self) -> i32 {
        let (mut count, mut start) = (0, self.start(self.next.get()));
        while start < self.text.len() {
            count += 1;
            start = self.start(self.end(start));
        }
        count
    }
}

impl JavaObject for Tokenizer {
    fn class(&self) -> &'static str {
        "java.util.StringTokenizer"
    }

    fn write_text(&self, out: &mut String, _: u32) {
        out.push_str(self.class());
    }

    fn hash(&self) -> i32 {
        0
    }

    fn equals(&self, other: &dyn JavaObject, _: u32, _: &mut u32) -> bool {
        other.as_any().downcast_ref::<Tokenizer>().is_some_and(|other| std::ptr::eq(self, other))
    }

    fn compare(&self, _: &dyn JavaObject) -> Option<Ordering> {
        None
    }

    fn call(&self, name: &str, arguments: &[Value], at: u32) -> Outcome<Option<Value>> {
        Ok(Some(match (name, arguments) {
            ("hasMoreTokens" | "hasMoreElements", []) => {
                Value::Bool(self.start(self.next.get()) < self.text.len())
            }
            ("nextToken" | "nextElement", []) => self.take(at)?,
            ("nextToken", [Value::Str(separators)]) => {
                *self.separators.borrow_mut() = Separators::of(separators, at)?;
                self.take(at)?
            }
            ("countTokens", []) => Value::Int(self.count()),
            _ => return Ok(None),
        }))
    }

    fn bytes(&self) -> usize {
        size_of_val(self) + size_of_val(&*self.separators.borrow().others)
    }

    fn steps(&self) -> usize {
        self.text.len() + 1
    }

    fn is_mutable(&self) -> bool {
        true
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
