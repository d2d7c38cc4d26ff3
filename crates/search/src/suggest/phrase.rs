//! The `phrase` suggester: finds the sentence that the user meant.
//!
//! Source: Elasticsearch's `NoisyChannelSpellChecker`, `CandidateScorer` and `DirectCandidateGenerator`.

use std::collections::HashMap;

use limber_mapping::analysis::Analyzer;
use serde_json::{Value, json};

use super::collate::OpenCollate;
use super::language::Language;
use super::words::FieldTerms;
use crate::context::{SearchContext, ShardSnapshot};
use crate::error::Result;
use crate::request::suggest::Common;
use crate::request::suggest::{Generator, PhraseRequest};
use crate::request::suggest::{SuggestMode, WordOptions};
use crate::score::float_to_json;

/// A suggested sentence.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sentence {
    text: String,
    highlighted: Option<String>,
    score: f64,
    /// Whether a document matches its `collate` query, if that is shown.
    collate_match: Option<bool>,
}

/// A word that may stand at a position.
#[derive(Debug, Clone, PartialEq)]
struct Candidate {
    text: String,
    /// Similarity to the word in the text; 1 for that word itself.
    similarity: f64,
    score: f64,
}

/// A position of the text: its word, and the alternatives.
struct Place {
    original: Candidate,
    others: Vec<Candidate>,
}

/// Maximum number of candidates of one position that are rated. Source: `MultiCandidateGeneratorWrapper`.
const CANDIDATES_MAX: usize = 10;

/// Returns the suggestions of one shard, best first.
///
/// # Errors
/// Cancelled, out of memory, corrupt data or a disk error.
pub(super) fn of_shard(
    shard: &ShardSnapshot,
    (path, analyzer): (&str, &Analyzer),
    text: &str,
    (common, request): (&Common, &PhraseRequest),
    context: &SearchContext,
) -> Result<Vec<Sentence>> {
    let language = Language::new(FieldTerms::open(shard, path)?, request.smoothing, &request.separator);
    // Shingles are used by the language model only; they are not words of the text.
    let tokens = analyzer.analyze(text).tokens;
    let words = tokens.iter().filter(|token| token.kind != "shingle");
    let words: Vec<&str> = words.map(|token| token.token.as_str()).collect();
    if words.is_empty() || words.len() > request.token_limit {
        return Ok(Vec::new());
    }
    let generators = generators(shard, path, request)?;
    let mut places = Vec::with_capacity(words.len());
    for word in words {
        places.push(place(word, &generators, &language, context)?);
    }
    let mut search =
        Search { places: &places, request, language: &language, found: Vec::new(), cutoff: 0.0, context };
    let sentences = search.run(common.shard_size)?;
    match &request.collate {
        Some(collate) => collated(sentences, &OpenCollate::open(collate, shard, context)?),
        None => Ok(sentences),
    }
}

/// Removes sentences whose query matches nothing, or marks each sentence by whether it matches.
fn collated(sentences: Vec<Sentence>, collate: &OpenCollate<'_>) -> Result<Vec<Sentence>> {
    let mut kept = Vec::with_capacity(sentences.len());
    for mut sentence in sentences {
        let is_match = collate.matches(&sentence.text)?;
        if collate.prunes() {
            sentence.collate_match = Some(is_match);
        } else if !is_match {
            continue;
        }
        kept.push(sentence);
    }
    Ok(kept)
}

/// A generator with its terms and the analyzers of its filters.
struct OpenGenerator<'s> {
    generator: std::borrow::Cow<'s, Generator>,
    terms: FieldTerms<'s>,
    pre: Option<std::sync::Arc<Analyzer>>,
    post: Option<std::sync::Arc<Analyzer>>,
}

