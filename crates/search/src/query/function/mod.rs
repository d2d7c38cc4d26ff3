//! Score functions of `function_score`: "what does this function make of these documents?"
//!
//! A function is one file with its parser, its binding to a shard and its reader on a segment, and one line in [`table::FUNCTIONS`].

mod decay;
mod field_value;
mod node;
mod random;
mod script;
mod table;

pub(crate) use node::{FunctionScoreNode, ScoredFunction};
pub(crate) use script::script_name;
pub(super) use table::FUNCTIONS;

use std::fmt::Debug;

use limber_segment::{DocId, Segment};

use super::bind::Binder;
use crate::error::Error;
use crate::score::Ceiling;
use crate::score::Explanation;

/// A function as parsed.
pub(super) trait ScoreFunction: Debug + Send + Sync {
    fn bind(&self, binder: &Binder<'_>) -> Result<Box<dyn BoundFunction>, Error>;
}

/// A function bound to a shard.
pub(crate) trait BoundFunction: Debug + Send + Sync {
    fn open<'a>(&'a self, segment: &'a Segment) -> Result<Box<dyn FunctionReader + 'a>, Error>;

    /// `score` is the query's.
    fn explain(&self, segment: &Segment, doc: DocId, score: &Explanation) -> Result<Explanation, Error>;

    /// Whether the query's scores enter.
    fn needs_scores(&self) -> bool {
        false
    }

    /// What is known of the function without reading documents, if anything.
    fn ceiling(&self) -> Option<Box<dyn Ceiling + '_>> {
        None
    }
}

/// A function on one segment.
pub(crate) trait FunctionReader {
    /// The function of `docs`, which ascend, into `out`; `scores` are those of the query. All have the same length.
    fn read(&mut self, docs: &[DocId], scores: &[f32], out: &mut [f64]) -> Result<(), Error>;

    /// The value of one document.
    fn read_one(&mut self, doc: DocId, score: f32) -> Result<f64, Error> {
        let mut out = [0.0];
        self.read(&[doc], &[score], &mut out)?;
        Ok(out[0])
    }
}
