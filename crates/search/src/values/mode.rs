//! "Which of the several values of a document represents all of them?"

/// The value that counts if a document has several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Min,
    Max,
    Sum,
    Avg,
    Median,
}

impl Mode {
    pub(crate) fn parse(text: &str) -> Option<Mode> {
        Some(match text.to_lowercase().as_str() {
            "min" => Mode::Min,
            "max" => Mode::Max,
            "sum" => Mode::Sum,
            "avg" => Mode::Avg,
            "median" => Mode::Median,
            _ => return None,
        })
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Mode::Min => "min",
            Mode::Max => "max",
            Mode::Sum => "sum",
            Mode::Avg => "avg",
            Mode::Median => "median",
        }
    }

    /// Reduces several numbers, ascending and at least one, to one. Source: Elasticsearch's
    /// `MultiValueMode` on doubles.
    pub(crate) fn pick(self, values: &[f64]) -> f64 {
        let count = values.len();
        match self {
            Mode::Min => values[0],
            Mode::Max => values[count - 1],
            Mode::Median if count % 2 == 1 => values[count / 2],
            Mode::Median => (values[count / 2 - 1] + values[count / 2]) / 2.0,
            Mode::Sum => values.iter().sum(),
            Mode::Avg => values.iter().sum::<f64>() / count as f64,
        }
    }
}
