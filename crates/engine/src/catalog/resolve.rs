//! Resolves expressions such as `logs-*,-logs-old,alias,_all` to indices.
//!
//! Source: `IndexNameExpressionResolver`.

use std::collections::BTreeSet;
use std::sync::Arc;

use limber_access::Access;
use limber_mapping::RequestError;
use limber_text::wildcard;
use limber_work as work;

use super::names::{check_part_count, index_closed, index_not_found, not_a_data_stream};
use super::{Catalog, DataStream, IndexMetadata};
use crate::api::{IndicesOptions, Result};

/// The target of a write to a name.
#[derive(Debug)]
pub(crate) enum WriteTarget {
    Index {
        index: Arc<IndexMetadata>,
        /// `index_routing` of the alias.
        alias_routing: Option<String>,
        /// The data stream that the name or alias stands for.
        stream: Option<Arc<DataStream>>,
    },
    /// There is no such index, alias or data stream.
    Missing,
}

impl Catalog {
    /// Returns the indices that an expression matches, in name order.
    pub(crate) fn resolve(
        &self,
        expression: &str,
        options: IndicesOptions,
    ) -> Result<Vec<Arc<IndexMetadata>>> {
        let names = self.resolve_names(expression, options)?;
        let mut found: Vec<Arc<IndexMetadata>> =
            names.iter().filter_map(|name| self.indices.get(name).cloned()).collect();
        if options.forbid_closed_indices {
            // A wildcard that expands to closed indices can find some.
            match found.iter().find(|index| !index.open) {
                Some(closed) if !options.ignore_unavailable => {
                    return Err(index_closed(&closed.name, &closed.uuid));
                }
                _ => found.retain(|index| index.open),
            }
        }
        Ok(found)
    }

