//! Writes the JSON of an answer member by member: "what does an answer of many buckets cost beyond its text?"
//!
//! The text is written directly, without a tree of JSON. The memory of an answer is that of its text, which
//! is checked while it grows. Names that every bucket repeats are written from the request and never copied.

use limber_work::CheckedBytes;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::error::Result;

/// A JSON object that takes its members one by one. A name that is given twice is written twice to text.
pub trait Object {
    /// Adds a member.
    ///
    /// # Errors
    /// There is not enough memory for it, or the client has disconnected.
    fn put(&mut self, name: &str, value: Value) -> Result<()>;
}

impl Object for Map<String, Value> {
    fn put(&mut self, name: &str, value: Value) -> Result<()> {
        self.insert(name.to_owned(), value);
        Ok(())
    }
}

/// A JSON object that is being written as text.
///
/// # Errors
/// All methods fail when there is not enough memory for the text, or when the client has disconnected.
#[derive(Debug)]
pub struct Members<'t> {
    text: &'t mut CheckedBytes,
    is_empty: bool,
}

impl Object for Members<'_> {
    fn put(&mut self, name: &str, value: Value) -> Result<()> {
        self.insert(name, &value)
    }
}

impl<'t> Members<'t> {
    /// Appends an object to `text`, with the members that `write` adds.
    pub fn write_to(
        text: &'t mut CheckedBytes,
        write: impl FnOnce(&mut Members<'_>) -> Result<()>,
    ) -> Result<()> {
        text.push(b"{")?;
        write(&mut Members { text: &mut *text, is_empty: true })?;
        Ok(text.push(b"}")?)
    }

    fn key(&mut self, name: &str) -> Result<()> {
        if !std::mem::take(&mut self.is_empty) {
            self.text.push(b",")?;
        }
        written(self.text, name)?;
        Ok(self.text.push(b":")?)
    }

    /// Adds a member.
    pub fn insert<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<()> {
        self.key(name)?;
        written(self.text, value)
    }

    /// Adds the members of `object`.
    pub fn extend(&mut self, object: &Map<String, Value>) -> Result<()> {
        object.iter().try_for_each(|(name, value)| self.insert(name, value))
    }

    /// Adds an object with the members that `write` adds.
    pub fn object(&mut self, name: &str, write: impl FnOnce(&mut Members<'_>) -> Result<()>) -> Result<()> {
        self.key(name)?;
        Members::write_to(self.text, write)
    }

    /// Adds a list with the JSON that `json_of` makes of each item.
    pub fn list<T>(
        &mut self,
        name: &str,
        items: impl IntoIterator<Item = T>,
        mut json_of: impl FnMut(T) -> Result<Vec<u8>>,
    ) -> Result<()> {
        self.key(name)?;
        self.text.push(b"[")?;
        for (number, item) in items.into_iter().enumerate() {
            if number > 0 {
                self.text.push(b",")?;
            }
            self.text.push(&json_of(item)?)?;
        }
        Ok(self.text.push(b"]")?)
    }

    /// Adds `buckets`: an object by key if they are `keyed`, otherwise a list.
    pub fn buckets(&mut self, keyed: bool, write: impl FnOnce(&mut Buckets<'_>) -> Result<()>) -> Result<()> {
        self.key("buckets")?;
        let (start, end) = if keyed { (b"{", b"}") } else { (b"[", b"]") };
        self.text.push(start)?;
        write(&mut Buckets { text: &mut *self.text, keyed, is_empty: true })?;
        Ok(self.text.push(end)?)
    }

    /// Adds `buckets` as a list with an object for each item; `write` adds its members.
    pub fn bucket_list<T>(
        &mut self,
        items: impl IntoIterator<Item = T>,
        mut write: impl FnMut(T, &mut Members<'_>) -> Result<()>,
    ) -> Result<()> {
        self.buckets(false, |buckets| {
            items.into_iter().try_for_each(|item| buckets.add("", |members| write(item, members)))
        })
    }
}

/// The buckets of an aggregation, as they are being written.
#[derive(Debug)]
pub struct Buckets<'t> {
    text: &'t mut CheckedBytes,
    keyed: bool,
    is_empty: bool,
}

impl Buckets<'_> {
    /// Adds a bucket with the members that `write` adds; `key` is not shown in a list.
    ///
    /// # Errors
    /// As for [`Members`].
    pub fn add(&mut self, key: &str, write: impl FnOnce(&mut Members<'_>) -> Result<()>) -> Result<()> {
        if !std::mem::take(&mut self.is_empty) {
            self.text.push(b",")?;
        }
        if self.keyed {
            written(self.text, key)?;
            self.text.push(b":")?;
        }
        Members::write_to(self.text, write)
    }
}

/// Appends a value as JSON.
fn written<T: Serialize + ?Sized>(text: &mut CheckedBytes, value: &T) -> Result<()> {
    // Writing to memory fails only for the reason that the text keeps.
    let _ = serde_json::to_writer(&mut *text, value);
    Ok(text.check()?)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn text_of(write: impl FnOnce(&mut Members<'_>) -> Result<()>) -> String {
        let mut text = CheckedBytes::default();
        Members::write_to(&mut text, write).expect("no request");
        String::from_utf8(text.finish().expect("no request")).expect("JSON")
    }

    #[test]
    fn members_are_written_in_order() {
        let text = text_of(|out| {
            out.insert("a\"b", &1.5)?;
            out.put("c", json!([null, "d"]))?;
            out.object("e", |_| Ok(()))?;
            out.object("f", |inner| inner.insert("g", "h"))?;
            out.list("i", ["1", "{}"], |item| Ok(item.as_bytes().to_vec()))
        });
        assert_eq!(text, r#"{"a\"b":1.5,"c":[null,"d"],"e":{},"f":{"g":"h"},"i":[1,{}]}"#);
    }

    #[test]
    fn buckets_are_a_list_or_an_object() {
        let written = |keyed| {
            text_of(|out| {
                out.buckets(keyed, |buckets| {
                    buckets.add("x", |bucket| bucket.insert("n", &1))?;
                    buckets.add("y", |_| Ok(()))
                })
            })
        };
        assert_eq!(written(false), r#"{"buckets":[{"n":1},{}]}"#);
        assert_eq!(written(true), r#"{"buckets":{"x":{"n":1},"y":{}}}"#);
    }
}
