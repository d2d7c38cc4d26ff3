//! Advice as one HTML file.

use std::fmt::Write as _;

use super::finding::Finding;
use super::report::{Advice, in_words, write_gc};
use super::rule::Rule;
use super::seen::Seen;
use crate::report::html::escape::Text;
use crate::report::html::plain::{document, put_table};

/// Returns the page: findings first, then what is fine, what could not be read, and what does not apply.
pub(super) fn page(seen: &Seen, advice: &Advice) -> String {
    let title = match seen.host.is_empty() {
        true => "Advice from garbage collection logs".to_owned(),
        false => format!("Advice for {}", seen.host),
    };
    let under = match seen.host.is_empty() {
        true => String::new(),
        false => {
            format!(
                "{}, cluster {}, watched for {:.1} s",
                seen.server.product, seen.server.cluster_name, seen.window_s
            )
        }
    };
    let mut out = String::new();
    let _ = match advice.findings.len() {
        0 => writeln!(out, "<p>Nothing was found.</p>"),
        1 => writeln!(out, "<p>One finding.</p>"),
        count => writeln!(out, "<p>{count} findings, the one that promises most first.</p>"),
    };
    for (number, (rule, finding)) in advice.findings.iter().enumerate() {
        put_finding(number + 1, rule, finding, &mut out);
    }
    if let Ok(gc) = &seen.gc {
        let mut text = Vec::new();
        // Writing to a vector cannot fail.
        let _ = write_gc(gc, &mut text);
        let lines: Vec<String> =
            String::from_utf8_lossy(&text).lines().map(|line| Text(line).to_string()).collect();
        let _ = writeln!(out, "<h2>Garbage collection</h2><pre>{}</pre>", lines.join("\n").trim());
    }
    let fine = advice.fine.iter().map(|(rule, because)| vec![rule.question.to_owned(), because.clone()]);
    put_list("Fine", ["Question", "Because"], fine.collect(), &mut out);
    let unread = advice.unread.iter();
    let unread = unread
        .map(|(rule, unread)| vec![rule.question.to_owned(), format!("{}: {}", unread.what, unread.why)]);
    put_list("Could not be read", ["Question", "Why"], unread.collect(), &mut out);
    let absent = advice.not_here.iter().map(|(rule, why)| vec![rule.question.to_owned(), (*why).to_owned()]);
    put_list("Not here", ["Question", "Why"], absent.collect(), &mut out);
    document(&title, &under, &out)
}

fn put_finding(number: usize, rule: &Rule, finding: &Finding, out: &mut String) {
    let _ = write!(
        out,
        "<section class=\"finding\"><h2>{number}. {}</h2><dl><dt>Gain</dt><dd>{}</dd><dt>Seen</dt><dd>",
        Text(&finding.title),
        Text(&in_words(finding.gain))
    );
    let rows: Vec<Vec<String>> = finding
        .evidence
        .iter()
        .map(|evidence| vec![evidence.name.clone(), evidence.value.clone(), evidence.source.clone()])
        .collect();
    put_table("Evidence", &["What", "Value", "Read from"], &[], &rows, out);
    let experiment: Vec<String> = finding.experiment.lines().map(|line| Text(line).to_string()).collect();
    let _ = write!(
        out,
        "</dd><dt>Do</dt><dd>{}</dd><dt>Prove it</dt><dd><pre>{}</pre></dd><dt>Read</dt><dd>",
        Text(&finding.advice),
        experiment.join("\n")
    );
    for reference in rule.references {
        let _ = write!(
            out,
            "<a rel=\"noreferrer\" href=\"{}\">{}</a> ",
            Text(reference.url),
            Text(reference.title)
        );
    }
    let _ = writeln!(out, "</dd></dl><p class=\"soft\">Rule {}</p></section>", Text(rule.id));
}

fn put_list(title: &str, heads: [&str; 2], rows: Vec<Vec<String>>, out: &mut String) {
    if !rows.is_empty() {
        let _ = writeln!(out, "<h2>{}</h2>", Text(title));
        put_table(title, &heads, &[], &rows, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advise::fixture::recorded;

    #[test]
    fn the_page_says_what_the_text_says() {
        let seen = recorded("es-7.10.2")
            .with_gc_log("[0.1s][gc] Using G1\n[9.1s][gc] GC(0) Pause Young (Normal) 9M->1M(9M) 90.0ms\n");
        let advice = Advice::of(&seen);
        let page = page(&seen, &advice);
        assert_eq!(page.matches("class=\"finding\"").count(), advice.findings.len());
        for (rule, finding) in &advice.findings {
            for part in [finding.title.as_str(), rule.references[0].url, finding.evidence[0].value.as_str()] {
                assert!(page.contains(&Text(part).to_string()), "{part}");
            }
        }
        assert!(page.contains("Garbage collection") && !page.contains("<script"));
    }
}
