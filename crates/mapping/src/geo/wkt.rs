//! Well-known text: "which shape does this text describe?"
//!
//! Implements the grammar and the messages of Elasticsearch's `WellKnownText`, whose `BBOX` and `CIRCLE` no
//! crate supports.

use super::geometry::{Geometry, Position, Rectangle};
use super::surface::Surface;
use crate::RequestError;
use crate::number::java_double;

/// Maximum nesting depth of collections, because each level uses stack space. Elasticsearch stops at 1,000.
const DEPTH_MAX: usize = 100;

/// How coordinates are treated where Elasticsearch is strict in some cases and lenient in others.
#[derive(Debug, Clone, Copy)]
pub struct WktOptions {
    /// Third coordinates are ignored; otherwise they are refused.
    pub allow_z: bool,
    /// Open rings are closed; otherwise they are refused.
    pub coerce: bool,
    /// Positions outside of the map are accepted unchanged; otherwise they are refused.
    pub off_map: bool,
}

/// Texts up to this size, such as those of points, are not worth a claim.
const UNCLAIMED_BYTES_MAX: usize = 4 << 10;
/// Bytes that a shape takes per byte of its text, at most: a line with two short positions is ten bytes of
/// text, and a hundred in a list that has grown to twice of what it holds.
const GEOMETRY_BYTES_A_BYTE: u64 = 12;

/// Parses a shape. As in Elasticsearch, anything after it is ignored.
///
/// # Errors
/// `parse_exception` or `illegal_argument_exception`, without the text that was parsed; `TooManyRequests` if
/// there is not enough memory.
pub fn geometry_from_wkt(text: &str, options: WktOptions) -> Result<Geometry, RequestError> {
    parse(Surface::Globe, text, options)
}

/// Parses a shape on a surface like [`geometry_from_wkt`]. Positions may lie anywhere; `allow_z` and `coerce`
/// are those of [`WktOptions`].
///
/// # Errors
/// Those of [`geometry_from_wkt`].
pub fn geometry_from_wkt_on(
    surface: Surface,
    text: &str,
    allow_z: bool,
    coerce: bool,
) -> Result<Geometry, RequestError> {
    parse(surface, text, WktOptions { allow_z, coerce, off_map: true })
}

fn parse(surface: Surface, text: &str, options: WktOptions) -> Result<Geometry, RequestError> {
    if text.len() > UNCLAIMED_BYTES_MAX {
        limber_work::claim(text.len() as u64 * GEOMETRY_BYTES_A_BYTE)?;
    }
    Reader { rest: text, options, surface }.geometry(0)
}

struct Reader<'t> {
    rest: &'t str,
    options: WktOptions,
    surface: Surface,
}

fn refused(reason: String) -> RequestError {
    RequestError::bad_request("parse_exception", reason)
}

