//! Processors that save power while requests wait.

use super::contract::{Rule, fine, found};
use crate::advise::finding::{Checked, Evidence, Gain, Reference};
use crate::advise::seen::Seen;

pub(super) const RULE: Rule = Rule {
    id: "cpu_governor",
    question: "Do the processors run as fast as they can?",
    references: &[Reference {
        title: "Linux: CPU performance scaling",
        url: "https://docs.kernel.org/admin-guide/pm/cpufreq.html",
    }],
    check,
};

const FOLDER: &str = "sys/devices/system/cpu/cpu0/cpufreq";

fn check(seen: &Seen) -> Checked {
    let machine = seen.machine()?;
    let governor = machine.read(&format!("{FOLDER}/scaling_governor"))?;
    let driver = machine.read(&format!("{FOLDER}/scaling_driver"))?;
    let (governor, driver) = (governor.trim(), driver.trim());
    // With these drivers, `powersave` still reaches full speed under load; with the others it stays at the
    // lowest.
    let is_fixed_low = governor == "powersave" && !matches!(driver, "intel_pstate" | "amd-pstate-epp");
    if !is_fixed_low {
        return fine(format!("governor {governor} of driver {driver}"));
    }
    found(
        "The processors are kept at their lowest speed (governor powersave)".to_owned(),
        Gain::judged(30.0, "of the time of everything that computes"),
        vec![
            Evidence::new("governor", governor, format!("/{FOLDER}/scaling_governor")),
            Evidence::new("driver", driver, format!("/{FOLDER}/scaling_driver")),
        ],
        "Set the governor to performance or schedutil.",
        seen.experiment().before_and_after("sudo cpupower frequency-set -g performance"),
    )
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;
    use super::RULE;
    use crate::advise::fixture::recorded;

    #[test]
    fn only_a_governor_that_stays_low_is_found() {
        let with = |governor, driver| {
            recorded("limber").on_machine(
                &[
                    ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", governor),
                    ("sys/devices/system/cpu/cpu0/cpufreq/scaling_driver", driver),
                ],
                &[],
            )
        };
        check(
            &RULE,
            &with("powersave\n", "acpi-cpufreq\n"),
            "found: The processors are kept at their lowest speed",
        );
        check(
            &RULE,
            &with("powersave\n", "intel_pstate\n"),
            "fine: governor powersave of driver intel_pstate",
        );
        check(
            &RULE,
            &recorded("limber").on_machine(&[], &[]),
            "unread: /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
        );
    }
}
