//! Tokenizers: they split a text into tokens. One file each (or per family), one line in [`TOKENIZERS`].

mod char_group;
mod classic;
mod contract;
mod cut;
mod keyword;
mod letter;
mod ngram;
mod path_hierarchy;
mod pattern;
mod simple_pattern;
mod standard;
mod thai;
mod uax_url_email;
mod whitespace;

use contract::{TokenizerType, of};

pub(super) use contract::Tokenizer;
pub(super) use cut::{is_letter, lower_and_pad, word_pieces};
pub(super) use ngram::bounds as gram_bounds;
pub(super) use pattern::splitting;

pub(super) const TOKENIZERS: &[TokenizerType] = &[
    of("char_group", char_group::make),
    of("classic", classic::make),
    of("edge_ngram", ngram::make_edge),
    of("edgeNGram", ngram::make_edge),
    of("keyword", keyword::make),
    of("letter", letter::make),
    of("lowercase", letter::make_lowercase),
    of("ngram", ngram::make),
    of("nGram", ngram::make),
    of("path_hierarchy", path_hierarchy::make),
    of("PathHierarchy", path_hierarchy::make),
    of("pattern", pattern::make),
    of("simple_pattern", simple_pattern::make),
    of("simple_pattern_split", simple_pattern::make_split),
    of("standard", standard::make),
    of("thai", thai::make),
    of("uax_url_email", uax_url_email::make),
    of("whitespace", whitespace::make),
];
