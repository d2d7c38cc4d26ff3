//! Sends items of a bulk request again that the server rejected because it was overloaded (`retries_on_429`;
//! `runner.py`, `BulkIndex`).

use std::time::Duration;

use super::bulk_result::BulkResult;
use crate::drive::exchange::Exchange;
use crate::drive::operation::contract::{Failure, Outcome};
use crate::http::Request;

/// A bulk request that was answered.
pub(crate) struct Sent<'a> {
    pub request: &'a Request,
    pub body: &'a [u8],
    /// Whether each document has an action line before it.
    pub has_actions: bool,
    pub timeout: Option<Duration>,
    pub is_detailed: bool,
    /// Maximum number of times that rejected items are sent again.
    pub retries_max: u64,
    /// Number of documents in the body: the weight of the request, in `unit`.
    pub documents: u64,
    pub unit: &'static str,
    /// The index that all documents go to.
    pub index: Option<&'a str>,
    pub keeps_meta: bool,
}

/// Returns the outcome of a bulk request whose first answer was `first`, after rejected items were sent
/// again.
pub(crate) async fn completed(
    exchange: &mut Exchange,
    sent: &Sent<'_>,
    first: BulkResult,
) -> Result<Outcome, Failure> {
    let (result, retries) = send_rejected(exchange, sent, first).await?;
    let took = result.took_ms.map(Duration::from_millis);
    let mut outcome = Outcome { unit: sent.unit, took, ..Outcome::ops(sent.documents) };
    if sent.keeps_meta || sent.is_detailed {
        outcome = outcome.with_meta(result.meta(sent.index, sent.body, sent.documents, retries));
    }
    Ok(match result.errors {
        0 => outcome,
        _ => outcome.failed("bulk", result.description()),
    })
}

/// Sends the rejected items of `first` again until there are none. Returns the last result and the number of
/// repetitions.
async fn send_rejected(
    exchange: &mut Exchange,
    sent: &Sent<'_>,
    first: BulkResult,
) -> Result<(BulkResult, u64), Failure> {
    let (mut result, mut retries) = (first, 0);
    let mut repeated: Option<Vec<u8>> = None;
    while retries < sent.retries_max && !result.rejected_items.is_empty() {
        let body = repeated.as_deref().unwrap_or(sent.body);
        let again = pick_items(body, sent.has_actions, &result.rejected_items);
        let response = exchange.send_body(sent.request, &again, sent.timeout).await?;
        let is_only_rejections = result.errors == result.rejected_items.len() as u64;
        result = BulkResult::read(&response, sent.is_detailed)?;
        // Items that failed for other reasons stay failed, whatever happens to the repeated ones.
        result.errors += u64::from(!is_only_rejections);
        repeated = Some(again);
        retries += 1;
    }
    Ok((result, retries))
}

/// Returns the lines of the items at the indices `items`, which ascend. A `delete` consists of its action
/// line only, a case that Rally does not handle.
fn pick_items(body: &[u8], has_actions: bool, items: &[usize]) -> Vec<u8> {
    let mut lines = body.split_inclusive(|byte| *byte == b'\n');
    let mut wanted = items.iter().copied().peekable();
    let mut picked = Vec::new();
    for item in 0.. {
        let Some(first) = lines.next() else { break };
        let document = if has_actions && !is_delete(first) { lines.next() } else { None };
        if wanted.next_if_eq(&item).is_some() {
            picked.extend_from_slice(first);
            picked.extend_from_slice(document.unwrap_or_default());
        }
    }
    picked
}

fn is_delete(action: &[u8]) -> bool {
    let inside = action.trim_ascii_start().strip_prefix(b"{").unwrap_or_default();
    inside.trim_ascii_start().starts_with(b"\"delete\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejected_items_are_picked_with_their_actions() {
        assert_eq!(pick_items(b"a0\nd0\na1\nd1\na2\nd2\n", true, &[0, 2]), b"a0\nd0\na2\nd2\n");
        assert_eq!(pick_items(b"a0\nd0\n", true, &[5]), b"");
        assert_eq!(pick_items(b"d0\nd1\nd2\n", false, &[1, 2]), b"d1\nd2\n");
        let delete = b"{ \"delete\": {}}\na1\nd1\n";
        assert_eq!(pick_items(delete, true, &[1]), b"a1\nd1\n");
        assert_eq!(pick_items(delete, true, &[0]), b"{ \"delete\": {}}\n");
    }
}
