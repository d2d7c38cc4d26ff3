//! The iteration order of a `java.util.HashMap`, which decides which of several equally significant terms are
//! selected, and in which order the values of copied fields are shown.

use limber_codec::java_hash::java_hash;

/// Returns the hash of a key, with its upper half mixed in as `HashMap` does.
fn hash(text: &str) -> u32 {
    let hash = java_hash(text) as u32;
    hash ^ (hash >> 16)
}

/// Sorts distinct keys, given in insertion order, into the map's iteration order. Java converts buckets with
/// many keys to trees; here they keep the order of a list, as in Java's iteration.
pub(crate) fn in_java_order<T>(mut entries: Vec<T>, key: impl Fn(&T) -> &str) -> Vec<T> {
    let mut capacity = 16usize;
    while entries.len() * 4 > capacity * 3 {
        capacity *= 2;
    }
    entries.sort_by_key(|entry| hash(key(entry)) as usize & (capacity - 1));
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_as_javas() {
        let order = |text: &str| in_java_order(text.split(' ').collect::<Vec<_>>(), |word| word).join(" ");
        assert_eq!(order("b a"), "a b");
        assert_eq!(order("Aa BB"), "Aa BB");
        assert_eq!(order("BB Aa"), "BB Aa");
    }
}
