//! `match_all` and `match_none`.

use limber_mapping::RequestError;
use serde_json::{Map, Value};

use super::bind::Binder;
use super::bound::{BoundQuery, Node};
use super::parse::{Common, Parser, Query, QueryNode};
use crate::error::Error;

#[derive(Debug)]
pub(super) struct MatchAll;

#[derive(Debug)]
pub(super) struct MatchNone;

pub(super) fn parse(members: &Map<String, Value>, _: &mut Parser<'_>) -> Result<Query, RequestError> {
    Ok(common("match_all", members)?.query(MatchAll))
}

pub(super) fn parse_none(members: &Map<String, Value>, _: &mut Parser<'_>) -> Result<Query, RequestError> {
    Ok(common("match_none", members)?.query(MatchNone))
}

fn common(query: &str, members: &Map<String, Value>) -> Result<Common, RequestError> {
    let mut common = Common::default();
    for (key, value) in members {
        let taken = common.take(key, value).map_err(|cause| {
            RequestError::parsing(format!("[{query}] failed to parse field [{key}]")).caused_by(cause)
        })?;
        if !taken {
            return Err(RequestError::parsing(format!("[{query}] unknown field [{key}]")));
        }
    }
    Ok(common)
}

impl QueryNode for MatchAll {
    fn bind(&self, boost: f32, _: &Binder<'_>) -> Result<BoundQuery, Error> {
        Ok(Node::Everything { boost }.into())
    }

    fn is_match_all(&self) -> bool {
        true
    }
}

impl QueryNode for MatchNone {
    fn bind(&self, _: f32, _: &Binder<'_>) -> Result<BoundQuery, Error> {
        Ok(BoundQuery::nothing("User requested \"match_none\" query."))
    }
}
