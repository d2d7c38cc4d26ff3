//! Token filters: they change, add and remove tokens. One file each (or per family), one line in [`FILTERS`].

mod apostrophe;
mod ascii_folding;
mod case;
mod cjk_bigram;
mod cjk_width;
mod common_grams;
mod condition;
mod decimal_digit;
mod delimited_payload;
mod delimited_term_freq;
mod dictionary_decompounder;
mod elision;
mod filter_type;
mod fingerprint;
mod fixed_shingle;
mod flatten_graph;
mod folding;
mod hunspell;
mod hyphenation;
mod hyphenation_decompounder;
mod icu;
mod keep;
mod keyword_marker;
mod keyword_repeat;
mod length;
mod limit;
mod min_hash;
mod multiplexer;
mod ngram;
mod normalization;
mod nysiis;
mod pattern_capture;
mod pattern_replace;
mod phonetic;
mod possessive;
mod remove_duplicates;
mod reverse;
mod shingle;
mod stemmer;
mod stemmer_override;
mod stop;
mod synonym;
mod trim;
mod truncate;
mod unique;
mod word_delimiter;
mod word_delimiter_flat;
mod word_parts;
mod words;

use filter_type::{FilterType, declared, ready};

pub(super) use elision::articles;
pub(super) use fingerprint::of as fingerprint_of;
pub(super) use fixed_shingle::of as shingles_of;
pub(super) use keyword_marker::of as keyword_marker_of;
pub(super) use ngram::edges as edges_of;
pub(super) use stemmer::of as stem_of;
pub(super) use stop::{of as stop_of, read_stopwords as stop_set};
pub(super) use words::Words;

pub(super) const FILTERS: &[FilterType] = &[
    ready("apostrophe", apostrophe::make),
    ready("arabic_normalization", normalization::make_arabic),
    ready("arabic_stem", stemmer::make_arabic),
    ready("asciifolding", ascii_folding::make),
    ready("bengali_normalization", normalization::make_bengali),
    ready("brazilian_stem", stemmer::make_brazilian),
    ready("cjk_bigram", cjk_bigram::make),
    ready("cjk_width", cjk_width::make),
    ready("classic", possessive::make_classic),
    ready("common_grams", common_grams::make),
    declared("condition", condition::make),
    ready("czech_stem", stemmer::make_czech),
    ready("decimal_digit", decimal_digit::make),
    ready("delimited_payload", delimited_payload::make),
    ready("delimited_payload_filter", delimited_payload::make),
    ready("delimited_term_freq", delimited_term_freq::make),
    declared("dictionary_decompounder", dictionary_decompounder::make),
    ready("dutch_stem", stemmer::make_dutch),
    ready("edge_ngram", ngram::make_edge),
    ready("edgeNGram", ngram::make_edge),
    ready("elision", elision::make),
    ready("fingerprint", fingerprint::make),
    ready("flatten_graph", flatten_graph::make),
    ready("french_stem", stemmer::make_french),
    ready("german_normalization", normalization::make_german),
    ready("german_stem", stemmer::make_german),
    ready("hindi_normalization", normalization::make_hindi),
    declared("hunspell", hunspell::make),
    declared("hyphenation_decompounder", hyphenation_decompounder::make),
    ready("icu_folding", icu::make_folding),
    ready("icu_normalizer", icu::make_normalizer),
    ready("indic_normalization", normalization::make_indic),
    declared("keep", keep::make),
    declared("keep_types", keep::make_types),
    declared("keyword_marker", keyword_marker::make),
    ready("keyword_repeat", keyword_repeat::make),
    ready("kstem", stemmer::make_kstem),
    ready("length", length::make),
    ready("limit", limit::make),
    ready("lowercase", case::make_lower),
    ready("min_hash", min_hash::make),
    declared("multiplexer", multiplexer::make),
    ready("ngram", ngram::make),
    ready("nGram", ngram::make),
    declared("pattern_capture", pattern_capture::make),
    declared("pattern_replace", pattern_replace::make),
    ready("persian_normalization", normalization::make_persian),
    ready("persian_stem", stemmer::make_persian),
    ready("phonetic", phonetic::make),
    ready("porter_stem", stemmer::make_porter),
    declared("predicate_token_filter", condition::make_predicate),
    ready("remove_duplicates", remove_duplicates::make),
    ready("reverse", reverse::make),
    ready("russian_stem", stemmer::make_russian),
    ready("scandinavian_folding", normalization::make_scandinavian_folding),
    ready("scandinavian_normalization", normalization::make_scandinavian),
    ready("serbian_normalization", normalization::make_serbian),
    ready("shingle", shingle::make),
    ready("snowball", stemmer::make_snowball),
    ready("sorani_normalization", normalization::make_sorani),
    ready("stemmer", stemmer::make),
    declared("stemmer_override", stemmer_override::make),
    ready("stop", stop::make),
    declared("synonym", synonym::make),
    declared("synonym_graph", synonym::make_graph),
    ready("trim", trim::make),
    ready("truncate", truncate::make),
    ready("type_as_payload", delimited_payload::make_of_type),
    ready("unique", unique::make),
    ready("uppercase", case::make_upper),
    ready("word_delimiter", word_delimiter_flat::make),
    ready("word_delimiter_graph", word_delimiter::make_graph),
];
