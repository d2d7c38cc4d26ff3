//! `GET _snapshot`: "which snapshots exist?"
//!
//! Source: Elasticsearch's `TransportGetSnapshotsAction`, `GetSnapshotsRequest`, `SnapshotSortKey`.

use std::cmp::Ordering;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE;
use limber_mapping::RequestError;
use serde_json::{Value, json};

use crate::api::Result;
use crate::node::Node;
use crate::snapshot::errors::snapshot_missing;
use crate::snapshot::format::{Entry, SnapshotBody, snapshot_name};
use crate::snapshot::names::Chosen;
use crate::snapshot::repository::Repository;
use crate::snapshot::show::{Detail, show, show_running};

/// The parameters of the URL.
#[derive(Debug, Clone)]
pub struct SnapshotQuery {
    /// Names, patterns, `_all` or `_current`.
    pub snapshots: String,
    /// Whether snapshots that cannot be read are left out instead of being an error.
    pub ignore_unavailable: bool,
    /// Whether the snapshots themselves are read and not only their list.
    pub verbose: bool,
    /// Whether indices are listed.
    pub index_names: bool,
    /// Whether each index's shards, bytes and segments are shown.
    pub index_details: bool,
    /// Whether the response names each snapshot's repository.
    pub include_repository: bool,
    /// What to sort by; `start_time` by default.
    pub sort: Option<String>,
    /// How many are shown; `None` means all.
    pub size: Option<usize>,
    /// How many of the first are skipped.
    pub offset: usize,
    /// Whether the order is reversed.
    pub is_descending: bool,
    /// The `next` of the previous page.
    pub after: Option<String>,
    /// Shows only snapshots whose sort value is this one or comes after it.
    pub from_sort_value: Option<String>,
    /// Names and patterns of policies; `_none` means without a policy.
    pub policies: Option<String>,
    /// Comma-separated states.
    pub states: Option<String>,
}

