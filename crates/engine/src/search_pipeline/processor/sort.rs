//! `sort`: "sort the values of this field". Source: OpenSearch's `SortResponseProcessor`.

use std::cmp::Ordering;
use std::sync::Arc;

use limber_mapping::RequestError;
use limber_script::Scripts;
use limber_search::SearchResponse;
use limber_work as work;
use serde_json::Value;

use super::ChangesResponse;
use crate::api::Result;
use crate::ingest::Options;
use crate::search_pipeline::PipelineRun;
use crate::search_pipeline::run::Shown;

struct Sort {
    field: String,
    target: String,
    is_descending: bool,
}

/// Compiles the processor. Options: `field`; optional `order` (`asc`) and `target_field`.
pub(super) fn parse(options: &mut Options, _: &Arc<Scripts>) -> Result<Box<dyn ChangesResponse>> {
    let field = options.string("field")?;
    let target = options.string_or("target_field", &field)?;
    let is_descending = options.is_descending()?;
    Ok(Box::new(Sort { field, target, is_descending }))
}

/// Compares two values; `None` if they are of different kinds.
fn compare(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::String(left), Value::String(right)) => Some(left.encode_utf16().cmp(right.encode_utf16())),
        (Value::Bool(left), Value::Bool(right)) => Some(left.cmp(right)),
        (Value::Number(left), Value::Number(right)) => match (left.as_i64(), right.as_i64()) {
            (Some(left), Some(right)) => Some(left.cmp(&right)),
            _ => left.as_f64()?.partial_cmp(&right.as_f64()?),
        },
        _ => None,
    }
}

impl Sort {
    fn sorted(&self, values: &[Value]) -> Result<Value> {
        let refused = |what: &str| RequestError::illegal_argument(format!("field [{}] {what}]", self.field));
        for value in values {
            match value {
                Value::Null => return Err(refused("contains a null value.")),
                Value::Array(_) => return Err(refused("of type [java.util.ArrayList] is not comparable.")),
                Value::Object(_) => return Err(refused("of type [java.util.HashMap] is not comparable.")),
                _ => {}
            }
        }
        // If not all values are of the same kind, some two neighbours differ in kind.
        if values.windows(2).any(|pair| compare(&pair[0], &pair[1]).is_none()) {
            return Err(RequestError::illegal_argument(format!(
                "field [{}] has values of different types, cannot sort.",
                self.field
            )));
        }
        let texts: usize = values.iter().filter_map(Value::as_str).map(str::len).sum();
        // The sort keeps a copy of the list.
        work::claim(texts as u64 + values.len() as u64 * (2 * size_of::<Value>() as u64 + 16))?;
        let mut sorted = values.to_vec();
        sorted.sort_by(|left, right| {
            let order = compare(left, right).unwrap_or(Ordering::Equal);
            if self.is_descending { order.reverse() } else { order }
        });
        Ok(Value::Array(sorted))
    }
}

impl ChangesResponse for Sort {
    fn change(&self, response: &mut SearchResponse, run: &mut PipelineRun) -> Result<()> {
        let sort = |_: &_, shown: Shown<'_>| {
            let (Shown::Fields(members) | Shown::Source(members)) = shown;
            if let Some(Value::Array(values)) = members.get(&self.field) {
                let sorted = self.sorted(values)?;
                members.insert(self.target.clone(), sorted);
            }
            Ok(())
        };
        run.each_hit(response, sort, |_| Ok(()))
    }
}
