//! The geometry of a feature: pixels as commands of a pen.

use limber_codec::varint;
use limber_work::{self as work, Stop};

use super::clip::{Box, Pixel, rounded, simplified};

const MOVE_TO: u32 = 1;
const LINE_TO: u32 = 2;
const CLOSE_PATH: u32 = 7;

/// The kind of a feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OutlineKind {
    Points = 1,
    Lines = 2,
    Polygons = 3,
}

/// The geometry of a feature.
#[derive(Debug, Clone, PartialEq)]
pub struct Outline {
    pub(super) kind: OutlineKind,
    /// Command and count, and after it pairs of numbers.
    pub(super) commands: Vec<u32>,
}

/// A pen that encodes each position as the offset from the previous one.
struct Pen {
    at: (i64, i64),
    commands: Vec<u32>,
}

impl Pen {
    fn new() -> Pen {
        Pen { at: (0, 0), commands: Vec::new() }
    }

    fn command(&mut self, id: u32, count: usize) {
        self.commands.push(id | (count as u32) << 3);
    }

    fn go(&mut self, to: (i64, i64)) {
        // Steps have 32 bits and wrap around, in the reader as well as here.
        let step = |to: i64, from: i64| varint::zigzag(i64::from((to - from) as i32)) as u32;
        self.commands.push(step(to.0, self.at.0));
        self.commands.push(step(to.1, self.at.1));
        self.at = to;
    }

    fn path(&mut self, path: &[(i64, i64)]) {
        self.command(MOVE_TO, 1);
        self.go(path[0]);
        self.command(LINE_TO, path.len() - 1);
        path[1..].iter().for_each(|at| self.go(*at));
    }

    fn outline(self, kind: OutlineKind) -> Option<Outline> {
        (!self.commands.is_empty()).then_some(Outline { kind, commands: self.commands })
    }
}

impl Outline {
    /// Draws a rectangle of whole pixels; a line or a point if it has no width or height.
    pub(super) fn rectangle((left, right): (i64, i64), (top, bottom): (i64, i64)) -> Outline {
        let mut pen = Pen::new();
        let kind = match (left == right, top == bottom) {
            (true, true) => {
                pen.command(MOVE_TO, 1);
                pen.go((left, bottom));
                OutlineKind::Points
            }
            (false, false) => {
                pen.path(&[(left, bottom), (left, top), (right, top), (right, bottom)]);
                pen.command(CLOSE_PATH, 1);
                OutlineKind::Polygons
            }
            _ => {
                pen.path(&[(left, bottom), (right, top)]);
                OutlineKind::Lines
            }
        };
        Outline { kind, commands: pen.commands }
    }
}

/// Returns the points inside a square; consecutive points on the same pixel count once.
pub(super) fn points_of(pixels: &[Pixel], within: Box) -> Option<Outline> {
    let mut places: Vec<(i64, i64)> = (pixels.iter().map(|pixel| rounded(*pixel)))
        .filter(|(x, y)| within.contains(Pixel { x: *x as f64, y: *y as f64 }))
        .collect();
    places.dedup();
    let mut pen = Pen::new();
    if !places.is_empty() {
        pen.command(MOVE_TO, places.len());
        places.iter().for_each(|place| pen.go(*place));
    }
    pen.outline(OutlineKind::Points)
}

/// Draws the parts of lines or polygons that lie inside a square.
pub(super) struct Drawing {
    within: Box,
    pen: Pen,
}

/// How many copies of a line's corners exist while it is drawn: moved, clipped, simplified and rounded ones.
const COPIES: usize = 6;

impl Drawing {
    /// Starts a drawing of what lies in the square `within`.
    pub fn new(within: Box) -> Drawing {
        Drawing { within, pen: Pen::new() }
    }

    /// Draws a line, `east` pixels further east.
    ///
    /// # Errors
    /// There is no memory for it, or the request is to end.
    pub fn line(&mut self, line: &[Pixel], east: f64) -> Result<(), Stop> {
        work::claim((COPIES * size_of_val(line)) as u64)?;
        let line: Vec<Pixel> = moved(line, east).collect();
        for part in self.within.line(&line) {
            let mut path: Vec<(i64, i64)> = simplified(&part)?.into_iter().map(rounded).collect();
            path.dedup();
            if path.len() > 1 {
                self.path(&path)?;
            }
        }
        Ok(())
    }

    /// Draws a polygon, `east` pixels further east. The first ring is the outer one.
    ///
    /// # Errors
    /// There is no memory for it, or the request is to end.
    pub fn polygon(&mut self, rings: &[Vec<Pixel>], east: f64) -> Result<(), Stop> {
        for (number, ring) in rings.iter().enumerate() {
            let is_drawn = self.ring(ring, east, number == 0)?;
            // There are no holes where there is no polygon.
            if number == 0 && !is_drawn {
                break;
            }
        }
        Ok(())
    }