    fn resolve_names(&self, expression: &str, options: IndicesOptions) -> Result<BTreeSet<Arc<str>>> {
        let trimmed = expression.trim();
        // Only the empty expression means all indices. A name of blanks is a name that no index has.
        if trimmed.is_empty() && !expression.is_empty() {
            return Err(index_not_found(expression));
        }
        let dated = self.dated_list(trimmed)?;
        let expression = &*dated;
        let mut selected = BTreeSet::new();
        // Where nothing is expanded, a pattern is a name, which no index can have.
        let expands = options.expand_open || options.expand_closed;
        let is_all = expression.is_empty() || expression == "_all" || expression == "*" && expands;
        if is_all {
            self.add_matching("*", options, &mut selected);
            if selected.is_empty() && !options.allow_no_indices {
                return Err(index_not_found(if expression.is_empty() { "_all" } else { expression }));
            }
            return Ok(selected);
        }
        self.check_named(expression, options)?;
        let mut wildcard_seen = false;
        for part in expression.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            // Each pattern is compared with every index, data stream and alias.
            work::check_beyond_deadline()?;
            if let Some(excluded) = part.strip_prefix('-').filter(|_| wildcard_seen) {
                let excluded_by_alias = self.aliases.get(excluded);
                selected.retain(|name| {
                    !wildcard::matches(excluded, name)
                        && !excluded_by_alias.is_some_and(|indices| indices.contains(name))
                        && !self.backing.get(name).is_some_and(|stream| wildcard::matches(excluded, stream))
                });
                continue;
            }
            if wildcard::is_pattern(part) || part == "_all" {
                // `_all` only stands for all indices if it is the whole expression.
                if part.starts_with('_') && expression.trim() != "_all" {
                    return Err(with_underscore(part));
                }
                wildcard_seen = true;
                if !expands && part != "_all" {
                    if options.ignore_unavailable {
                        continue;
                    }
                    return Err(index_not_found(part));
                }
                let before = selected.len();
                self.add_matching(if part == "_all" { "*" } else { part }, options, &mut selected);
                if selected.len() == before && !options.allow_no_indices && !self.matches_any(part, options) {
                    return Err(index_not_found(part));
                }
                continue;
            }
            self.add_concrete(part, options, &mut selected)?;
        }
        if selected.is_empty() && !options.allow_no_indices {
            return Err(index_not_found(expression));
        }
        Ok(selected)
    }

    /// Refuses names that the request is not authorized for, whether such indices exist or not.
    fn check_named(&self, expression: &str, options: IndicesOptions) -> Result<()> {
        let Some(access) = limber_access::current().filter(|_| !options.ignore_unavailable) else {
            return Ok(());
        };
        let mut wildcard_seen = false;
        let mut denied = Vec::new();
        for part in expression.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let is_exclusion = part.starts_with('-') && wildcard_seen;
            let is_wildcard = wildcard::is_pattern(part) || part == "_all";
            wildcard_seen |= is_wildcard;
            if !is_exclusion && !is_wildcard && !self.may_touch(&access, part) {
                denied.push(part);
            }
        }
        if denied.is_empty() { Ok(()) } else { Err(access.denied(&denied)) }
    }

    /// Whether a request is authorized for an index, alias or data stream. Rights to a data stream are rights
    /// to its backing indices.
    fn may_touch(&self, access: &Access, name: &str) -> bool {
        access.allows(name) || self.backing.get(name).is_some_and(|stream| access.allows(stream))
    }

    /// Whether an expression of this request may contain a name, or match it with a pattern. Remembers what
    /// [`Catalog::may_be_touched`] remembers.
    ///
    /// A request may open an index that it reaches through an alias. It may not name that index: otherwise it
    /// could delete the index, or search it without the filter of the alias.
    pub(crate) fn may_be_named(&self, name: &str) -> bool {
        limber_access::current()
            .is_none_or(|access| self.may_touch(&access, name) && self.note_touched(&access, name))
    }

    /// Refuses a name that an expression of this request may not contain ([`Catalog::may_be_named`]).
    pub(crate) fn check_may_name(&self, name: &str) -> Result<()> {
        match limber_access::current() {
            Some(access) if !self.may_touch(&access, name) => Err(access.denied(&[name])),
            _ => Ok(()),
        }
    }

    /// Whether the request of this thread is authorized for a name. Remembers which indices an alias or data
    /// stream leads to, so that the request may open those too.
    pub(crate) fn may_be_touched(&self, name: &str) -> bool {
        limber_access::current().is_none_or(|access| self.note_touched(&access, name))
    }

    fn note_touched(&self, access: &Access, name: &str) -> bool {
        let stream = self.backing.get(name);
        if let Some(stream) = stream.filter(|stream| access.allows(stream)) {
            access.note_reached(name, stream);
            return true;
        }
        if !access.allows(name) {
            return access.has_reached(name);
        }
        if let Some(stream) = self.data_streams.get(name) {
            stream.indices.iter().for_each(|index| access.note_reached(index, name));
        } else if !self.indices.contains_key(name) {
            let indices = self.aliases.get(name).into_iter().flatten();
            indices.for_each(|index| access.note_reached(index, name));
        }
        true
    }

    /// Refuses a name that the request is not authorized for.
    pub(crate) fn check_may_touch(&self, name: &str) -> Result<()> {
        match limber_access::current() {
            Some(access) if !self.note_touched(&access, name) => Err(access.denied(&[name])),
            _ => Ok(()),
        }
    }

    fn add_concrete(
        &self,
        name: &str,
        options: IndicesOptions,
        selected: &mut BTreeSet<Arc<str>>,
    ) -> Result<()> {
        if !self.may_be_named(name) {
            // Names in the expression were checked before. `ignore_unavailable` skips this one.
            return Ok(());
        }
        if name.starts_with('_') {
            return Err(with_underscore(name));
        }
        if let Some(index) = self.indices.get(name) {
            return self.add_open(index, options, selected, false);
        }
        if let Some(stream) = self.data_streams.get(name).filter(|_| options.data_streams) {
            let mut backing = stream.indices.iter().filter_map(|index| self.indices.get(index));
            return backing.try_for_each(|index| self.add_open(index, options, selected, true));
        }
        if !options.data_streams && !options.ignore_unavailable && self.means_data_stream(name) {
            return Err(not_a_data_stream(name));
        }
        match self.aliases.get(name) {
            Some(_) if !options.data_streams && self.means_data_stream(name) => Ok(()),
            Some(_) if !options.resolve_aliases && options.ignore_unavailable => Ok(()),
            Some(_) if !options.resolve_aliases => Err(RequestError::illegal_argument(format!(
                "The provided expression [{name}] matches an alias, specify the corresponding concrete indices instead."
            ))),
            Some(indices) => {
                let many = indices.len() > 1;
                for index in indices.iter().filter_map(|index| self.indices.get(index)) {
                    self.add_open(index, options, selected, many)?;
                }
                Ok(())
            }
            None if options.ignore_unavailable => Ok(()),
            None => Err(index_not_found(name)),
        }
    }

    fn add_open(
        &self,
        index: &Arc<IndexMetadata>,
        options: IndicesOptions,
        selected: &mut BTreeSet<Arc<str>>,
        one_of_many: bool,
    ) -> Result<()> {
        if !index.open && options.forbid_closed_indices {
            if one_of_many || options.ignore_unavailable {
                return Ok(());
            }
            return Err(index_closed(&index.name, &index.uuid));
        }
        // `ignore_unavailable` also skips closed indices that the request does not expand to.
        if !index.open && options.ignore_unavailable && !options.expand_closed {
            return Ok(());
        }
        selected.insert(index.name.clone());
        Ok(())
    }

    fn add_matching(&self, pattern: &str, options: IndicesOptions, selected: &mut BTreeSet<Arc<str>>) {
        for index in self.indices.values() {
            if wildcard::matches(pattern, &index.name)
                && self.is_expanded(index, options)
                && is_shown(index.hidden(), &index.name, pattern, options)
                && self.may_be_named(&index.name)
            {
                selected.insert(index.name.clone());
            }
        }
        for stream in self.data_streams.values().filter(|_| options.data_streams) {
            if wildcard::matches(pattern, &stream.name)
                && is_shown(stream.hidden, &stream.name, pattern, options)
                && self.may_be_named(&stream.name)
            {
                let backing = stream.indices.iter().filter_map(|name| self.indices.get(name));
                let reached = backing.filter(|index| self.is_expanded(index, options));
                selected.extend(reached.map(|index| index.name.clone()));
            }
        }
        if !options.resolve_aliases {
            return;
        }
        for (alias, indices) in &self.aliases {
            if wildcard::matches(pattern, alias)
                && is_shown(self.alias_is_hidden(alias), alias, pattern, options)
                && self.may_be_named(alias)
            {
                let of_alias = indices.iter().filter_map(|name| self.indices.get(name));
                // `*` reaches hidden indices only by their own names, not by their aliases.
                let is_of_streams = self.means_data_stream(alias);
                let reached = of_alias.filter(|index| {
                    self.is_expanded(index, options)
                        && match is_of_streams {
                            true => options.data_streams,
                            false => pattern != "*" || !index.hidden() || options.expand_hidden,
                        }
                });
                selected.extend(reached.map(|index| index.name.clone()));
            }
        }
    }

    /// Whether a name is that of a data stream, or of an alias of data streams.
    pub(crate) fn means_data_stream(&self, name: &str) -> bool {
        self.data_streams.contains_key(name) || self.streams_with_alias(name).next().is_some()
    }

    fn matches_any(&self, pattern: &str, options: IndicesOptions) -> bool {
        let mut found = BTreeSet::new();
        self.add_matching(pattern, options, &mut found);
        !found.is_empty()
    }

    fn is_expanded(&self, index: &IndexMetadata, options: IndicesOptions) -> bool {
        if index.open { options.expand_open } else { options.expand_closed }
    }

    /// Returns the aliases that match a comma-separated list of names and patterns (`-x` excludes).
    ///
    /// # Errors
    /// Fails when the list is too long, or when the request must end.
    pub(crate) fn matching_aliases(&self, expression: &str) -> Result<BTreeSet<Arc<str>>> {
        check_part_count(expression)?;
        let mut selected = BTreeSet::new();
        for part in expression.split(',').map(str::trim) {
            work::check_beyond_deadline()?;
            match part.strip_prefix('-') {
                Some(excluded) => selected.retain(|alias: &Arc<str>| !wildcard::matches(excluded, alias)),
                None => {
                    let pattern = if part == "_all" || part.is_empty() { "*" } else { part };
                    let matching = self.aliases.keys().filter(|alias| wildcard::matches(pattern, alias));
                    selected.extend(matching.filter(|alias| self.may_be_touched(alias)).cloned());
                }
            }
        }
        Ok(selected)
    }

    /// Returns the one index that a single-document read addresses, and the routing of documents that the
    /// alias, if `name` is one, gives.
    pub(crate) fn single(&self, name: &str) -> Result<(Arc<IndexMetadata>, Option<String>)> {
        let name = &*self.resolve_date_math(name)?;
        self.check_may_touch(name)?;
        if let Some(index) = self.indices.get(name) {
            return Ok((open(index)?, None));
        }
        if self.means_data_stream(name) {
            return Err(not_a_data_stream(name));
        }
        if name == "_all" {
            return match self.resolve(name, IndicesOptions::SEARCH)?.as_slice() {
                [] => Err(index_not_found(name)),
                [one] => Ok((open(one)?, None)),
                _ => Err(RequestError::illegal_argument(
                    "unable to return a single index as the index and options provided got resolved to \
                     multiple indices",
                )),
            };
        }
        match self.aliases.get(name).map(Vec::as_slice) {
            None | Some([]) => Err(index_not_found(name)),
            Some([one]) => {
                let index = self.indices.get(one).ok_or_else(|| index_not_found(name))?;
                let routing = index.aliases.get(name).and_then(|alias| alias.index_routing.clone());
                Ok((open(index)?, routing))
            }
            Some(many) => Err(RequestError::illegal_argument(format!(
                "alias [{name}] has more than one index associated with it [{}], can't execute a single index op",
                many.join(", ")
            ))),
        }
    }

    /// Returns where a write to `name` goes.
    pub(crate) fn write_target(&self, name: &str, require_alias: bool) -> Result<WriteTarget> {
        let name = &*self.resolve_date_math(name)?;
        self.check_may_touch(name)?;
        if let Some(index) = self.indices.get(name) {
            if require_alias {
                return Err(not_an_alias(name));
            }
            return Ok(WriteTarget::Index { index: open(index)?, alias_routing: None, stream: None });
        }
        if let Some(stream) = self.stream_written_by(name, require_alias)? {
            let index = self.indices.get(stream.write_index()).ok_or_else(|| index_not_found(name))?;
            let stream = Some(stream.clone());
            return Ok(WriteTarget::Index { index: open(index)?, alias_routing: None, stream });
        }
        let Some(indices) = self.aliases.get(name) else {
            return if require_alias { Err(not_an_alias(name)) } else { Ok(WriteTarget::Missing) };
        };
        let says = |index: &Arc<str>| {
            self.indices.get(index).and_then(|index| index.aliases.get(name)?.is_write_index)
        };
        let chosen = match indices.iter().find(|index| says(index) == Some(true)) {
            Some(index) => Some(index),
            None if indices.len() == 1 && says(&indices[0]) != Some(false) => Some(&indices[0]),
            None => None,
        };
        let index = chosen.and_then(|index| self.indices.get(index)).ok_or_else(|| no_write_index(name))?;
        let alias_routing = index.aliases.get(name).and_then(|alias| alias.index_routing.clone());
        Ok(WriteTarget::Index { index: open(index)?, alias_routing, stream: None })
    }

    /// Returns the indices that writes to a comma-separated list of names go to.
    pub(crate) fn write_indices(&self, names: &str) -> Result<Vec<Arc<IndexMetadata>>> {
        let written = names.split(',').map(str::trim).map(|name| match self.write_target(name, false)? {
            WriteTarget::Index { index, .. } => Ok(index),
            WriteTarget::Missing => Err(index_not_found(name)),
        });
        written.collect()
    }

    /// Returns the data stream that a write goes to, given the name of a stream or of an alias of streams.
    fn stream_written_by(&self, name: &str, require_alias: bool) -> Result<Option<&Arc<DataStream>>> {
        match self.data_streams.get(name) {
            Some(_) if require_alias => return Err(not_an_alias(name)),
            Some(stream) => return Ok(Some(stream)),
            None => {}
        }
        let streams: Vec<&Arc<DataStream>> = self.streams_with_alias(name).collect();
        let says = |stream: &DataStream| stream.aliases.get(name).and_then(|alias| alias.is_write_index);
        let chosen = streams.iter().copied().find(|stream| says(stream) == Some(true));
        match (chosen, streams.as_slice()) {
            (Some(stream), _) => Ok(Some(stream)),
            (None, []) => Ok(None),
            (None, _) => Err(no_write_index(name)),
        }
    }
}

