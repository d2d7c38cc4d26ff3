//! The built-in analyzers: those of languages, and those without configurable components.

use std::sync::Arc;

use serde_json::Map;

use super::analyzer::Analyzer;
use super::chain::Filter;
use super::char_filter::mapping_of;
use super::context::Context;
use super::filter::{Words, articles, fingerprint_of, keyword_marker_of, stem_of, stop_of, stop_set};
use super::java_pattern;
use super::settings::Settings;
use super::tokenizer::{Tokenizer, splitting};
use crate::RequestError;

/// An analyzer with `stopwords` and `stem_exclusion`.
struct Language {
    name: &'static str,
    tokenizer: &'static str,
    /// Filters by name; `stop`, `exclusion`, `elision` and `stem:...` are those of the language.
    filters: &'static [&'static str],
}

const fn language(name: &'static str, filters: &'static [&'static str]) -> Language {
    Language { name, tokenizer: "standard", filters }
}

/// Source: Lucene's analyzers by language, with their filters in order.
const LANGUAGES: &[Language] = &[
    language(
        "arabic",
        &["lowercase", "decimal_digit", "stop", "arabic_normalization", "exclusion", "stem:arabic"],
    ),
    language("armenian", &["lowercase", "stop", "exclusion", "stem:armenian"]),
    language("basque", &["lowercase", "stop", "exclusion", "stem:basque"]),
    language(
        "bengali",
        &[
            "lowercase",
            "decimal_digit",
            "exclusion",
            "indic_normalization",
            "bengali_normalization",
            "stop",
            "stem:bengali",
        ],
    ),
    language("brazilian", &["lowercase", "stop", "exclusion", "stem:brazilian"]),
    language("bulgarian", &["lowercase", "stop", "exclusion", "stem:bulgarian"]),
    language("catalan", &["elision", "lowercase", "stop", "exclusion", "stem:catalan"]),
    language("cjk", &["cjk_width", "lowercase", "cjk_bigram", "stop"]),
    language("czech", &["lowercase", "stop", "exclusion", "stem:czech"]),
    language("danish", &["lowercase", "stop", "exclusion", "stem:danish"]),
    language("dutch", &["lowercase", "stop", "exclusion", "dutch_override", "stem:dutch"]),
    language("english", &["stem:possessive_english", "lowercase", "stop", "exclusion", "stem:porter"]),
    language("estonian", &["lowercase", "stop", "exclusion", "stem:estonian"]),
    language("finnish", &["lowercase", "stop", "exclusion", "stem:finnish"]),
    language("french", &["elision", "lowercase", "stop", "exclusion", "stem:light_french"]),
    language("galician", &["lowercase", "stop", "exclusion", "stem:galician"]),
    language("german", &["lowercase", "stop", "exclusion", "german_normalization", "stem:light_german"]),
    language("greek", &["greek_lowercase", "stop", "stem:greek"]),
    language(
        "hindi",
        &[
            "lowercase",
            "decimal_digit",
            "exclusion",
            "indic_normalization",
            "hindi_normalization",
            "stop",
            "stem:hindi",
        ],
    ),
    language("hungarian", &["lowercase", "stop", "exclusion", "stem:hungarian"]),
    language("indonesian", &["lowercase", "stop", "exclusion", "stem:indonesian"]),
    language(
        "irish",
        &["irish_hyphenations", "elision", "irish_lowercase", "stop", "exclusion", "stem:irish"],
    ),
    language("italian", &["elision", "lowercase", "stop", "exclusion", "stem:light_italian"]),
    language("latvian", &["lowercase", "stop", "exclusion", "stem:latvian"]),
    language("lithuanian", &["lowercase", "stop", "exclusion", "stem:lithuanian"]),
    language("norwegian", &["lowercase", "stop", "exclusion", "stem:norwegian"]),
    language(
        "persian",
        &["lowercase", "decimal_digit", "arabic_normalization", "persian_normalization", "stop"],
    ),
    language("portuguese", &["lowercase", "stop", "exclusion", "stem:light_portuguese"]),
    language("romanian", &["lowercase", "stop", "exclusion", "stem:romanian"]),
    language("russian", &["lowercase", "stop", "exclusion", "stem:russian"]),
    language("serbian", &["lowercase", "stop", "exclusion", "stem:serbian", "serbian_normalization"]),
    language(
        "sorani",
        &["sorani_normalization", "lowercase", "decimal_digit", "stop", "exclusion", "stem:sorani"],
    ),
    language("spanish", &["lowercase", "stop", "exclusion", "stem:light_spanish"]),
    language("stop", &["stop"]),
    language("swedish", &["lowercase", "stop", "exclusion", "stem:swedish"]),
    language("turkish", &["apostrophe", "turkish_lowercase", "stop", "exclusion", "stem:turkish"]),
    Language { name: "thai", tokenizer: "thai", filters: &["lowercase", "decimal_digit", "stop"] },
];

/// Returns the names of all built-in analyzers.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    let others =
        ["standard", "chinese", "simple", "whitespace", "keyword", "pattern", "fingerprint", "snowball"];
    LANGUAGES.iter().map(|language| language.name).chain(others)
}

