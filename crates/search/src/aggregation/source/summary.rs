//! A field of summaries in an aggregation: "which columns does it read in place of values?"
//!
//! Source: Elasticsearch's `AggregateMetricsValuesSourceType`, `AnalyticsValuesSourceType`.

use limber_mapping::{Field, RequestError, Summary, SummaryColumn};

use super::super::options::ValuesOptions;
use super::super::values::format::Format;
use super::super::values::refused::not_supported;
use super::field::Source;
use crate::context::ShardSnapshot;
use crate::error::Result;

impl Source {
    /// Binds a field of summaries: one source for each of the columns that `columns_of` returns. Returns
    /// `None` for any other field.
    ///
    /// # Errors
    /// Elasticsearch's, if the aggregation reads no summaries or has options that they do not allow.
    pub(in crate::aggregation) fn of_summary(
        options: &ValuesOptions,
        aggregation: &str,
        shard: &ShardSnapshot,
        columns_of: impl FnOnce(&Summary) -> &'static [SummaryColumn],
    ) -> Result<Option<Vec<Source>>> {
        let Some(field) = shard.mapping.field(&options.field) else { return Ok(None) };
        let Some(summary) = &field.summary else { return Ok(None) };
        let columns = columns_of(summary);
        if columns.is_empty() {
            let mut error = not_supported(&field, aggregation);
            if !summary.is_histogram() {
                error.kind = "unsupported_aggregation_on_downsampled_index";
            }
            return Err(error.into());
        }
        check_options(options, &field, summary, aggregation)?;
        let source = |column: &SummaryColumn| -> Result<Source> {
            let bare = Source { summary: Some(*column), ..Source::unmapped(&options.field) };
            let path = summary.path(*column);
            // As in Elasticsearch, a metric that the field lacks has no values.
            let Some(part) = path.and_then(|path| shard.mapping.mapped_field(path)) else {
                return Ok(bare);
            };
            Ok(Source { field: Some(part.clone()), format: Format::of(Some(part), options)?, ..bare })
        };
        columns.iter().map(source).collect::<Result<Vec<Source>>>().map(Some)
    }
}

/// Refuses options that change single values.
fn check_options(
    options: &ValuesOptions,
    field: &Field,
    summary: &Summary,
    aggregation: &str,
) -> std::result::Result<(), RequestError> {
    if let Some(value_type) = options.value_type {
        let (own, given) = (field.type_name(), value_type.name());
        let reason = format!("Field type [{own}] is incompatible with specified value_type [{given}]");
        return Err(RequestError::illegal_argument(reason));
    }
    if options.script.is_some() {
        return Err(RequestError::unsupported(format_args!(
            "[script] over the values of field [{}] in the aggregation [{aggregation}]",
            field.path
        )));
    }
    if options.missing.is_some() {
        let (plugin, class) = match summary.is_histogram() {
            true => ("analytics", "HistogramValuesSource$Histogram"),
            false => ("aggregatemetric", "AggregateMetricsValuesSource$AggregateMetricDouble"),
        };
        return Err(RequestError::illegal_argument(format!(
            "Can't apply missing values on a class org.elasticsearch.xpack.{plugin}.aggregations.support.{class}$Fielddata"
        )));
    }
    Ok(())
}
