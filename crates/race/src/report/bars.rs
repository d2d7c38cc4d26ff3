//! Draws a few figures as bars: a self-contained SVG file, such as the picture in README.

use std::fmt::Write as _;

use serde::Deserialize;

use super::html::escape::Text;

/// Sizes in pixels.
const WIDTH: f64 = 760.0;
const NAME_WIDTH: f64 = 150.0;
const FIGURE_WIDTH: f64 = 90.0;
const BAR_HEIGHT: f64 = 20.0;
const BAR_STEP: f64 = 26.0;
const TITLE_HEIGHT: f64 = 30.0;
const PANEL_GAP: f64 = 12.0;
const MARGIN: f64 = 14.0;

/// Panels one below the other, each with its own scale.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Bars {
    pub title: String,
    pub panels: Vec<Panel>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Panel {
    pub title: String,
    /// The first bar is the one that the text is about, and is highlighted.
    pub bars: Vec<PlotBar>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct PlotBar {
    pub name: String,
    pub value: f64,
    /// The value as it is written beside the bar.
    pub text: String,
}

/// Colours for light pages, and for dark ones if the reader has those.
const STYLE: &str = "text{font:13px system-ui,\"Segoe UI\",sans-serif;fill:#1b1f24}.title{font-weight:600}.soft{fill:#57606a;font-size:12px}\
                     .ground{fill:#fff}.one{fill:#0067a5}.other{fill:#9aa4af}\
                     @media(prefers-color-scheme:dark){text{fill:#e6e8eb}.soft{fill:#9aa4af}.ground{fill:#14171b}.one{fill:#5ab4ee}.other{fill:#57606a}}";

/// Returns the picture.
pub(crate) fn svg(bars: &Bars) -> String {
    let panel_height = |panel: &Panel| TITLE_HEIGHT + panel.bars.len() as f64 * BAR_STEP + PANEL_GAP;
    let height = 2.0 * MARGIN + bars.panels.iter().map(panel_height).sum::<f64>() + BAR_HEIGHT;
    let mut out = String::new();
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" height=\"{height}\" role=\"img\" aria-label=\"{}\">\
         <style>{STYLE}</style><rect class=\"ground\" width=\"{WIDTH}\" height=\"{height}\" rx=\"6\"/>",
        Text(&bars.title)
    );
    let mut top = MARGIN;
    for panel in &bars.panels {
        put_panel(panel, top, &mut out);
        top += panel_height(panel);
    }
    let _ = writeln!(
        out,
        "<text class=\"soft\" x=\"{MARGIN}\" y=\"{}\">{}</text></svg>",
        top + 14.0,
        Text(&bars.title)
    );
    out
}

fn put_panel(panel: &Panel, top: f64, out: &mut String) {
    let longest = panel.bars.iter().map(|bar| bar.value).fold(f64::MIN_POSITIVE, f64::max);
    let _ = writeln!(
        out,
        "<text class=\"title\" x=\"{MARGIN}\" y=\"{}\">{}</text>",
        top + 16.0,
        Text(&panel.title)
    );
    let left = MARGIN + NAME_WIDTH;
    for (place, bar) in panel.bars.iter().enumerate() {
        let y = top + TITLE_HEIGHT + place as f64 * BAR_STEP;
        let width = ((WIDTH - left - FIGURE_WIDTH - MARGIN) * bar.value / longest).max(1.0);
        let kind = if place == 0 { "one" } else { "other" };
        let _ = writeln!(
            out,
            "<text x=\"{MARGIN}\" y=\"{base:.0}\">{}</text><rect class=\"{kind}\" x=\"{left}\" y=\"{y}\" width=\"{width:.1}\" height=\"{BAR_HEIGHT}\" rx=\"2\"/>\
             <text x=\"{:.1}\" y=\"{base:.0}\">{}</text>",
            Text(&bar.name),
            left + width + 6.0,
            Text(&bar.text),
            base = y + 15.0,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// `UPDATE=1 cargo test -p limber-race headline` draws the picture again.
    #[test]
    fn the_headline_is_drawn_from_its_figures() {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        let bars: Bars =
            serde_json::from_str(&std::fs::read_to_string(docs.join("headline.json")).unwrap()).unwrap();
        let drawn = svg(&bars);
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(docs.join("headline.svg"), &drawn).unwrap();
        }
        assert_eq!(
            std::fs::read_to_string(docs.join("headline.svg")).unwrap(),
            drawn,
            "UPDATE=1 draws it anew"
        );
        // Checks that the figures are those of the measurements.
        let performance = std::fs::read_to_string(docs.join("performance.md")).unwrap();
        for bar in bars.panels.iter().flat_map(|panel| &panel.bars) {
            assert!(performance.contains(&bar.text), "docs/performance.md does not have {}", bar.text);
        }
    }

    #[test]
    fn names_are_texts() {
        let bar = PlotBar { name: "<script>".into(), value: 0.0, text: "\"&".into() };
        let drawn =
            svg(&Bars { title: "<".into(), panels: vec![Panel { title: ">".into(), bars: vec![bar] }] });
        assert!(!drawn.contains("<script>") && drawn.contains("&lt;script&gt;"));
    }
}
