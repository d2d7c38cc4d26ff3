//! Distances as sort keys: "how far is each document?"

use std::sync::Arc;

use limber_mapping::geo::{ArcFrom, DistanceKind, GeoPoint, Unit};
use limber_mapping::number::{java_double, sortable_from_f64};
use limber_mapping::{Field, RequestError};
use limber_segment::DocId;
use limber_segment::columns::Batch;
use limber_work as work;

use super::key::ordered;
use crate::context::ShardSnapshot;
use crate::error::{Result, check_request};
use crate::geo::Validation;
use crate::request::GeoSort;
use crate::script::NumberSource;
use crate::values::mode::MultiValueMode;

/// Distances that are computed between two checks of the request; each takes some 20 ns.
const PAIRS_BETWEEN_CHECKS: usize = 4096;

/// Points that distances are measured from.
#[derive(Debug, Clone)]
pub(crate) struct Origins {
    points: Vec<ArcFrom>,
    kind: DistanceKind,
    unit_meters: f64,
}

impl Origins {
    /// Binds the origins of a sort, and its field if it is mapped. `is_nearest_first`: ascending by the
    /// nearest point of each document.
    pub fn bind(
        sort: &GeoSort,
        is_nearest_first: bool,
        shard: &ShardSnapshot,
    ) -> Result<(Origins, Option<Arc<Field>>)> {
        // Elasticsearch leaves this case to Lucene, which only has arc distances.
        let is_lucenes = is_nearest_first && sort.points.len() == 1 && sort.unit == Unit::METERS;
        let mut points = Vec::with_capacity(sort.points.len());
        for point in &sort.points {
            points.push(checked(*point, sort)?);
        }
        let origins = Origins {
            points: points.iter().map(|point| ArcFrom::new(point.latitude, point.longitude)).collect(),
            kind: if is_lucenes { DistanceKind::Arc } else { sort.kind },
            unit_meters: sort.unit.meters,
        };
        match shard.mapping.field(&sort.path) {
            None if sort.ignore_unmapped => Ok((origins, None)),
            None => Err(RequestError::illegal_argument(format!(
                "failed to find mapper for [{}] for geo distance based sort",
                sort.path
            ))
            .into()),
            Some(field) if !field.is_point() => Err(RequestError::illegal_argument(format!(
                "unable to apply geo distance sort to field [{}] of type [{}]",
                sort.path,
                field.type_name()
            ))
            .into()),
            Some(field) => {
                crate::context::columns::check_column(&field, shard)?;
                Ok((origins, Some(field)))
            }
        }
    }

    #[inline]
    fn distance(&self, from: &ArcFrom, stored: i64) -> f64 {
        let point = GeoPoint::decode(stored);
        self.kind.meters(from, point.latitude, point.longitude) / self.unit_meters
    }

    /// Reduces the distances of the places of one document, at least one, to one by the sort's mode. A
    /// request chooses the number of origins, and a document that of places: `distances` holds all pairs,
    /// but only for modes that need them in order.
    fn picked(&self, places: &[i64], mode: MultiValueMode, distances: &mut Vec<f64>) -> Result<f64> {
        let origin_count = self.points.len().max(1);
        let chunks = || places.chunks((PAIRS_BETWEEN_CHECKS / origin_count).max(1));
        let of_place = |place: &i64| {
            let place = *place;
            self.points.iter().map(move |from| self.distance(from, place))
        };
        let extreme = |start: f64, better: fn(f64, f64) -> f64| {
            chunks().try_fold(start, |best, chunk| {
                check_request()?;
                Ok(chunk.iter().flat_map(of_place).fold(best, better))
            })
        };
        match mode {
            MultiValueMode::Min => extreme(f64::INFINITY, f64::min),
            MultiValueMode::Max => extreme(f64::NEG_INFINITY, f64::max),
            MultiValueMode::Median | MultiValueMode::Sum | MultiValueMode::Avg => {
                work::claim((places.len() * origin_count * size_of::<f64>()) as u64)?;
                distances.clear();
                for chunk in chunks() {
                    check_request()?;
                    distances.extend(chunk.iter().flat_map(of_place));
                }
                distances.sort_unstable_by(f64::total_cmp);
                Ok(pick(distances, mode))
            }
        }
    }
}

fn checked(point: GeoPoint, sort: &GeoSort) -> std::result::Result<GeoPoint, RequestError> {
    let (what, value, end) = match (-90.0..=90.0).contains(&point.latitude) {
        true if (-180.0..=180.0).contains(&point.longitude) => return Ok(point),
        true => ("longitude", java_double(point.longitude), "180.0"),
        false => ("latitude", java_double(point.latitude), "90.0"),
    };
    match sort.validation {
        Validation::Coerce => Ok(point.normalized()),
        Validation::Strict => Err(RequestError::bad_request(
            "parse_exception",
            format!("illegal {what} value [{value}] for [GeoDistanceSort] for field [{}].", sort.path),
        )),
        Validation::IgnoreMalformed => Err(RequestError::illegal_argument(format!(
            "invalid {what} {value}; must be between -{end} and {end}"
        ))),
    }
}

