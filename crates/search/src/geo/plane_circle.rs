//! Circles on a plane: "is this point in the circle, and does this line touch it?"
//!
//! Source: Lucene's `XYCircle` and `Circle2D`.

use limber_mapping::RequestError;
use limber_mapping::geo::{GridBounds, GridPoint, Position, Surface};
use limber_mapping::number::java_float;
use limber_segment::points::Overlap;

/// All points of a plane up to a distance from a center. Coordinates and distance are floats.
#[derive(Debug)]
pub(crate) struct PlaneCircle {
    center: Position,
    radius: f64,
    grid_center: GridPoint,
    bounds: GridBounds,
}

impl PlaneCircle {
    /// Builds a circle.
    ///
    /// # Errors
    /// The radius is not positive, or a number is not finite as a float.
    pub fn new(center: Position, radius: f64) -> Result<PlaneCircle, RequestError> {
        let rounded = radius as f32;
        if rounded.is_nan() || rounded <= 0.0 {
            let reason = format!("radius must be bigger than 0, got {}", java_float(rounded));
            return Err(RequestError::illegal_argument(reason));
        }
        if rounded.is_infinite() {
            let reason = format!("radius must be finite, got {}", java_float(rounded));
            return Err(RequestError::illegal_argument(reason));
        }
        let grid_center = Surface::Plane.point(center)?;
        let (center, radius) = (Surface::Plane.position(grid_center), f64::from(rounded));
        let within = |value: f64| value.clamp(f64::from(f32::MIN), f64::from(f32::MAX));
        let corner = |way: f64| Surface::Plane.corner((within(center.0 + way), within(center.1 + way)));
        let bounds = GridBounds::of([&corner(-radius)?, &corner(radius)?]);
        Ok(PlaneCircle { center, radius, grid_center, bounds })
    }

    /// Returns the center on the grid.
    pub fn grid_center(&self) -> GridPoint {
        self.grid_center
    }

    /// Returns the smallest rectangle of the grid around the circle.
    pub fn grid_bounds(&self) -> GridBounds {
        self.bounds
    }

    /// Whether a position is in the circle.
    pub fn has(&self, (x, y): Position) -> bool {
        let (apart_x, apart_y) = (x - self.center.0, y - self.center.1);
        apart_x * apart_x + apart_y * apart_y <= self.radius * self.radius
    }

    /// Whether the circle touches the line between two positions.
    pub fn meets_line(&self, a: Position, b: Position) -> bool {
        let (x, y) = (b.0 - a.0, b.1 - a.1);
        let length = x * x + y * y;
        if length == 0.0 {
            return self.has(a);
        }
        let share = ((self.center.0 - a.0) * x + (self.center.1 - a.1) * y) / length;
        let share = share.clamp(0.0, 1.0);
        self.has((a.0 + share * x, a.1 + share * y))
    }

    /// Returns the relation of a rectangle of the grid to the circle.
    pub fn overlap(&self, cell: &GridBounds) -> Overlap {
        let (left, bottom) = Surface::Plane.position((cell.x.0, cell.y.0));
        let (right, top) = Surface::Plane.position((cell.x.1, cell.y.1));
        let nearest = (self.center.0.clamp(left, right), self.center.1.clamp(bottom, top));
        if !self.has(nearest) {
            return Overlap::None;
        }
        let corners = [(left, bottom), (right, bottom), (right, top), (left, top)];
        match corners.into_iter().all(|corner| self.has(corner)) {
            true => Overlap::All,
            false => Overlap::Some,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_lines_and_rectangles_near_a_circle() {
        let circle = PlaneCircle::new((1000.0, -500.0), 50.0).expect("a circle");
        assert!(circle.has((1030.0, -460.0)) && !circle.has((1030.1, -460.0)));
        assert!(circle.meets_line((0.0, -450.0), (2000.0, -450.0)));
        assert!(!circle.meets_line((0.0, -449.0), (2000.0, -449.0)));
        assert!(circle.meets_line((1000.0, -500.0), (1000.0, -500.0)));
        assert!(!circle.meets_line((0.0, -500.0), (900.0, -500.0)));
        let overlap = |west: f64, east: f64, south: f64, north: f64| {
            let corner = |x: f64, y: f64| Surface::Plane.corner((x, y)).expect("finite");
            circle.overlap(&GridBounds::of([&corner(west, south), &corner(east, north)]))
        };
        assert_eq!(overlap(990.0, 1010.0, -510.0, -490.0), Overlap::All);
        assert_eq!(overlap(0.0, 2000.0, -1000.0, 0.0), Overlap::Some);
        assert_eq!(overlap(1040.0, 1060.0, -460.0, -440.0), Overlap::None);
    }

    #[test]
    fn a_circle_has_a_finite_size() {
        let reason = |radius: f64| PlaneCircle::new((0.0, 0.0), radius).expect_err("refused").reason;
        assert_eq!(reason(0.0), "radius must be bigger than 0, got 0.0");
        assert_eq!(reason(-1.5), "radius must be bigger than 0, got -1.5");
        assert_eq!(reason(1e39), "radius must be finite, got Infinity");
    }
}
