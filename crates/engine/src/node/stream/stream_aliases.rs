//! Aliases of data streams: which data streams an action matches, and which aliases they may have.
//!
//! Source: Elasticsearch's `TransportIndicesAliasesAction`, `DataStreamAlias`.

use std::sync::Arc;

use limber_mapping::RequestError;
use limber_text::wildcard;
use limber_work as work;

use super::data_streams::check_stream_alias;
use crate::api::*;
use crate::catalog::{Alias, Catalog, DataStream};
use crate::node::index::aliases::{Wanted, copies_bytes, matches_name};

/// Splits the names and patterns of an action into the data streams they match and the names that match
/// indices.
///
/// # Errors
/// Fails for a backing index of a data stream, which cannot have its own aliases.
pub(in crate::node) fn split_streams(
    catalog: &Catalog,
    names: &[String],
) -> Result<(Vec<Arc<str>>, Vec<String>)> {
    let (mut streams, mut indices) = (Vec::new(), Vec::new());
    for name in names.iter().map(|name| name.trim()) {
        work::check()?;
        if let Some((stream, _)) = catalog.data_streams.get_key_value(name) {
            catalog.check_may_touch(name)?;
            streams.push(stream.clone());
            continue;
        }
        if let Some(stream) = catalog.backing.get(name) {
            return Err(is_backing(name, stream));
        }
        let is_pattern = wildcard::is_pattern(name) || name == "_all";
        let matching = |stream: &&Arc<DataStream>| {
            is_pattern
                && !stream.hidden
                && matches_name(name, &stream.name)
                && catalog.may_be_touched(&stream.name)
        };
        let before = streams.len();
        streams.extend(catalog.data_streams.values().filter(matching).map(|stream| stream.name.clone()));
        let is_of_index =
            catalog.indices.values().any(|index| !index.hidden() && wildcard::matches(name, &index.name));
        if streams.len() == before || is_of_index {
            indices.push(name.to_owned());
        }
    }
    // Many patterns can match the same ones.
    streams.sort();
    streams.dedup();
    Ok((streams, indices))
}

/// Returns the error about an alias action whose expressions match an index of a data stream.
pub(in crate::node) fn is_backing(expressions: &str, stream: &str) -> RequestError {
    RequestError::illegal_argument(format!(
        "The provided expressions [{expressions}] match a backing index belonging to data stream [{stream}]. Data stream backing \
         indices don't support aliases."
    ))
}

/// Adds aliases to data streams. If several data streams have an alias, the last one that is marked as write
/// stream becomes it.
pub(in crate::node) fn add_to_streams(
    catalog: &mut Catalog,
    streams: &[Arc<str>],
    aliases: &[String],
    alias: &Alias,
) -> Result<()> {
    if streams.is_empty() {
        return Ok(());
    }
    if alias.index_routing.is_some() || alias.search_routing.is_some() {
        return Err(RequestError::illegal_argument(
            "aliases that point to data streams don't support routing",
        ));
    }
    if alias.is_hidden.is_some() {
        return Err(RequestError::illegal_argument(
            "aliases that point to data streams don't support is_hidden",
        ));
    }
    for name in aliases {
        work::check()?;
        check_stream_alias(catalog, name)?;
    }
    let bytes = copies_bytes(aliases, alias);
    edit_all(catalog, |stream| {
        if alias.is_write_index == Some(true) {
            for name in aliases {
                if let Some(other) = stream.aliases.get_mut(name) {
                    other.is_write_index = None;
                }
            }
        }
        if streams.contains(&stream.name) {
            // Every data stream has a copy of each alias.
            work::claim(bytes)?;
            stream.aliases.extend(aliases.iter().map(|name| (name.clone(), alias.clone())));
        }
        Ok(())
    })
}

/// Removes the aliases that match the names and patterns, of those that the request may use. Returns whether
/// there were any.
pub(in crate::node) fn remove_from_streams(
    catalog: &mut Catalog,
    streams: &[Arc<str>],
    aliases: &[String],
) -> Result<bool> {
    let (mut removed, wanted) = (false, Wanted::of(aliases));
    let access = limber_access::current();
    let may_touch = |alias: &str| access.as_ref().is_none_or(|access| access.allows(alias));
    edit_all(catalog, |stream| {
        if streams.contains(&stream.name) {
            let gone = wanted.among(stream.aliases.keys().filter(|alias| may_touch(alias)))?;
            gone.iter().for_each(|name| drop(stream.aliases.remove(name)));
            removed |= !gone.is_empty();
        }
        Ok(())
    })?;
    Ok(removed)
}

fn edit_all(catalog: &mut Catalog, mut change: impl FnMut(&mut DataStream) -> Result<()>) -> Result<()> {
    for stream in catalog.data_streams.values_mut() {
        let mut edited = (**stream).clone();
        change(&mut edited)?;
        if edited != **stream {
            *stream = Arc::new(edited);
        }
    }
    Ok(())
}

/// Checks that an alias belongs to indices or to data streams, but not to both.
pub(in crate::node) fn check_are_free_of_streams(
    catalog: &Catalog,
    indices: &[String],
    aliases: &[String],
) -> Result<()> {
    match aliases.iter().find(|alias| catalog.streams_with_alias(alias).next().is_some()) {
        None => Ok(()),
        Some(alias) => Err(RequestError::illegal_argument(format!(
            "expressions {indices:?} that match with indices cannot be added to the alias [{alias}] of data streams"
        ))),
    }
}
