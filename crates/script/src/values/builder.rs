//! The text of a `StringBuilder`.

/// UTF-16 units, as in Java: the length and each place are known without reading the text.
#[derive(Debug, Default)]
pub struct Builder(Vec<u16>);

impl Builder {
    /// Creates a builder of a text.
    pub(crate) fn of(text: &str) -> Builder {
        Builder(text.encode_utf16().collect())
    }

    pub(crate) fn units(&self) -> &[u16] {
        &self.0
    }

    pub(crate) fn units_mut(&mut self) -> &mut Vec<u16> {
        &mut self.0
    }

    pub(crate) fn push(&mut self, text: &str) {
        self.0.extend(text.encode_utf16());
    }

    /// Returns the text; half of a surrogate pair becomes U+FFFD.
    pub fn text(&self) -> String {
        String::from_utf16_lossy(&self.0)
    }
}
