//! Statistics columns that several tables share, in Elasticsearch's order and words.
//!
//! Source: `RestIndicesAction#getTableWithHeader`, `RestNodesAction#getTableWithHeader`,
//! `RestShardsAction#getTableWithHeader`.

use serde_json::Value;

use super::rows::Source::{self, *};
use super::table::{Cell, Column, number};

/// The tables that have a column, as bits.
type Tables = u8;
/// `_cat/indices`, which repeats each column for primaries (`pri.`).
const INDICES: Tables = 1;
/// `_cat/nodes`.
const NODES: Tables = 2;
/// `_cat/shards`.
const SHARDS: Tables = 4;
const EVERYWHERE: Tables = INDICES | NODES | SHARDS;

/// A statistics column, and where its value is in a `_stats` section.
struct Statistic {
    tables: Tables,
    column: Column,
    source: Source,
}

const fn of(
    tables: Tables,
    name: &'static str,
    aliases: &'static str,
    description: &'static str,
    source: Source,
) -> Statistic {
    Statistic { tables, column: number(name, aliases, description).hidden(), source }
}

fn of_table(table: Tables) -> impl Iterator<Item = &'static Statistic> {
    STATISTICS.iter().filter(move |statistic| statistic.tables & table != 0)
}

/// Returns the columns of `_cat/nodes`.
pub fn columns_of_nodes() -> impl Iterator<Item = Column> {
    of_table(NODES).map(|statistic| statistic.column)
}

/// Returns the columns of `_cat/shards`.
pub fn columns_of_shards() -> impl Iterator<Item = Column> {
    of_table(SHARDS).map(|statistic| statistic.column)
}

/// Returns the columns of `_cat/indices`: each column for all copies, followed by the same for primaries.
pub fn columns_of_indices() -> impl Iterator<Item = Column> {
    of_table(INDICES).flat_map(|statistic| {
        let column = statistic.column;
        let of_primaries = (has_primaries(statistic)).then(|| Column {
            name: format!("pri.{}", column.name).leak(),
            aliases: "",
            description: match column.name {
                // Elasticsearch's wording.
                "memory.total" => "total user memory",
                _ => column.description,
            },
            ..column
        });
        std::iter::once(column).chain(of_primaries)
    })
}

fn has_primaries(statistic: &Statistic) -> bool {
    !matches!(statistic.source, Never)
}

/// Returns the cells of a row of `_cat/nodes`.
pub fn cells_of_node(stats: &Value) -> impl Iterator<Item = Cell> {
    of_table(NODES).map(|statistic| statistic.source.read(stats))
}

/// Returns the cells of a row of `_cat/shards`.
pub fn cells_of_shard(stats: &Value) -> impl Iterator<Item = Cell> {
    of_table(SHARDS).map(|statistic| statistic.source.read(stats))
}

/// Returns the cells of a row of `_cat/indices`.
pub fn cells_of_index(total: &Value, primaries: &Value) -> impl Iterator<Item = Cell> {
    of_table(INDICES).flat_map(|statistic| {
        let of_primaries = has_primaries(statistic).then(|| statistic.source.read(primaries));
        std::iter::once(statistic.source.read(total)).chain(of_primaries)
    })
}

