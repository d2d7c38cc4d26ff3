//! The cost of making documents searchable every second.

use super::contract::{Rule, fine, found};
use crate::advise::experiment::Goal;
use crate::advise::finding::{Checked, Evidence, Gain, Reference};
use crate::advise::quantity::{percent, seconds_of, share};
use crate::advise::seen::Seen;
use crate::advise::server::at;

pub(super) const RULE: Rule = Rule {
    id: "refresh_cost",
    question: "Is little of the indexing work spent on refreshes?",
    references: &[Reference {
        title: "Elasticsearch: unset or increase the refresh interval",
        url: "https://www.elastic.co/guide/en/elasticsearch/reference/8.19/tune-for-indexing-speed.html#_unset_or_increase_the_refresh_interval",
    }],
    check,
};

const PERCENT_MAX: f64 = 10.0;
/// Less work than this is noise.
const WORK_MILLIS_MIN: f64 = 1_000.0;
/// The interval proposed instead, which is Elastic's recommendation.
const INTERVAL_S: f64 = 30.0;

fn check(seen: &Seen) -> Checked {
    let (mut refresh_millis, mut work_millis) = (0.0, 0.0);
    let mut worst: Option<(f64, &str)> = None;
    for (index, stats) in seen.server.indices()? {
        let millis = |path: &str| at(stats, path).as_f64().unwrap_or(0.0);
        let refresh = millis("total.refresh.total_time_in_millis");
        refresh_millis += refresh;
        work_millis += refresh
            + millis("total.indexing.index_time_in_millis")
            + millis("total.merges.total_time_in_millis");
        if worst.is_none_or(|(most, _)| refresh > most) {
            worst = Some((refresh, index));
        }
    }
    let cost = share(refresh_millis, work_millis);
    let Some((most, index)) = worst.filter(|_| work_millis >= WORK_MILLIS_MIN) else {
        return fine(format!("{work_millis:.0} ms of indexing work since the start are too little to tell"));
    };
    let interval = seen.server.index_setting(index, "index.refresh_interval")?.unwrap_or("1s");
    let seconds = seconds_of(interval).unwrap_or(1.0);
    if cost <= PERCENT_MAX || !(0.0..INTERVAL_S).contains(&seconds) {
        return fine(format!(
            "refreshes are {} of the indexing work; [{index}] has an interval of {interval}",
            percent(cost)
        ));
    }
    found(
        format!("Refreshes are {} of the indexing work; [{index}] refreshes every {interval}", percent(cost)),
        Gain::measured(cost * (1.0 - seconds / INTERVAL_S), "of the indexing work"),
        vec![
            Evidence::new(
                "refreshes",
                format!("{:.1} s", refresh_millis / 1e3),
                "_stats refresh.total_time_in_millis",
            ),
            Evidence::new(
                format!("of [{index}]"),
                format!("{:.1} s", most / 1e3),
                "_stats refresh.total_time_in_millis",
            ),
            Evidence::new(
                "indexing, refreshing and merging",
                format!("{:.1} s", work_millis / 1e3),
                "_stats",
            ),
        ],
        format!(
            "Set index.refresh_interval to {INTERVAL_S:.0}s where documents need not be found at once, and to -1 during a first load."
        ),
        seen.experiment()
            .tune(Goal::Writes, &[("index:index.refresh_interval", &format!("{interval},{INTERVAL_S:.0}s"))]),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::check;
    use super::RULE;
    use crate::advise::fixture::recorded;
    use crate::advise::server::Question::{IndexSettings, IndexStats};

    #[test]
    fn refreshes_are_weighed_against_the_work() {
        check(&RULE, &recorded("es-9.4.3"), "found: Refreshes are");
        check(&RULE, &recorded("limber"), "fine: 5");
        let rare =
            recorded("es-9.4.3").with(IndexSettings, "*.settings", json!({"index.refresh_interval": "60s"}));
        check(&RULE, &rare, "fine: refreshes are");
        let cheap = recorded("es-7.10.2").with(
            IndexStats,
            "indices.*.total.indexing.index_time_in_millis",
            json!(900_000),
        );
        check(&RULE, &cheap, "fine: refreshes are 0.");
        check(&RULE, &recorded("es-7.10.2").without(IndexStats), "unread: _stats");
    }
}
