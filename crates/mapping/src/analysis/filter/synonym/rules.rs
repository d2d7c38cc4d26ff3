//! Parses rules of synonyms in the formats of Solr and WordNet.
//!
//! Source: Lucene's `SolrSynonymParser` and `WordnetSynonymParser`.

use super::map::{Fault, SynonymMap};
use crate::RequestError;

/// Analyzes the words of a rule into tokens.
pub type Analyze<'a> = &'a dyn Fn(&str) -> Result<Vec<String>, Fault>;

/// How rules are parsed.
#[derive(Debug, Clone, Copy)]
pub struct Reading {
    pub expand: bool,
    /// Whether invalid rules are skipped.
    pub lenient: bool,
}

/// Adds the rules in Solr's format, one rule per line.
pub fn read_solr(
    lines: &[String],
    reading: Reading,
    analyze: Analyze<'_>,
    map: &mut SynonymMap,
) -> Result<(), RequestError> {
    for (number, line) in (1..).zip(lines) {
        limber_work::check()?;
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        solr_rule(line, reading, analyze, map).map_err(|fault| at_line(number, fault))?;
    }
    Ok(())
}

fn invalid(line: usize, reason: &str) -> RequestError {
    RequestError::bad_request("parse_exception", format!("Invalid synonym rule at line {line}"))
        .caused_by(RequestError::illegal_argument(reason.to_owned()))
}

fn at_line(line: usize, fault: Fault) -> RequestError {
    match fault {
        Fault::Invalid(reason) => invalid(line, &reason),
        Fault::Ended(stop) => stop.into(),
    }
}

fn solr_rule(line: &str, reading: Reading, analyze: Analyze<'_>, map: &mut SynonymMap) -> Result<(), Fault> {
    limber_work::claim_pieces(line, "=>")?;
    limber_work::claim_pieces(line, ",")?;
    let sides = split(line, "=>");
    let words = |side: &str| -> Result<Vec<Vec<String>>, Fault> {
        let mut words = Vec::new();
        for part in split(side, ",") {
            match analyze(unescape(&part).trim()) {
                Ok(tokens) => words.push(tokens),
                Err(Fault::Invalid(_)) if reading.lenient => {}
                Err(fault) => return Err(fault),
            }
        }
        Ok(words)
    };
    let mut add = |input: &[String], output: &[String], keeps: bool| map.add(input, output, keeps);
    match &sides[..] {
        [] => {}
        [all] => {
            let all = words(all)?;
            for (i, input) in all.iter().enumerate() {
                if !reading.expand {
                    add(input, &all[0], false)?;
                    continue;
                }
                for (j, output) in all.iter().enumerate() {
                    if i != j {
                        add(input, output, true)?;
                    }
                }
            }
        }
        [inputs, outputs] => {
            let outputs = words(outputs)?;
            for input in words(inputs)? {
                for output in &outputs {
                    add(&input, output, false)?;
                }
            }
        }
        _ => return Err("more than one explicit mapping specified on the same line".to_owned().into()),
    }
    Ok(())
}

/// Adds the rules in WordNet's Prolog format: `s(100000001,1,'abstain',v,1,0).` Words with the same number
/// are synonyms.
pub fn read_wordnet(
    lines: &[String],
    reading: Reading,
    analyze: Analyze<'_>,
    map: &mut SynonymMap,
) -> Result<(), RequestError> {
    let mut set: Vec<Vec<String>> = Vec::new();
    let mut last = "";
    let add_set = |set: &mut Vec<Vec<String>>, map: &mut SynonymMap| {
        for (i, input) in set.iter().enumerate() {
            if !reading.expand {
                map.add(input, &set[0], false)?;
                continue;
            }
            for (_, output) in set.iter().enumerate().filter(|(j, _)| i != *j) {
                map.add(input, output, true)?;
            }
        }
        set.clear();
        Ok::<(), Fault>(())
    };
    for (number, line) in (1..).zip(lines).filter(|(_, line)| !line.is_empty()) {
        limber_work::check()?;
        let (id, word) = line
            .strip_prefix("s(")
            .and_then(|rest| rest.split_once(','))
            .and_then(|(id, rest)| {
                let start = rest.find('\'')? + 1;
                let end = rest.rfind('\'').filter(|end| *end > start)?;
                Some((id, rest[start..end].replace("''", "'")))
            })
            .ok_or_else(|| invalid(number, "no word of a set"))?;
        if id != last {
            add_set(&mut set, map).map_err(|fault| at_line(number, fault))?;
            last = id;
        }
        match analyze(&word) {
            Ok(tokens) => set.push(tokens),
            Err(Fault::Invalid(_)) if reading.lenient => {}
            Err(fault) => return Err(at_line(number, fault)),
        }
    }
    add_set(&mut set, map).map_err(|fault| at_line(lines.len(), fault))
}

/// Splits a string at unescaped separators; empty parts are skipped.
fn split(text: &str, separator: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix(separator) {
            parts.push(String::new());
            rest = after;
            continue;
        }
        let width = c.len_utf8();
        let escaped = (c == '\\').then(|| rest[width..].chars().next()).flatten();
        let taken = width + escaped.map_or(0, char::len_utf8);
        parts.last_mut().expect("a part").push_str(&rest[..taken]);
        rest = &rest[taken..];
    }
    parts.retain(|part| !part.is_empty());
    parts
}

fn unescape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        let escaped = if c == '\\' { chars.next() } else { None };
        out.push(escaped.unwrap_or(c));
    }
    out
}
