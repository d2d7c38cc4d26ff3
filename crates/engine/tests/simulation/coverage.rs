//! Makes a disk call fail at every line of the program that has one.

use std::collections::{BTreeMap, VecDeque};

use limber_store::Fault;
use limber_store::crash::{Site, Sites};

use crate::points::{self, Case};

/// Maximum number of faults in a case. Code that runs because a call failed makes disk calls too.
const FAULTS_MAX: usize = 3;

/// The result of failing every site.
#[derive(Default)]
pub struct Coverage {
    pub runs: usize,
    /// The sites, and whether a call there has failed.
    pub sites: BTreeMap<Site, bool>,
    pub wrong: Vec<String>,
}

/// For each site, fails its first call with each of the `faults` that are possible there, in a separate run
/// of the scenario. A site that is reached only because another call failed is failed in a run that has that
/// fault too.
pub fn fail_every_site(faults: &[Fault]) -> Coverage {
    let (mut found, places) = (Coverage::default(), Sites::default());
    let mut cases = VecDeque::from([Case::default()]);
    while let Some(case) = cases.pop_front() {
        let sites = places.emptied();
        let ran = points::run(&case, Some(&sites));
        found.runs += 1;
        found.wrong.extend(ran.wrong.iter().map(|what| format!("{case:?}: {what}")));
        for (site, calls) in sites.all() {
            let in_scenario = calls.iter().find(|call| ran.scenario.contains(&call.number));
            let in_recovery = calls.iter().find(|call| ran.recovery.contains(&call.number));
            let has_failed = calls.iter().any(|call| call.fails);
            let is_new = !found.sites.contains_key(&site);
            if in_scenario.is_none() && in_recovery.is_none() && !has_failed {
                continue;
            }
            *found.sites.entry(site.clone()).or_default() |= has_failed;
            if !is_new || case.fails.len() + case.recovery_fails.len() == FAULTS_MAX {
                continue;
            }
            for fault in faults.iter().filter(|fault| fault.can_hit(site.kind)) {
                let mut next = case.clone();
                match (in_scenario, in_recovery) {
                    (Some(call), _) => next.fails.push((call.number - ran.scenario.start, *fault)),
                    (None, Some(call)) => {
                        next.recovery_fails.push((call.number - ran.recovery.start, *fault));
                    }
                    (None, None) => continue,
                }
                cases.push_back(next);
            }
        }
    }
    found
}

impl Coverage {
    /// Returns the sites that were reached and did not fail.
    pub fn never_failed(&self) -> Vec<&Site> {
        self.sites.iter().filter(|(_, has_failed)| !**has_failed).map(|(site, _)| site).collect()
    }
}
