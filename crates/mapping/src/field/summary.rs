//! Fields whose values summarise other values: "which numbers does a summary have, and where are they?"

use std::sync::Arc;

/// The numbers of a field whose values are summaries.
///
/// Each kind of number is in the column of a field of its own, which no name or pattern matches. The numbers
/// of a default metric are in the column of the field itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// The kinds of numbers, in the order in which a summary is shown, with the paths of their fields.
    pub columns: Vec<(SummaryColumn, Arc<str>)>,
}

/// A kind of number that a summary has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SummaryColumn {
    /// The smallest value.
    Min,
    /// The largest value.
    Max,
    /// The sum of the values.
    Sum,
    /// The number of values.
    ValueCount,
    /// The values of a histogram, ascending.
    Values,
    /// For each value of a histogram, the counts of all values up to it. They ascend, so that a column keeps
    /// them in the order of the values.
    Totals,
}

impl Summary {
    /// Whether it is a histogram: values with their counts.
    pub fn is_histogram(&self) -> bool {
        self.path(SummaryColumn::Values).is_some()
    }

    /// Returns the columns of a histogram's values and counts; none if it is not a histogram.
    pub fn weighted_columns(&self) -> &'static [SummaryColumn] {
        match self.is_histogram() {
            true => &[SummaryColumn::Values, SummaryColumn::Totals],
            false => &[],
        }
    }

    /// Returns the path of the field that has these numbers.
    pub fn path(&self, wanted: SummaryColumn) -> Option<&Arc<str>> {
        self.columns.iter().find(|(column, _)| *column == wanted).map(|(_, path)| path)
    }
}

impl SummaryColumn {
    /// The metrics of `aggregate_metric_double`, in Elasticsearch's order.
    pub(crate) const METRICS: [SummaryColumn; 4] =
        [SummaryColumn::Min, SummaryColumn::Max, SummaryColumn::Sum, SummaryColumn::ValueCount];

    /// Returns Elasticsearch's name, which is the last name of the field's path.
    pub(crate) fn name(self) -> &'static str {
        match self {
            SummaryColumn::Min => "min",
            SummaryColumn::Max => "max",
            SummaryColumn::Sum => "sum",
            SummaryColumn::ValueCount => "value_count",
            SummaryColumn::Values => "values",
            SummaryColumn::Totals => "counts",
        }
    }

    /// Returns the metric with this name.
    pub(crate) fn metric(name: &str) -> Option<SummaryColumn> {
        SummaryColumn::METRICS.into_iter().find(|metric| metric.name() == name)
    }
}
