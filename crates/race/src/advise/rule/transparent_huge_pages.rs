//! Huge pages that the kernel makes on its own: to make one it moves other pages, while the process waits.

use super::contract::{Rule, fine, found};
use crate::advise::finding::{Checked, Evidence, Gain, Reference};
use crate::advise::machine::chosen;
use crate::advise::seen::Seen;

pub(super) const RULE: Rule = Rule {
    id: "transparent_huge_pages",
    question: "Does the kernel make huge pages only where it is asked to?",
    references: &[
        Reference {
            title: "Linux: transparent hugepage support",
            url: "https://docs.kernel.org/admin-guide/mm/transhuge.html",
        },
        Reference {
            title: "Java: -XX:+UseTransparentHugePages",
            url: "https://docs.oracle.com/en/java/javase/21/docs/specs/man/java.html#large-pages",
        },
    ],
    check,
};

const ENABLED: &str = "sys/kernel/mm/transparent_hugepage/enabled";
const DEFRAG: &str = "sys/kernel/mm/transparent_hugepage/defrag";

fn check(seen: &Seen) -> Checked {
    let machine = seen.machine()?;
    let (enabled, defrag) = (machine.read(ENABLED)?, machine.read(DEFRAG)?);
    let (enabled, defrag) = (chosen(&enabled), chosen(&defrag));
    let stalls = machine.vmstat_rate("compact_stall").unwrap_or(0.0);
    if enabled != "always" {
        return fine(format!("[{enabled}]: only for memory that asks for it"));
    }
    let gain = if stalls > 0.0 || defrag == "always" { 5.0 } else { 1.0 };
    found(
        "The kernel makes huge pages for everybody (transparent huge pages: always)".to_owned(),
        Gain::judged(gain, "of the slowest requests' time, and memory that pages half used hold"),
        vec![
            Evidence::new("enabled", enabled, format!("/{ENABLED}")),
            Evidence::new("defrag", defrag, format!("/{DEFRAG}")),
            Evidence::new("waits for compaction", format!("{stalls:.1}/s"), "/proc/vmstat compact_stall"),
        ],
        "Set it to madvise; a JVM that shall have huge pages asks for them with -XX:+UseTransparentHugePages.",
        seen.experiment()
            .before_and_after(&format!("echo madvise | sudo tee /{ENABLED}  # and restart the server")),
    )
}

#[cfg(test)]
mod tests {
    use super::super::tests::check;
    use super::{DEFRAG, ENABLED, RULE};
    use crate::advise::fixture::recorded;

    #[test]
    fn only_always_is_found() {
        let with =
            |enabled, defrag| recorded("es-9.4.3").on_machine(&[(ENABLED, enabled), (DEFRAG, defrag)], &[]);
        check(&RULE, &with("always [madvise] never\n", "always [madvise] never\n"), "fine: [madvise]");
        check(
            &RULE,
            &with("[always] madvise never\n", "[always] never\n"),
            "found: The kernel makes huge pages for everybody",
        );
        check(
            &RULE,
            &recorded("es-9.4.3").on_machine(&[], &[]),
            "unread: /sys/kernel/mm/transparent_hugepage/enabled",
        );
        check(&RULE, &recorded("es-9.4.3"), "unread: the server's machine");
    }
}