impl<'t> Reader<'t> {
    /// Returns the next word, number, or one of `(`, `)` and `,`; empty at the end.
    fn peek(&self) -> &'t str {
        let text = self.rest.trim_start();
        match text.chars().next() {
            None => "",
            Some('(' | ')' | ',') => &text[..1],
            Some(_) => {
                let end = text.find(|c: char| matches!(c, '(' | ')' | ',') || c.is_whitespace());
                &text[..end.unwrap_or(text.len())]
            }
        }
    }

    fn take(&mut self) -> &'t str {
        let token = self.peek();
        self.rest = &self.rest.trim_start()[token.len()..];
        token
    }

    fn unexpected(wanted: &str, found: &str) -> RequestError {
        let found = if found.is_empty() { "END-OF-STREAM".to_owned() } else { format!("'{found}'") };
        refused(format!("expected {wanted} but found: {found}"))
    }

    /// Reads the word that starts a shape's coordinates. Returns whether it was `EMPTY`.
    fn is_empty(&mut self) -> Result<bool, RequestError> {
        match self.take() {
            "(" => Ok(false),
            word if word.eq_ignore_ascii_case("EMPTY") => Ok(true),
            other => Err(Self::unexpected("'EMPTY' or '('", other)),
        }
    }

    fn open(&mut self) -> Result<(), RequestError> {
        match self.take() {
            "(" => Ok(()),
            other => Err(Self::unexpected("'('", other)),
        }
    }

    fn close(&mut self) -> Result<(), RequestError> {
        match self.take() {
            ")" => Ok(()),
            other => Err(Self::unexpected("')'", other)),
        }
    }

    /// Whether another item follows (`,`), or the list ends (`)`).
    fn goes_on(&mut self) -> Result<bool, RequestError> {
        match self.take() {
            "," => Ok(true),
            ")" => Ok(false),
            other => Err(Self::unexpected("',' or ')'", other)),
        }
    }

    fn number(&mut self) -> Result<f64, RequestError> {
        match self.take() {
            token @ ("" | "(" | ")" | ",") => Err(Self::unexpected("number", token)),
            word if word.eq_ignore_ascii_case("NaN") => Ok(f64::NAN),
            word => match word.parse::<f64>() {
                Ok(number) if number.is_finite() => Ok(number),
                _ => Err(refused(format!("invalid number found: {word}"))),
            },
        }
    }

    fn is_number_next(&self) -> bool {
        !matches!(self.peek(), "" | "(" | ")" | ",")
    }

    /// Skips a third coordinate, if there is one.
    fn pass_z(&mut self) -> Result<(), RequestError> {
        if self.is_number_next() {
            check_z(self.number()?, self.options.allow_z)?;
        }
        Ok(())
    }

    fn position(&mut self) -> Result<Position, RequestError> {
        let position = (self.number()?, self.number()?);
        self.pass_z()?;
        if self.options.off_map { Ok(position) } else { checked(position) }
    }

    /// Reads positions up to the `)`.
    fn positions(&mut self) -> Result<Vec<Position>, RequestError> {
        let mut found = vec![self.position()?];
        while self.goes_on()? {
            found.push(self.position()?);
        }
        Ok(found)
    }

    /// Reads `(…), (…))`, after the first `(`.
    fn lists<T>(
        &mut self,
        one: impl Fn(&mut Self) -> Result<T, RequestError>,
    ) -> Result<Vec<T>, RequestError> {
        let mut found = Vec::new();
        loop {
            self.open()?;
            found.push(one(self)?);
            if !self.goes_on()? {
                return Ok(found);
            }
        }
    }

    fn line(&mut self) -> Result<Vec<Position>, RequestError> {
        let line = self.positions()?;
        if line.len() < 2 {
            return Err(RequestError::illegal_argument("at least two points in the line is required"));
        }
        Ok(line)
    }

    fn ring(&mut self) -> Result<Vec<Position>, RequestError> {
        ring(self.positions()?, self.options.coerce)
    }

    fn rings(&mut self) -> Result<Vec<Vec<Position>>, RequestError> {
        self.lists(Self::ring)
    }

    /// Reads the points of a multipoint, each with or without brackets of its own.
    fn points(&mut self) -> Result<Vec<Position>, RequestError> {
        let mut points = Vec::new();
        loop {
            let in_brackets = self.peek() == "(";
            if in_brackets {
                self.open()?;
            }
            points.push(self.position()?);
            if in_brackets {
                self.close()?;
            }
            if !self.goes_on()? {
                return Ok(points);
            }
        }
    }

    /// Reads west, east, north and south of a box.
    fn bounding_box(&mut self) -> Result<Geometry, RequestError> {
        let mut ends = [0.0; 4];
        for (at, end) in ends.iter_mut().enumerate() {
            if at > 0 && self.take() != "," {
                return Err(refused("expected ','".to_owned()));
            }
            *end = self.number()?;
        }
        self.close()?;
        let [west, east, north, south] = ends;
        rectangle(self.surface, Rectangle { west, east, south, north })
    }

    /// Reads the center and the radius of a circle.
    fn circle(&mut self) -> Result<Geometry, RequestError> {
        let (center, radius_meters) = ((self.number()?, self.number()?), self.number()?);
        if self.is_number_next() {
            self.number()?;
        }
        self.close()?;
        Ok(Geometry::Circle { center, radius_meters })
    }

    fn geometry(&mut self, depth: usize) -> Result<Geometry, RequestError> {
        let word = self.take();
        let kind = word.to_ascii_uppercase();
        if depth > DEPTH_MAX {
            return Err(RequestError::illegal_argument(format!(
                "a geometry collection nested deeper than [{DEPTH_MAX}]"
            )));
        }
        let nothing = || Geometry::Collection(Vec::new());
        Ok(match kind.as_str() {
            "POINT" => match self.is_empty()? {
                true => Geometry::Point((0.0, 0.0)),
                false => {
                    let position = self.position()?;
                    self.close()?;
                    Geometry::Point(position)
                }
            },
            "MULTIPOINT" if self.is_empty()? => nothing(),
            "MULTIPOINT" => Geometry::MultiPoint(self.points()?),
            "LINESTRING" if self.is_empty()? => nothing(),
            "LINESTRING" => Geometry::Line(self.line()?),
            "MULTILINESTRING" if self.is_empty()? => nothing(),
            "MULTILINESTRING" => Geometry::MultiLine(self.lists(Self::line)?),
            "POLYGON" if self.is_empty()? => nothing(),
            "POLYGON" => Geometry::Polygon(self.rings()?),
            "MULTIPOLYGON" if self.is_empty()? => nothing(),
            "MULTIPOLYGON" => Geometry::MultiPolygon(self.lists(Self::rings)?),
            "BBOX" | "ENVELOPE" if self.is_empty()? => nothing(),
            "BBOX" | "ENVELOPE" => self.bounding_box()?,
            "CIRCLE" if self.is_empty()? => nothing(),
            "CIRCLE" => self.circle()?,
            "GEOMETRYCOLLECTION" if self.is_empty()? => nothing(),
            "GEOMETRYCOLLECTION" => {
                let mut parts = vec![self.geometry(depth + 1)?];
                while self.goes_on()? {
                    parts.push(self.geometry(depth + 1)?);
                }
                Geometry::Collection(parts)
            }
            _ if kind.is_empty() => return Err(Self::unexpected("word", "")),
            _ => return Err(RequestError::illegal_argument(format!("Unknown geometry type: {word}"))),
        })
    }
}

