//! `explain` of scores that functions or a second query change.

use limber_mapping::number::java_float;
use limber_segment::{DocId, Segment};

use super::explain::{explain, name};
use crate::error::Result;
use crate::matcher;
use crate::query::{
    BoostMode, BoostingNode, FunctionScoreNode, ScoredFunction, ScriptScoreNode, script_name,
};
use crate::score::Explanation;

/// Source: `FunctionScoreQuery.CustomBoostFactorWeight#explain`, `CombineFunction#explain`.
pub(super) fn function_score(node: &FunctionScoreNode, segment: &Segment, doc: DocId) -> Result<Explanation> {
    let score = explain(&node.query, segment, doc)?;
    if node.functions.is_empty() {
        return Ok(score);
    }
    let mut functions = Vec::new();
    for function in &node.functions {
        functions.extend(one(function, segment, doc, &score)?);
    }
    let factor = if functions.is_empty() {
        Explanation::leaf(1.0, "No function matched")
    } else if node.is_single() {
        functions.swap_remove(0)
    } else {
        let value = matcher::factor_of(node, segment, doc, score.value)?;
        let text = format!("function score, score mode [{}]", node.score_mode.name());
        Explanation::of(value as f32, text, functions)
    };
    Ok(combined(node, score, factor))
}

/// `None` where the function's filter does not match.
fn one(
    function: &ScoredFunction,
    segment: &Segment,
    doc: DocId,
    score: &Explanation,
) -> Result<Option<Explanation>> {
    if let Some(filter) = &function.filter
        && !matcher::matches_doc(filter, segment, doc)?
    {
        return Ok(None);
    }
    let own = match &function.function {
        Some(function) => function.explain(segment, doc, score)?,
        None => Explanation::leaf(1.0, "constant score 1.0 - no function provided"),
    };
    let weighted = match function.weight {
        Some(weight) => {
            Explanation::of(own.value * weight, "product of:", vec![own, Explanation::leaf(weight, "weight")])
        }
        None => own,
    };
    Ok(Some(match &function.filter {
        Some(filter) => Explanation::of(
            weighted.value,
            "function score, product of:",
            vec![Explanation::leaf(1.0, format!("match filter: {}", name(filter))), weighted],
        ),
        None => weighted,
    }))
}

fn combined(node: &FunctionScoreNode, score: Explanation, factor: Explanation) -> Explanation {
    let max_boost = Explanation::leaf(node.max_boost, "maxBoost");
    let least = Explanation::of(factor.value.min(node.max_boost), "min of:", vec![factor, max_boost]);
    let (left, right) = (score.value, least.value);
    let (value, text) = match node.boost_mode {
        BoostMode::Replace => return least,
        BoostMode::Multiply => (left * right, "function score, product of:"),
        BoostMode::Sum => (left + right, "sum of"),
        BoostMode::Avg => (((f64::from(left) + f64::from(right)) / 2.0) as f32, "avg of"),
        BoostMode::Max => (left.max(right), "max of:"),
        BoostMode::Min => (left.min(right), "min of"),
    };
    Explanation::of(value, text, vec![score, least])
}

/// `function score (query, functions: [...])` as Elasticsearch prints the query.
pub(super) fn name_function_score(node: &FunctionScoreNode) -> String {
    let functions: Vec<String> = node
        .functions
        .iter()
        .map(|function| match (&function.filter, function.weight) {
            (Some(filter), weight) => {
                format!("{{filter({}), weight={}}}", name(filter), weight.unwrap_or(1.0))
            }
            (None, weight) => format!("{{weight={}}}", weight.unwrap_or(1.0)),
        })
        .collect();
    format!("function score ({}, functions: [{}])", name(&node.query), functions.join(""))
}

/// Source: Lucene's `FunctionScoreQuery` and its `MultiplicativeBoostValuesSource`.
pub(super) fn boosting(node: &BoostingNode, segment: &Segment, doc: DocId) -> Result<Explanation> {
    let inner = explain(&node.positive, segment, doc)?;
    let inner = match matcher::matches_doc(&node.negative, segment, doc)? {
        false => inner,
        true => {
            let value = f64::from(inner.value) * f64::from(node.negative_boost);
            let factor = Explanation::leaf(
                node.negative_boost,
                format!("Matched boosting query score({})", name(&node.negative)),
            );
            let mut product = Explanation::of(value as f32, "product of:", vec![inner, factor]);
            product.double = Some(value);
            product
        }
    };
    let source = name_boosting(node);
    let exact = inner.double.unwrap_or(f64::from(inner.value));
    if node.boost == 1.0 {
        let mut whole = Explanation::of(inner.value, format!("weight({source}), result of:"), vec![inner]);
        whole.double = whole.details[0].double;
        return Ok(whole);
    }
    let boost = Explanation::leaf(node.boost, "boost");
    let value = (exact * f64::from(node.boost)) as f32;
    Ok(Explanation::of(value, format!("weight({source}), product of:"), vec![boost, inner]))
}

/// Source: Elasticsearch's `ScriptScoreQuery`.
pub(super) fn script_score(node: &ScriptScoreNode, segment: &Segment, doc: DocId) -> Result<Explanation> {
    let mut numbers = Vec::new();
    let mut details = Vec::new();
    let mut score = 0.0;
    if node.script.uses_score() {
        let inner = explain(&node.query, segment, doc)?;
        score = inner.value;
        details.push(Explanation::of(score, "_score: ", vec![inner]));
    }
    node.script.open(segment)?.numbers(&[doc], &[score], &mut numbers)?;
    let value = numbers.first().copied().unwrap_or(0.0) as f32;
    let text = format!("script score function, computed with script:\"{}\"", script_name(&node.script));
    let script = Explanation::of(value, text, details);
    if node.boost == 1.0 {
        return Ok(script);
    }
    let boost = Explanation::leaf(node.boost, "boost");
    Ok(Explanation::of(value * node.boost, "Boosted score, product of:", vec![boost, script]))
}

pub(super) fn name_boosting(node: &BoostingNode) -> String {
    format!(
        "FunctionScoreQuery({}, scored by boost(queryboost(score({}))^{}))",
        name(&node.positive),
        name(&node.negative),
        java_float(node.negative_boost)
    )
}
