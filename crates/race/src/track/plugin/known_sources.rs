//! Parameter sources of a `track.py` that are built in: those of Rally's track geonames, if the contents of
//! the file are known exactly. `drive/operation/searches/terms_search.rs` implements them.

/// What differs between versions of the track's plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Variant {
    /// The query on `feature_class.raw`.
    pub clause: &'static str,
    /// The last term, which changes, is a number from 1 to this in the two sources with such a query.
    pub last_term_max: u64,
}

/// CRC-32 and length of a plugin's contents, and its variant. The first two are Rally's own, of its branches
/// 8 and older, and 8.4 to 9.5. The last is that of this repository's track.
pub(crate) const KNOWN: [(u32, usize, Variant); 3] = [
    (0x1a76_a235, 3736, Variant { clause: "match", last_term_max: 1000 }),
    (0xa669_05f8, 3172, Variant { clause: "match", last_term_max: 1000 }),
    (0xe2dd_e012, 1455, Variant { clause: "term", last_term_max: 100 }),
];

impl Variant {
    /// Returns the variant of a `track.py`, if its contents are known exactly.
    pub(crate) fn of_plugin(text: &str) -> Option<Variant> {
        let mut sum = flate2::Crc::new();
        sum.update(text.as_bytes());
        let is_same = |(crc, bytes, _): &&(u32, usize, Variant)| *crc == sum.sum() && *bytes == text.len();
        KNOWN.iter().find(is_same).map(|(_, _, variant)| *variant)
    }
}

/// The source without any other query.
pub(crate) const PURE: &str = "pure-terms-query-source";
/// The source with a query, and the terms as a filter.
pub(crate) const FILTERED: &str = "filtered-terms-query-source";
/// The source with a query that excludes the terms.
pub(crate) const PROHIBITED: &str = "prohibited-terms-query-source";

/// Whether this is the name of one of these parameter sources.
pub(crate) fn is_source(name: &str) -> bool {
    [PURE, FILTERED, PROHIBITED].contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A changed file would run in Python, which takes longer than making these large requests here.
    #[test]
    fn the_plugin_of_this_repository_is_known() {
        let text = include_str!("../../../../../tracks/geonames/track.py");
        assert_eq!(Variant::of_plugin(text), Some(KNOWN[2].2));
        assert_eq!(Variant::of_plugin(&text.replace("100", "200")), None);
    }
}
