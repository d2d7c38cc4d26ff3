//! `hunspell`: replaces a token by the words of a dictionary of which it is a form.
//!
//! Source: Lucene's `HunspellStemFilter`, Elasticsearch's `HunspellService`. A dictionary is a folder
//! `hunspell/{locale}` in the configuration folder, with one file `*.aff` and one or more files `*.dic`.

use std::sync::Arc;

use crate::RequestError;
use crate::analysis::chain::{Emit, Filter, Stage, Stream};
use crate::analysis::context::Context;
use crate::analysis::hunspell::Dictionary;
use crate::analysis::settings::Settings;
use crate::analysis::token::TokenBuf;

#[derive(Debug)]
struct Hunspell {
    dictionary: Arc<Dictionary>,
    dedups: bool,
    only_longest: bool,
}

/// Reads `locale` (or `language`, `lang`; required), `dedup` (true) and `longest_only` (false). Fails if the
/// dictionary cannot be read.
pub fn make(settings: &Settings<'_>, context: &Context<'_>) -> Result<Filter, RequestError> {
    let locale = settings.text("locale").or(settings.text("language")).or(settings.text("lang"));
    let locale = locale.ok_or_else(|| {
        RequestError::illegal_argument(
            "missing [locale | language | lang] configuration for hunspell token filter",
        )
    })?;
    let dictionary = dictionary(&locale, context).map_err(|reason| {
        RequestError::illegal_argument(format!("failed to load hunspell dictionary for locale: {locale}"))
            .caused_by(RequestError::bad_request("exception", reason))
    })?;
    let filter = Filter::stream(Hunspell {
        dictionary,
        dedups: settings.bool("dedup", true)?,
        only_longest: settings.bool("longest_only", false)?,
    });
    Ok(filter.knowing_keywords())
}

fn dictionary(locale: &str, context: &Context<'_>) -> Result<Arc<Dictionary>, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '@' | '.');
    let folder = format!("hunspell/{locale}");
    let files = match locale.chars().all(is_plain) && !locale.contains("..") {
        true => context.resources.files(&folder),
        false => Vec::new(),
    };
    if files.is_empty() {
        return Err(format!("Could not find hunspell dictionary [{locale}]"));
    }
    let read = |name: &String| {
        let bytes = context.resources.read(&format!("{folder}/{name}"));
        bytes.map_err(|fault| format!("Could not load hunspell dictionary [{locale}]: {name}: {fault:?}"))
    };
    let affixes: Vec<&String> = files.iter().filter(|name| name.ends_with(".aff")).collect();
    let affixes = match affixes[..] {
        [only] => read(only)?,
        [] => return Err(format!("Missing affix file for hunspell dictionary [{locale}]")),
        _ => return Err(format!("Too many affix files exist for hunspell dictionary [{locale}]")),
    };
    let mut words = Vec::new();
    for name in files.iter().filter(|name| name.ends_with(".dic")) {
        words.push(read(name)?);
    }
    if words.is_empty() {
        return Err(format!("Missing dictionary file for hunspell dictionary [{locale}]"));
    }
    let ignores_case = files.iter().any(|name| name == "settings.yml")
        && String::from_utf8_lossy(&read(&"settings.yml".to_owned())?)
            .lines()
            .any(|line| line.replace(' ', "") == "ignore_case:true");
    Dictionary::read(&affixes, &words, ignores_case)
}

struct Walk<'a>(&'a Hunspell);

impl Stream for Hunspell {
    fn start(&self) -> Box<dyn Stage + '_> {
        Box::new(Walk(self))
    }
}

impl Stage for Walk<'_> {
    fn push(&mut self, token: &mut TokenBuf, emit: Emit<'_>) -> bool {
        if token.is_keyword {
            return emit(token);
        }
        if !limber_work::analysis_goes_on() {
            return false;
        }
        let own = self.0;
        let mut stems = match own.dedups {
            true => own.dictionary.stems(&token.text),
            false => own.dictionary.all_stems(&token.text),
        };
        if stems.is_empty() {
            return emit(token);
        }
        if own.only_longest {
            let units = |stem: &String| stem.encode_utf16().count();
            stems.sort_by(|one, other| units(other).cmp(&units(one)).then_with(|| other.cmp(one)));
            stems.truncate(1);
        }
        let mut increment = token.increment;
        stems.into_iter().all(|stem| {
            let mut made = TokenBuf { increment: std::mem::take(&mut increment), ..token.like(stem) };
            emit(&mut made)
        })
    }
}