fn generators<'s>(
    shard: &'s ShardSnapshot,
    path: &str,
    request: &'s PhraseRequest,
) -> Result<Vec<OpenGenerator<'s>>> {
    let named = |name: &Option<String>| match name {
        None => Ok(None),
        Some(name) => {
            let found = shard.mapping.settings().analyzers.get(name).cloned();
            let reason = format!("analyzer [{name}] doesn't exists");
            found.map(Some).ok_or_else(|| limber_mapping::RequestError::illegal_argument(reason))
        }
    };
    let open = |generator: std::borrow::Cow<'s, Generator>| {
        Ok(OpenGenerator {
            terms: FieldTerms::open(shard, &generator.field)?,
            pre: named(&generator.pre_filter)?,
            post: named(&generator.post_filter)?,
            generator,
        })
    };
    if request.generators.is_empty() {
        let own = Generator {
            field: path.to_owned(),
            size: 5,
            options: WordOptions::default(),
            pre_filter: None,
            post_filter: None,
        };
        return Ok(vec![open(std::borrow::Cow::Owned(own))?]);
    }
    request.generators.iter().map(|generator| open(std::borrow::Cow::Borrowed(generator))).collect()
}

fn filtered(analyzer: &Option<std::sync::Arc<Analyzer>>, word: &str) -> String {
    match analyzer {
        None => word.to_owned(),
        Some(analyzer) => {
            analyzer.analyze(word).tokens.into_iter().next().map_or_else(String::new, |token| token.token)
        }
    }
}

