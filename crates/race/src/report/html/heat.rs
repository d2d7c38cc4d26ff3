//! The heat map: a picture with one point per (bin of time, step of latency), which shows how frequent each
//! latency was.
//!
//! The picture is a PNG of grey values that masks a rectangle of the theme's colour, so that it is small,
//! sharp at every zoom, and suits light and dark pages. The grey value grows with the logarithm of the count,
//! so that one slow request beside ten thousand fast ones is visible.

use base64::Engine as _;

use super::chart::{Axis, HEIGHT};
use super::escape::put;
use super::scale::Scale;
use crate::record::timeline::reader::TaskCourse;

/// Number of latency steps.
const ROWS: usize = 56;
/// Grey value of a single request, of 255, so that it is visible.
const FAINTEST: f64 = 56.0;

/// Number of requests per point: `cells[row * columns + column]`, with the lowest latency in the last row.
pub(crate) struct Cells {
    columns: usize,
    counts: Vec<u64>,
}

impl Cells {
    pub(crate) fn of(course: &TaskCourse, scale: &Scale) -> Cells {
        let columns = (course.duration_s() / course.bin_s).ceil().max(1.0) as usize;
        let mut counts = vec![0; columns * ROWS];
        for bin in &course.bins {
            let column = ((bin.start_s / course.bin_s).round() as usize).min(columns - 1);
            for (ms, count) in bin.latency.iter_ms() {
                let above = (scale.share(ms) * ROWS as f64).floor().clamp(0.0, (ROWS - 1) as f64) as usize;
                counts[(ROWS - 1 - above) * columns + column] += count;
            }
        }
        Cells { columns, counts }
    }

    pub(crate) fn most(&self) -> u64 {
        self.counts.iter().copied().max().unwrap_or(0)
    }
}

/// Returns the cells as SVG. `most` is the count that is drawn with full intensity, which is the same for all
/// races side by side.
pub(crate) fn picture(id: &str, cells: &Cells, most: u64, course: &TaskCourse, axis: &Axis) -> String {
    let width = axis.place(cells.columns as f64 * course.bin_s);
    let image = base64::engine::general_purpose::STANDARD.encode(png(cells, most));
    let mut out = String::new();
    put!(
        &mut out,
        "<mask id=\"{id}-mask\" maskUnits=\"userSpaceOnUse\" x=\"0\" y=\"0\" width=\"{width:.0}\" height=\"{HEIGHT:.0}\"><image href=\"data:image/png;base64,{image}\" \
         x=\"0\" y=\"0\" width=\"{width:.0}\" height=\"{HEIGHT:.0}\" preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\"/></mask>\
         <rect class=\"heat\" x=\"0\" y=\"0\" width=\"{width:.0}\" height=\"{HEIGHT:.0}\" mask=\"url(#{id}-mask)\"/>"
    );
    out
}

fn png(cells: &Cells, most: u64) -> Vec<u8> {
    let span = (most.max(2) as f64).ln();
    let grey = |count: &u64| match count {
        0 => 0,
        count => (FAINTEST + (255.0 - FAINTEST) * ((*count as f64).ln() / span).min(1.0)) as u8,
    };
    let pixels: Vec<u8> = cells.counts.iter().map(grey).collect();
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, cells.columns as u32, ROWS as u32);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::High);
    let mut writer = encoder.write_header().expect("a picture has rows and columns, and memory takes it");
    writer.write_image_data(&pixels).expect("there is a byte a point");
    writer.finish().expect("memory takes it");
    bytes
}
