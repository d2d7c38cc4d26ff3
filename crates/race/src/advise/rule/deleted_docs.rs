//! Deleted documents, which every search still has to skip until a merge drops them.

use super::contract::{Rule, fine, found};
use crate::advise::finding::{Checked, Evidence, Gain, Reference};
use crate::advise::quantity::{percent, share};
use crate::advise::seen::Seen;
use crate::advise::server::at;

pub(super) const RULE: Rule = Rule {
    id: "deleted_docs",
    question: "Are most documents in the segments alive?",
    references: &[Reference {
        title: "Elasticsearch: force merge, only_expunge_deletes",
        url: "https://www.elastic.co/guide/en/elasticsearch/reference/8.19/indices-forcemerge.html",
    }],
    check,
};

/// In a busy index, Lucene's merge policy leaves a fifth to a third of the documents deleted.
const INDEX_PERCENT_MAX: f64 = 25.0;
/// Share of all documents: many deleted documents in a small index cost little.
const ALL_PERCENT_MIN: f64 = 5.0;

fn check(seen: &Seen) -> Checked {
    let (mut all, mut all_deleted) = (0.0, 0.0);
    let mut worst: Option<(f64, &str)> = None;
    for (index, stats) in seen.server.indices()? {
        let number = |path: &str| at(stats, path).as_f64().unwrap_or(0.0);
        let (alive, deleted) = (number("primaries.docs.count"), number("primaries.docs.deleted"));
        all += alive + deleted;
        all_deleted += deleted;
        let of_index = share(deleted, alive + deleted);
        if worst.is_none_or(|(most, _)| of_index > most) {
            worst = Some((of_index, index));
        }
    }
    let all_percent = share(all_deleted, all);
    let Some((most, index)) = worst else { return fine("there is no index".to_owned()) };
    if most <= INDEX_PERCENT_MAX || all_percent < ALL_PERCENT_MIN {
        return fine(format!(
            "{} of all documents are deleted ones, {} in [{index}]",
            percent(all_percent),
            percent(most)
        ));
    }
    found(
        format!("{} of the documents in [{index}] are deleted ones", percent(most)),
        Gain::measured(all_percent, "of what searches read, and of the disk"),
        vec![
            Evidence::new(format!("deleted in [{index}]"), percent(most), "_stats docs.deleted"),
            Evidence::new("deleted in all indices", format!("{all_deleted:.0} of {all:.0}"), "_stats docs"),
        ],
        "Force-merge with only_expunge_deletes when the index is no longer updated; lower index.merge.policy.deletes_pct_allowed when it is.",
        seen.experiment().before_and_after(&format!(
            "curl -X POST '{}/{index}/_forcemerge?only_expunge_deletes=true'",
            seen.host
        )),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::check;
    use super::RULE;
    use crate::advise::fixture::recorded;
    use crate::advise::server::Question::IndexStats;

    #[test]
    fn deleted_documents_are_counted() {
        // 8,000 of the 20,000 documents were written twice.
        check(
            &RULE,
            &recorded("es-9.4.3"),
            "found: 29 % of the documents in [logs] are deleted ones (up to 24 %",
        );
        // A merge dropped the deleted documents before the recording.
        check(&RULE, &recorded("limber"), "fine: 0.0 %");
        let few = recorded("es-9.4.3").with(IndexStats, "indices.logs.primaries.docs.deleted", json!(200));
        check(&RULE, &few, "fine: 0.8 %");
        check(&RULE, &recorded("es-9.4.3").without(IndexStats), "unread: _stats");
    }
}
