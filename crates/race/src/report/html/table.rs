//! The numbers behind a plot, for readers who prefer numbers and for the script's cursor.

use super::escape::{Text, put};

/// A table whose first column is the row's position on the plot's axis.
#[derive(Debug)]
pub(crate) struct PlotTable {
    pub id: String,
    pub caption: String,
    /// Name of the race to which the numbers belong, when a plot shows several.
    pub name: String,
    /// Title of each column, including the first.
    pub columns: Vec<String>,
    /// Position on the axis (see [`super::chart::WIDTH`]), and one string per column.
    pub rows: Vec<(f64, Vec<String>)>,
}

impl PlotTable {
    pub(crate) fn put(&self, out: &mut String) {
        put!(
            out,
            "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"{}\">",
            Text(&self.caption)
        );
        put!(out, "<table id=\"{}\" class=\"data\" data-name=\"{}\">", Text(&self.id), Text(&self.name));
        put!(out, "<caption>{}</caption><thead><tr>", Text(&self.caption));
        for column in &self.columns {
            put!(out, "<th scope=\"col\">{}</th>", Text(column));
        }
        out.push_str("</tr></thead><tbody>");
        for (place, cells) in &self.rows {
            put!(out, "<tr data-x=\"{place:.0}\">");
            for (position, cell) in cells.iter().enumerate() {
                match position {
                    0 => put!(out, "<th scope=\"row\">{}</th>", Text(cell)),
                    _ => put!(out, "<td>{}</td>", Text(cell)),
                }
            }
            out.push_str("</tr>");
        }
        out.push_str("</tbody></table></div>\n");
    }
}
