//! Prints the advice.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::finding::{Basis, Finding, Gain, Unread, Verdict};
use super::gc::GcFigures;
use super::quantity::{percent, size};
use super::rule::{RULES, Rule};
use super::seen::Seen;

/// The verdicts of all rules.
pub(super) struct Advice {
    /// Sorted by what they promise, the most first.
    pub findings: Vec<(&'static Rule, Finding)>,
    pub fine: Vec<(&'static Rule, String)>,
    pub not_here: Vec<(&'static Rule, &'static str)>,
    pub unread: Vec<(&'static Rule, Unread)>,
}

impl Advice {
    pub(super) fn of(seen: &Seen) -> Advice {
        let mut advice =
            Advice { findings: Vec::new(), fine: Vec::new(), not_here: Vec::new(), unread: Vec::new() };
        for rule in RULES {
            match (rule.check)(seen) {
                Ok(Verdict::Found(finding)) => advice.findings.push((rule, *finding)),
                Ok(Verdict::Fine(because)) => advice.fine.push((rule, because)),
                Ok(Verdict::NotHere(why)) => advice.not_here.push((rule, why)),
                Err(unread) => advice.unread.push((rule, unread)),
            }
        }
        // If several findings promise the same, measured ones come first; otherwise the order of the rules
        // stays.
        advice.findings.sort_by(|(_, a), (_, b)| {
            let is_judged = |finding: &Finding| finding.gain.basis == Basis::Judged;
            b.gain.percent.total_cmp(&a.gain.percent).then(is_judged(a).cmp(&is_judged(b)))
        });
        advice
    }

    /// Returns the number of findings that promise at least `percent`.
    pub(super) fn count_above(&self, percent: f64) -> usize {
        self.findings.iter().filter(|(_, finding)| finding.gain.percent >= percent).count()
    }
}

pub(super) fn write_text(seen: &Seen, advice: &Advice, out: &mut dyn Write) -> io::Result<()> {
    if seen.host.is_empty() {
        writeln!(out, "GC logs alone, without the server")?;
    } else {
        let product = &seen.server.product;
        let node_count = seen.server.nodes().map_or(0, |nodes| nodes.len());
        let nodes = if node_count == 1 { "node" } else { "nodes" };
        writeln!(
            out,
            "{product}, cluster [{}] at {}: {node_count} {nodes}, watched for {:.1} s",
            seen.server.cluster_name, seen.host, seen.window_s
        )?;
    }
    if let Ok(gc) = &seen.gc {
        write_gc(gc, out)?;
    }
    let count = advice.findings.len();
    match count {
        0 => writeln!(out, "\nNothing was found.")?,
        1 => writeln!(out, "\n1 finding:")?,
        _ => writeln!(out, "\n{count} findings, the one that promises most first:")?,
    }
    for (number, (rule, finding)) in advice.findings.iter().enumerate() {
        write_finding(number + 1, rule, finding, out)?;
    }
    if advice.findings.iter().any(|(_, finding)| finding.experiment.starts_with("limber tune")) {
        writeln!(
            out,
            "\nExperiments race built-in tracks: put your own --track-path, and a task of it, in their place."
        )?;
    }
    write_list("Fine", advice.fine.iter().map(|(rule, because)| (rule.id, because.clone())).collect(), out)?;
    let unread =
        advice.unread.iter().map(|(rule, unread)| (rule.id, format!("{}: {}", unread.what, unread.why)));
    write_reasons("Could not be read", unread.collect(), out)?;
    write_reasons(
        "Not here",
        advice.not_here.iter().map(|(rule, why)| (rule.id, (*why).to_owned())).collect(),
        out,
    )
}

fn write_finding(number: usize, rule: &Rule, finding: &Finding, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\n{number}. {}  [{}]", finding.title, rule.id)?;
    writeln!(out, "   gain:  {}", in_words(finding.gain))?;
    let width = |text: fn(&super::finding::Evidence) -> &str| {
        finding.evidence.iter().map(|evidence| text(evidence).chars().count()).max().unwrap_or(0)
    };
    let (names, values) = (width(|evidence| &evidence.name), width(|evidence| &evidence.value));
    for (row, evidence) in finding.evidence.iter().enumerate() {
        let label = if row == 0 { "seen:" } else { "" };
        writeln!(
            out,
            "   {label:<6} {:<names$}  {:<values$}  {}",
            evidence.name, evidence.value, evidence.source
        )?;
    }
    writeln!(out, "   do:    {}", finding.advice)?;
    for (row, line) in finding.experiment.lines().enumerate() {
        writeln!(out, "   {:<6} {line}", if row == 0 { "prove:" } else { "" })?;
    }
    for reference in rule.references {
        writeln!(out, "   read:  {}, {}", reference.title, reference.url)?;
    }
    Ok(())
}

pub(super) fn in_words(gain: Gain) -> String {
    match gain.basis {
        Basis::Measured => format!("up to {} {} (measured)", percent(gain.percent), gain.of),
        Basis::Judged => {
            format!("about {} {} (judged; the experiment tells)", percent(gain.percent), gain.of)
        }
    }
}

fn write_list(title: &str, rows: Vec<(&str, String)>, out: &mut dyn Write) -> io::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{title}:")?;
    let width = rows.iter().map(|(id, _)| id.len()).max().unwrap_or(0);
    for (id, text) in rows {
        writeln!(out, "   {id:<width$}  {text}")?;
    }
    Ok(())
}

/// Writes rules that have the same reason together.
fn write_reasons(title: &str, rows: Vec<(&str, String)>, out: &mut dyn Write) -> io::Result<()> {
    let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
    for (id, reason) in rows {
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, rules)) => rules.push(id),
            None => reasons.push((reason, vec![id])),
        }
    }
    if !reasons.is_empty() {
        writeln!(out, "\n{title}:")?;
    }
    for (reason, rules) in reasons {
        writeln!(out, "   {reason}\n      {}", rules.join(", "))?;
    }
    Ok(())
}