    /// Draws a ring; returns whether anything of it is visible. Outer rings get a positive area, holes a
    /// negative one.
    fn ring(&mut self, ring: &[Pixel], east: f64, is_outer: bool) -> Result<bool, Stop> {
        work::claim((COPIES * size_of_val(ring)) as u64)?;
        let corners = ring.split_last().map_or(&[][..], |(_, corners)| corners);
        let mut ring = self.within.ring(moved(corners, east).collect());
        if let Some(first) = ring.first().copied() {
            ring.push(first);
        }
        let mut path: Vec<(i64, i64)> = simplified(&ring)?.into_iter().map(rounded).collect();
        path.dedup();
        path.pop();
        let area = doubled_area(&path);
        if path.len() < 3 || area == 0 {
            return Ok(false);
        }
        if (area > 0) != is_outer {
            path.reverse();
        }
        self.path(&path)?;
        self.pen.command(CLOSE_PATH, 1);
        Ok(true)
    }

    fn path(&mut self, path: &[(i64, i64)]) -> Result<(), Stop> {
        let bytes = |numbers: usize| numbers * size_of::<u32>();
        let commands = &self.pen.commands;
        // Two numbers for each corner, and three commands.
        work::check_growth(bytes(commands.len()), bytes(commands.capacity()), bytes(2 * path.len() + 3))?;
        self.pen.path(path);
        Ok(())
    }

    /// Returns what was drawn; `None` if nothing is inside the square.
    pub fn outline(self, kind: OutlineKind) -> Option<Outline> {
        self.pen.outline(kind)
    }
}

fn moved(corners: &[Pixel], east: f64) -> impl Iterator<Item = Pixel> + '_ {
    corners.iter().map(move |at| Pixel { x: at.x + east, y: at.y })
}

/// Returns twice the area of a ring, which is positive if the ring goes clockwise on a map whose y axis
/// points down. Coordinates have up to 33 bits, because extent and buffer may be any 32-bit numbers.
fn doubled_area(ring: &[(i64, i64)]) -> i128 {
    let product = |one: i64, other: i64| i128::from(one) * i128::from(other);
    let next = ring.iter().skip(1).chain(ring.first());
    ring.iter().zip(next).map(|(one, other)| product(one.0, other.1) - product(other.0, one.1)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn polygon(rings: &[Vec<Pixel>], within: Box) -> Outline {
        let mut drawing = Drawing::new(within);
        drawing.polygon(rings, 0.0).expect("no limit");
        drawing.outline(OutlineKind::Polygons).expect("drawn")
    }

    /// The example of the specification: the polygons of its section 4.3.5.6.
    #[test]
    fn rings_are_wound_as_the_specification_asks() {
        let ring = |corners: &[(f64, f64)]| corners.iter().map(|&(x, y)| Pixel { x, y }).collect::<Vec<_>>();
        let outer = ring(&[(11.0, 11.0), (11.0, 20.0), (20.0, 20.0), (20.0, 11.0), (11.0, 11.0)]);
        let hole = ring(&[(13.0, 13.0), (13.0, 17.0), (17.0, 17.0), (17.0, 13.0), (13.0, 13.0)]);
        let within = Box { least: 0.0, most: 100.0 };
        let outline = polygon(&[outer, hole], within);
        assert_eq!(outline.kind, OutlineKind::Polygons);
        assert_eq!(outline.commands.iter().filter(|command| **command == 15).count(), 2);
        assert_eq!(outline.commands[0], 9);
    }

    /// The largest extent and buffer that a request may have.
    #[test]
    fn rings_around_the_largest_tile_are_wound_alike() {
        let most = f64::from(i32::MAX);
        let around = |side: f64| {
            let corners = [(-side, -side), (-side, side), (side, side), (side, -side), (-side, -side)];
            vec![corners.map(|(x, y)| Pixel { x, y }).to_vec()]
        };
        let drawn = |side: f64, within: Box| polygon(&around(side), within).commands;
        let small = drawn(1e3, Box { least: -8.0, most: 16.0 });
        let large = drawn(1e12, Box { least: -most, most: 2.0 * most });
        let places = |commands: &[u32]| {
            let mut place = [0i32; 2];
            let mut found = Vec::new();
            for step in [&commands[1..3], &commands[4..10]].concat().chunks(2) {
                for (axis, step) in step.iter().enumerate() {
                    place[axis] = place[axis].wrapping_add(varint::unzigzag(u64::from(*step)) as i32);
                }
                found.push(place);
            }
            found
        };
        let (least, most) = (-i32::MAX, i32::MAX.wrapping_mul(2));
        let scaled = |at: i32| if at < 0 { least } else { most };
        let expected: Vec<[i32; 2]> = places(&small).iter().map(|place| place.map(scaled)).collect();
        assert_eq!(places(&small), [[-8, 16], [-8, -8], [16, -8], [16, 16]]);
        assert_eq!(places(&large), expected);
    }

    #[test]
    fn points_are_steps() {
        let pixels = [Pixel { x: 5.0, y: 7.0 }, Pixel { x: 3.0, y: 2.0 }, Pixel { x: 300.0, y: 2.0 }];
        let outline = points_of(&pixels, Box { least: 0.0, most: 100.0 }).expect("drawn");
        // The specification's example of a multipoint.
        assert_eq!(outline.commands, [17, 10, 14, 3, 9]);
    }
}