/// Refuses a third coordinate unless it is to be ignored.
pub(super) fn check_z(z: f64, allow_z: bool) -> Result<(), RequestError> {
    if allow_z {
        return Ok(());
    }
    Err(RequestError::illegal_argument(format!(
        "found Z value [{}] but [ignore_z_value] parameter is [false]",
        java_double(z)
    )))
}

/// Refuses positions outside of the map.
pub(super) fn checked(position: Position) -> Result<Position, RequestError> {
    let (longitude, latitude) = position;
    let refuse = |what: &str, value: f64, end: &str| {
        let value = java_double(value);
        let reason = format!("invalid {what} {value}; must be between -{end} and {end}");
        Err(RequestError::illegal_argument(reason))
    };
    if !(-180.0..=180.0).contains(&longitude) {
        return refuse("longitude", longitude, "180.0");
    }
    if !(-90.0..=90.0).contains(&latitude) {
        return refuse("latitude", latitude, "90.0");
    }
    Ok(position)
}

/// Makes an envelope. On the globe its corners must be on the map.
pub(super) fn rectangle(surface: Surface, sides: Rectangle) -> Result<Geometry, RequestError> {
    if surface == Surface::Globe {
        checked((sides.west, sides.south))?;
        checked((sides.east, sides.north))?;
    }
    if sides.north < sides.south {
        return Err(RequestError::illegal_argument("max y cannot be less than min y"));
    }
    Ok(Geometry::Envelope(sides))
}

