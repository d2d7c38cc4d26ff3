//! Finds cycles in a graph.

use std::collections::{BTreeMap, BTreeSet};

/// Returns the strongly connected components of two or more nodes, largest first.
pub fn strongly_connected<N: Ord + Clone>(arrows: impl IntoIterator<Item = (N, N)>) -> Vec<BTreeSet<N>> {
    let mut next: BTreeMap<N, BTreeSet<N>> = BTreeMap::new();
    for (from, to) in arrows {
        next.entry(to.clone()).or_default();
        next.entry(from).or_default().insert(to);
    }
    let reached: BTreeMap<N, BTreeSet<N>> =
        next.keys().map(|start| (start.clone(), reachable(&next, start))).collect();
    let mut components: Vec<BTreeSet<N>> = Vec::new();
    for (node, ways) in &reached {
        if ways.contains(node) && !components.iter().any(|component| component.contains(node)) {
            let component: BTreeSet<N> =
                ways.iter().filter(|other| reached[*other].contains(node)).cloned().collect();
            if component.len() > 1 {
                components.push(component);
            }
        }
    }
    components.sort_by_key(|component| std::cmp::Reverse(component.len()));
    components
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
    fn only_what_leads_back_is_a_component() {
        let arrows = [("a", "b"), ("b", "c"), ("c", "b"), ("c", "d"), ("e", "e")];
        assert_eq!(strongly_connected(arrows), [BTreeSet::from(["b", "c"])]);
        assert!(strongly_connected([("a", "b"), ("a", "c")]).is_empty());
    }
}
