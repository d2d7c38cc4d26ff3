//! Stores, returns and deletes synonym sets, and reloads the analyzers that use them.

use std::collections::BTreeMap;
use std::sync::Arc;

use limber_mapping::RequestError;
use serde_json::{Value, json};

use crate::analysis::synonyms::{self, SETS_MAX, SynonymSet};
use crate::api::{BroadcastResponse, IndicesOptions, Result};
use crate::catalog::IndexMetadata;
use crate::node::Node;

fn no_set(name: &str) -> RequestError {
    RequestError::not_found("resource_not_found_exception", format!("synonyms set [{name}] not found"))
}

fn no_rule(set: &str, rule: &str) -> RequestError {
    let reason = format!("synonym rule [{rule}] not found on synonyms set [{set}]");
    RequestError::not_found("resource_not_found_exception", reason)
}

impl Node {
    /// Carries out `PUT _synonyms/{set}`. Returns whether the set is new. `text` is the body as it was
    /// received.
    pub fn put_synonyms(&self, name: &str, body: &Value, text: &str) -> Result<bool> {
        let set = synonyms::parse_set(body, text, || self.flake_ids.generate(1).get(0).to_owned())?;
        self.change_synonyms(|sets| {
            if sets.len() >= SETS_MAX && !sets.contains_key(name) {
                let reason = format!("there are [{SETS_MAX}] sets of synonyms already");
                return Err(RequestError::illegal_argument(reason));
            }
            Ok(sets.insert(name.to_owned(), set).is_none())
        })
    }

    /// Carries out `PUT _synonyms/{set}/{rule}`. Returns whether the rule is new.
    pub fn put_synonym_rule(&self, name: &str, id: &str, body: &Value, text: &str) -> Result<bool> {
        let rule = synonyms::parse_rule(body, text)?;
        self.change_synonyms(|sets| sets.get_mut(name).ok_or_else(|| no_set(name))?.put(id, &rule))
    }

    /// Carries out `DELETE _synonyms/{set}`. Fails while an index uses the set.
    pub fn delete_synonyms(&self, name: &str) -> Result<()> {
        self.change_synonyms(|sets| {
            let used_in = self.indices_with(name);
            if !used_in.is_empty() {
                return Err(RequestError::illegal_argument(format!(
                    "synonyms set [{name}] cannot be deleted as it is used in the following indices: {}",
                    used_in.join(", ")
                )));
            }
            sets.remove(name).map(drop).ok_or_else(|| no_set(name))
        })
    }

    /// Carries out `DELETE _synonyms/{set}/{id}` and reloads the analyzers that use the set. Fails with
    /// `NotFound` for an unknown set or rule.
    pub fn delete_synonym_rule(&self, name: &str, id: &str) -> Result<()> {
        self.change_synonyms(|sets| {
            let set = sets.get_mut(name).ok_or_else(|| no_set(name))?;
            if set.remove(id) { Ok(()) } else { Err(no_rule(name, id)) }
        })
    }

    /// Carries out `GET _synonyms`.
    pub fn list_synonyms(&self, from: i64, size: i64) -> Result<Value> {
        let sets = self.analysis.sets();
        let all = sets.iter().map(|(name, set)| json!({"synonyms_set": name, "count": set.len()}));
        Ok(json!({"count": sets.len(), "results": synonyms::page(all.collect(), from, size)?}))
    }

    /// Carries out `GET _synonyms/{set}`.
    pub fn get_synonyms(&self, name: &str, from: i64, size: i64) -> Result<Value> {
        let sets = self.analysis.sets();
        let page = |set: &SynonymSet| {
            let rules = synonyms::page(set.rules().map(synonyms::shown).collect(), from, size)?;
            Ok(json!({"count": set.len(), "synonyms_set": rules}))
        };
        match sets.get(name) {
            Some(set) => page(set),
            // Errors in `from` and `size` are reported before a missing set.
            None => page(&SynonymSet::default()).and(Err(no_set(name))),
        }
    }

    /// Carries out `GET _synonyms/{set}/{rule}`.
    pub fn get_synonym_rule(&self, name: &str, id: &str) -> Result<Value> {
        let sets = self.analysis.sets();
        let set = sets.get(name).ok_or_else(|| no_set(name))?;
        let rule = set.get(id).ok_or_else(|| no_rule(name, id))?;
        Ok(synonyms::shown((id, rule)))
    }

