//! Finds cycles in a graph.

use std::collections::{BTreeMap, BTreeSet};

/// Returns the strongly connected components of two or more nodes, largest first.
pub fn knots<N: Ord + Clone>(arrows: impl IntoIterator<Item = (N, N)>) -> Vec<BTreeSet<N>> {
    let mut next: BTreeMap<N, BTreeSet<N>> = BTreeMap::new();
    for (from, to) in arrows {
        next.entry(to.clone()).or_default();
        next.entry(from).or_default().insert(to);
    }
    let reached: BTreeMap<N, BTreeSet<N>> =
        next.keys().map(|start| (start.clone(), reachable(&next, start))).collect();
    let mut knots: Vec<BTreeSet<N>> = Vec::new();
    for (node, ways) in &reached {
        if ways.contains(node) && !knots.iter().any(|knot| knot.contains(node)) {
            let knot: BTreeSet<N> =
                ways.iter().filter(|other| reached[*other].contains(node)).cloned().collect();
            if knot.len() > 1 {
                knots.push(knot);
            }
        }
    }
    knots.sort_by_key(|knot| std::cmp::Reverse(knot.len()));
    knots
}

fn reachable<N: Ord + Clone>(next: &BTreeMap<N, BTreeSet<N>>, start: &N) -> BTreeSet<N> {
    let mut seen = BTreeSet::new();
    let mut waiting: Vec<&N> = next[start].iter().collect();
    while let Some(node) = waiting.pop() {
        if seen.insert(node.clone()) {
            waiting.extend(&next[node]);
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_leads_back_is_a_knot() {
        let arrows = [("a", "b"), ("b", "c"), ("c", "b"), ("c", "d"), ("e", "e")];
        assert_eq!(knots(arrows), [BTreeSet::from(["b", "c"])]);
        assert!(knots([("a", "b"), ("a", "c")]).is_empty());
    }
}
