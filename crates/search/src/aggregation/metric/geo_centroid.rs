//! `geo_centroid`: the middle of the places of a bucket, and how many they are. Source: Elasticsearch's `InternalGeoCentroid`.

use limber_mapping::RequestError;
use limber_mapping::geo::GeoPoint;
use limber_segment::SegmentView;
use serde_json::{Map, Value, json};

use super::super::budget::Budget;
use super::super::collector::Collector;
use super::super::definition::{Definition, Place};
use super::super::entries::Entries;
use super::super::kahan::KahanSum;
use super::super::options::{Options, ValuesOptions};
use super::super::partial::Partial;
use super::super::reduce::Reducer;
use super::super::render::Renderer;
use super::super::source::{Accepts, NumberReader, Source};
use super::super::tree::{Aggregation, Kind};
use crate::error::Result;

#[derive(Debug, Clone)]
pub struct GeoCentroid {
    values: ValuesOptions,
}

impl GeoCentroid {
    pub fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        let values = ValuesOptions::parse_places(options, "field, script")?;
        Ok(Kind::own(GeoCentroid { values }))
    }
}

impl Definition for GeoCentroid {
    fn values(&self) -> Vec<(&ValuesOptions, Accepts)> {
        vec![(&self.values, Accepts::Places)]
    }

    fn takes_subs(&self) -> bool {
        false
    }

    fn collector<'s>(&'s self, place: Place<'s>) -> Result<Box<dyn Collector<'s> + 's>> {
        let source = &place.bound.sources()[0];
        Ok(Box::new(GeoCentroidCollector {
            source,
            reader: NumberReader::new(source, &self.values.field)?,
            states: Vec::new(),
            starts: Vec::new(),
            budget: place.budget,
        }))
    }

    fn reduce(&self, _: &Aggregation, parts: Vec<Partial>, _: &mut Reducer<'_>) -> Result<Partial> {
        let mut merged = CentroidState::default();
        parts.iter().filter_map(Partial::as_own).for_each(|state| merged.merge(state));
        Ok(Partial::own(merged))
    }

    fn render(&self, partial: &Partial, _: &Renderer<'_>, out: &mut Map<String, Value>) {
        if let Some(state) = partial.as_own::<CentroidState>() {
            out.extend(state.to_json());
        }
    }
}

/// Sums of coordinates in degrees.
#[derive(Debug, Clone, Copy, Default)]
struct CentroidState {
    latitudes: KahanSum,
    longitudes: KahanSum,
    count: u64,
}

impl CentroidState {
    fn merge(&mut self, other: &CentroidState) {
        self.latitudes.add(other.latitudes.value);
        self.longitudes.add(other.longitudes.value);
        self.count += other.count;
    }

    fn to_json(self) -> Map<String, Value> {
        let mut out = Map::new();
        if self.count > 0 {
            let count = self.count as f64;
            let middle = json!({"lat": self.latitudes.value / count, "lon": self.longitudes.value / count});
            out.insert("location".into(), middle);
        }
        out.insert("count".into(), self.count.into());
        out
    }
}

#[derive(Debug)]
struct GeoCentroidCollector<'s> {
    source: &'s Source,
    reader: NumberReader<'s>,
    states: Vec<CentroidState>,
    starts: Vec<u32>,
    budget: &'s Budget,
}

impl<'s> Collector<'s> for GeoCentroidCollector<'s> {
    fn begin_segment(&mut self, view: &'s SegmentView) -> Result<()> {
        self.reader.begin(&view.segment, self.source.is_mapped())
    }

    fn collect(&mut self, entries: &Entries<'_>) -> Result<()> {
        if entries.bucket_count > self.states.len() {
            let more = entries.bucket_count - self.states.len();
            self.budget.spend((more * size_of::<CentroidState>()) as u64)?;
            self.states.resize(entries.bucket_count, CentroidState::default());
        }
        let places = self.reader.load(entries.docs)?;
        let states = &mut self.states;
        places.join(entries, &mut self.starts, |_, bucket, place| {
            let (state, point) = (&mut states[bucket as usize], GeoPoint::decode(place));
            state.latitudes.add(point.latitude);
            state.longitudes.add(point.longitude);
            state.count += 1;
        });
        Ok(())
    }

    fn finish(&mut self, buckets: &[u32]) -> Result<Vec<Partial>> {
        let state = |bucket: &u32| self.states.get(*bucket as usize).copied().unwrap_or_default();
        Ok(buckets.iter().map(|bucket| Partial::own(state(bucket))).collect())
    }
}