    /// Changes the sets. The change is on disk before it becomes visible.
    fn change_synonyms<T>(
        &self,
        change: impl FnOnce(&mut BTreeMap<String, SynonymSet>) -> Result<T>,
    ) -> Result<T> {
        let _changing = self.changing.lock();
        self.check_metadata_write_block()?;
        let mut sets = (*self.analysis.sets()).clone();
        let answer = change(&mut sets)?;
        let json = |(name, set): (&String, &SynonymSet)| (name.clone(), set.to_json());
        let kept = Value::Object(sets.iter().map(json).collect());
        self.change_state(|state| state.synonyms = kept.clone())?;
        self.analysis.set_sets(sets);
        Ok(answer)
    }

    /// Returns the names of open indices with an analyzer that reads this set or file.
    fn indices_with(&self, resource: &str) -> Vec<String> {
        let live = self.live.load_full();
        let uses = |mapping: &limber_mapping::Mapping| {
            !mapping.settings().analyzers.reloadable(Some(resource)).is_empty()
        };
        let names = live.values().filter(|index| uses(&index.core.mapping.load()));
        names.map(|index| index.core.name.to_string()).collect()
    }

    /// Reloads the resources of these indices' search analyzers; if `resource` is given, only for analyzers
    /// that read it.
    pub fn reload_search_analyzers(
        &self,
        expression: &str,
        options: IndicesOptions,
        resource: Option<&str>,
    ) -> Result<Value> {
        let mut shards = BroadcastResponse::default();
        let (mut details, mut is_changed) = (Vec::new(), false);
        for (metadata, live) in self.live_of(expression, options)? {
            shards.total += live.shards.len() as u32;
            shards.successful += live.shards.len() as u32;
            let names = self.reload_analyzers_of(&metadata, resource)?;
            is_changed |= names.is_some();
            if names.is_none() && resource.is_some() {
                continue;
            }
            let names = names.unwrap_or_default();
            details.push(json!({
                "index": &*metadata.name,
                "reloaded_analyzers": names,
                "reloaded_node_ids": [self.node_id()],
            }));
        }
        // Cached responses were computed with the old analyzers.
        if is_changed {
            self.clear_cache(expression, options, true, true, false)?;
        }
        Ok(json!({"_shards": shards.to_json(), "reload_details": details}))
    }

    /// Reloads the analyzers of one index. Returns their names; `None` when the index has none to reload.
    fn reload_analyzers_of(
        &self,
        seen: &IndexMetadata,
        resource: Option<&str>,
    ) -> Result<Option<Vec<String>>> {
        // The sets and the settings are read under the lock of the index, under which its mapping is changed
        // too. Otherwise a thread that read older ones could be the last to store its mapping.
        let Some(file) = self.index_files.get(&seen.uuid) else { return Ok(None) };
        let _written = file.lock();
        self.reload_locked(seen, resource)
    }

    /// Reloads the analyzers of an index that has just become open: it may have read a set that was changed
    /// before it was among the open indices. Called with the lock of its file held.
    pub(in crate::node) fn reload_opened(&self, opened: &IndexMetadata) {
        // The index is open, so it is not refused any more.
        if let Err(error) = limber_work::suspended(|| self.reload_locked(opened, None)) {
            tracing::warn!(index = %opened.name, %error, "analyzers of an index are not reloaded");
        }
    }

    /// Works like [`Node::reload_opened`], for an index that was created open.
    pub(in crate::node) fn reload_created(&self, created: &IndexMetadata) {
        if let Some(file) = self.index_files.get(&created.uuid) {
            let _written = file.lock();
            self.reload_opened(created);
        }
    }

    fn reload_locked(&self, seen: &IndexMetadata, resource: Option<&str>) -> Result<Option<Vec<String>>> {
        let Ok(metadata) = self.current(&seen.name, &seen.uuid) else { return Ok(None) };
        let Some(live) = self.live.load().get(&seen.uuid).cloned() else { return Ok(None) };
        let mapping = live.core.mapping.load_full();
        let names = mapping.settings().analyzers.reloadable(resource);
        let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
        if names.is_empty() {
            return Ok(None);
        }
        let settings = metadata.typed.mapping_settings(&metadata.settings, &self.analysis())?;
        live.core.mapping.store(Arc::new(mapping.with_settings(&settings)?));
        Ok(Some(names))
    }

    /// Reloads the analyzers that use a synonym set, in all indices. The result is for the responses to
    /// changes of the set.
    pub fn reload_synonyms(&self, set: &str) -> Result<Value> {
        self.reload_search_analyzers("_all", IndicesOptions::BROADCAST, Some(set))
    }
}
