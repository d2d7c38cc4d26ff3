//! Adds, removes and shows aliases.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use limber_mapping::RequestError;
use limber_search::request::{AliasFilter, within_aliases};
use limber_text::wildcard;
use limber_work as work;
use serde_json::{Map, Value, json};

use super::index_files::check_is_readable;
use super::indices::{check_alias_target, check_aliases};
use crate::api::*;
use crate::catalog::{Alias, AliasAction, Catalog, IndexMetadata, parse_actions};
use crate::node::Node;
use crate::node::stream::stream_aliases::{
    add_to_streams, check_are_free_of_streams, is_backing, remove_from_streams, split_streams,
};

/// The result of looking for aliases.
#[derive(Debug)]
pub struct FoundAliases {
    /// The aliases that exist, as `{"index": {"aliases": {...}}}`.
    pub shown: Map<String, Value>,
    /// Aliases that the request names and that do not exist, in order.
    pub missing: Vec<String>,
}

/// The result of one action of `POST /_aliases`.
#[derive(Debug)]
pub struct AliasResult {
    /// `add`, `remove` or `remove_index`.
    pub kind: &'static str,
    /// The indices and data streams that the action affects.
    pub indices: Vec<String>,
    /// The aliases as the request names them.
    pub aliases: Vec<String>,
    /// Why nothing was done: none of the aliases exists.
    pub error: Option<RequestError>,
}

/// Resolves the date math in names.
fn dated(catalog: &Catalog, names: &[String]) -> Result<Vec<String>> {
    names.iter().map(|name| catalog.resolve_date_math(name).map(Cow::into_owned)).collect()
}

impl Node {
    /// Carries out `POST /_aliases`; `body` is `{"actions": [...]}`. Either all actions are carried out or
    /// none. Removing an alias that does not exist is reported and does not stop the other actions; it is an
    /// error only if no other action is left.
    pub fn update_aliases(&self, body: &Value) -> Result<Vec<AliasResult>> {
        self.apply_alias_actions(parse_actions(body)?)
    }

    /// Carries out `PUT /{index}/_alias/{name}`.
    pub fn put_alias(&self, expression: &str, alias: &str, body: &Value) -> Result<()> {
        let mut given = body.clone();
        // As in Elasticsearch, names in the body replace those missing in the path.
        let mut take = |key: &str| given.as_object_mut().and_then(|object| object.shift_remove(key));
        let from_body = |value: Option<Value>| value.and_then(|value| value.as_str().map(str::to_owned));
        let (index, name) = (from_body(take("index")), from_body(take("alias")));
        let expression =
            if expression.is_empty() { index.unwrap_or_default() } else { expression.to_owned() };
        if given.get("is_hidden").is_some() {
            return Err(RequestError::illegal_argument("Unsupported field [is_hidden]"));
        }
        let alias = if alias.is_empty() { name.unwrap_or_default() } else { alias.to_owned() };
        if expression.is_empty() {
            return Err(RequestError::illegal_argument("[indices] can't be empty"));
        }
        if alias.is_empty() {
            return Err(RequestError::illegal_argument("alias can't be empty string"));
        }
        let add = AliasAction::Add {
            indices: expression.split(',').map(str::to_owned).collect(),
            aliases: vec![alias],
            alias: Alias::parse(&given)?,
        };
        self.apply_alias_actions(vec![add]).map(drop)
    }

    /// Carries out `DELETE /{index}/_alias/{name}`. Fails with `aliases_not_found_exception` (`NotFound`).
    pub fn delete_alias(&self, expression: &str, aliases: &str) -> Result<()> {
        let remove = AliasAction::Remove {
            indices: expression.split(',').map(str::to_owned).collect(),
            aliases: aliases.split(',').map(str::to_owned).collect(),
            must_exist: Some(true),
        };
        self.apply_alias_actions(vec![remove]).map(drop)
    }

    fn apply_alias_actions(&self, actions: Vec<AliasAction>) -> Result<Vec<AliasResult>> {
        self.change_catalog(|catalog| self.plan_alias_actions(catalog, &actions))
    }