impl Default for SnapshotQuery {
    fn default() -> Self {
        SnapshotQuery {
            snapshots: String::new(),
            ignore_unavailable: false,
            verbose: true,
            index_names: true,
            index_details: false,
            include_repository: true,
            sort: None,
            size: None,
            offset: 0,
            is_descending: false,
            after: None,
            from_sort_value: None,
            policies: None,
            states: None,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SortBy {
    StartTime,
    Duration,
    Name,
    IndexCount,
    Repository,
    ShardCount,
    FailedShardCount,
}

/// What snapshots are sorted by.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Number(u64),
    Text(String),
}

impl SortBy {
    fn parse(text: &str) -> Result<SortBy> {
        Ok(match text {
            "start_time" => SortBy::StartTime,
            "duration" => SortBy::Duration,
            "name" => SortBy::Name,
            "index_count" => SortBy::IndexCount,
            "repository" => SortBy::Repository,
            "shard_count" => SortBy::ShardCount,
            "failed_shard_count" => SortBy::FailedShardCount,
            other => return Err(RequestError::illegal_argument(format!("unknown sort key [{other}]"))),
        })
    }

    fn key(self, repository: &str, found: &Found) -> Key {
        match self {
            SortBy::StartTime => Key::Number(found.start_ms),
            SortBy::Duration => Key::Number(found.duration_ms),
            SortBy::Name => Key::Text(found.name.clone()),
            SortBy::IndexCount => Key::Number(found.index_count),
            SortBy::Repository => Key::Text(repository.to_owned()),
            SortBy::ShardCount => Key::Number(found.shard_count),
            SortBy::FailedShardCount => Key::Number(found.failed_shard_count),
        }
    }

    fn key_of_text(self, text: &str) -> Result<Key> {
        match self {
            SortBy::Name | SortBy::Repository => Ok(Key::Text(text.to_owned())),
            _ => text
                .parse()
                .map(Key::Number)
                .map_err(|_| RequestError::illegal_argument(format!("[{text}] is no value of the sort key"))),
        }
    }
}

/// A snapshot that may be shown.
struct Found {
    repository: std::sync::Arc<Repository>,
    name: String,
    start_ms: u64,
    duration_ms: u64,
    index_count: u64,
    shard_count: u64,
    failed_shard_count: u64,
    policy: Option<String>,
    state: &'static str,
    /// `None` while it is in progress.
    entry: Option<Entry>,
    running: Option<std::sync::Arc<crate::snapshot::running::Running>>,
}

impl Node {
    /// Returns the body of `GET /_snapshot/{repositories}/{snapshots}`.
    pub fn get_snapshots(&self, repositories: &str, query: &SnapshotQuery) -> Result<Value> {
        check(query)?;
        let by = query.sort.as_deref().map_or(Ok(SortBy::StartTime), SortBy::parse)?;
        let mut found = Vec::new();
        for name in self.repository_names(repositories)? {
            found.extend(self.find_snapshots(&name, query)?);
        }
        retain_chosen(&mut found, query, by)?;
        let total = found.len();
        let order = |a: &Found, b: &Found| {
            let keys = by.key(&a.repository.name, a).cmp(&by.key(&b.repository.name, b));
            keys.then_with(|| a.name.cmp(&b.name)).then_with(|| a.repository.name.cmp(&b.repository.name))
        };
        found.sort_by(|a, b| if query.is_descending { order(b, a) } else { order(a, b) });
        let skipped = match &query.after {
            Some(after) => position_after(&found, after, query.is_descending, by)?,
            None => query.offset,
        };
        let end = query.size.map_or(total, |size| skipped.saturating_add(size)).min(total);
        let page = found.get(skipped..end).unwrap_or_default();
        let detail = Detail {
            index_names: query.index_names,
            index_details: query.index_details,
            repository: query.include_repository,
        };
        let shown: Vec<Value> =
            page.iter().map(|one| self.show_found(one, query.verbose, &detail)).collect::<Result<_>>()?;
        let remaining = total.saturating_sub(end.max(skipped));
        let mut body = json!({"snapshots": null, "total": total, "remaining": remaining});
        // The macro would copy them.
        body["snapshots"] = Value::Array(shown);
        if let (Some(last), true) = (page.last(), remaining > 0) {
            body["next"] = cursor(last, by).into();
        }
        Ok(body)
    }

    fn find_snapshots(&self, repository: &str, query: &SnapshotQuery) -> Result<Vec<Found>> {
        let repository = self.repository(repository)?;
        let chosen = Chosen::parse(&query.snapshots);
        let wants_current = chosen.parts().iter().any(|part| part == "_current");
        let running = self.snapshots.running_in(&repository.name);
        let only_current = wants_current && chosen.parts().len() == 1;
        let root = if only_current { Default::default() } else { repository.root()? };
        let exists = |name: &str| {
            running.iter().any(|one| one.name == name) || root.snapshots.iter().any(|one| one.name == name)
        };
        let missing = chosen.concrete().find(|name| *name != "_current" && !exists(name));
        if let Some(missing) = missing.filter(|_| !query.ignore_unavailable && !chosen.is_all()) {
            return Err(snapshot_missing(&repository.name, missing));
        }
        let of_running =
            running.iter().filter(|one| wants_current || chosen.takes(&one.name)).map(|one| Found {
                repository: repository.clone(),
                name: one.name.clone(),
                start_ms: one.start_ms,
                duration_ms: 0,
                index_count: one.shards.lock().len() as u64,
                shard_count: 0,
                failed_shard_count: 0,
                policy: one.policy.clone(),
                state: "IN_PROGRESS",
                entry: None,
                running: Some(one.clone()),
            });
        // A snapshot that is just ending is in both lists for a moment.
        let is_running = |entry: &Entry| running.iter().any(|one| one.uuid == entry.uuid);
        let finished = root.snapshots.into_iter().filter(|one| chosen.takes(&one.name) && !is_running(one));
        let finished = finished.map(|entry| Found {
            repository: repository.clone(),
            name: entry.name.clone(),
            start_ms: entry.start_ms,
            duration_ms: entry.end_ms.saturating_sub(entry.start_ms),
            index_count: entry.indices.len() as u64,
            shard_count: entry.shard_count(),
            failed_shard_count: entry.failed_shards,
            policy: entry.policy.clone(),
            state: entry.state.name(),
            entry: Some(entry),
            running: None,
        });
        Ok(finished.chain(of_running).collect())
    }

    fn show_found(&self, found: &Found, verbose: bool, detail: &Detail) -> Result<Value> {
        let repository = &found.repository;
        match (&found.entry, &found.running) {
            (Some(entry), _) if verbose => {
                let body: SnapshotBody = repository.read(&snapshot_name(&entry.uuid))?;
                Ok(show(&repository.name, entry, Some(&body), detail))
            }
            (Some(entry), _) => Ok(show(&repository.name, entry, None, detail)),
            (None, Some(running)) => {
                Ok(show_running(running, &self.config.compat_version, &self.index_version(), detail))
            }
            (None, None) => Ok(Value::Null),
        }
    }

    /// Returns the rows of `_cat/snapshots`.
    pub fn list_snapshots(
        &self,
        repositories: &str,
        ignore_unavailable: bool,
    ) -> Result<Vec<ListedSnapshot>> {
        let query = SnapshotQuery { ignore_unavailable, ..SnapshotQuery::default() };
        let mut rows = Vec::new();
        for name in self.repository_names(repositories)? {
            let found = match self.find_snapshots(&name, &query) {
                Err(error) if ignore_unavailable && error.kind != "circuit_breaking_exception" => {
                    tracing::warn!(repository = name, %error, "snapshots are not listed");
                    continue;
                }
                found => found?,
            };
            rows.extend(found.into_iter().map(|one| ListedSnapshot {
                repository: name.clone(),
                name: one.name,
                state: one.state,
                start_ms: one.start_ms,
                end_ms: one.entry.as_ref().map_or(0, |entry| entry.end_ms),
                index_count: one.index_count,
                shard_count: one.shard_count,
                failed_shard_count: one.failed_shard_count,
            }));
        }
        rows.sort_by(|a, b| (a.start_ms, &a.name).cmp(&(b.start_ms, &b.name)));
        Ok(rows)
    }
}

/// A row of `_cat/snapshots`.
#[derive(Debug, Clone)]
pub struct ListedSnapshot {
    /// Name of the repository.
    pub repository: String,
    /// Name of the snapshot.
    pub name: String,
    /// `SUCCESS`, `PARTIAL`, `FAILED` or `IN_PROGRESS`.
    pub state: &'static str,
    /// Milliseconds since 1970; 0 when it has not started.
    pub start_ms: u64,
    /// Milliseconds since 1970; 0 while it is in progress.
    pub end_ms: u64,
    /// Indices in it.
    pub index_count: u64,
    /// Shards of these indices.
    pub shard_count: u64,
    /// Shards that failed.
    pub failed_shard_count: u64,
}

/// Checks for combinations that Elasticsearch refuses (`GetSnapshotsRequest#validate`).
fn check(query: &SnapshotQuery) -> Result<()> {
    let mut problems = Vec::new();
    if !query.verbose {
        for (is_given, what) in [
            (query.sort.as_deref().is_some_and(|sort| sort != "start_time"), "sort"),
            (query.size.is_some(), "size limit"),
            (query.offset > 0, "offset"),
            (query.after.is_some(), "after"),
            (query.from_sort_value.is_some(), "from_sort_value"),
            (query.is_descending, "order"),
            (query.policies.is_some(), "slm policy filter"),
            (query.states.is_some(), "state filter"),
            (query.index_details, "index details"),
        ] {
            if is_given {
                problems.push(format!("can't use {what} with verbose=false"));
            }
        }
    }
    if query.after.is_some() && query.offset > 0 {
        problems.push("can't use after and offset simultaneously".to_owned());
    }
    if query.after.is_some() && query.from_sort_value.is_some() {
        problems.push("can't use after and from_sort_value simultaneously".to_owned());
    }
    match problems.is_empty() {
        true => Ok(()),
        false => Err(RequestError::validation(problems)),
    }
}

fn retain_chosen(found: &mut Vec<Found>, query: &SnapshotQuery, by: SortBy) -> Result<()> {
    if let Some(policies) = &query.policies {
        let chosen = Chosen::parse(policies);
        let wants_none = chosen.parts().iter().any(|part| part == "_none");
        found.retain(|one| match &one.policy {
            Some(policy) => chosen.takes(policy),
            None => wants_none,
        });
    }
    if let Some(states) = &query.states {
        const STATES: [&str; 5] = ["IN_PROGRESS", "SUCCESS", "FAILED", "PARTIAL", "INCOMPATIBLE"];
        let wanted: Vec<String> = states.split(',').map(|state| state.trim().to_ascii_uppercase()).collect();
        if let Some(unknown) = wanted.iter().find(|state| !STATES.contains(&state.as_str())) {
            return Err(RequestError::illegal_argument(format!("Unknown state name [{unknown}]")));
        }
        found.retain(|one| wanted.iter().any(|state| state == one.state));
    }
    if let Some(from) = &query.from_sort_value {
        let from = by.key_of_text(from)?;
        found.retain(|one| {
            let key = by.key(&one.repository.name, one);
            if query.is_descending { key <= from } else { key >= from }
        });
    }
    Ok(())
}

/// Makes the `after` token of the next page from the last snapshot's sort value, name and repository.
fn cursor(last: &Found, by: SortBy) -> String {
    let key = match by.key(&last.repository.name, last) {
        Key::Number(number) => number.to_string(),
        Key::Text(text) => text,
    };
    URL_SAFE.encode(json!([key, last.name, &*last.repository.name]).to_string())
}

fn position_after(found: &[Found], after: &str, is_descending: bool, by: SortBy) -> Result<usize> {
    let invalid = || RequestError::illegal_argument(format!("invalid [after] parameter [{after}]"));
    let decoded = URL_SAFE.decode(after).map_err(|_| invalid())?;
    let parts: Vec<String> = serde_json::from_slice(&decoded).map_err(|_| invalid())?;
    let [key, name, repository] = &parts[..] else { return Err(invalid()) };
    let last = (by.key_of_text(key)?, name.as_str(), repository.as_str());
    let is_behind = |one: &Found| {
        let this = (by.key(&one.repository.name, one), one.name.as_str(), &*one.repository.name);
        let order = this.0.cmp(&last.0).then(this.1.cmp(last.1)).then(this.2.cmp(last.2));
        order == if is_descending { Ordering::Less } else { Ordering::Greater }
    };
    Ok(found.iter().position(is_behind).unwrap_or(found.len()))
}
