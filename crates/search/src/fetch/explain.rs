//! `explain`: how a hit's score came about, in Lucene's words.

use limber_mapping::number::{java_double, java_float};
use limber_segment::postings::Want;
use limber_segment::{DocId, Segment};

use super::function_score;
use crate::context::ShardSnapshot;
use crate::error::{Result, check_request};
use crate::matcher;
use crate::percolator::StoredQueries;
use crate::query::{
    BoolNode, BoundNeeded, BoundQuery, CombinedNode, DisMaxNode, FeatureNode, FeatureOrigin, IntervalsNode,
    NestedNode, NestedScore, Node, PhraseNode, Query, SpansNode, TermNode, TermsSetNode, bind,
};
use crate::score::{Bm25, Explanation};

/// The query as Lucene prints it once bound to a shard (`_validate/query?explain`). Errors where it cannot be bound.
pub fn describe(query: Option<&Query>, shard: &ShardSnapshot, now_millis: i64) -> Result<String> {
    match query {
        Some(query) => Ok(name(&bind(query, shard, now_millis)?)),
        None => Ok("*:*".to_owned()),
    }
}

/// Explains a document that matches `query`.
pub(super) fn explain(query: &BoundQuery, segment: &Segment, doc: DocId) -> Result<Explanation> {
    check_request()?;
    Ok(match &query.node {
        Node::Nothing { reason } => Explanation::leaf(0.0, format!("MatchNoDocsQuery(\"{reason}\")")),
        Node::Everything { boost } => Explanation::leaf(*boost, boosted("*:*", *boost)),
        Node::Docs { boost, text, docs } => Explanation::leaf(*boost, boosted(&text.of(docs), *boost)),
        Node::Constant { inner, boost } => {
            Explanation::leaf(*boost, boosted(&format!("ConstantScore({})", name(inner)), *boost))
        }
        Node::Cached(node) => explain(&node.inner, segment, doc)?,
        Node::Term(node) => term(node, segment, doc)?,
        Node::Phrase(node) => phrase(node, query, segment, doc)?,
        Node::Intervals(node) => intervals(node, segment, doc)?,
        Node::Spans(node) => spans(node, segment, doc)?,
        Node::Feature(node) => feature(node, query, segment, doc)?,
        Node::Bool(node) => boolean(node, query, segment, doc)?,
        Node::DisMax(node) => best(node, query, segment, doc)?,
        Node::Combined(node) => combined(node, segment, doc)?,
        Node::TermsSet(node) => terms_set(node, segment, doc)?,
        Node::FunctionScore(node) => function_score::function_score(node, segment, doc)?,
        Node::Boosting(node) => function_score::boosting(node, segment, doc)?,
        Node::ScriptScore(node) => function_score::script_score(node, segment, doc)?,
        Node::Nested(node) => nested(node, query, segment, doc)?,
        Node::Percolate(node) => {
            let score = StoredQueries::open(node, segment)?.score(doc)?;
            Explanation::leaf(score, "PercolateQuery".to_owned())
        }
        Node::Script(node) => {
            let text = format!("ScriptQuery({})", crate::query::script_name(&node.script));
            Explanation::leaf(node.boost, boosted(&text, node.boost))
        }
    })
}

fn boosted(text: &str, boost: f32) -> String {
    if boost == 1.0 { text.to_owned() } else { format!("{text}^{}", java_float(boost)) }
}

/// The query as Lucene prints it.
pub(crate) fn name(query: &BoundQuery) -> String {
    match &query.node {
        Node::Nothing { reason } => format!("MatchNoDocsQuery(\"{reason}\")"),
        Node::Everything { .. } => "*:*".to_owned(),
        Node::Docs { text, docs, .. } => text.of(docs),
        Node::Cached(node) => name(&node.inner),
        Node::Constant { inner, boost } => boosted(&format!("ConstantScore({})", name(inner)), *boost),
        Node::Term(node) => format!("{}:{}", node.field.path, String::from_utf8_lossy(&node.term)),
        Node::Phrase(node) => {
            let words: Vec<String> = node
                .slots
                .iter()
                .map(|(_, terms)| {
                    let words: Vec<_> =
                        terms.iter().map(|term| String::from_utf8_lossy(term).into_owned()).collect();
                    if words.len() == 1 { words[0].clone() } else { format!("({})", words.join(" ")) }
                })
                .collect();
            let slop = if node.slop == 0 { String::new() } else { format!("~{}", node.slop) };
            format!("{}:\"{}\"{slop}", node.field.path, words.join(" "))
        }
        Node::Intervals(node) => boosted(&node.text(), node.boost),
        Node::Spans(node) => boosted(&node.span.text(), node.boost),
        Node::Combined(node) => node.text(),
        Node::TermsSet(node) => {
            let queries: Vec<String> = node.queries.iter().map(name).collect();
            format!("CoveringQuery(queries=[{}])", queries.join(", "))
        }
        Node::FunctionScore(node) => function_score::name_function_score(node),
        Node::Boosting(node) => function_score::name_boosting(node),
        Node::Feature(node) => feature_name(node),
        Node::ScriptScore(node) => {
            format!("ScriptScoreQuery({}, {})", name(&node.query), crate::query::script_name(&node.script))
        }
        Node::Script(node) => format!("ScriptQuery({})", crate::query::script_name(&node.script)),
        Node::Percolate(_) => "PercolateQuery".to_owned(),
        Node::Nested(node) => format!("ToParentBlockJoinQuery ({})", name(&node.query)),
        Node::DisMax(node) => {
            let clauses: Vec<String> = node.queries.iter().map(name).collect();
            let tie = match node.tie_breaker {
                0.0 => String::new(),
                tie => format!("~{}", java_float(tie)),
            };
            format!("({}){tie}", clauses.join(" | "))
        }
        Node::Bool(node) => {
            let mut clauses = Vec::new();
            for (sign, queries) in
                [("+", &node.must), ("#", &node.filter), ("", &node.should), ("-", &node.must_not)]
            {
                for query in queries {
                    let inner = name(query);
                    let inner =
                        if matches!(query.node, Node::Bool(_)) { format!("({inner})") } else { inner };
                    clauses.push(format!("{sign}{inner}"));
                }
            }
            clauses.join(" ")
        }
    }
}

