//! Chains of filters: "what happens to the tokens of a tokenizer?"
//!
//! Tokens are pushed: each filter gets a token, changes it, and passes it on, never, once or several times.
//! Most filters look at one token at a time ([`Each`]) and run in a loop without state. Filters that look at
//! neighbouring tokens or add tokens keep state for one text ([`Stage`]).
//!
//! **Invariant**: a filter that removes a token adds its positions to the next one, so that gaps are kept.

use std::fmt::Debug;
use std::sync::Arc;

use limber_work as work;

use super::pace::{self, LONG_TOKEN_BYTES};
use super::token::TokenBuf;

/// Receives tokens. Returns false if no more are wanted.
pub(super) type Emit<'a> = &'a mut dyn FnMut(&mut TokenBuf) -> bool;

/// A filter that looks at one token at a time.
pub(super) trait Each: Debug + Send + Sync {
    /// Changes the token in place. Returns false if the token is removed. `scratch` may contain anything.
    fn change(&self, token: &mut TokenBuf, scratch: &mut String) -> bool;
}

/// A filter that looks at several tokens, or adds tokens.
pub(super) trait Stream: Debug + Send + Sync {
    /// Creates its state for one text.
    fn start(&self) -> Box<dyn Stage + '_>;
}

/// What is known at the end of the tokens.
#[derive(Debug, Clone, Copy)]
pub(super) struct End {
    /// Positions of tokens that were removed after the last one.
    pub trailing: u32,
    /// Byte offset of the end of the text.
    pub offset: u32,
}

/// The state of a [`Stream`] over one text.
pub(super) trait Stage {
    /// Takes a token. Returns false if no more are wanted.
    fn push(&mut self, token: &mut TokenBuf, emit: Emit<'_>) -> bool;

    /// Ends the text. Returns the positions of removed tokens after the last one that this stage emits.
    fn end(&mut self, End { trailing, .. }: End, emit: Emit<'_>) -> u32 {
        let _ = emit;
        trailing
    }
}

/// How a filter is applied to the rules of synonyms that come after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Parsing {
    /// The filter is applied.
    #[default]
    Itself,
    /// The filter is left out, because it makes several tokens of one.
    Skipped,
    /// The filter must not precede synonyms.
    Refused,
}

#[derive(Debug, Clone)]
pub(super) enum Step {
    Each(Arc<dyn Each>),
    Stream(Arc<dyn Stream>),
}

/// A token filter and its properties.
#[derive(Debug, Clone)]
pub(super) struct Filter {
    pub step: Step,
    /// Whether it only changes characters, so that a normalizer may contain it.
    pub is_normalizing: bool,
    pub parsing: Parsing,
    /// The filter that replaces it in a normalizer.
    pub normal: Option<Arc<dyn Each>>,
    /// Whether it uses the keyword mark of tokens.
    pub uses_keywords: bool,
    /// Whether it sets payloads.
    pub uses_payloads: bool,
    /// Whether it uses the types of tokens.
    pub reads_kinds: bool,
    /// Whether queries ignore how many positions its tokens span, since its paths would be too many.
    pub hides_graph: bool,
    /// Whether it can be reloaded on request. An analyzer with such a filter is for searching only.
    pub is_updateable: bool,
    /// The name of the filter if it can be reloaded.
    pub updateable_name: Option<Arc<str>>,
    /// The synonym set or the file from which it was read.
    pub resource: Option<Arc<str>>,
}

impl Filter {
    /// Wraps a filter that looks at one token at a time.
    pub fn each(filter: impl Each + 'static) -> Filter {
        Filter::of(Step::Each(Arc::new(filter)))
    }

    /// Wraps a filter that looks at several tokens, or adds tokens.
    pub fn stream(filter: impl Stream + 'static) -> Filter {
        Filter::of(Step::Stream(Arc::new(filter)))
    }

    fn of(step: Step) -> Filter {
        Filter {
            step,
            is_normalizing: false,
            parsing: Parsing::default(),
            normal: None,
            uses_keywords: false,
            uses_payloads: false,
            reads_kinds: false,
            hides_graph: false,
            is_updateable: false,
            updateable_name: None,
            resource: None,
        }
    }

