//! The time slice of a thread: how long the system lets it run before others get their turn.

/// The time slice of a network thread in nanoseconds. It receives requests and sends responses within tens of
/// microseconds.
#[cfg(target_os = "linux")]
const NETWORK_SLICE_NS: u64 = 100_000;

/// Asks the system to run the calling thread soon after it wakes, with short slices, because clients or idle
/// pool threads wait for a network thread. Its share of CPU time does not grow.
///
/// Works on Linux since 6.12 (EEVDF with custom slices, sched_setattr(2)). Older kernels ignore the request,
/// and other systems have no equivalent. A failure changes nothing, so it is not reported.
pub fn prefer_short_turns() {
    #[cfg(target_os = "linux")]
    linux::set_slice(NETWORK_SLICE_NS);
}

#[cfg(target_os = "linux")]
mod linux {
    /// `struct sched_attr` of linux/sched/types.h, in its first published form (`SCHED_ATTR_SIZE_VER0`).
    #[repr(C)]
    #[derive(Default)]
    struct Attributes {
        size: u32,
        policy: u32,
        flags: u64,
        nice: i32,
        priority: u32,
        /// The slice, under the ordinary scheduling policy.
        runtime_ns: u64,
        deadline_ns: u64,
        period_ns: u64,
    }

    const SIZE: u32 = size_of::<Attributes>() as u32;

    /// Sets the time slice of the calling thread (`sched_setattr`). Older kernels ignore it.
    pub fn set_slice(slice_ns: u64) {
        let mut attributes = Attributes::default();
        // SAFETY: the kernel writes at most `SIZE` bytes to the given structure, which has that size; 0 is
        // the calling thread.
        let read = unsafe { libc::syscall(libc::SYS_sched_getattr, 0, &raw mut attributes, SIZE, 0) };
        if read != 0 || attributes.policy != libc::SCHED_OTHER as u32 {
            return;
        }
        attributes.size = SIZE;
        attributes.runtime_ns = slice_ns;
        // SAFETY: the kernel reads `size` bytes of a complete, initialised structure; 0 is the calling
        // thread.
        unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn a_slice_is_taken_and_nothing_else_changes() {
            let read = || {
                let mut attributes = Attributes::default();
                // SAFETY: as in `set_slice`.
                let status =
                    unsafe { libc::syscall(libc::SYS_sched_getattr, 0, &raw mut attributes, SIZE, 0) };
                (status == 0).then_some(attributes)
            };
            // If the system hides this call, there is nothing to check.
            let Some(before) = read() else { return };
            set_slice(200_000);
            let after = read().expect("a call that worked before");
            assert_eq!((after.policy, after.nice, after.flags), (before.policy, before.nice, before.flags));
            // Kernels before 6.12 report 0 for ordinary threads.
            assert!(matches!(after.runtime_ns, 0 | 200_000), "{}", after.runtime_ns);
        }
    }
}
