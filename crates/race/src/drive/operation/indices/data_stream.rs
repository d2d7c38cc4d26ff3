//! `create-data-stream`, `delete-data-stream`: the track's data streams, or those that the operation names
//! (`runner.py`, `CreateDataStream`, `DeleteDataStream`).

use super::delete_index::{Deletion, Deletions};
use crate::drive::operation::contract::{Operation, Plan};
use crate::drive::operation::flow::retry::retried;
use crate::drive::operation::requests::Requests;
use crate::error::Error;
use crate::http::{Method, in_path};

pub(in crate::drive::operation) fn plan_create(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    let named = plan.names("data-stream")?;
    let of_track = &plan.track.data_streams;
    let streams: Vec<String> = match (of_track.is_empty(), named) {
        (true, Some(names)) => names,
        (true, None) => {
            return Err(Error::parameter(
                "Please set the property 'data-stream' for the create-data-stream operation",
            ));
        }
        (false, None) => of_track.clone(),
        (false, Some(names)) => of_track.iter().filter(|stream| names.contains(stream)).cloned().collect(),
    };
    let request = |stream: &String| {
        let builder = plan.request(Method::Put, &format!("/_data_stream/{}", in_path(stream)))?;
        Ok(plan.with_request_params(builder)?.build())
    };
    let requests = streams.iter().map(request).collect::<Result<Vec<_>, Error>>()?;
    retried(plan, Requests::each(plan, requests)?)
}

pub(in crate::drive::operation) fn plan_delete(plan: &Plan<'_>) -> Result<Box<dyn Operation>, Error> {
    let streams = plan.names("data-stream")?.unwrap_or_else(|| plan.track.data_streams.clone());
    if streams.is_empty() {
        return Err(Error::parameter("delete-data-stream operation targets no data stream"));
    }
    let only_if_exists = plan.flag("only-if-exists")?.unwrap_or(true);
    let deletion = |stream: &String| {
        let stream = in_path(stream);
        Deletion::plan_apart(plan, &format!("/{stream}"), &format!("/_data_stream/{stream}"), only_if_exists)
    };
    let deletions = streams.iter().map(deletion).collect::<Result<_, _>>()?;
    retried(plan, Deletions { deletions, timeout: plan.timeout()? })
}
