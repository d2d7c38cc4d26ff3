//! Open indices: their metadata together with their shards.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arc_swap::ArcSwap;
use limber_mapping::{Mapping, RequestError};
use limber_search::{IndexRef, ShardSettings};

use crate::api::Result;
use crate::catalog::IndexMetadata;
use crate::settings::IndexSettings;
use crate::shard::{IndexCore, SeenMappings, Shard, ShardServices, store_error};

/// An open index.
pub(crate) struct LiveIndex {
    pub core: Arc<IndexCore>,
    pub shards: Vec<Arc<Shard>>,
}

/// Returns the folder of a shard, relative to the data folder.
pub(crate) fn shard_folder(uuid: &str, shard: u32) -> String {
    format!("indices/{uuid}/{shard}")
}

pub(crate) fn index_folder(uuid: &str) -> String {
    format!("indices/{uuid}")
}

pub(in crate::node) fn search_settings(typed: &IndexSettings) -> ShardSettings {
    ShardSettings {
        max_result_window: typed.max_result_window.min(u64::from(u32::MAX)) as u32,
        max_terms_count: typed.max_terms_count as usize,
        max_slices_per_scroll: typed.max_slices_per_scroll as u32,
        max_inner_result_window: typed.max_inner_result_window as u32,
        max_rescore_window: typed.max_rescore_window as u32,
        top_metrics_max_size: typed.top_metrics_max_size as u32,
        max_docvalue_fields: typed.max_docvalue_fields_search as usize,
        max_script_fields: typed.max_script_fields as usize,
        max_regex_length: typed.max_regex_length as usize,
        default_fields: limber_search::weighted_fields(&typed.default_fields).into(),
        query_string_lenient: typed.query_string_lenient,
        highlight_offset_max: typed.highlight_offset_max as usize,
        index_sort: typed.sort.clone(),
        scores_as_lucene: false,
    }
}

impl LiveIndex {
    /// Opens all shards. A shard that fails to open stays unavailable (red) and reports why; the others
    /// serve.
    pub(in crate::node) fn open(metadata: &IndexMetadata, services: &ShardServices) -> Result<LiveIndex> {
        let settings = metadata.typed.mapping_settings(&metadata.settings, &services.analysis)?;
        let mapping = Mapping::restore(&metadata.mappings, &settings)?.of_index(&metadata.name);
        let core = Arc::new(IndexCore {
            name: metadata.name.clone(),
            uuid: metadata.uuid.clone(),
            reference: Arc::new(IndexRef {
                name: metadata.name.to_string(),
                uuid: metadata.uuid.to_string(),
            }),
            mapping: ArcSwap::from_pointee(mapping),
            settings: ArcSwap::new(metadata.typed.clone()),
            search_settings: ArcSwap::from_pointee(search_settings(&metadata.typed)),
            seen: SeenMappings::default(),
            is_closed: AtomicBool::new(false),
        });
        let mut shards = Vec::with_capacity(metadata.typed.number_of_shards as usize);
        for number in 0..metadata.typed.number_of_shards {
            let directory = services
                .environment
                .folder(&shard_folder(&metadata.uuid, number))
                .map_err(|error| store_error(&error))?;
            let shard = Arc::new(Shard::new(core.clone(), number, directory, services.clone()));
            shard.counters.field_usage.begin(services.environment.clock.now_millis());
            // The error is logged and shown by the health API, and every request to the shard reports it.
            let _ = shard.open();
            shards.push(shard);
        }
        Ok(LiveIndex { core, shards })
    }

    pub(crate) fn shard(&self, number: u32) -> Result<&Arc<Shard>> {
        self.shards.get(number as usize).ok_or_else(|| {
            RequestError::not_found(
                "shard_not_found_exception",
                format!("no such shard [{number}] of [{}]", self.core.name),
            )
        })
    }

    pub(in crate::node) fn close(&self) {
        self.core.is_closed.store(true, Ordering::Release);
        self.shards.iter().for_each(|shard| shard.close());
    }
}