    /// Returns the catalog after all actions, and the result of each action.
    fn plan_alias_actions(
        &self,
        before: &Catalog,
        actions: &[AliasAction],
    ) -> Result<(Catalog, Vec<AliasResult>)> {
        let mut results = Vec::with_capacity(actions.len());
        let mut next = before.clone();
        // Indices are removed first, whatever the order: an alias may take the name of an index that the same
        // request removes.
        for action in actions {
            if let AliasAction::RemoveIndex { indices } = action {
                next = self.without_indices(before, next, indices)?;
            }
        }
        for action in actions {
            work::check()?;
            match action {
                AliasAction::Add { indices, aliases, alias } => {
                    results.push(self.add_aliases(before, &mut next, indices, aliases, alias)?);
                }
                AliasAction::Remove { indices, aliases, must_exist } => {
                    let must_exist = *must_exist == Some(true);
                    results.push(self.remove_aliases(before, &mut next, indices, aliases, must_exist)?);
                }
                AliasAction::RemoveIndex { indices } => {
                    results.push(result("remove_index", before, &[], indices, &[], None)?);
                }
            }
        }
        if results.iter().all(|result| result.error.is_some()) {
            let missing: Vec<String> = results.into_iter().flat_map(|result| result.aliases).collect();
            return Err(aliases_missing(&missing));
        }
        let next = next.derive();
        check_aliases(before, &next)?;
        Ok((next, results))
    }

    /// Returns `next` without the indices that an action removes; `before` determines which indices those
    /// are.
    fn without_indices(&self, before: &Catalog, mut next: Catalog, indices: &[String]) -> Result<Catalog> {
        let (streams, _) = split_streams(before, &dated(before, indices)?)?;
        if !streams.is_empty() {
            return Err(RequestError::illegal_argument("Unsupported action [REMOVE_INDEX]"));
        }
        let _acting = limber_access::acting("indices:admin/delete");
        for metadata in before.resolve(&indices.join(","), IndicesOptions::DELETE)? {
            self.check_delete_block(&metadata)?;
            super::indices::check_is_not_written_by_stream(before, &metadata)?;
            next = next.without_index(&metadata.name);
        }
        Ok(next)
    }

    /// Adds aliases to indices and data streams in `next`. Dates in names are resolved by `before`.
    fn add_aliases(
        &self,
        before: &Catalog,
        next: &mut Catalog,
        indices: &[String],
        aliases: &[String],
        alias: &Alias,
    ) -> Result<AliasResult> {
        let indices = dated(before, indices)?;
        let aliases = dated(before, aliases)?;
        for (place, name) in aliases.iter().enumerate() {
            work::check()?;
            before.check_may_touch(name)?;
            if wildcard::is_pattern(name) {
                crate::catalog::names::check_alias_name(name)?;
            }
            check_alias_target(next, name)?;
            // All of them have the same routing and filter, which may be large.
            if place == 0 {
                check_alias(name, alias)?;
            }
        }
        let (streams, indices) = split_streams(next, &indices)?;
        if !streams.is_empty() {
            self.check_metadata_write_block()?;
        }
        add_to_streams(next, &streams, &aliases, alias)?;
        let added = result("add", next, &streams, &indices, &aliases, None)?;
        if indices.is_empty() {
            return Ok(added);
        }
        check_are_free_of_streams(next, &indices, &aliases)?;
        for index in indices.iter().filter_map(|name| next.indices.get(name.as_str())) {
            if index.typed.mode.has_series() {
                super::create_index::check_series_alias(alias)?;
            }
        }
        let bytes = copies_bytes(&aliases, alias);
        self.edit(next, &indices, |index| {
            if let Some(stream) = before.backing.get(&index.name) {
                return Err(is_backing(&indices.join(","), stream));
            }
            // Every index has a copy of each alias, and the state that is written has one more.
            work::claim(bytes)?;
            index.aliases.extend(aliases.iter().map(|name| (name.clone(), alias.clone())));
            Ok(true)
        })?;
        Ok(added)
    }

