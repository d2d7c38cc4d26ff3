//! Signals that end a running command.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::EXIT_INTERRUPTED;

/// Returns a flag that the first SIGINT, SIGTERM or SIGHUP (the terminal was closed) sets. The second one
/// ends the process at once.
pub(crate) fn cancel_on_interrupt() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let shared = Arc::clone(&flag);
    let listen = move || {
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
        runtime.block_on(async {
            use tokio::signal::unix::{SignalKind, signal};
            let kinds = (signal(SignalKind::interrupt()), signal(SignalKind::terminate()));
            let (Ok(mut interrupt), Ok(mut terminate)) = kinds else { return };
            // `nohup` asks the process to continue when the terminal is closed.
            let mut hangup = if ignores_hangup() { None } else { signal(SignalKind::hangup()).ok() };
            loop {
                let hung_up = async {
                    match &mut hangup {
                        Some(hangup) => hangup.recv().await,
                        None => std::future::pending().await,
                    }
                };
                tokio::select! {
                    _ = interrupt.recv() => {}
                    _ = terminate.recv() => {}
                    _ = hung_up => {}
                }
                if shared.swap(true, Ordering::AcqRel) {
                    std::process::exit(i32::from(EXIT_INTERRUPTED));
                }
            }
        });
    };
    // If the thread cannot be started, an interrupt ends the process as it would without any handler.
    let _ = std::thread::Builder::new().name("interrupt".into()).spawn(listen);
    flag
}

/// Whether this process was started with SIGHUP ignored, read from the kernel (`SigIgn` of proc(5), a mask of
/// signals).
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    // SIGHUP is signal 1, the lowest bit.
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}