pub(super) fn write_gc(gc: &GcFigures, out: &mut dyn Write) -> io::Result<()> {
    let collector = gc.collector.as_deref().unwrap_or("collector not named");
    writeln!(out, "\nGarbage collection ({}, {collector}, {:.0} s):", gc.format, gc.span_s)?;
    let pauses =
        gc.pause_percentiles_millis.iter().map(|(percentile, millis)| format!("p{percentile} {millis:.1}"));
    let pauses = pauses.collect::<Vec<_>>().join(", ");
    let mut rows = vec![
        (
            "pauses",
            format!(
                "{} of the time: {}, {:.1} a minute",
                percent(gc.pause_percent),
                gc.pause_count,
                gc.pauses_per_minute
            ),
        ),
        (
            "pause, ms",
            format!("mean {:.1}, {pauses}, maximum {:.1}", gc.pause_mean_millis, gc.pause_max_millis),
        ),
        ("allocation", format!("{}/s", size(gc.allocation_rate))),
    ];
    if let Some(promotion) = gc.promotion_rate {
        rows.push(("promotion", format!("{}/s", size(promotion))));
    }
    if let (Some(after), Some(capacity)) = (gc.after_bytes, gc.capacity_bytes) {
        rows.push(("left after collections", format!("{} of {}", size(after), size(capacity as f64))));
    }
    rows.push((
        "no room left",
        format!(
            "{} full collections, {} failed evacuations, {} allocation stalls",
            gc.full_count, gc.evacuation_failures, gc.stall_count
        ),
    ));
    if gc.safepoint_count > 0 {
        rows.push((
            "all stops",
            format!(
                "{} of the time; longest way to a safepoint {:.1} ms",
                percent(gc.safepoint_percent),
                gc.reaching_millis_max
            ),
        ));
    }
    if gc.unrecognized_line_count > 0 {
        rows.push(("not understood", format!("{} of {} lines", gc.unrecognized_line_count, gc.line_count)));
    }
    for (name, value) in rows {
        writeln!(out, "   {name:<22}  {value}")?;
    }
    Ok(())
}