    /// Removes aliases from indices and data streams in `next`. Dates in names are resolved by `before`.
    fn remove_aliases(
        &self,
        before: &Catalog,
        next: &mut Catalog,
        indices: &[String],
        aliases: &[String],
        must_exist: bool,
    ) -> Result<AliasResult> {
        let indices = dated(before, indices)?;
        let aliases = dated(before, aliases)?;
        for name in aliases.iter().filter(|name| !wildcard::is_pattern(name) && *name != "_all") {
            before.check_may_touch(name)?;
        }
        let (streams, indices) = split_streams(next, &indices)?;
        if !streams.is_empty() {
            self.check_metadata_write_block()?;
        }
        let mut removed = remove_from_streams(next, &streams, &aliases)?;
        if !indices.is_empty() {
            let before_may_touch = |name: &str| before.may_be_touched(name);
            let wanted = Wanted::of(&aliases);
            removed |= self.edit(next, &indices, |index| {
                let gone = wanted.among(index.aliases.keys().filter(|name| before_may_touch(name)))?;
                gone.iter().for_each(|name| drop(index.aliases.remove(name)));
                Ok(!gone.is_empty())
            })?;
        }
        let error = (!removed).then(|| aliases_missing(&aliases));
        if let (Some(error), true) = (&error, must_exist) {
            return Err(error.clone());
        }
        result("remove", next, &streams, &indices, &aliases, error)
    }

    /// Changes the indices of an expression in `catalog`. Returns whether `change` changed any of them.
    fn edit(
        &self,
        catalog: &mut Catalog,
        indices: &[String],
        mut change: impl FnMut(&mut IndexMetadata) -> Result<bool>,
    ) -> Result<bool> {
        let mut any = false;
        let found = catalog.resolve(&indices.join(","), INDICES)?;
        for metadata in &found {
            crate::node::kept_state::security::check_sees_all(&metadata.name, SEES_ALL)?;
            self.check_metadata_block(metadata)?;
            check_is_readable(metadata)?;
        }
        let names: Vec<Arc<str>> = found.iter().map(|metadata| metadata.name.clone()).collect();
        // Dropping the references lets metadata that an earlier action has copied be changed in place.
        drop(found);
        for name in names {
            let Some(metadata) = catalog.indices.get_mut(&name) else { continue };
            if let Some(own) = Arc::get_mut(metadata) {
                any |= change(own)?;
                continue;
            }
            let mut edited = (**metadata).clone();
            if change(&mut edited)? {
                any = true;
                *metadata = Arc::new(edited);
            }
        }
        Ok(any)
    }

    /// Carries out `GET /{index}/_alias/{name}`.
    pub fn get_alias(
        &self,
        expression: &str,
        aliases: &str,
        options: IndicesOptions,
    ) -> Result<FoundAliases> {
        let catalog = self.catalog.load();
        let found = catalog.resolve(expression, options)?;
        let shows = |index: &&Arc<IndexMetadata>| !index.aliases.is_empty();
        found.iter().filter(shows).try_for_each(|index| self.check_metadata_read_block(index))?;
        let wants_all = aliases.is_empty() || aliases == "_all" || aliases == "*";
        let selected = catalog.matching_aliases(aliases)?;
        let mut body = Map::new();
        let mut shown: BTreeSet<&str> = BTreeSet::new();
        for index in &found {
            let of_index: Map<String, Value> = index
                .aliases
                .iter()
                .filter(|(name, _)| selected.contains(name.as_str()))
                .map(|(name, alias)| (name.clone(), alias.to_json()))
                .collect();
            shown.extend(
                index.aliases.keys().filter(|name| selected.contains(name.as_str())).map(String::as_str),
            );
            if !of_index.is_empty() || (wants_all && aliases.is_empty()) {
                body.insert(index.name.to_string(), json!({"aliases": of_index}));
            }
        }
        let lenient = IndicesOptions { ignore_unavailable: true, ..options };
        let streams = catalog.resolve_data_streams(expression, lenient)?;
        for stream in &streams {
            let of_stream = stream.aliases.iter().filter(|(name, _)| selected.contains(name.as_str()));
            let of_stream: Map<String, Value> =
                of_stream.map(|(name, alias)| (name.clone(), alias.to_json())).collect();
            shown.extend(stream.aliases.keys().map(String::as_str).filter(|name| selected.contains(*name)));
            if !of_stream.is_empty() {
                body.insert(stream.name.to_string(), json!({"aliases": of_stream}));
            }
        }
        let mut missing: Vec<String> = aliases
            .split(',')
            .map(str::trim)
            .filter(|name| {
                !wants_all && !wildcard::is_pattern(name) && !name.is_empty() && !name.starts_with('-')
            })
            .filter(|name| !shown.contains(name))
            .map(str::to_owned)
            .collect();
        missing.sort_unstable();
        Ok(FoundAliases { shown: body, missing })
    }
}

