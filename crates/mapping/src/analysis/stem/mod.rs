//! Stemmers: "which form stands for all forms of this word?" Snowball's come from libraries; these are the others of Lucene.

mod asian;
mod endings;
mod english;
mod french;
mod german;
pub(super) mod porter;
mod romance;
mod slavic;
mod suffix;
mod table;

pub(super) use table::{Stemming, find};
