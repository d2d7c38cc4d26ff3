//! Thread pools sized for more processors than the cgroup allows, or for fewer.

use super::contract::{Rule, fine, found};
use crate::advise::experiment::Goal;
use crate::advise::finding::{Checked, Evidence, Gain, Reference, Unread};
use crate::advise::quantity::{percent, share};
use crate::advise::seen::Seen;
use crate::advise::server::Node;

pub(super) const RULE: Rule = Rule {
    id: "cpu_quota",
    question: "Are the threads as many as the processors they may use?",
    references: &[
        Reference {
            title: "Elasticsearch: allocated processors setting",
            url: "https://www.elastic.co/guide/en/elasticsearch/reference/8.19/modules-threadpool.html#node.processors",
        },
        Reference {
            title: "Linux: CFS bandwidth control",
            url: "https://docs.kernel.org/scheduler/sched-bwc.html",
        },
    ],
    check,
};

/// Any quota holds threads back for this share of the time now and then.
const THROTTLED_PERCENT_MAX: f64 = 1.0;

/// The quota of one node.
struct Quota<'a> {
    node: Node<'a>,
    /// `None` without a quota.
    cpus: Option<f64>,
    /// Percent of the watched time, if that was counted.
    throttled: Option<f64>,
    source: String,
}

impl Quota<'_> {
    /// Reads the quota from the machine if the server runs here, else from what the first node reports.
    fn read(seen: &Seen) -> Result<Quota<'_>, Unread> {
        if let Ok(machine) = seen.machine() {
            let quota = machine.cpu_quota()?;
            return Ok(Quota {
                node: seen.local_node()?,
                cpus: quota.cpus,
                throttled: quota.throttled_percent,
                source: quota.file,
            });
        }
        let node = *seen.server.nodes()?.first().ok_or_else(|| Unread::new("_nodes/stats", "no node"))?;
        let quota = node.stat("os.cgroup.cpu.cfs_quota_micros")?;
        let period = node.stat("os.cgroup.cpu.cfs_period_micros")?;
        let held = node.growth("os.cgroup.cpu.stat.time_throttled_nanos").ok();
        Ok(Quota {
            node,
            cpus: (quota > 0.0).then(|| quota / period),
            throttled: held.map(|nanos| share(nanos / 1e9, seen.window_s)),
            source: "_nodes/stats os.cgroup.cpu".to_owned(),
        })
    }
}

fn check(seen: &Seen) -> Checked {
    let Quota { node, cpus: quota, throttled, source } = Quota::read(seen)?;
    let available = node.info("os.available_processors")?;
    let allocated = node.info("os.allocated_processors")?;
    let usable = quota.map_or(available, |cpus| cpus.min(available));
    let mut evidence = vec![
        Evidence::new("processors the JVM or process sees", available, "_nodes os.available_processors"),
        Evidence::new("processors threads are made for", allocated, "_nodes os.allocated_processors"),
        Evidence::new(
            "quota",
            quota.map_or("none".to_owned(), |cpus| format!("{cpus:.2} processors")),
            &source,
        ),
    ];
    if let Some(throttled) = throttled {
        evidence.push(Evidence::new("threads held back", percent(throttled), format!("{source}, twice")));
    }
    if let (Some(cpus), Some(held)) = (quota, throttled)
        && held > THROTTLED_PERCENT_MAX
    {
        return found(
            format!(
                "The cgroup's quota of {cpus:.2} processors held threads back for {} of the time",
                percent(held)
            ),
            Gain::measured(held, "of a processor's time, in which a thread that could run waits"),
            evidence,
            "Raise the quota, or use CPU shares (weights) instead; with a whole number of processors set node.processors to it.",
            seen.experiment().before_and_after("# raise the cgroup's CPU quota"),
        );
    }
    if allocated > usable.ceil() {
        return found(
            format!("Thread pools are made for {allocated:.0} processors, of which {usable:.2} may run"),
            Gain::judged(
                share(allocated - usable, allocated).min(20.0),
                "of the slowest requests' time, in waits for the quota",
            ),
            evidence,
            "Set node.processors to the quota.",
            seen.experiment().tune(
                Goal::Searches,
                &[("engine:node.processors", &format!("{allocated:.0},{:.0}", usable.ceil()))],
            ),
        );
    }
    if allocated < usable.floor() {
        return found(
            format!("Thread pools are made for {allocated:.0} of {usable:.0} processors"),
            Gain::judged(
                share(usable - allocated, usable),
                "of the processors, which search and index no more than they are asked to",
            ),
            evidence,
            "Raise node.processors, unless other programs need the rest.",
            seen.experiment().tune(
                Goal::Writes,
                &[("engine:node.processors", &format!("{allocated:.0},{:.0}", usable.floor()))],
            ),
        );
    }
    fine(format!("threads for {allocated:.0} processors, {usable:.2} may run"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::tests::check;
    use super::RULE;
    use crate::advise::fixture::recorded;
    use crate::advise::server::Question::{NodeStats, Nodes};

    #[test]
    fn quota_and_threads_are_compared() {
        check(&RULE, &recorded("es-9.4.3"), "fine: threads for 2 processors, 2.00 may run");
        check(&RULE, &recorded("limber"), "unread: _nodes/stats os.cgroup.cpu.cfs_quota_micros");
        let quota =
            recorded("es-9.4.3").with(NodeStats, "nodes.*.os.cgroup.cpu.cfs_quota_micros", json!(50_000));
        check(&RULE, &quota, "found: Thread pools are made for 2 processors, of which 0.50 may run");
        let group = ("proc/17/cgroup", "0::/box\n");
        let max = ("sys/fs/cgroup/box/cpu.max", "100000 100000\n");
        let stat = |micros: &'static str| ("sys/fs/cgroup/box/cpu.stat", micros);
        let held = recorded("limber")
            .on_machine(&[group, max, stat("throttled_usec 0\n")], &[stat("throttled_usec 2000000\n")]);
        check(
            &RULE,
            &held,
            "found: The cgroup's quota of 1.00 processors held threads back for 40 % of the time (up to 40 %",
        );
        let few = recorded("es-9.4.3").with(Nodes, "nodes.*.os.allocated_processors", json!(1));
        check(&RULE, &few, "found: Thread pools are made for 1 of 2 processors (about 50 %");
    }
}
