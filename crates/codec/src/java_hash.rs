//! Java's `String#hashCode`, which decides the order of `HashMap`s and salts random numbers.

/// Returns `String#hashCode`: a polynomial in 31 over the UTF-16 units of `text`.
pub fn java_hash(text: &str) -> i32 {
    let step = |hash: i32, unit: u16| hash.wrapping_mul(31).wrapping_add(i32::from(unit));
    match text.is_ascii() {
        true => text.bytes().fold(0, |hash, byte| step(hash, byte.into())),
        false => text.encode_utf16().fold(0, step),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_javas() {
        assert_eq!(java_hash(""), 0);
        assert_eq!(java_hash("hello"), 99_162_322);
        assert_eq!(java_hash("Aa"), java_hash("BB"));
        assert_eq!(java_hash("é"), 233);
        assert_eq!(java_hash("\u{1f600}"), 0xd83d * 31 + 0xde00);
        assert_eq!(java_hash("polygenelubricants"), i32::MIN);
    }
}
