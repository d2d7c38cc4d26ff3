//! What a query asks of fields: "which values must documents have, before any index is looked at?" Processors
//! of search pipelines derive the routing of a search from it. Source: OpenSearch's `QueryBuilderVisitor`.

use serde_json::Value;

use crate::query::Query;

/// How a clause takes part in its query (Lucene's `BooleanClause.Occur`; filters are required).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occur {
    /// Every hit matches the clause.
    Required,
    /// Hits need not match the clause.
    Optional,
    /// No hit matches the clause.
    Excluded,
}

/// What one query asks of a field, as written in the request.
#[derive(Debug, Clone, Copy)]
pub enum Asked<'q> {
    /// One of these values (`term`, `terms`).
    Values(&'q [Value]),
    /// A value with this beginning.
    Prefix(&'q str),
    /// A value that matches this pattern of `*` and `?`.
    Pattern(&'q str),
    /// A value between these ends.
    Between(Option<&'q Value>, Option<&'q Value>),
}

/// Collects what queries ask.
pub trait AskedVisitor {
    /// Takes what one query asks of `field`.
    fn take(&mut self, field: &str, asked: Asked<'_>);

    /// Whether clauses that take part like this are of interest.
    fn enters(&self, occur: Occur) -> bool;
}

impl Query {
    /// Shows the visitor what this query and the clauses of compound queries in it ask. Queries within
    /// `nested`, joins and functions are not shown.
    pub fn show_asked(&self, visitor: &mut dyn AskedVisitor) {
        self.node.show_asked(visitor);
    }
}

/// Shows clauses that take part in the same way.
pub(in crate::query) fn show_clauses<'q>(
    clauses: impl IntoIterator<Item = &'q Query>,
    occur: Occur,
    visitor: &mut dyn AskedVisitor,
) {
    if visitor.enters(occur) {
        clauses.into_iter().for_each(|clause| clause.show_asked(visitor));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::read_query;
    use serde_json::json;

    struct Seen(Vec<String>);

    impl AskedVisitor for Seen {
        fn take(&mut self, field: &str, asked: Asked<'_>) {
            self.0.push(format!("{field} {asked:?}"));
        }

        fn enters(&self, occur: Occur) -> bool {
            occur == Occur::Required
        }
    }

    #[test]
    fn required_clauses_are_shown() {
        let query = json!({"bool": {
            "must": {"constant_score": {"filter": {"term": {"a": "x"}}}},
            "filter": [{"range": {"b": {"gte": 1}}}, {"prefix": {"c": "p"}}, {"wildcard": {"d": "w*"}}],
            "should": {"term": {"e": "y"}},
            "must_not": {"term": {"f": "z"}},
        }});
        let mut seen = Seen(Vec::new());
        read_query(&query).expect("a query").show_asked(&mut seen);
        assert_eq!(
            seen.0,
            [
                "a Values([String(\"x\")])",
                "b Between(Some(Number(1)), None)",
                "c Prefix(\"p\")",
                "d Pattern(\"w*\")",
            ]
        );
    }
}