pub(super) fn write_json(seen: &Seen, advice: &Advice, out: &mut dyn Write) -> io::Result<()> {
    let server = match seen.host.is_empty() {
        true => Value::Null,
        false => json!({
            "host": seen.host, "product": seen.server.product.engine(), "version": seen.server.product.version,
            "cluster_name": seen.server.cluster_name,
        }),
    };
    let references = |rule: &Rule| {
        rule.references.iter().map(|r| json!({"title": r.title, "url": r.url})).collect::<Vec<_>>()
    };
    let findings = advice.findings.iter().map(|(rule, finding)| {
        let evidence = finding.evidence.iter().map(|e| json!({"name": e.name, "value": e.value, "source": e.source}));
        json!({
            "rule": rule.id,
            "question": rule.question,
            "title": finding.title,
            "gain": {
                "percent": finding.gain.percent, "of": finding.gain.of,
                "basis": match finding.gain.basis { Basis::Measured => "measured", Basis::Judged => "judged" },
            },
            "evidence": evidence.collect::<Vec<_>>(),
            "advice": finding.advice,
            "experiment": finding.experiment,
            "references": references(rule),
        })
    });
    let document = json!({
        "server": server,
        "watched_seconds": seen.window_s,
        "gc": seen.gc.as_ref().ok().map(GcFigures::to_json),
        "findings": findings.collect::<Vec<_>>(),
        "fine": advice.fine.iter().map(|(rule, because)| json!({"rule": rule.id, "question": rule.question, "because": because})).collect::<Vec<_>>(),
        "unread": advice.unread.iter().map(|(rule, unread)| json!({"rule": rule.id, "question": rule.question, "what": unread.what, "why": unread.why})).collect::<Vec<_>>(),
        "not_here": advice.not_here.iter().map(|(rule, why)| json!({"rule": rule.id, "why": why})).collect::<Vec<_>>(),
    });
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advise::fixture::recorded;

    #[test]
    fn the_largest_promise_comes_first() {
        let advice = Advice::of(&recorded("es-9.4.3"));
        let gains: Vec<f64> = advice.findings.iter().map(|(_, finding)| finding.gain.percent).collect();
        assert!(gains.windows(2).all(|pair| pair[0] >= pair[1]), "{gains:?}");
        let all = advice.findings.len() + advice.fine.len() + advice.not_here.len() + advice.unread.len();
        assert_eq!(all, RULES.len());
        assert_eq!(advice.count_above(0.0), advice.findings.len());
        assert_eq!(advice.count_above(100.1), 0);
    }

    #[test]
    fn text_and_json_say_the_same() {
        let seen = recorded("es-7.10.2")
            .with_gc_log("[0.1s][gc] Using G1\n[9.1s][gc] GC(0) Pause Young (Normal) 9M->1M(9M) 90.0ms\n");
        let advice = Advice::of(&seen);
        let (mut text, mut document) = (Vec::new(), Vec::new());
        write_text(&seen, &advice, &mut text).unwrap();
        write_json(&seen, &advice, &mut document).unwrap();
        let text = String::from_utf8(text).unwrap();
        let document: Value = serde_json::from_slice(&document).unwrap();
        assert!(text.starts_with(
            "Elasticsearch 7.10.2, cluster [es-7.10.2] at 127.0.0.1:9200: 1 node, watched for 5.0 s\n"
        ));
        assert!(text.contains("pauses                  1.0 % of the time: 1, 6.7 a minute"), "{text}");
        assert_eq!(document["gc"]["pauses"]["percent_of_time"], 1.0);
        for (finding, (rule, _)) in document["findings"].as_array().unwrap().iter().zip(&advice.findings) {
            assert_eq!(finding["rule"], rule.id);
            for key in ["title", "advice", "experiment"] {
                let mut lines = finding[key].as_str().unwrap().lines();
                assert!(lines.all(|line| text.contains(line)), "{key} of {}", rule.id);
            }
            assert!(text.contains(finding["references"][0]["url"].as_str().unwrap()));
        }
        for unread in document["unread"].as_array().unwrap() {
            assert!(text.contains(unread["what"].as_str().unwrap()));
        }
    }
}
