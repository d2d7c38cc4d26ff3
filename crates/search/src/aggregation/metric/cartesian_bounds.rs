//! `cartesian_bounds`: the bounding box of the points or shapes of a bucket, on a plane. Source:
//! Elasticsearch's `InternalCartesianBounds`.

use limber_mapping::RequestError;
use limber_mapping::geo::{GridShape, Surface, decode_on_plane};
use serde_json::json;

use super::super::answer::members::Members;
use super::super::answer::partial::OwnFinding;
use super::super::answer::reduce::Reducer;
use super::super::answer::render::Renderer;
use super::super::collector::Collector;
use super::super::definition::{Collect, CollectorContext, Reduce, Render, Request};
use super::super::options::{Options, ValuesOptions};
use super::super::source::Accepts;
use super::super::tree::{Aggregation, Kind};
use super::places::{self, Ends, PlacesState, ShapesState};
use crate::error::Result;

/// The options of a `cartesian_bounds`: the field.
#[derive(Debug, Clone)]
pub struct CartesianBounds {
    values: ValuesOptions,
}

impl CartesianBounds {
    pub(crate) fn parse(options: &mut Options) -> std::result::Result<Kind, RequestError> {
        let values = ValuesOptions::parse_cartesian_places(options, "field")?;
        Ok(Kind::own(CartesianBounds { values }))
    }
}

impl Request for CartesianBounds {
    fn values(&self) -> Vec<(&ValuesOptions, Accepts)> {
        vec![(&self.values, Accepts::CartesianPlaces)]
    }

    fn takes_subs(&self) -> bool {
        false
    }
}

impl Collect for CartesianBounds {
    fn collector<'s>(&'s self, context: CollectorContext<'s>) -> Result<Box<dyn Collector<'s> + 's>> {
        places::of_places_or_shapes::<PlaneBounds>(&context)
    }
}

impl Reduce for CartesianBounds {
    type Finding = PlaneBounds;

    fn reduce(&self, _: &Aggregation, parts: Vec<PlaneBounds>, _: &mut Reducer<'_>) -> Result<PlaneBounds> {
        Ok(places::merged(&parts))
    }
}

impl Render for CartesianBounds {
    fn render(&self, state: &PlaneBounds, _: &Renderer<'_>, out: &mut Members<'_>) -> Result<()> {
        let PlaneBounds { x, y } = state;
        if !x.is_empty() {
            let bounds = json!({
                "top_left": {"x": x.least, "y": y.most},
                "bottom_right": {"x": x.most, "y": y.least},
            });
            out.insert("bounds", &bounds)?;
        }
        Ok(())
    }
}

/// The ranges of both coordinates.
#[derive(Debug, Clone, Copy)]
pub struct PlaneBounds {
    x: Ends,
    y: Ends,
}

impl OwnFinding for PlaneBounds {}

impl Default for PlaneBounds {
    fn default() -> PlaneBounds {
        PlaneBounds { x: Ends::NONE, y: Ends::NONE }
    }
}

impl PlacesState for PlaneBounds {
    #[inline]
    fn add(&mut self, stored: i64) {
        let (x, y) = decode_on_plane(stored);
        self.x.add(x, x);
        self.y.add(y, y);
    }

    fn merge(&mut self, other: &PlaneBounds) {
        self.x.add(other.x.least, other.x.most);
        self.y.add(other.y.least, other.y.most);
    }
}

impl ShapesState for PlaneBounds {
    fn add_shape(&mut self, shape: &GridShape) {
        places::spans(shape, |x, y| {
            let (left, bottom) = Surface::Plane.position((x.0, y.0));
            let (right, top) = Surface::Plane.position((x.1, y.1));
            self.x.add(left, right);
            self.y.add(bottom, top);
        });
    }
}
