//! Normalization: unifies letters that a language writes in several ways.

mod bengali;
mod indic;
mod kinds;
mod letters;

pub(super) use kinds::{
    make_arabic, make_bengali, make_german, make_hindi, make_indic, make_persian, make_scandinavian,
    make_scandinavian_folding, make_serbian, make_sorani,
};
