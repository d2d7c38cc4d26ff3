//! Prints the spread of several races of one side.

use std::io::{self, Write};

use crate::inference::estimate::median;
use crate::notation::{Number, shown};
use crate::report::RacedSide;
use crate::report::figures::Figure;
use crate::report::output::{self, ReportOptions};
use crate::report::table::{Cell, Row};

pub(crate) const HEADERS: [&str; 8] = ["Metric", "Task", "Median", "Least", "Most", "Unit", "CV %", "Races"];

/// Kinds of figures that are shown; the stored races have all of them.
const SHOWN: [&str; 5] = ["throughput.median", "latency", "service_time", "error_rate", "race"];

/// Prints median, minimum and maximum over the races, and the coefficient of variation (standard deviation
/// relative to the mean), which shows how large a difference must be to stand out.
///
/// # Errors
/// Those of `out` and of the report file.
pub(crate) fn write(side: &RacedSide, options: &ReportOptions, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\nSide {}, {} races:\n", side.described(), side.races.len())?;
    let rows: Vec<Row> = spreads(side).map(|spread| spread.printed()).collect();
    output::write_table(&HEADERS, &rows, &rows, options, out)
}

/// One figure over the races of a side.
pub(crate) struct Spread<'a> {
    pub figure: &'a Figure,
    /// In the order of the races. Races without this figure are left out.
    pub values: Vec<f64>,
    pub median: f64,
    pub least: f64,
    pub most: f64,
    /// Coefficient of variation; `None` with fewer than two values or a mean of 0.
    pub variation: Option<f64>,
}

/// Returns the spreads of the shown figures. Figures that are 0 in all races are left out.
pub(crate) fn spreads(side: &RacedSide) -> impl Iterator<Item = Spread<'_>> {
    let is_shown = |figure: &&Figure| SHOWN.iter().any(|kind| figure.is_meant_by(kind));
    side.named().filter(is_shown).filter_map(|figure| Spread::new(figure, side.known_values(figure)))
}

impl Spread<'_> {
    fn new(figure: &Figure, values: Vec<f64>) -> Option<Spread<'_>> {
        values.iter().any(|value| *value != 0.0).then(|| Spread {
            figure,
            median: median(&values),
            least: values.iter().copied().fold(f64::INFINITY, f64::min),
            most: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            variation: variation(&values),
            values,
        })
    }

    fn printed(&self) -> Row {
        let (unit, factor) = shown::table_unit(&self.figure.unit);
        let number = |value: f64| Cell::Plain(value * factor);
        vec![
            Cell::from(self.figure.metric.as_str()),
            Cell::from(self.figure.task.as_str()),
            number(self.median),
            number(self.least),
            number(self.most),
            Cell::from(unit),
            Cell::from(self.variation.map_or_else(String::new, |share| format!("{:.2}", share * 100.0))),
            Cell::from(Number::from(self.values.len() as u64)),
        ]
    }
}

/// Returns the sample standard deviation relative to the mean; `None` with fewer than two values or a mean
/// of 0.
fn variation(values: &[f64]) -> Option<f64> {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (values.len() > 1 && mean != 0.0).then(|| (squares / (count - 1.0)).sqrt() / mean.abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::raced_side::tests::side;

    #[test]
    fn median_bounds_and_variation() {
        let races = side("A", &[90.0, 100.0, 110.0], 9.0, &[5, 6, 7]);
        let mut printed = Vec::new();
        write(&races, &ReportOptions::default(), &mut printed).unwrap();
        let printed = String::from_utf8(printed).unwrap();
        let row = printed.lines().find(|line| line.contains("Median Throughput")).unwrap();
        for part in ["100", "90", "110", "docs/s", "10", "3"] {
            assert!(row.contains(part), "{part} in {row}");
        }
        assert!((variation(&[90.0, 100.0, 110.0]).unwrap() - 0.1).abs() < 1e-12);
        assert_eq!((variation(&[5.0]), variation(&[0.0, 0.0])), (None, None));
        assert!(!printed.contains("error rate"), "{printed}");
        assert!(printed.contains("Peak resident memory of the server"), "{printed}");
    }
}