fn with_underscore(name: &str) -> RequestError {
    RequestError::bad_request(
        "invalid_index_name_exception",
        format!("Invalid index name [{name}], must not start with '_'."),
    )
    .with("index_uuid", "_na_")
    .with("index", name)
}

fn no_write_index(alias: &str) -> RequestError {
    RequestError::illegal_argument(format!(
        "no write index is defined for alias [{alias}]. The write index may be explicitly disabled using is_write_index=false or the \
         alias points to multiple indices without one being designated as a write index"
    ))
}

fn not_an_alias(name: &str) -> RequestError {
    let reason = format!(
        "no such index [{name}] and [require_alias] request flag is [true] and [{name}] is not an alias"
    );
    RequestError::not_found("index_not_found_exception", reason)
        .with("index_uuid", "_na_")
        .with("index", name)
}

fn open(index: &Arc<IndexMetadata>) -> Result<Arc<IndexMetadata>> {
    if index.open { Ok(index.clone()) } else { Err(index_closed(&index.name, &index.uuid)) }
}

/// Whether a wildcard shows a name: a hidden one only on request, or when pattern and name both start with a
/// dot.
fn is_shown(hidden: bool, name: &str, pattern: &str, options: IndicesOptions) -> bool {
    !hidden || options.expand_hidden || (pattern.starts_with('.') && name.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Alias;
    use crate::lifecycle::LifecycleState;
    use crate::settings::IndexSettings;
    use serde_json::{Map, Value};

    fn catalog() -> Catalog {
        let mut catalog = Catalog::default();
        let mut add = |name: &str, open: bool, hidden: bool, aliases: &[(&str, Option<bool>)]| {
            let mut settings = Map::new();
            settings.insert("index.hidden".into(), Value::from(hidden.to_string()));
            let typed = Arc::new(IndexSettings::from_flat(&settings).expect("valid"));
            let aliases = aliases
                .iter()
                .map(|(alias, write)| {
                    (alias.to_string(), Alias { is_write_index: *write, ..Alias::default() })
                })
                .collect();
            let index = IndexMetadata {
                name: name.into(),
                uuid: "u".into(),
                creation_date_ms: 0,
                version_created: String::new(),
                settings,
                typed,
                mappings: Arc::new(Value::Null),
                aliases,
                open,
                rollover_info: Map::new(),
                lifecycle: LifecycleState::default(),
                version: 1,
                is_unfinished: false,
                damage: None,
            };
            catalog.indices.insert(index.name.clone(), Arc::new(index));
        };
        add("logs-1", true, false, &[("logs", None), ("w", Some(true))]);
        add("logs-2", true, false, &[("logs", None), ("w", None)]);
        add("closed", false, false, &[]);
        add("hid", true, true, &[]);
        add(".dot", true, true, &[]);
        add("one", true, false, &[("single", None)]);
        catalog.derive()
    }

    #[test]
    fn expressions() {
        let catalog = catalog();
        let check = |expression: &str, options: IndicesOptions, expected: std::result::Result<&str, &str>| {
            let found = catalog.resolve(expression, options);
            let names = |found: Vec<Arc<IndexMetadata>>| {
                found.iter().map(|index| index.name.to_string()).collect::<Vec<_>>().join(",")
            };
            match (found.map(names), expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{expression}"),
                (Err(error), Err(expected)) => assert_eq!(error.reason, expected, "{expression}"),
                (found, expected) => panic!("{expression}: {found:?} instead of {expected:?}"),
            }
        };
        let search = IndicesOptions::SEARCH;
        check("", search, Ok("logs-1,logs-2,one"));
        check("_all", search, Ok("logs-1,logs-2,one"));
        check("*", search, Ok("logs-1,logs-2,one"));
        check("*,-logs-*", search, Ok("one"));
        check("logs*,-logs-2", search, Ok("logs-1"));
        check(
            "-logs-2",
            search,
            Err("no such index [-logs-2] and if you intended to exclude this index, ensure that you use \
                 wildcards that include it before explicitly excluding it"),
        );
        check("logs", search, Ok("logs-1,logs-2"));
        check("missing", search, Err("no such index [missing]"));
        check("_foo", search, Err("Invalid index name [_foo], must not start with '_'."));
        check("missing*", search, Ok(""));
        check("closed", search, Err("closed"));
        check("hid", search, Ok("hid"));
        check(".d*", search, Ok(".dot"));
        check("<x-{now/d}>", search, Err("no such index [x-1970.01.01]"));
        let strict = IndicesOptions { allow_no_indices: false, ..search };
        check("missing*", strict, Err("no such index [missing*]"));
        let lenient = search.apply(Some(true), None, None).expect("valid");
        check("missing,one,closed", lenient, Ok("one"));
        let all = IndicesOptions::METADATA.apply(None, None, Some("all")).expect("valid");
        check("*", all, Ok(".dot,closed,hid,logs-1,logs-2,one"));
        let closed = IndicesOptions::METADATA.apply(None, None, Some("closed")).expect("valid");
        check("*", closed, Ok("closed"));
        let both = search.apply(None, None, Some("open,closed")).expect("valid");
        check("*", both, Err("closed"));
        check(
            "logs",
            IndicesOptions::DELETE,
            Err(
                "The provided expression [logs] matches an alias, specify the corresponding concrete indices instead.",
            ),
        );
    }

    #[test]
    fn expressions_have_a_length_and_end_with_their_request() {
        let catalog = catalog();
        let refused = |names: &[&str]| {
            let expression = names.join(",");
            let error = catalog.resolve(&expression, IndicesOptions::SEARCH).expect_err("too long");
            assert_eq!(error.reason, "more than [10000] names in one expression");
            assert!(catalog.matching_aliases(&expression).is_err());
        };
        refused(&["x"; 10_001]);
        refused(&["<x>"; 10_001]);
        let request = work::Work::default();
        request.cancelled.store(true, std::sync::atomic::Ordering::Relaxed);
        let _entered = request.enter();
        for expression in ["one", "o*,l*", "*,-logs-*"] {
            let error = catalog.resolve(expression, IndicesOptions::SEARCH).expect_err("cancelled");
            assert_eq!(error.kind, "task_cancelled_exception", "{expression}");
        }
    }

    #[test]
    fn writes_go_to_the_write_index() {
        let catalog = catalog();
        let check = |name: &str, require_alias, expected: std::result::Result<Option<&str>, &str>| match (
            catalog.write_target(name, require_alias),
            expected,
        ) {
            (Ok(WriteTarget::Index { index, .. }), Ok(Some(expected))) => assert_eq!(&*index.name, expected),
            (Ok(WriteTarget::Missing), Ok(None)) => {}
            (Err(error), Err(expected)) => assert!(error.reason.starts_with(expected), "{}", error.reason),
            (found, expected) => panic!("{name}: {found:?} instead of {expected:?}"),
        };
        check("one", false, Ok(Some("one")));
        check("single", false, Ok(Some("one")));
        check("w", false, Ok(Some("logs-1")));
        check("logs", false, Err("no write index is defined for alias [logs]"));
        check("nothing", false, Ok(None));
        check(
            "nothing",
            true,
            Err("no such index [nothing] and [require_alias] request flag is [true] and [nothing]"),
        );
        check("closed", false, Err("closed"));
    }
}
