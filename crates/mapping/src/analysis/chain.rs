//! Filters one after the other: "what becomes of the tokens that a tokenizer cuts?"
//!
//! Tokens are pushed: each filter gets one, changes it, and hands it on, none or several times. Most look at
//! one token alone ([`Each`]) and are run in a loop without state; those that look at neighbours or make more
//! tokens keep state for one text ([`Stage`]).
//!
//! **Invariant**: a filter that takes a token away gives its positions to the next one, so that holes stay.

use std::fmt::Debug;
use std::sync::Arc;

use limber_work as work;

use super::token::TokenBuf;

/// Where tokens go; false: nobody wants more of them.
pub(super) type Emit<'a> = &'a mut dyn FnMut(&mut TokenBuf) -> bool;

/// A filter that looks at one token alone.
pub(super) trait Each: Debug + Send + Sync {
    /// Changes the token in place; false when it is removed. `room` is room to write in.
    fn change(&self, token: &mut TokenBuf, room: &mut String) -> bool;
}

/// A filter that looks at more than one token, or makes more of them.
pub(super) trait Stream: Debug + Send + Sync {
    /// Its state for one text.
    fn start(&self) -> Box<dyn Stage + '_>;
}

/// What is known when there are no more tokens.
#[derive(Debug, Clone, Copy)]
pub(super) struct End {
    /// Positions of tokens that were removed after the last one.
    pub trailing: u32,
    /// Byte offset of the end of the text.
    pub offset: u32,
}

/// The state of a [`Stream`] over one text.
pub(super) trait Stage {
    /// Takes a token; false: no more are wanted.
    fn push(&mut self, token: &mut TokenBuf, emit: Emit<'_>) -> bool;

    /// There are no more. Returns the positions of removed tokens after what this stage emits.
    fn end(&mut self, End { trailing, .. }: End, emit: Emit<'_>) -> u32 {
        let _ = emit;
        trailing
    }
}

/// What synonyms are read with in the place of a filter before them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Parsing {
    /// The filter itself.
    #[default]
    Itself,
    /// Nothing: the filter makes several tokens of one.
    Skipped,
    /// Such a filter may not stand before synonyms.
    Refused,
}

#[derive(Debug, Clone)]
pub(super) enum Step {
    Each(Arc<dyn Each>),
    Stream(Arc<dyn Stream>),
}

/// A token filter, and what the house asks about it.
#[derive(Debug, Clone)]
pub(super) struct Filter {
    pub step: Step,
    /// Whether it changes characters alone, so that a normalizer may have it.
    pub is_normalizing: bool,
    pub parsing: Parsing,
    /// What a normalizer has in its place.
    pub normal: Option<Arc<dyn Each>>,
    /// Whether it asks which tokens are keywords.
    pub knows_keywords: bool,
    /// Whether it gives payloads.
    pub knows_payloads: bool,
    /// Whether it asks for the types of tokens.
    pub reads_kinds: bool,
    /// Whether an analyzer with it is for searching alone, and read anew on request.
    pub is_updateable: bool,
    /// Its name, if it is such a filter.
    pub updateable_name: Option<Arc<str>>,
    /// The set of synonyms or the file that it is read from.
    pub resource: Option<Arc<str>>,
}

impl Filter {
    /// A filter that looks at one token at a time.
    pub fn each(filter: impl Each + 'static) -> Filter {
        Filter::of(Step::Each(Arc::new(filter)))
    }

    /// A filter that looks at several tokens, or adds some.
    pub fn stream(filter: impl Stream + 'static) -> Filter {
        Filter::of(Step::Stream(Arc::new(filter)))
    }

    fn of(step: Step) -> Filter {
        Filter {
            step,
            is_normalizing: false,
            parsing: Parsing::default(),
            normal: None,
            knows_keywords: false,
            knows_payloads: false,
            reads_kinds: false,
            is_updateable: false,
            updateable_name: None,
            resource: None,
        }
    }

    /// The same filter, which a normalizer may have.
    pub fn normalizing(self) -> Filter {
        Filter { is_normalizing: true, ..self }
    }

    /// The same filter, which a normalizer may have; `normal` stands in its place there.
    pub fn normalizing_by(self, normal: impl Each + 'static) -> Filter {
        Filter { normal: Some(Arc::new(normal)), ..self.normalizing() }
    }

    /// The same filter, which asks whether tokens are keywords.
    pub fn knowing_keywords(self) -> Filter {
        Filter { knows_keywords: true, ..self }
    }

    /// The same filter, with what becomes of it where synonyms are read.
    pub fn parsing(self, parsing: Parsing) -> Filter {
        Filter { parsing, ..self }
    }

    /// The same filter, which asks for the types of tokens.
    pub fn reading_kinds(self) -> Filter {
        Filter { reads_kinds: true, ..self }
    }
}

/// Neighbouring filters without state, as one stage.
struct Group<'f> {
    filters: Vec<&'f dyn Each>,
    room: String,
    /// Positions of tokens that were removed since the last one.
    skipped: u32,
}

impl Stage for Group<'_> {
    fn push(&mut self, token: &mut TokenBuf, emit: Emit<'_>) -> bool {
        for filter in &self.filters {
            if !filter.change(token, &mut self.room) {
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

/// Hands what `source` emits through `filters` to `sink`; returns the positions of removed tokens after the
/// last one. `end`: the byte offset of the end of the text.
pub(super) fn run(filters: &[Filter], end: u32, source: &mut dyn FnMut(Emit<'_>), sink: Emit<'_>) -> u32 {
    let mut stages: Vec<Box<dyn Stage + '_>> = Vec::new();
    let mut rest = filters;
    while let Some(first) = rest.first() {
        let each = rest.iter().take_while(|filter| matches!(filter.step, Step::Each(_))).count();
        if each > 0 {
            let filters = rest[..each].iter().filter_map(|filter| match &filter.step {
                Step::Each(each) => Some(&**each),
                Step::Stream(_) => None,
            });
            stages.push(Box::new(Group { filters: filters.collect(), room: String::new(), skipped: 0 }));
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

/// Bytes of a token beyond which the request is told of it between two filters, which may keep it, or join it
/// with others.
const LONG_TOKEN_BYTES: usize = 1 << 10;

fn push(stages: &mut [Box<dyn Stage + '_>], token: &mut TokenBuf, sink: Emit<'_>) -> bool {
    // Shingles of shingles of shingles grow tenfold with each filter.
    if token.text.len() > LONG_TOKEN_BYTES && !stages.is_empty() && !work::makes(token.text.len()) {
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
