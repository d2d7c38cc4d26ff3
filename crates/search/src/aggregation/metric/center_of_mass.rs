//! The center of mass of points and shapes. Only the parts of the highest dimension have a weight. Source:
//! Elasticsearch's `CentroidCalculator`.

use limber_mapping::geo::{GridPoint, GridShape, PartKind, Position, Surface};

use super::super::values::kahan::KahanSum;

/// The dimension of a part of a shape.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Dimension {
    /// The weight of a point is 1.
    #[default]
    Point,
    /// The weight of a line is its length.
    Line,
    /// The weight of a polygon is its area.
    Polygon,
}

/// Weighted sums of the coordinates of positions.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CenterOfMass {
    x: KahanSum,
    y: KahanSum,
    weight: KahanSum,
    dimension: Dimension,
}

impl CenterOfMass {
    /// Returns the center; `None` if nothing was added.
    pub(super) fn position(&self) -> Option<Position> {
        let weight = self.weight.value;
        (weight > 0.0).then_some((self.x.value / weight, self.y.value / weight))
    }

    /// Adds a point.
    #[inline]
    pub(super) fn add_point(&mut self, at: Position) {
        self.add_part(Dimension::Point, at, 1.0);
    }

    /// Adds all parts of a shape.
    pub(super) fn add_shape(&mut self, surface: Surface, shape: &GridShape) {
        for part in &shape.parts {
            match part.kind {
                PartKind::Points => {
                    part.lists.iter().flatten().for_each(|at| self.add_point(surface.position(*at)));
                }
                PartKind::Line => part.lists.iter().for_each(|line| self.add_line(surface, line)),
                PartKind::Polygon => self.add_polygon(surface, &part.lists),
            }
        }
    }

    /// Adds what was added to another center.
    pub(super) fn merge(&mut self, other: &CenterOfMass) {
        if other.dimension > self.dimension {
            *self = *other;
        } else if other.dimension == self.dimension {
            self.x.add(other.x.value);
            self.y.add(other.y.value);
            self.weight.add(other.weight.value);
        }
    }

    /// Moves the center along the x axis.
    pub(super) fn move_x(&mut self, distance: f64) {
        self.x.add(distance * self.weight.value);
    }

    /// Adds the center of a part.
    #[inline]
    fn add_part(&mut self, dimension: Dimension, (x, y): Position, weight: f64) {
        // The center of a tiny area may not be a number.
        if dimension < self.dimension || !x.is_finite() || !y.is_finite() {
            return;
        }
        if dimension > self.dimension {
            *self = CenterOfMass { dimension, ..CenterOfMass::default() };
        }
        self.x.add(x * weight);
        self.y.add(y * weight);
        self.weight.add(weight);
    }

    fn add_line(&mut self, surface: Surface, line: &[GridPoint]) {
        for pair in line.windows(2) {
            let [a, b] = [pair[0], pair[1]].map(|at| surface.position(at));
            let length = (b.0 - a.0).hypot(b.1 - a.1);
            if length == 0.0 {
                self.add_point(a);
            } else {
                self.add_part(Dimension::Line, (a.0.midpoint(b.0), a.1.midpoint(b.1)), length);
            }
        }
    }

    fn add_polygon(&mut self, surface: Surface, rings: &[Vec<GridPoint>]) {
        let parts: Vec<(Position, f64)> = rings.iter().map(|ring| center_and_area(surface, ring)).collect();
        // Holes are taken away.
        let weight_of = |ring: usize, area: f64| if ring == 0 { area } else { -area };
        let total: f64 = parts.iter().enumerate().map(|(ring, (_, area))| weight_of(ring, *area)).sum();
        if total == 0.0 && self.dimension != Dimension::Polygon {
            if let Some(outer) = rings.first() {
                self.add_line(surface, outer);
            }
            return;
        }
        for (ring, (center, area)) in parts.into_iter().enumerate() {
            self.add_part(Dimension::Polygon, center, weight_of(ring, area));
        }
    }
}

/// Returns the center of mass of the area in a ring, and the area.
fn center_and_area(surface: Surface, ring: &[GridPoint]) -> (Position, f64) {
    let Some(&first) = ring.first() else { return ((0.0, 0.0), 0.0) };
    let (first_x, first_y) = surface.position(first);
    let apart = |at: GridPoint| {
        let (x, y) = surface.position(at);
        (x - first_x, y - first_y)
    };
    let (mut doubled, mut x, mut y) = (0.0, 0.0, 0.0);
    for pair in ring.windows(2) {
        let (a, b) = (apart(pair[0]), apart(pair[1]));
        let cross = a.0 * b.1 - b.0 * a.1;
        doubled += cross;
        x += cross * (a.0 + b.0);
        y += cross * (a.1 + b.1);
    }
    ((first_x + x / (3.0 * doubled), first_y + y / (3.0 * doubled)), doubled.abs() / 2.0)
}
