//! "Which of the several values of a document represents all of them?"

/// The value that counts if a document has several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MultiValueMode {
    Min,
    Max,
    Sum,
    Avg,
    Median,
}

impl MultiValueMode {
    pub(crate) fn parse(text: &str) -> Option<MultiValueMode> {
        Some(match text.to_lowercase().as_str() {
            "min" => MultiValueMode::Min,
            "max" => MultiValueMode::Max,
            "sum" => MultiValueMode::Sum,
            "avg" => MultiValueMode::Avg,
            "median" => MultiValueMode::Median,
            _ => return None,
        })
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            MultiValueMode::Min => "min",
            MultiValueMode::Max => "max",
            MultiValueMode::Sum => "sum",
            MultiValueMode::Avg => "avg",
            MultiValueMode::Median => "median",
        }
    }

    /// Reduces several numbers, ascending and at least one, to one. Source: Elasticsearch's
    /// `MultiValueMode` on doubles.
    pub(crate) fn pick(self, values: &[f64]) -> f64 {
        let count = values.len();
        match self {
            MultiValueMode::Min => values[0],
            MultiValueMode::Max => values[count - 1],
            MultiValueMode::Median if count % 2 == 1 => values[count / 2],
            MultiValueMode::Median => (values[count / 2 - 1] + values[count / 2]) / 2.0,
            MultiValueMode::Sum => values.iter().sum(),
            MultiValueMode::Avg => values.iter().sum::<f64>() / count as f64,
        }
    }
}
