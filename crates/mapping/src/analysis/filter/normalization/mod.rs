//! One way of writing: letters that are written in several ways in a language become one.

mod bengali;
mod indic;
mod kinds;
mod letters;

pub(super) use kinds::{
    make_arabic, make_bengali, make_german, make_hindi, make_indic, make_persian, make_scandinavian,
    make_scandinavian_folding, make_serbian, make_sorani,
};
