//! Upper bounds of the scores that scripts return.

use limber_mapping::Field;
use limber_script::ScriptCeiling;

use super::bound::BoundScript;
use crate::geo::degrees;
use crate::score::{MaxScores, Span};

impl BoundScript {
    /// Returns what is known of the script's numbers without running it, if anything.
    pub fn max_scores(&self) -> Option<Box<dyn MaxScores + '_>> {
        let max_scores = ScriptCeiling::of(self.compiled(), self.params(), &self.fields().fields)?;
        Some(Box::new(max_scores))
    }
}

impl MaxScores for ScriptCeiling<'_> {
    fn field(&self) -> &Field {
        ScriptCeiling::field(self)
    }

    fn max_score(&self, span: &Span) -> f64 {
        let span = match span {
            Span::Numbers(least, most) => limber_script::Span::Numbers(*least, *most),
            Span::Places(cell) => {
                let (longitudes, latitudes) = degrees(cell);
                limber_script::Span::Places { longitudes, latitudes }
            }
        };
        ScriptCeiling::most(self, &span)
    }
}
