//! The processors, one file each: "how does this step change the search, or the hits of its response?"

mod collapse;
mod filter_query;
mod oversample;
mod rename_field;
mod routing_search;
mod script;
mod sort;
mod split;
mod table;
mod truncate_hits;

pub(super) use table::{ChangesRequest, ChangesResponse, Parse, REQUEST, RESPONSE, UNSUPPORTED};
