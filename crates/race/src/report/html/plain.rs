//! A page of text and tables in the style of the reports, without scripts and requests. Used for advice and
//! for searches for settings.

use super::escape::{Text, put};

const STYLE: &str = include_str!("style.css");
/// Additional style of such pages.
const MORE: &str = ".finding{border:1px solid var(--line);border-radius:.5rem;padding:.1rem 1rem .7rem;margin:1rem 0}dt{color:var(--soft);font-size:.9rem}dd{margin:0 0 .5rem}\
                    pre{white-space:pre-wrap;background:var(--panel);padding:.5rem .7rem;border-radius:.3rem;font-size:.88rem;margin:.2rem 0}td,th{text-align:left}\
                    .number{text-align:right}.tradeoff svg{max-width:100%;height:auto}.scroll td{white-space:normal}";

/// Returns a page. `body` is HTML whose text is already escaped.
pub(crate) fn document(title: &str, under: &str, body: &str) -> String {
    let mut out = String::with_capacity(body.len() + STYLE.len() + 2048);
    put!(
        &mut out,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\">\
         <link rel=\"icon\" href=\"data:,\"><title>{}</title><style>{STYLE}{MORE}</style></head><body>\
         <header><h1>{}</h1><p class=\"soft\">{}</p></header><main id=\"main\">{body}</main>\
         <footer><p class=\"soft\">Made by limber {}; this page asks no other machine for anything.</p></footer></body></html>\n",
        Text(title),
        Text(title),
        Text(under),
        env!("CARGO_PKG_VERSION")
    );
    out
}

/// Writes a table of strings. The columns in `numbers` are right-aligned. On a phone, the rows are cards.
pub(crate) fn put_table(
    caption: &str,
    heads: &[&str],
    numbers: &[usize],
    rows: &[Vec<String>],
    out: &mut String,
) {
    let kind = |column: usize| if numbers.contains(&column) { " class=\"number\"" } else { "" };
    put!(
        out,
        "<div class=\"scroll\"><table class=\"cards\"><caption class=\"unseen\">{}</caption><thead><tr>",
        Text(caption)
    );
    for (column, head) in heads.iter().enumerate() {
        put!(out, "<th scope=\"col\"{}>{}</th>", kind(column), Text(head));
    }
    out.push_str("</tr></thead><tbody>");
    for row in rows {
        out.push_str("<tr>");
        for (column, value) in row.iter().enumerate() {
            match column {
                0 => put!(out, "<th scope=\"row\">{}</th>", Text(value)),
                _ => put!(
                    out,
                    "<td{} data-title=\"{}\">{}</td>",
                    kind(column),
                    Text(heads[column]),
                    Text(value)
                ),
            }
        }
        out.push_str("</tr>");
    }
    out.push_str("</tbody></table></div>\n");
}