/// Copies of an alias that exist at the same time: in the catalog, in the state, as JSON and as text.
const COPIES_OF_AN_ALIAS: u64 = 4;

/// Returns the bytes that aliases take for one index or data stream, in all of their copies.
pub(in crate::node) fn copies_bytes(names: &[String], alias: &Alias) -> u64 {
    let names_bytes: usize = names.iter().map(String::len).sum();
    COPIES_OF_AN_ALIAS * (names_bytes as u64 + names.len() as u64 * alias.bytes())
}

/// The names and patterns of aliases that an action removes.
pub(in crate::node) struct Wanted<'a> {
    names: HashSet<&'a str>,
    patterns: Vec<&'a str>,
}

impl<'a> Wanted<'a> {
    /// Separates names from patterns.
    pub fn of(aliases: &'a [String]) -> Wanted<'a> {
        let is_pattern = |alias: &&str| wildcard::is_pattern(alias) || *alias == "_all";
        let (patterns, names): (Vec<&str>, Vec<&str>) =
            aliases.iter().map(String::as_str).partition(is_pattern);
        Wanted { names: names.into_iter().collect(), patterns }
    }

    /// Returns which of these aliases are meant.
    pub fn among<'n>(&self, aliases: impl Iterator<Item = &'n String>) -> Result<Vec<String>> {
        let mut found = Vec::new();
        for name in aliases {
            work::check()?;
            if self.names.contains(name.as_str())
                || self.patterns.iter().any(|pattern| matches_name(pattern, name))
            {
                found.push(name.clone());
            }
        }
        Ok(found)
    }
}

/// Checks what an alias defines: at most one routing value for writes, and a filter that is a query.
///
/// Source: `AliasValidator`.
pub(in crate::node) fn check_alias(name: &str, alias: &Alias) -> Result<()> {
    if alias.index_routing.as_ref().is_some_and(|routing| routing.contains(',')) {
        return Err(RequestError::illegal_argument(format!(
            "alias [{name}] has several index routing values associated with it"
        )));
    }
    let Some(filter) = alias.filter.clone() else { return Ok(()) };
    let filter = AliasFilter { filter, indices: BTreeSet::new() };
    within_aliases(None, &[filter]).map(drop).map_err(|cause| {
        let reason = format!("failed to parse filter for alias [{name}]");
        RequestError::illegal_argument(reason).caused_by(cause)
    })
}

/// Source: `IndicesAliasesRequestInterceptor`.
const SEES_ALL: &str = "Alias requests are not allowed for users who have field or document level security enabled on one of the indices";

pub(in crate::node) fn matches_name(pattern: &str, name: &str) -> bool {
    pattern == "_all" || wildcard::matches(pattern, name)
}

/// Which indices an action can match.
const INDICES: IndicesOptions = IndicesOptions {
    resolve_aliases: false,
    data_streams: false,
    expand_closed: true,
    allow_no_indices: false,
    ..IndicesOptions::METADATA
};

fn result(
    kind: &'static str,
    catalog: &Catalog,
    streams: &[Arc<str>],
    indices: &[String],
    aliases: &[String],
    error: Option<RequestError>,
) -> Result<AliasResult> {
    let mut names: Vec<String> = streams.iter().map(|stream| stream.to_string()).collect();
    if !indices.is_empty() {
        let found = catalog.resolve(&indices.join(","), INDICES)?;
        names.extend(found.iter().map(|index| index.name.to_string()));
    }
    Ok(AliasResult { kind, indices: names, aliases: aliases.to_vec(), error })
}

fn aliases_missing(aliases: &[String]) -> RequestError {
    let id = match aliases {
        [one] => json!(one),
        several => json!(several),
    };
    let reason = format!("aliases [{}] missing", aliases.join(", "));
    RequestError::not_found("aliases_not_found_exception", reason)
        .with("resource.type", "aliases")
        .with("resource.id", id)
}