fn place(
    word: &str,
    generators: &[OpenGenerator<'_>],
    language: &Language<'_>,
    context: &SearchContext,
) -> Result<Place> {
    let weigh = |text: &str, similarity: f64| -> Result<f64> {
        Ok(similarity * ((language.frequency(text)? as f64 + 1.0) / (language.total() + 1.0)))
    };
    let frequency = language.frequency(word)?;
    let original = Candidate { text: word.to_owned(), similarity: 1.0, score: weigh(word, 1.0)? };
    let mut others: Vec<Candidate> = Vec::new();
    for open in generators {
        let threshold = match open.generator.options.mode {
            SuggestMode::Always => None,
            _ => Some(threshold_frequency(frequency)).filter(|threshold| *threshold > 0.0),
        };
        let wanted = filtered(&open.pre, word);
        let (options, count) = (&open.generator.options, open.generator.size);
        for similar in open.terms.similar(&wanted, options, threshold, count, context)? {
            let text = filtered(&open.post, &similar.text);
            let similarity = f64::from(similar.score);
            if text != word && !others.iter().any(|other| other.text == text) {
                others.push(Candidate { score: weigh(&text, similarity)?, text, similarity });
            }
        }
    }
    others.sort_by(|left, right| right.score.total_cmp(&left.score));
    others.truncate(CANDIDATES_MAX);
    Ok(Place { original, others })
}

/// Returns the number of documents that an alternative must have for a word with this document frequency.
/// Source: `DirectCandidateGenerator#thresholdTermFrequency`.
fn threshold_frequency(frequency: u64) -> f32 {
    if frequency == 0 {
        return 0.0;
    }
    let frequency = frequency as f64;
    (frequency * (frequency.log10() / 5.0f64.log10()) + 1.0).round().max(0.0) as f32
}

/// The search for the most probable sentences.
struct Search<'p> {
    places: &'p [Place],
    request: &'p PhraseRequest,
    language: &'p Language<'p>,
    found: Vec<(f64, Vec<&'p Candidate>)>,
    cutoff: f64,
    context: &'p SearchContext,
}

impl<'p> Search<'p> {
    fn run(&mut self, count: usize) -> Result<Vec<Sentence>> {
        let mut path: Vec<&'p Candidate> = Vec::new();
        let mut own = 0.0;
        for place in self.places {
            path.push(&place.original);
            own += self.weight(&path)?;
        }
        // `Double.MIN_VALUE`: accepts every sentence with a probability above 0.
        self.cutoff = match self.request.confidence {
            confidence if confidence > 0.0 => own.exp() * f64::from(confidence),
            _ => f64::from_bits(1),
        };
        let errors = match self.request.max_errors {
            errors if errors >= 1.0 => errors as usize,
            share => ((share * self.places.len() as f32).round() as usize).max(1),
        };
        path.clear();
        self.extend(&mut path, errors, 0.0)?;
        self.found.sort_by(|left, right| right.0.total_cmp(&left.0));
        self.found.truncate(count);
        Ok(self.found.iter().map(|(score, path)| self.sentence(*score, path)).collect())
    }

    /// Returns the logarithm of the probability of the last word of a path.
    fn weight(&self, path: &[&Candidate]) -> Result<f64> {
        let words: Vec<&str> = path.iter().rev().take(3).rev().map(|word| word.text.as_str()).collect();
        let last = path[path.len() - 1];
        let channel =
            if last.similarity == 1.0 { self.request.real_word_likelihood } else { last.similarity };
        Ok((channel * self.language.likelihood(&words, self.request.gram_size)?).log10())
    }

    /// Tries all candidates of the next position; the depth is bounded by `token_limit`.
    fn extend(&mut self, path: &mut Vec<&'p Candidate>, errors: usize, score: f64) -> Result<()> {
        let Some(place) = self.places.get(path.len()) else {
            // The sum is of decimal logarithms, as in the source, which nevertheless raises e to its power.
            let score = score.exp();
            if score > self.cutoff {
                self.found.push((score, path.clone()));
            }
            return Ok(());
        };
        self.context.check()?;
        let others = if errors > 0 { place.others.as_slice() } else { &[] };
        for (at, word) in std::iter::once(&place.original).chain(others).enumerate() {
            path.push(word);
            let weight = self.weight(path)?;
            self.extend(path, errors - usize::from(at > 0), score + weight)?;
            path.pop();
        }
        Ok(())
    }

    fn sentence(&self, score: f64, path: &[&Candidate]) -> Sentence {
        let words: Vec<&str> = path.iter().map(|word| word.text.as_str()).collect();
        let highlighted = self.request.highlight.as_ref().map(|(pre, post)| {
            let is_changed: Vec<bool> =
                path.iter().zip(self.places).map(|(word, place)| word.text != place.original.text).collect();
            let mut shown = Vec::new();
            for (at, word) in words.iter().enumerate() {
                let is_first = is_changed[at] && (at == 0 || !is_changed[at - 1]);
                let is_last = is_changed[at] && is_changed.get(at + 1) != Some(&true);
                let (before, after) =
                    (if is_first { pre.as_str() } else { "" }, if is_last { post.as_str() } else { "" });
                shown.push(format!("{before}{word}{after}"));
            }
            shown.join(&self.request.separator)
        });
        Sentence { text: words.join(&self.request.separator), highlighted, score, collate_match: None }
    }
}

/// Merges the shards' sentences into one list; of equal sentences, the most probable counts.
pub(super) fn reduce(shards: Vec<Vec<Sentence>>, text: &str, common: &Common) -> Value {
    let mut all: Vec<Sentence> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for sentence in shards.into_iter().flatten() {
        match places.get(&sentence.text).map(|place| &mut all[*place]) {
            Some(known) => {
                known.score = known.score.max(sentence.score);
                // A match on one shard counts as a match.
                known.collate_match = known.collate_match.max(sentence.collate_match);
            }
            None => {
                places.insert(sentence.text.clone(), all.len());
                all.push(sentence);
            }
        }
    }
    all.sort_by(|left, right| right.score.total_cmp(&left.score).then_with(|| left.text.cmp(&right.text)));
    all.truncate(common.size);
    let options: Vec<Value> = all
        .iter()
        .map(|sentence| {
            let mut option = json!({"text": sentence.text});
            if let Some(highlighted) = &sentence.highlighted {
                option["highlighted"] = highlighted.as_str().into();
            }
            option["score"] = float_to_json(sentence.score as f32);
            if let Some(is_match) = sentence.collate_match {
                option["collate_match"] = is_match.into();
            }
            option
        })
        .collect();
    json!([{"text": text, "offset": 0, "length": text.encode_utf16().count(), "options": options}])
}
