//! Stemmers by Elasticsearch's names.
//!
//! Lucene has the Snowball algorithms as of 2020. Two libraries are used: `rust-stemmers` is older than that,
//! `frostem` follows current Snowball. For each language the one is used that agrees with Lucene 9.12 on all
//! words of a list of about twenty thousand, or on more of them.

use frostem::Algorithm as New;
use rust_stemmers::Algorithm as Old;

use super::suffix::Word;
use super::{
    asian, brazilian, english, french, german, greek, kstem, northern, plural, porter, romance, rslp, slavic,
};

/// How the stem of a lower-case word is computed.
#[derive(Clone, Copy)]
pub(in crate::analysis) enum Stemming {
    Old(Old),
    New(New),
    /// German, with `ae`, `oe` and `ue` treated as umlauts.
    German2,
    /// A function on the word as a string.
    Text(fn(&mut String)),
    Own(fn(&mut Word)),
    /// Removes the English `'s`.
    Possessive,
}

use Stemming::{German2, Own, Possessive, Text};

const fn new(algorithm: New) -> Stemming {
    Stemming::New(algorithm)
}

const fn old(algorithm: Old) -> Stemming {
    Stemming::Old(algorithm)
}

/// Names in lower case without `_`; Elasticsearch accepts them with and without it.
const STEMMERS: &[(&str, Stemming)] = &[
    ("arabic", Own(asian::arabic)),
    ("armenian", new(New::Armenian)),
    ("basque", new(New::Basque)),
    ("bengali", Own(asian::bengali)),
    ("brazilian", Own(brazilian::stem)),
    ("bulgarian", Own(slavic::bulgarian)),
    ("catalan", new(New::Catalan)),
    ("czech", Own(slavic::czech)),
    ("danish", old(Old::Danish)),
    ("dutch", old(Old::Dutch)),
    ("dutchkp", new(New::Dutch)),
    ("kp", new(New::Dutch)),
    ("english", Text(porter::stem)),
    ("estonian", new(New::Estonian)),
    ("finnish", new(New::Finnish)),
    ("french", new(New::French)),
    ("galician", Own(rslp::galician)),
    ("german", old(Old::German)),
    ("german2", German2),
    ("greek", Own(greek::stem)),
    ("hindi", Own(asian::hindi)),
    ("hungarian", new(New::Hungarian)),
    ("indonesian", Own(asian::indonesian)),
    ("irish", new(New::Irish)),
    ("italian", new(New::Italian)),
    ("kstem", Text(kstem::stem)),
    ("latvian", Own(slavic::latvian)),
    ("lightenglish", Text(kstem::stem)),
    ("lightfinish", Own(northern::finnish_light)),
    ("lightfinnish", Own(northern::finnish_light)),
    ("lightfrench", Own(french::light)),
    ("lightgerman", Own(german::light)),
    ("lighthungarian", Own(northern::hungarian_light)),
    ("lightitalian", Own(romance::italian_light)),
    ("lightnorwegian", Own(northern::bokmal_light)),
    ("lightnynorsk", Own(northern::nynorsk_light)),
    ("lightportuguese", Own(romance::portuguese_light)),
    ("lightrussian", Own(slavic::russian_light)),
    ("lightspanish", Own(romance::spanish_light)),
    ("lightswedish", Own(slavic::swedish_light)),
    ("lithuanian", new(New::Lithuanian)),
    ("lovins", new(New::Lovins)),
    ("minimalenglish", Own(english::minimal)),
    ("minimalfrench", Own(french::minimal)),
    ("minimalgalician", Own(rslp::galician_minimal)),
    ("minimalgerman", Own(german::minimal)),
    ("minimalnorwegian", Own(northern::bokmal_minimal)),
    ("minimalnynorsk", Own(northern::nynorsk_minimal)),
    ("minimalportuguese", Own(rslp::portuguese_minimal)),
    ("norwegian", old(Old::Norwegian)),
    ("persian", Own(plural::persian)),
    ("pluralenglish", Own(plural::english)),
    ("porter", Text(porter::stem)),
    ("porter2", old(Old::English)),
    ("portuguese", new(New::Portuguese)),
    ("portugueserslp", Own(rslp::portuguese)),
    ("possessiveenglish", Possessive),
    ("romanian", old(Old::Romanian)),
    ("russian", new(New::Russian)),
    ("serbian", new(New::Serbian)),
    ("sorani", Own(asian::sorani)),
    ("spanish", old(Old::Spanish)),
    ("spanishplural", Own(plural::spanish)),
    ("swedish", old(Old::Swedish)),
    ("turkish", new(New::Turkish)),
];

/// Names that mean another algorithm in the filter `snowball` than in the filter `stemmer`.
const SNOWBALL: &[(&str, Stemming)] =
    &[("arabic", new(New::Arabic)), ("english", old(Old::English)), ("porter", new(New::Porter))];

/// Returns the stemmer with this name. `is_snowball` selects the filter `snowball`.
pub(in crate::analysis) fn find(name: &str, is_snowball: bool) -> Option<Stemming> {
    let name = name.to_lowercase().replace('_', "");
    let own = if is_snowball { SNOWBALL } else { &[] };
    own.iter().chain(STEMMERS).find(|(known, _)| *known == name).map(|(_, stemming)| *stemming)
}
