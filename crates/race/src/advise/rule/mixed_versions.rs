//! Nodes of different versions: an upgrade that was not finished.

use std::collections::BTreeMap;

use super::contract::{Rule, fine, found};
use crate::advise::finding::{Checked, Evidence, Gain, Reference};
use crate::advise::seen::Seen;

pub(super) const RULE: Rule = Rule {
    id: "mixed_versions",
    question: "Do all nodes run the same version?",
    references: &[Reference {
        title: "Elasticsearch: rolling upgrades",
        url: "https://www.elastic.co/guide/en/elasticsearch/reference/8.19/setup-upgrade.html",
    }],
    check,
};

fn check(seen: &Seen) -> Checked {
    let (mut versions, mut javas) = (BTreeMap::<&str, usize>::new(), BTreeMap::<&str, usize>::new());
    let nodes = seen.server.nodes()?;
    for node in &nodes {
        *versions.entry(node.info_text("version")?).or_default() += 1;
        *javas.entry(node.info_text("jvm.version")?).or_default() += 1;
    }
    let listed = |counts: &BTreeMap<&str, usize>| {
        counts.iter().map(|(version, count)| format!("{version} ({count})")).collect::<Vec<_>>().join(", ")
    };
    if versions.len() == 1 && javas.len() == 1 {
        return fine(format!("{} on every node", listed(&versions)));
    }
    let what = if versions.len() > 1 { "versions of the server" } else { "versions of Java" };
    found(
        format!("The nodes run different {what}"),
        Gain::judged(
            3.0,
            "of the time; new shards cannot be copied to older nodes, and figures of nodes cannot be compared",
        ),
        vec![
            Evidence::new("versions", listed(&versions), "_nodes version"),
            Evidence::new("Java", listed(&javas), "_nodes jvm.version"),
        ],
        "Finish the upgrade before you measure or tune anything.",
        seen.experiment().before_and_after("# upgrade the remaining nodes"),
    )
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;
    use super::RULE;
    use crate::advise::fixture::recorded;
    use crate::advise::server::Question::Nodes;

    #[test]
    fn different_versions_are_found() {
        check(&RULE, &recorded("es-9.4.3"), "fine: 9.4.3 (1) on every node");
        check(&RULE, &recorded("limber"), "fine");
        check(
            &RULE,
            &recorded("es-9.4.3").with_second_node("9.3.0", "25.0.3"),
            "found: The nodes run different versions of the server",
        );
        check(
            &RULE,
            &recorded("es-9.4.3").with_second_node("9.4.3", "21.0.1"),
            "found: The nodes run different versions of Java",
        );
        check(&RULE, &recorded("es-9.4.3").without(Nodes), "unread: _nodes version");
    }
}