/// Reads the distances of a segment's documents.
pub(crate) struct DistanceReader<'a> {
    column: Option<NumberSource<'a>>,
    origins: Arc<Origins>,
    mode: MultiValueMode,
    descending: bool,
    /// Key of documents without a point; already inverted if the order is descending.
    missing: i64,
    batch: Batch<i64>,
    distances: Vec<f64>,
}

impl<'a> DistanceReader<'a> {
    pub(crate) fn new(
        column: Option<NumberSource<'a>>,
        origins: Arc<Origins>,
        mode: MultiValueMode,
        descending: bool,
        missing: i64,
    ) -> DistanceReader<'a> {
        DistanceReader {
            column,
            origins,
            mode,
            descending,
            missing,
            batch: Batch::default(),
            distances: Vec::new(),
        }
    }

    /// Whether the farthest documents come first.
    pub fn descending(&self) -> bool {
        self.descending
    }

    /// Returns the position of each place's document among `docs`.
    pub fn valued(&mut self, docs: &[DocId]) -> Result<Vec<usize>> {
        let Some(column) = &self.column else { return Ok(Vec::new()) };
        column.gather(docs, &mut self.batch)?;
        Ok(self.batch.iter().map(|(position, _)| position).collect())
    }

    /// Computes one key for each of `count` owners: `docs[i]` belongs to `owners[i]`, both ascending.
    /// `None`: each document is its own owner.
    pub fn read(
        &mut self,
        docs: &[DocId],
        owners: Option<&[u32]>,
        count: usize,
        out: &mut Vec<i64>,
    ) -> Result<()> {
        out.resize(count, self.missing);
        let Some(column) = &self.column else { return Ok(()) };
        column.gather(docs, &mut self.batch)?;
        let order = |distance: f64| ordered(sortable_from_f64(distance), self.descending);
        if let (true, [from], None) = (self.batch.is_aligned(), &self.origins.points[..], owners) {
            for (out, stored) in out.iter_mut().zip(&self.batch.values) {
                *out = order(self.origins.distance(from, *stored));
            }
            return Ok(());
        }
        let mut at = 0;
        let owner = |position: usize| owners.map_or(position, |owners| owners[position] as usize);
        let positions: Vec<usize> = self.batch.iter().map(|(position, _)| owner(position)).collect();
        while at < positions.len() {
            let position = positions[at];
            let count = positions[at..].iter().take_while(|other| **other == position).count();
            let places = &self.batch.values[at..at + count];
            out[position] = order(self.origins.picked(places, self.mode, &mut self.distances)?);
            at += count;
        }
        Ok(())
    }
}

/// Reduces several distances, which ascend, to one by the sort's mode.
fn pick(distances: &[f64], mode: MultiValueMode) -> f64 {
    let count = distances.len();
    match mode {
        MultiValueMode::Min => distances[0],
        MultiValueMode::Max => distances[count - 1],
        MultiValueMode::Median if count % 2 == 1 => distances[count / 2],
        MultiValueMode::Median => (distances[count / 2 - 1] + distances[count / 2]) / 2.0,
        MultiValueMode::Sum => distances.iter().sum(),
        MultiValueMode::Avg => distances.iter().sum::<f64>() / count as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origins(count: usize) -> Origins {
        let points = (0..count).map(|n| ArcFrom::new(n as f64 % 80.0, n as f64 % 170.0)).collect();
        Origins { points, kind: DistanceKind::Arc, unit_meters: 1.0 }
    }

    fn places(count: usize) -> Vec<i64> {
        let place = |n: usize| GeoPoint { latitude: n as f64 % 60.0, longitude: -(n as f64 % 90.0) };
        (0..count).map(|n| place(n).encode()).collect()
    }

    #[test]
    fn each_mode_reduces_all_pairs_of_places_and_origins() {
        let (origins, places) = (origins(7), places(5));
        let pairs =
            places.iter().flat_map(|place| origins.points.iter().map(|from| origins.distance(from, *place)));
        let mut all: Vec<f64> = pairs.collect();
        all.sort_unstable_by(f64::total_cmp);
        for mode in [
            MultiValueMode::Min,
            MultiValueMode::Max,
            MultiValueMode::Median,
            MultiValueMode::Sum,
            MultiValueMode::Avg,
        ] {
            let picked = origins.picked(&places, mode, &mut Vec::new()).expect("no request");
            assert_eq!(picked, pick(&all, mode), "{mode:?}");
        }
    }

    #[test]
    fn many_pairs_end_with_their_request() {
        let (origins, places) = (origins(2_000), places(200_000));
        let work = work::Work::default();
        work.cancelled.store(true, std::sync::atomic::Ordering::Relaxed);
        let _entered = work.enter();
        for mode in [MultiValueMode::Min, MultiValueMode::Avg] {
            let mut held = Vec::new();
            assert!(origins.picked(&places, mode, &mut held).is_err());
            assert_eq!(held.capacity(), 0);
        }
    }
}
