//! The races of one side of a comparison, each with all its figures.

use super::figures::{self, Figure};
use crate::inference::estimate::median;
use crate::record::race::Race;
use crate::record::store::{RaceStore, StoreError};

/// One side of a comparison.
#[derive(Debug)]
pub struct RacedSide {
    pub name: String,
    /// What distinguishes the side, such as `memory-limit=256mb`; empty if it is not given.
    pub settings: String,
    /// In the order in which they were raced.
    pub races: Vec<Race>,
    /// One list per race: the figures of its results, then those of its measurements.
    pub figures: Vec<Vec<Figure>>,
    /// Number of races whose server had used more memory before than during the race, so that their peak
    /// means nothing.
    pub stale_peaks_count: usize,
    /// Number of races with warnings in their measurements.
    pub warned_count: usize,
}

impl RacedSide {
    /// Reads the figures of the races from their results and from the store.
    ///
    /// # Errors
    /// `Results` and `Corrupt` for results and measurements that cannot be read, `Io`, `InvalidId`.
    pub fn read(
        name: impl Into<String>,
        races: Vec<Race>,
        store: &RaceStore,
    ) -> Result<RacedSide, StoreError> {
        let mut side = RacedSide {
            name: name.into(),
            settings: String::new(),
            races,
            figures: Vec::new(),
            stale_peaks_count: 0,
            warned_count: 0,
        };
        for race in &side.races {
            let mut all = figures::of_race(race)?;
            if let Some(measurements) = store.measurements(&race.race_id)? {
                all.extend(figures::of_measurements(&measurements));
                side.stale_peaks_count += usize::from(measurements.server.is_peak_of_race == Some(false));
                side.warned_count += usize::from(!measurements.warnings.is_empty());
            }
            side.figures.push(all);
        }
        Ok(side)
    }

    /// Returns the name and what distinguishes the side.
    pub fn described(&self) -> String {
        match self.settings.as_str() {
            "" => self.name.clone(),
            settings => format!("{} ({settings})", self.name),
        }
    }

    /// Returns the figures of the first race, which determine the figures that are compared.
    pub fn named(&self) -> impl Iterator<Item = &Figure> {
        self.figures.first().into_iter().flatten()
    }

    /// Returns the figure's value in every race that has it.
    pub fn known_values(&self, wanted: &Figure) -> Vec<f64> {
        let same = |figure: &&Figure| figure.key == wanted.key && figure.task == wanted.task;
        let of_race = |figures: &Vec<Figure>| figures.iter().find(same).map(|figure| figure.value);
        self.figures.iter().filter_map(of_race).collect()
    }

    /// Returns the figure's value in every race; `None` if a race does not have it.
    pub fn values(&self, wanted: &Figure) -> Option<Vec<f64>> {
        Some(self.known_values(wanted)).filter(|values| values.len() == self.races.len())
    }

    /// Returns the race that represents the side in plots: the one whose figures are closest to their
    /// medians, by the sum of the distances relative to the medians.
    pub fn typical(&self) -> Option<&Race> {
        let mut distances = vec![0.0; self.races.len()];
        for figure in self.named() {
            let Some(values) = self.values(figure) else { continue };
            let middle = median(&values);
            if middle == 0.0 {
                continue;
            }
            for (distance, value) in distances.iter_mut().zip(values) {
                *distance += ((value - middle) / middle).abs();
            }
        }
        let nearest = self.races.iter().zip(distances).min_by(|(_, a), (_, b)| a.total_cmp(b));
        nearest.map(|(race, _)| race)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::record::Measurements;
    use crate::record::measurements::ServerMeasurements;
    use crate::report::figures::tests::race;

    /// Returns a side with one race for each of these rates, with the peaks of their servers in bytes.
    pub(crate) fn side(name: &str, docs_per_s: &[f64], p99_ms: f64, peak_bytes: &[u64]) -> RacedSide {
        let home = tempfile::tempdir().unwrap();
        let store = RaceStore::new(home.path());
        let races: Vec<Race> = docs_per_s
            .iter()
            .enumerate()
            .map(|(i, rate)| race(&format!("{name}-{i}"), *rate, p99_ms + i as f64))
            .collect();
        for (i, race) in races.iter().enumerate() {
            store.save(race).unwrap();
            let server = ServerMeasurements {
                peak_resident_bytes: peak_bytes.get(i).copied(),
                cpu_s: Some(5.0),
                ..ServerMeasurements::default()
            };
            let race_id = race.race_id.clone();
            store.save_measurements(&Measurements { race_id, server, ..Measurements::default() }).unwrap();
        }
        RacedSide::read(name, races, &store).unwrap()
    }

    #[test]
    fn a_side_has_results_and_measurements_and_a_typical_race() {
        let side = side("a", &[90.0, 101.0, 140.0], 9.0, &[10, 20, 30]);
        let peak = side.named().find(|figure| figure.key == "race.peak_memory").unwrap();
        assert_eq!(side.values(peak), Some(vec![10.0, 20.0, 30.0]));
        assert_eq!(side.typical().unwrap().race_id, "a-1");
        assert!(
            RacedSide::read("b", Vec::new(), &RaceStore::new("/x".as_ref())).unwrap().typical().is_none()
        );
    }

    #[test]
    fn a_peak_from_before_the_race_is_no_figure_of_it() {
        let measurements = |is_peak_of_race| Measurements {
            server: ServerMeasurements {
                peak_resident_bytes: Some(7),
                is_peak_of_race,
                ..ServerMeasurements::default()
            },
            ..Measurements::default()
        };
        let count = |is_of_race| figures::of_measurements(&measurements(is_of_race)).len();
        assert_eq!([count(None), count(Some(true)), count(Some(false))], [1, 1, 0]);
    }
}