/// Returns the analyzer with this type; `None` if it does not exist.
pub(super) fn analyzer(
    kind: &str,
    settings: &Settings<'_>,
    context: &Context<'_>,
) -> Result<Option<Analyzer>, RequestError> {
    let name = settings.name;
    let filter = |name: &str| ready(name, context);
    let plain = |tokenizer: &str| {
        Ok::<_, RequestError>(Analyzer::new(name, tokenizer_of(tokenizer, settings, context)?, Vec::new()))
    };
    Ok(Some(match kind {
        "standard" => {
            let tokenizer = tokenizer_of("standard", settings, context)?;
            let words = stop_set(settings, context, "none", false)?;
            match words.is_empty() {
                true => Analyzer::standard(name, tokenizer, filter("lowercase")?),
                false => Analyzer::new(name, tokenizer, vec![filter("lowercase")?, stop_of(words)]),
            }
        }
        // Elasticsearch keeps the name for `standard` with English stop words and no settings.
        "chinese" => {
            let body = Map::new();
            let none = Settings { body: &body, ..*settings };
            let words = stop_set(&none, context, "english", false)?;
            let filters = vec![filter("lowercase")?, stop_of(words)];
            Analyzer::new(name, tokenizer_of("standard", &none, context)?, filters)
        }
        "simple" => plain("lowercase")?,
        "whitespace" => plain("whitespace")?,
        "keyword" => plain("keyword")?,
        "stop" => {
            let words = stop_set(settings, context, "english", false)?;
            Analyzer::new(name, tokenizer_of("lowercase", settings, context)?, vec![stop_of(words)])
        }
        "pattern" => {
            let pattern = settings.text_or("pattern", "\\W+");
            let pattern = java_pattern::parse(&pattern, settings.text("flags").as_deref())?;
            let mut filters = Vec::new();
            if settings.bool("lowercase", true)? {
                filters.push(filter("lowercase")?);
            }
            filters.extend(
                Some(stop_set(settings, context, "none", false)?)
                    .filter(|words| !words.is_empty())
                    .map(stop_of),
            );
            Analyzer::new(name, splitting(pattern), filters)
        }
        "fingerprint" => {
            let words = stop_set(settings, context, "none", false)?;
            let size = settings.count("max_output_size", 255, 0, |_| "max_output_size".into())?;
            let filters = vec![
                filter("lowercase")?,
                filter("asciifolding")?,
                stop_of(words),
                fingerprint_of(settings, size)?,
            ];
            Analyzer::new(name, tokenizer_of("standard", settings, context)?, filters)
        }
        "snowball" => snowball(settings, context)?,
        _ => match LANGUAGES.iter().find(|language| language.name == kind) {
            Some(language) => of_language(language, settings, context)?,
            None => return Ok(None),
        },
    }))
}

