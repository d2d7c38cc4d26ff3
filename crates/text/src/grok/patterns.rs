//! The library of named patterns, read from the data files beside this one.
//!
//! A line is `NAME expression`; `#` starts a comment line. The names are those of Elasticsearch's two
//! libraries: `legacy` (`disabled`) and `v1` (Elastic Common Schema). Where the two differ only in the names
//! of captures, one line serves both: `%{INT:pid|process.pid:int}` captures `pid` in the first and
//! `process.pid` as an integer in the second; an empty side captures nothing. Lines that begin with `legacy `
//! or `v1 ` exist in one library only.

use std::collections::HashMap;
use std::sync::OnceLock;

/// Which naming scheme captures use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ecs {
    /// The names in Logstash's patterns.
    Disabled,
    /// The names of version 1 of the Elastic Common Schema.
    V1,
}

/// Expressions by name.
pub type Library = HashMap<String, String>;

const FILES: [&str; 4] = [
    include_str!("basic.patterns"),
    include_str!("servers.patterns"),
    include_str!("applications.patterns"),
    include_str!("monitoring.patterns"),
];

/// Prefixes of names that Elasticsearch's library has and this one does not have yet.
pub const PATTERNS_NOT_YET: &[&str] = &[
    "BACULA_",
    "BIND9",
    "BRO_",
    "CISCO",
    "CLOUDFRONT_",
    "EXIM",
    "IPTABLES",
    "NETSCREEN",
    "RT_FLOW",
    "S3_",
    "SFW2",
    "SHOREWALL",
    "ZEEK_",
];

/// Returns the library, built on the first call.
pub fn library(ecs: Ecs) -> &'static Library {
    static LEGACY: OnceLock<Library> = OnceLock::new();
    static V1: OnceLock<Library> = OnceLock::new();
    match ecs {
        Ecs::Disabled => LEGACY.get_or_init(|| read(Ecs::Disabled)),
        Ecs::V1 => V1.get_or_init(|| read(Ecs::V1)),
    }
}

fn read(ecs: Ecs) -> Library {
    let mut library = Library::new();
    for line in FILES.iter().flat_map(|file| file.lines()) {
        let line = match (line.strip_prefix("legacy "), line.strip_prefix("v1 "), ecs) {
            (Some(own), _, Ecs::Disabled) | (_, Some(own), Ecs::V1) => own,
            (None, None, _) => line,
            _ => continue,
        };
        if line.starts_with('#') {
            continue;
        }
        if let Some((name, expression)) = line.split_once(' ') {
            library.insert(name.to_owned(), choose(expression.trim(), ecs));
        }
    }
    library
}

/// Selects one side of every `legacy|v1` capture name.
fn choose(expression: &str, ecs: Ecs) -> String {
    let mut out = String::with_capacity(expression.len());
    let mut rest = expression;
    while let Some(at) = rest.find("%{") {
        let end = rest[at..].find('}').map_or(rest.len(), |end| at + end);
        let inside = &rest[at + 2..end];
        out.push_str(&rest[..at]);
        let (pattern, capture) = inside.split_once(':').unwrap_or((inside, ""));
        let capture = match (capture.split_once('|'), ecs) {
            (Some((legacy, _)), Ecs::Disabled) => legacy,
            (Some((_, v1)), Ecs::V1) => v1,
            (None, _) => capture,
        };
        let colon = if capture.is_empty() { "" } else { ":" };
        out.push_str(&format!("%{{{pattern}{colon}{capture}}}"));
        rest = rest.get(end + 1..).unwrap_or("");
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::super::Grok;
    use super::*;

    #[test]
    fn every_pattern_compiles() {
        for ecs in [Ecs::Disabled, Ecs::V1] {
            let library = library(ecs);
            assert!(library.len() > 100);
            // The longest take seconds to compile without optimization; recorded lines test them one by
            // one.
            let is_long = |name: &str| {
                ["HAPROXY", "RAILS3", "LOGLINE", "ELB", "HTTPD", "APACHE"]
                    .iter()
                    .any(|long| name.contains(long))
            };
            for name in library.keys().filter(|name| !is_long(name)) {
                if let Err(error) = Grok::parse(&format!("%{{{name}}}"), library, &HashMap::new()) {
                    panic!("{name}: {error}");
                }
            }
        }
    }

    #[test]
    fn an_expression_has_a_length() {
        let parse = |expression: &str, definitions: &[(&str, &str)]| {
            let own = |(name, text): &(&str, &str)| ((*name).to_owned(), (*text).to_owned());
            Grok::parse(expression, library(Ecs::Disabled), &definitions.iter().map(own).collect()).map(drop)
        };
        let long = "%{WORD:a}".repeat(100_000);
        for refused in
            [parse(&long, &[]), parse("%{LONG}", &[("LONG", &long)]), parse(&"%{".repeat(200_000), &[])]
        {
            assert_eq!(refused, Err("the expanded expression is too long".to_owned()));
        }
    }
}
