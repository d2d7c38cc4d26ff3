//! Stemmers: "which string represents all forms of this word?" Snowball's stemmers come from libraries; these
//! are Lucene's other ones.

mod asian;
mod brazilian;
mod endings;
mod english;
mod french;
mod german;
mod greek;
mod kstem;
mod northern;
mod plural;
mod porter;
mod romance;
mod rslp;
mod slavic;
mod suffix;
mod table;

pub(super) use table::{Stemming, find};