    /// Returns the filter, allowed in normalizers.
    pub fn normalizing(self) -> Filter {
        Filter { is_normalizing: true, ..self }
    }

    /// Returns the filter, allowed in normalizers, where `normal` replaces it.
    pub fn normalizing_by(self, normal: impl Each + 'static) -> Filter {
        Filter { normal: Some(Arc::new(normal)), ..self.normalizing() }
    }

    /// Returns the filter, marked as using the keyword mark of tokens.
    pub fn knowing_keywords(self) -> Filter {
        Filter { uses_keywords: true, ..self }
    }

    /// Returns the filter, with how it is applied to the rules of synonyms.
    pub fn parsing(self, parsing: Parsing) -> Filter {
        Filter { parsing, ..self }
    }

    /// Returns the filter, with whether queries ignore how many positions its tokens span (Elasticsearch's
    /// `DisableGraphAttribute`).
    pub fn hiding_graph(self, hides_graph: bool) -> Filter {
        Filter { hides_graph, ..self }
    }

    /// Returns the filter, marked as using the types of tokens.
    pub fn reading_kinds(self) -> Filter {
        Filter { reads_kinds: true, ..self }
    }
}

/// Consecutive filters without state, as one stage.
struct Group<'f> {
    filters: Vec<&'f dyn Each>,
    scratch: String,
    /// Positions of tokens that were removed since the last one.
    skipped: u32,
}

impl Stage for Group<'_> {
    fn push(&mut self, token: &mut TokenBuf, emit: Emit<'_>) -> bool {
        for filter in &self.filters {
            if !pace::takes(token.text.len()) {
                return false;
            }
            if !filter.change(token, &mut self.scratch) {
                self.skipped += token.increment;
                return true;
            }
        }
        token.increment += std::mem::take(&mut self.skipped);
        emit(token)
    }

    fn end(&mut self, End { trailing, .. }: End, _emit: Emit<'_>) -> u32 {
        trailing + self.skipped
    }
}

/// Passes what `source` emits through `filters` to `sink`. Returns the positions of removed tokens after the
/// last one. `end` is the byte offset of the end of the text.
pub(super) fn run(filters: &[Filter], end: u32, source: &mut dyn FnMut(Emit<'_>), sink: Emit<'_>) -> u32 {
    if !pace::goes_on(filters.len()) {
        return 0;
    }
    let mut stages: Vec<Box<dyn Stage + '_>> = Vec::new();
    let mut rest = filters;
    while let Some(first) = rest.first() {
        let each = rest.iter().take_while(|filter| matches!(filter.step, Step::Each(_))).count();
        if each > 0 {
            let filters = rest[..each].iter().filter_map(|filter| match &filter.step {
                Step::Each(each) => Some(&**each),
                Step::Stream(_) => None,
            });
            stages.push(Box::new(Group { filters: filters.collect(), scratch: String::new(), skipped: 0 }));
            rest = &rest[each..];
        } else {
            if let Step::Stream(stream) = &first.step {
                stages.push(stream.start());
            }
            rest = &rest[1..];
        }
    }
    source(&mut |token| push(&mut stages, token, sink));
    finish(&mut stages, End { trailing: 0, offset: end }, sink)
}

fn push(stages: &mut [Box<dyn Stage + '_>], token: &mut TokenBuf, sink: Emit<'_>) -> bool {
    if !pace::goes_on(1) {
        return false;
    }
    // A filter may keep a long token or join it with others: shingles of shingles of shingles grow tenfold
    // with each filter.
    let bytes = token.text.len();
    if bytes > LONG_TOKEN_BYTES && !stages.is_empty() && !(pace::takes(bytes) && work::state_bytes(bytes)) {
        return false;
    }
    match stages.split_first_mut() {
        None => sink(token),
        Some((first, rest)) => first.push(token, &mut |token| push(rest, token, sink)),
    }
}

fn finish(stages: &mut [Box<dyn Stage + '_>], end: End, sink: Emit<'_>) -> u32 {
    match stages.split_first_mut() {
        None => end.trailing,
        Some((first, rest)) => {
            let trailing = first.end(end, &mut |token| push(rest, token, sink));
            finish(rest, End { trailing, ..end }, sink)
        }
    }
}
