//! `cartesian_centroid`: the mean of the points on a plane of a bucket, and their number. Source:
//! Elasticsearch's `InternalCartesianCentroid`.

use limber_mapping::RequestError;
use limber_mapping::geo::decode_on_plane;
use serde_json::{Map, Value, json};

use super::super::answer::partial::OwnFinding;
use super::super::answer::reduce::Reducer;
use super::super::answer::render::Renderer;
use super::super::collector::Collector;
use super::super::definition::{Collect, CollectorContext, Reduce, Render, Request};
use super::super::options::{Options, ValuesOptions};
use super::super::source::Accepts;
use super::super::tree::{Aggregation, Kind};
use super::places::{self, PlacesCollector, PlacesState, Sums};
use crate::error::Result;

/// The options of a `cartesian_centroid`: the field of the points.
#[derive(Debug, Clone)]
pub struct CartesianCentroid {
    values: ValuesOptions,
}

impl CartesianCentroid {
    pub(crate) fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        let values = ValuesOptions::parse_cartesian_places(options, "field, script")?;
        Ok(Kind::own(CartesianCentroid { values }))
    }
}

impl Request for CartesianCentroid {
    fn values(&self) -> Vec<(&ValuesOptions, Accepts)> {
        vec![(&self.values, Accepts::CartesianPlaces)]
    }

    fn takes_subs(&self) -> bool {
        false
    }
}

impl Collect for CartesianCentroid {
    fn collector<'s>(&'s self, context: CollectorContext<'s>) -> Result<Box<dyn Collector<'s> + 's>> {
        Ok(Box::new(PlacesCollector::<PlaneCentroid>::new(&context)?))
    }
}

impl Reduce for CartesianCentroid {
    type Finding = PlaneCentroid;

    fn reduce(
        &self,
        _: &Aggregation,
        parts: Vec<PlaneCentroid>,
        _: &mut Reducer<'_>,
    ) -> Result<PlaneCentroid> {
        Ok(places::merged(&parts))
    }
}

impl Render for CartesianCentroid {
    fn render(&self, state: &PlaneCentroid, _: &Renderer<'_>, out: &mut Map<String, Value>) -> Result<()> {
        if let Some((x, y)) = state.0.means() {
            out.insert("location".into(), json!({"x": x, "y": y}));
        }
        out.insert("count".into(), state.0.count.into());
        Ok(())
    }
}

/// Sums of the coordinates.
#[derive(Debug, Clone, Copy, Default)]
pub struct PlaneCentroid(Sums);

impl OwnFinding for PlaneCentroid {}

impl PlacesState for PlaneCentroid {
    #[inline]
    fn add(&mut self, stored: i64) {
        let (x, y) = decode_on_plane(stored);
        self.0.add(x, y);
    }

    fn merge(&mut self, other: &PlaneCentroid) {
        self.0.merge(&other.0);
    }
}
