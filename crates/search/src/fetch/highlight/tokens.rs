//! The tokens of a text: "where does this term occur in it?"

use std::collections::HashMap;

use limber_mapping::{Field, Representation};

use super::units::{self, Units};

/// The position and offsets of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token {
    /// Position among the tokens of its value.
    pub position: u32,
    /// Offsets in UTF-16 units.
    pub start: usize,
    pub end: usize,
}

/// The tokens of one value.
#[derive(Default)]
pub(super) struct Tokens {
    /// The tokens, by position.
    list: Vec<Token>,
    /// For each term its indexes in the list, ascending.
    places: HashMap<Box<[u8]>, Vec<u32>>,
}

impl Tokens {
    /// Analyzes a value. `start_max`: no token that starts after this unit is used. A keyword's value is
    /// one token.
    pub fn of(field: &Field, value: &str, start_max: Option<usize>) -> Tokens {
        let mut tokens = Tokens::default();
        if field.representation() != Representation::Text {
            let term = field.encode_term(&field.normalize(value)).unwrap_or_default();
            tokens.push(&term, Token { position: 0, start: 0, end: units::count(value) });
            return tokens;
        }
        let Some(analyzer) = &field.analyzer else { return tokens };
        let text = match start_max {
            Some(most) => analyzer.prefix(value, Units::of(value).byte_of(most)),
            None => value,
        };
        let mut units = Units::of(value);
        analyzer.tokens(text, |token| {
            let (start, end) = (units.at_byte(token.start as usize), units.at_byte(token.end as usize));
            if start_max.is_none_or(|most| start <= most) {
                tokens.push(token.text.as_bytes(), Token { position: token.position, start, end });
            }
        });
        tokens
    }

    /// Adds a token after the others.
    pub fn push(&mut self, term: &[u8], token: Token) {
        let place = self.list.len() as u32;
        match self.places.get_mut(term) {
            Some(places) => places.push(place),
            None => {
                self.places.insert(term.into(), vec![place]);
            }
        }
        self.list.push(token);
    }

    /// Returns how many tokens there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns the token at an index, from 0. Panics beyond the last.
    pub fn get(&self, place: u32) -> Token {
        self.list[place as usize]
    }

    /// Returns the indexes of a term's tokens, ascending.
    pub fn indexes_of(&self, term: &[u8]) -> &[u32] {
        self.places.get(term).map_or(&[], Vec::as_slice)
    }

    /// Returns all tokens, in the order of the text.
    pub fn list(&self) -> &[Token] {
        &self.list
    }

    /// Returns the term of each token.
    pub fn by_place(&self) -> Vec<&[u8]> {
        let mut terms: Vec<&[u8]> = vec![&[]; self.list.len()];
        for (term, places) in &self.places {
            places.iter().for_each(|place| terms[*place as usize] = term);
        }
        terms
    }

    /// Returns the position of the last token.
    pub fn last_position(&self) -> Option<u32> {
        self.list.last().map(|token| token.position)
    }

    /// Returns every term with the indexes of its tokens, in no order.
    pub fn terms(&self) -> impl Iterator<Item = (&[u8], &[u32])> {
        self.places.iter().map(|(term, places)| (&**term, places.as_slice()))
    }
}