/// The nested documents that match, and the best of them.
fn nested(node: &NestedNode, query: &BoundQuery, segment: &Segment, doc: DocId) -> Result<Explanation> {
    let mut sum = [0.0];
    matcher::scorer(query, segment, true)?.score(&[doc], &mut sum)?;
    let Some((space, lineage)) = segment.nested(&node.path).zip(segment.lineage(&node.path)) else {
        return Ok(Explanation::leaf(0.0, "Not a match"));
    };
    let range = lineage.children(doc);
    let (mut best, mut count): (Option<Explanation>, u32) = (None, 0);
    for child in range.clone() {
        if matcher::matches_doc(&node.query, &space.segment, child)? {
            count += 1;
            let explanation = explain(&node.query, &space.segment, child)?;
            if best.as_ref().is_none_or(|best| explanation.value > best.value) {
                best = Some(explanation);
            }
        }
    }
    let mode = match node.score_mode {
        NestedScore::Avg => "Avg",
        NestedScore::Sum => "Total",
        NestedScore::Min => "Min",
        NestedScore::Max => "Max",
        NestedScore::None => "None",
    };
    let text = format!(
        "Score based on {count} child docs in range from {} to {}, using score mode {mode}",
        range.start,
        range.end.saturating_sub(1)
    );
    Ok(Explanation::of(sum[0] as f32, text, best.into_iter().collect()))
}

fn feature_name(node: &FeatureNode) -> String {
    let (class, origin) = match &node.origin {
        FeatureOrigin::Place(from) => (
            "LatLonPointDistanceFeatureQuery",
            format!("{},{}", java_double(from.latitude()), java_double(from.longitude())),
        ),
        FeatureOrigin::Instant(instant) => ("LongDistanceFeatureQuery", instant.to_string()),
    };
    let (path, pivot) = (&node.field.path, java_double(node.pivot));
    format!("{class}(field={path},origin={origin},pivotDistance={pivot})")
}

fn feature(node: &FeatureNode, query: &BoundQuery, segment: &Segment, doc: DocId) -> Result<Explanation> {
    let mut score = [0.0];
    matcher::scorer(query, segment, true)?.score(&[doc], &mut score)?;
    let details =
        vec![Explanation::leaf(node.boost, "weight"), Explanation::leaf(node.pivot as f32, "pivotDistance")];
    Ok(Explanation::of(
        score[0] as f32,
        format!(
            "Distance score, computed as weight * pivotDistance / (pivotDistance + abs(value - origin)) from: {}",
            feature_name(node)
        ),
        details,
    ))
}

fn norm(segment: &Segment, path: &str, doc: DocId) -> Result<Option<u8>> {
    Ok(segment.norms(path)?.map(|norms| norms.get(doc)))
}

fn weight(query: &str, scorer: &Bm25, freq: Explanation, norm: Option<u8>, doc: DocId) -> Explanation {
    let score = scorer.explain(freq, norm.unwrap_or(1));
    Explanation::of(
        score.value,
        format!("weight({query} in {doc}) [PerFieldSimilarity], result of:"),
        vec![score],
    )
}

fn term(node: &TermNode, segment: &Segment, doc: DocId) -> Result<Explanation> {
    let path = &node.field.path;
    let mut freq = 0;
    if let Some(terms) = segment.terms(path)?
        && let Some(info) = terms.get(&node.term)?
    {
        let mut postings = segment.postings(path, &info, Want::Freqs)?;
        if postings.advance(doc) == doc {
            freq = postings.freq();
        }
    }
    let query = format!("{path}:{}", String::from_utf8_lossy(&node.term));
    let freq = Explanation::leaf(freq as f32, "freq, occurrences of term within document");
    Ok(weight(&query, &node.scorer, freq, norm(segment, path, doc)?, doc))
}

