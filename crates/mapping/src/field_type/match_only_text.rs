//! `match_only_text`: text whose matches all have the same score, and whose phrases are verified with the
//! source. Source: Elasticsearch's `MatchOnlyTextFieldMapper`.

use super::text::Text;
use crate::field::{Field, FieldType, KEEP, Leaf, META, Param};

#[derive(Debug)]
pub(super) struct MatchOnlyText;

impl FieldType for MatchOnlyText {
    fn name(&self) -> &'static str {
        "match_only_text"
    }

    fn family(&self) -> &'static str {
        Text.name()
    }

    fn params(&self) -> &'static [Param] {
        &[META, KEEP]
    }

    fn like(&self) -> Option<&'static dyn FieldType> {
        Some(&Text)
    }

    fn finish(&self, _: &Leaf, field: &mut Field) {
        (field.index, field.match_only) = (true, true);
    }
}