/// Checks that a ring has at least four positions and ends at its first; `coerce` closes an open one.
pub(super) fn ring(mut ring: Vec<Position>, coerce: bool) -> Result<Vec<Position>, RequestError> {
    if coerce && ring.first() != ring.last() {
        ring.push(ring[0]);
    }
    if ring.len() < 2 {
        return Err(RequestError::illegal_argument("at least two points in the line is required"));
    }
    if ring.first() != ring.last() {
        let ends = |get: fn(&Position) -> f64| {
            let end = |position: Option<&Position>| position.map_or(0.0, get);
            (java_double(end(ring.first())), java_double(end(ring.last())))
        };
        let ((x0, x1), (y0, y1)) = (ends(|p| p.0), ends(|p| p.1));
        return Err(RequestError::illegal_argument(format!(
            "first and last points of the linear ring must be the same (it must close itself): x[0]={x0} x[{last}]={x1} \
             y[0]={y0} y[{last}]={y1}",
            last = ring.len() - 1
        )));
    }
    if ring.len() < 4 {
        return Err(RequestError::illegal_argument("at least 4 polygon points required in the linear ring"));
    }
    Ok(ring)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LENIENT: WktOptions = WktOptions { allow_z: true, coerce: false, off_map: false };
    const STRICT: WktOptions = WktOptions { allow_z: false, coerce: false, off_map: false };

    #[test]
    fn shapes_of_every_kind() {
        let check = |text: &str, expected: Geometry| {
            assert_eq!(geometry_from_wkt(text, LENIENT).expect(text), expected, "{text}");
        };
        let square = vec![(0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 0.0)];
        check("POINT (1 2)", Geometry::Point((1.0, 2.0)));
        check("point(1 2 3) and more", Geometry::Point((1.0, 2.0)));
        check("MULTIPOINT (1 2, 3 4)", Geometry::MultiPoint(vec![(1.0, 2.0), (3.0, 4.0)]));
        check("MULTIPOINT ((1 2), (3 4))", Geometry::MultiPoint(vec![(1.0, 2.0), (3.0, 4.0)]));
        check("LINESTRING (1 2, 3 4)", Geometry::Line(vec![(1.0, 2.0), (3.0, 4.0)]));
        check("POLYGON ((0 0, 1 0, 1 1, 0 0))", Geometry::Polygon(vec![square.clone()]));
        check("MULTIPOLYGON (((0 0, 1 0, 1 1, 0 0)))", Geometry::MultiPolygon(vec![vec![square]]));
        let envelope = Rectangle { west: 1.0, east: 2.0, south: 3.0, north: 4.0 };
        check("BBOX (1, 2, 4, 3)", Geometry::Envelope(envelope));
        check("CIRCLE (1 2 30)", Geometry::Circle { center: (1.0, 2.0), radius_meters: 30.0 });
        check("GEOMETRYCOLLECTION (POINT (1 2))", Geometry::Collection(vec![Geometry::Point((1.0, 2.0))]));
        check("LINESTRING EMPTY", Geometry::Collection(vec![]));
    }

    #[test]
    fn texts_that_name_no_shape() {
        let check = |text: &str, reason: &str| {
            assert_eq!(geometry_from_wkt(text, STRICT).expect_err(text).reason, reason, "{text}");
        };
        check("POINT (1)", "expected number but found: ')'");
        check("POINT (a b)", "invalid number found: a");
        check("POINT (200 1)", "invalid longitude 200.0; must be between -180.0 and 180.0");
        check("POINT (1 2 3)", "found Z value [3.0] but [ignore_z_value] parameter is [false]");
        check("FOO (1 2)", "Unknown geometry type: FOO");
        check("POLYGON ((0 0, 1 0, 0 0))", "at least 4 polygon points required in the linear ring");
        let deep = "GEOMETRYCOLLECTION (".repeat(1200);
        assert!(geometry_from_wkt(&deep, LENIENT).is_err());
    }
}