#[rustfmt::skip]
const STATISTICS: &[Statistic] = &[
    of(EVERYWHERE, "completion.size", "cs,completionSize", "size of completion", Bytes("completion.size_in_bytes")),
    of(EVERYWHERE, "fielddata.memory_size", "fm,fielddataMemory", "used fielddata cache", Bytes("fielddata.memory_size_in_bytes")),
    of(EVERYWHERE, "fielddata.evictions", "fe,fielddataEvictions", "fielddata evictions", Count("fielddata.evictions")),
    of(EVERYWHERE, "query_cache.memory_size", "qcm,queryCacheMemory", "used query cache", Bytes("query_cache.memory_size_in_bytes")),
    of(EVERYWHERE, "query_cache.evictions", "qce,queryCacheEvictions", "query cache evictions", Count("query_cache.evictions")),
    of(NODES, "query_cache.hit_count", "qchc,queryCacheHitCount", "query cache hit counts", Count("query_cache.hit_count")),
    of(NODES, "query_cache.miss_count", "qcmc,queryCacheMissCount", "query cache miss counts", Count("query_cache.miss_count")),
    of(INDICES | NODES, "request_cache.memory_size", "rcm,requestCacheMemory", "used request cache", Bytes("request_cache.memory_size_in_bytes")),
    of(INDICES | NODES, "request_cache.evictions", "rce,requestCacheEvictions", "request cache evictions", Count("request_cache.evictions")),
    of(INDICES, "request_cache.hit_count", "rchc,requestCacheHitCount", "request cache hit count", Count("request_cache.hit_count")),
    of(INDICES, "request_cache.miss_count", "rcmc,requestCacheMissCount", "request cache miss count", Count("request_cache.miss_count")),
    of(NODES, "request_cache.hit_count", "rchc,requestCacheHitCount", "request cache hit counts", Count("request_cache.hit_count")),
    of(NODES, "request_cache.miss_count", "rcmc,requestCacheMissCount", "request cache miss counts", Count("request_cache.miss_count")),
    of(EVERYWHERE, "flush.total", "ft,flushTotal", "number of flushes", Count("flush.total")),
    of(EVERYWHERE, "flush.total_time", "ftt,flushTotalTime", "time spent in flush", Millis("flush.total_time_in_millis")),
    of(EVERYWHERE, "get.current", "gc,getCurrent", "number of current get ops", Count("get.current")),
    of(EVERYWHERE, "get.time", "gti,getTime", "time spent in get", Millis("get.time_in_millis")),
    of(EVERYWHERE, "get.total", "gto,getTotal", "number of get ops", Count("get.total")),
    of(EVERYWHERE, "get.exists_time", "geti,getExistsTime", "time spent in successful gets", Millis("get.exists_time_in_millis")),
    of(EVERYWHERE, "get.exists_total", "geto,getExistsTotal", "number of successful gets", Count("get.exists_total")),
    of(EVERYWHERE, "get.missing_time", "gmti,getMissingTime", "time spent in failed gets", Millis("get.missing_time_in_millis")),
    of(EVERYWHERE, "get.missing_total", "gmto,getMissingTotal", "number of failed gets", Count("get.missing_total")),
    of(EVERYWHERE, "indexing.delete_current", "idc,indexingDeleteCurrent", "number of current deletions", Count("indexing.delete_current")),
    of(EVERYWHERE, "indexing.delete_time", "idti,indexingDeleteTime", "time spent in deletions", Millis("indexing.delete_time_in_millis")),
    of(EVERYWHERE, "indexing.delete_total", "idto,indexingDeleteTotal", "number of delete ops", Count("indexing.delete_total")),
    of(EVERYWHERE, "indexing.index_current", "iic,indexingIndexCurrent", "number of current indexing ops", Count("indexing.index_current")),
    of(EVERYWHERE, "indexing.index_time", "iiti,indexingIndexTime", "time spent in indexing", Millis("indexing.index_time_in_millis")),
    of(EVERYWHERE, "indexing.index_total", "iito,indexingIndexTotal", "number of indexing ops", Count("indexing.index_total")),
    of(EVERYWHERE, "indexing.index_failed", "iif,indexingIndexFailed", "number of failed indexing ops", Count("indexing.index_failed")),
    of(EVERYWHERE, "indexing.index_failed_due_to_version_conflict", "iifvc,indexingIndexFailedDueToVersionConflict", "number of failed indexing ops due to version conflict", Count("indexing.index_failed_due_to_version_conflict")),
    of(EVERYWHERE, "merges.current", "mc,mergesCurrent", "number of current merges", Count("merges.current")),
    of(EVERYWHERE, "merges.current_docs", "mcd,mergesCurrentDocs", "number of current merging docs", Count("merges.current_docs")),
    of(EVERYWHERE, "merges.current_size", "mcs,mergesCurrentSize", "size of current merges", Bytes("merges.current_size_in_bytes")),
    of(EVERYWHERE, "merges.total", "mt,mergesTotal", "number of completed merge ops", Count("merges.total")),
    of(EVERYWHERE, "merges.total_docs", "mtd,mergesTotalDocs", "docs merged", Count("merges.total_docs")),
    of(EVERYWHERE, "merges.total_size", "mts,mergesTotalSize", "size merged", Bytes("merges.total_size_in_bytes")),
    of(EVERYWHERE, "merges.total_time", "mtt,mergesTotalTime", "time spent in merges", Millis("merges.total_time_in_millis")),
    of(EVERYWHERE, "refresh.total", "rto,refreshTotal", "total refreshes", Count("refresh.total")),
    of(EVERYWHERE, "refresh.time", "rti,refreshTime", "time spent in refreshes", Millis("refresh.total_time_in_millis")),
    of(EVERYWHERE, "refresh.external_total", "rto,refreshTotal", "total external refreshes", Count("refresh.external_total")),
    of(EVERYWHERE, "refresh.external_time", "rti,refreshTime", "time spent in external refreshes", Millis("refresh.external_total_time_in_millis")),
    of(EVERYWHERE, "refresh.listeners", "rli,refreshListeners", "number of pending refresh listeners", Count("refresh.listeners")),
    of(NODES, "script.compilations", "scrcc,scriptCompilations", "script compilations", Count("script.compilations")),
    of(NODES, "script.cache_evictions", "scrce,scriptCacheEvictions", "script cache evictions", Count("script.cache_evictions")),
    of(NODES, "script.compilation_limit_triggered", "scrclt,scriptCacheCompilationLimitTriggered", "script cache compilation limit triggered", Count("script.compilation_limit_triggered")),
    of(EVERYWHERE, "search.fetch_current", "sfc,searchFetchCurrent", "current fetch phase ops", Count("search.fetch_current")),
    of(EVERYWHERE, "search.fetch_time", "sfti,searchFetchTime", "time spent in fetch phase", Millis("search.fetch_time_in_millis")),
    of(EVERYWHERE, "search.fetch_total", "sfto,searchFetchTotal", "total fetch ops", Count("search.fetch_total")),
    of(EVERYWHERE, "search.open_contexts", "so,searchOpenContexts", "open search contexts", Count("search.open_contexts")),
    of(EVERYWHERE, "search.query_current", "sqc,searchQueryCurrent", "current query phase ops", Count("search.query_current")),
    of(EVERYWHERE, "search.query_time", "sqti,searchQueryTime", "time spent in query phase", Millis("search.query_time_in_millis")),
    of(EVERYWHERE, "search.query_total", "sqto,searchQueryTotal", "total query phase ops", Count("search.query_total")),
    of(EVERYWHERE, "search.scroll_current", "scc,searchScrollCurrent", "open scroll contexts", Count("search.scroll_current")),
    of(EVERYWHERE, "search.scroll_time", "scti,searchScrollTime", "time scroll contexts held open", Millis("search.scroll_time_in_millis")),
    of(EVERYWHERE, "search.scroll_total", "scto,searchScrollTotal", "completed scroll contexts", Count("search.scroll_total")),
    of(EVERYWHERE, "segments.count", "sc,segmentsCount", "number of segments", Count("segments.count")),
    of(EVERYWHERE, "segments.memory", "sm,segmentsMemory", "memory used by segments", Bytes("segments.memory_in_bytes")),
    of(EVERYWHERE, "segments.index_writer_memory", "siwm,segmentsIndexWriterMemory", "memory used by index writer", Bytes("segments.index_writer_memory_in_bytes")),
    of(EVERYWHERE, "segments.version_map_memory", "svmm,segmentsVersionMapMemory", "memory used by version map", Bytes("segments.version_map_memory_in_bytes")),
    of(EVERYWHERE, "segments.fixed_bitset_memory", "sfbm,fixedBitsetMemory", "memory used by fixed bit sets for nested object field types and type filters for types referred in _parent fields", Bytes("segments.fixed_bit_set_memory_in_bytes")),
    of(SHARDS, "seq_no.max", "sqm,maxSeqNo", "max sequence number", Whole("seq_no.max_seq_no")),
    of(SHARDS, "seq_no.local_checkpoint", "sql,localCheckpoint", "local checkpoint", Whole("seq_no.local_checkpoint")),
    of(SHARDS, "seq_no.global_checkpoint", "sqg,globalCheckpoint", "global checkpoint", Whole("seq_no.global_checkpoint")),
    of(INDICES | SHARDS, "warmer.current", "wc,warmerCurrent", "current warmer ops", Count("warmer.current")),
    of(INDICES | SHARDS, "warmer.total", "wto,warmerTotal", "total warmer ops", Count("warmer.total")),
    of(INDICES | SHARDS, "warmer.total_time", "wtt,warmerTotalTime", "time spent in warmers", Millis("warmer.total_time_in_millis")),
    of(INDICES | NODES, "suggest.current", "suc,suggestCurrent", "number of current suggest ops", Count("search.suggest_current")),
    of(INDICES | NODES, "suggest.time", "suti,suggestTime", "time spend in suggest", Millis("search.suggest_time_in_millis")),
    of(INDICES | NODES, "suggest.total", "suto,suggestTotal", "number of suggest ops", Count("search.suggest_total")),
    of(INDICES, "memory.total", "tm,memoryTotal", "total used memory", Memory),
    of(INDICES, "search.throttled", "sth", "indicates if the index is search throttled", Never),
    of(INDICES, "bulk.total_operations", "bto,bulkTotalOperation", "number of bulk shard ops", Count("bulk.total_operations")),
    of(SHARDS, "path.data", "pd,dataPath", "shard data path", Text("shard_path.data_path")),
    of(SHARDS, "path.state", "ps,statsPath", "shard state path", Text("shard_path.state_path")),
    of(NODES | SHARDS, "bulk.total_operations", "bto,bulkTotalOperations", "number of bulk shard ops", Count("bulk.total_operations")),
    of(EVERYWHERE, "bulk.total_time", "btti,bulkTotalTime", "time spend in shard bulk", Millis("bulk.total_time_in_millis")),
    of(EVERYWHERE, "bulk.total_size_in_bytes", "btsi,bulkTotalSizeInBytes", "total size in bytes of shard bulk", Bytes("bulk.total_size_in_bytes")),
    of(EVERYWHERE, "bulk.avg_time", "bati,bulkAvgTime", "average time spend in shard bulk", Millis("bulk.avg_time_in_millis")),
    of(INDICES | NODES, "bulk.avg_size_in_bytes", "basi,bulkAvgSizeInBytes", "average size in bytes of shard bulk", Bytes("bulk.avg_size_in_bytes")),
    of(INDICES, "dense_vector.value_count", "dvc,denseVectorCount", "total count of indexed dense vector", Count("dense_vector.value_count")),
    of(INDICES, "sparse_vector.value_count", "svc,sparseVectorCount", "total count of indexed sparse vectors", Count("sparse_vector.value_count")),
    of(NODES, "shard_stats.total_count", "sstc,shards,shardStatsTotalCount", "number of shards assigned", Count("shard_stats.total_count")),
    of(NODES, "mappings.total_count", "mtc,mappingsTotalCount", "number of mappings", Count("mappings.total_count")),
    of(NODES, "mappings.total_estimated_overhead_in_bytes", "mteo,mappingsTotalEstimatedOverheadInBytes", "estimated overhead in bytes of mappings", Bytes("mappings.total_estimated_overhead_in_bytes")),
    of(SHARDS, "bulk.avg_size_in_bytes", "basi,bulkAvgSizeInBytes", "avg size in bytes of shard bulk", Bytes("bulk.avg_size_in_bytes")),
    of(SHARDS, "dense_vector.value_count", "dvc,denseVectorCount", "number of indexed dense vectors in shard", Count("dense_vector.value_count")),
    of(SHARDS, "sparse_vector.value_count", "svc,sparseVectorCount", "number of indexed sparse vectors in shard", Count("sparse_vector.value_count")),
];