fn phrase(node: &PhraseNode, query: &BoundQuery, segment: &Segment, doc: DocId) -> Result<Explanation> {
    let freq = matcher::phrase_freq_in(node, segment, doc)?;
    let freq = Explanation::leaf(freq, format!("phraseFreq={}", java_float(freq)));
    Ok(weight(&name(query), &node.scorer, freq, norm(segment, &node.field.path, doc)?, doc))
}

/// Source: Lucene's `SpanWeight#explain`.
fn spans(node: &SpansNode, segment: &Segment, doc: DocId) -> Result<Explanation> {
    let Some(scorer) = &node.scorer else {
        return Ok(Explanation::leaf(0.0, format!("match {} in {doc} without score", node.span.text())));
    };
    let freq = matcher::span_freq(node, segment, doc)?;
    let freq = Explanation::leaf(freq, format!("phraseFreq={}", java_float(freq)));
    let norm = match &node.field {
        Some(field) => norm(segment, &field.path, doc)?,
        None => None,
    };
    Ok(weight(&node.span.text(), scorer, freq, norm, doc))
}

/// Source: Lucene's `IntervalScoreFunction#explain`.
fn intervals(node: &IntervalsNode, segment: &Segment, doc: DocId) -> Result<Explanation> {
    let freq = matcher::interval_freq(node, segment, doc)?;
    let details = vec![
        Explanation::leaf(node.boost, "w, weight of this function"),
        Explanation::leaf(1.0, "k, pivot feature value that would give a score contribution equal to w/2"),
        Explanation::leaf(freq, format!("S, the sloppy frequency of the interval query {}", node.text())),
    ];
    let text = "Saturation function on interval frequency, computed as w * S / (S + k) from:";
    Ok(Explanation::of(node.score(freq), text, details))
}

fn best(node: &DisMaxNode, query: &BoundQuery, segment: &Segment, doc: DocId) -> Result<Explanation> {
    let mut details = Vec::new();
    for clause in &node.queries {
        if matcher::matches_doc(clause, segment, doc)? {
            details.push(explain(clause, segment, doc)?);
        }
    }
    let mut score = [0.0];
    matcher::scorer(query, segment, true)?.score(&[doc], &mut score)?;
    let text = match node.tie_breaker {
        0.0 => "max of:".to_owned(),
        tie => format!("max plus {} times others of:", java_float(tie)),
    };
    Ok(Explanation::of(score[0] as f32, text, details))
}

fn combined(node: &CombinedNode, segment: &Segment, doc: DocId) -> Result<Explanation> {
    let (freq, norm) = matcher::combined_freq(node, segment, doc)?;
    let freq = Explanation::leaf(freq, format!("termFreq={}", java_float(freq)));
    let score = node.scorer.explain(freq, norm);
    let text = format!("weight({} in {doc}), result of:", node.text());
    Ok(Explanation::of(score.value, text, vec![score]))
}

/// Source: Lucene's `CoveringQuery.CoveringWeight#explain`.
fn terms_set(node: &TermsSetNode, segment: &Segment, doc: DocId) -> Result<Explanation> {
    let (matching, needed) = matcher::covered(node, segment, doc)?;
    let details = matching.iter().map(|query| explain(query, segment, doc)).collect::<Result<Vec<_>>>()?;
    let sum: f64 = details.iter().map(|detail| f64::from(detail.value)).sum();
    let text = match node.needed {
        // Elasticsearch makes an ordinary disjunction of these.
        BoundNeeded::Count(_) => "sum of:".to_owned(),
        _ => format!("{} matches for {needed} required matches, sum of:", details.len()),
    };
    Ok(Explanation::of(sum as f32, text, details))
}

fn boolean(node: &BoolNode, query: &BoundQuery, segment: &Segment, doc: DocId) -> Result<Explanation> {
    let only_filters = node.must.is_empty() && node.should.is_empty();
    if only_filters
        && let [filter] = node.filter.as_slice()
        && node.must_not.is_empty()
    {
        return Ok(Explanation::leaf(0.0, format!("ConstantScore({})^0.0", name(filter))));
    }
    if node.must.len() + node.should.len() == 1 && node.filter.is_empty() && node.must_not.is_empty() {
        return explain(node.must.first().unwrap_or_else(|| &node.should[0]), segment, doc);
    }
    let mut details = Vec::new();
    for clause in &node.must {
        details.push(explain(clause, segment, doc)?);
    }
    for clause in &node.should {
        if matcher::matches_doc(clause, segment, doc)? {
            details.push(explain(clause, segment, doc)?);
        }
    }
    for clause in &node.filter {
        // A filter is not scored: its own score is always 1.
        let inner = Explanation::leaf(1.0, name(clause));
        details.push(Explanation::of(
            0.0,
            "match on required clause, product of:",
            vec![Explanation::leaf(0.0, "# clause"), inner],
        ));
    }
    let mut sum = [0.0];
    matcher::scorer(query, segment, true)?.score(&[doc], &mut sum)?;
    Ok(Explanation::of(sum[0] as f32, "sum of:", details))
}