fn snowball(settings: &Settings<'_>, context: &Context<'_>) -> Result<Analyzer, RequestError> {
    let language = settings.text("language").or(settings.text("name")).unwrap_or_else(|| "English".into());
    let default = match language.as_str() {
        "English" => "english",
        "Dutch" => "dutch",
        "German" | "German2" => "german",
        _ => "none",
    };
    let words = stop_set(settings, context, default, false)?;
    let filters = vec![ready("lowercase", context)?, stop_of(words), stem_of(&language, true)?];
    Ok(Analyzer::new(settings.name, tokenizer_of("standard", settings, context)?, filters))
}

fn of_language(
    language: &Language,
    settings: &Settings<'_>,
    context: &Context<'_>,
) -> Result<Analyzer, RequestError> {
    let mut filters = Vec::new();
    for part in language.filters {
        filters.push(match *part {
            "stop" => stop_of(stop_set(settings, context, language.name, false)?),
            "elision" => articles(language.name),
            "exclusion" => match settings.list("stem_exclusion").filter(|list| !list.is_empty()) {
                Some(words) => keyword_marker_of(Words::new(words, false)),
                None => continue,
            },
            "irish_hyphenations" => stop_of(Words::new(["h", "n", "t"].map(str::to_owned), true)),
            "greek_lowercase" => lowercase_of("greek", context)?,
            "irish_lowercase" => lowercase_of("irish", context)?,
            "turkish_lowercase" => lowercase_of("turkish", context)?,
            "dutch_override" => dutch_override(context)?,
            part => match part.strip_prefix("stem:") {
                Some(stemmer) => stem_of(stemmer, false)?,
                None => ready(part, context)?,
            },
        });
    }
    let tokenizer = tokenizer_of(language.tokenizer, settings, context)?;
    let analyzer = Analyzer::new(settings.name, tokenizer, filters);
    Ok(match language.name {
        // Source: Lucene's `PersianCharFilter`.
        "persian" => analyzer.with_char_filters(vec![mapping_of("\u{200c}", " ")?]),
        _ => analyzer,
    })
}

fn lowercase_of(language: &str, context: &Context<'_>) -> Result<Filter, RequestError> {
    let body = serde_json::json!({"l": {"type": "lowercase", "language": language}});
    filter_of(&body, context)
}

/// Overrides the stems of some Dutch words. Source: Lucene's `DutchAnalyzer.DEFAULT_STEM_DICT`.
fn dutch_override(context: &Context<'_>) -> Result<Filter, RequestError> {
    let rules = ["fiets => fiets", "bromfiets => bromfiets", "ei => eier", "kind => kinder"];
    filter_of(&serde_json::json!({"l": {"type": "stemmer_override", "rules": rules}}), context)
}

fn filter_of(declared: &serde_json::Value, context: &Context<'_>) -> Result<Filter, RequestError> {
    let empty = Map::new();
    let filters = declared.as_object().unwrap_or(&empty);
    ready("l", &Context { filters, ..*context })
}

/// Returns the built-in filter with this name, whatever the index declares under the name.
fn ready(name: &str, context: &Context<'_>) -> Result<Filter, RequestError> {
    let empty = Map::new();
    let filters = if name == "l" { context.filters } else { &empty };
    let found = Context { filters, ..*context }.filter(name)?;
    found.ok_or_else(|| RequestError::illegal_argument(format!("failed to find filter under name [{name}]")))
}

fn tokenizer_of(
    name: &str,
    settings: &Settings<'_>,
    context: &Context<'_>,
) -> Result<Arc<dyn Tokenizer>, RequestError> {
    // `max_token_length` of the analyzer is passed to its tokenizer.
    let mut body = Map::new();
    if let Some(length) = settings.value("max_token_length").filter(|_| name == "standard") {
        body.insert("max_token_length".into(), length.clone());
    }
    body.insert("type".into(), name.into());
    let tokenizers = Map::from_iter([(name.to_owned(), body.into())]);
    let found = Context { tokenizers: &tokenizers, ..*context }.tokenizer(name)?;
    found.ok_or_else(|| RequestError::unsupported(format!("tokenizer [{name}]")))
}
