//! Discards bytes of a socket that nobody needs.
//!
//! A bulk answer is as large as its request, and only the start of a successful one is read. On Linux,
//! `recv(2)` with `MSG_TRUNC` frees the rest inside the kernel; copying it out cost a tenth of the
//! generator's CPU time, and displaced its caches.

use std::io;

use tokio::net::TcpStream;

/// Waits until the socket is readable and discards at most `bytes_max` bytes. Returns how many, or 0 at its
/// end.
#[cfg(target_os = "linux")]
pub(super) async fn discard(stream: &mut TcpStream, bytes_max: usize) -> io::Result<usize> {
    use std::os::fd::AsRawFd;
    loop {
        stream.readable().await?;
        let mut discarded = None;
        let outcome = stream.try_io(tokio::io::Interest::READABLE, || {
            // SAFETY: with MSG_TRUNC, a TCP socket does not write to the buffer (tcp(7)), so the pointer may
            // be null; the descriptor is open as long as `stream`.
            let count =
                unsafe { libc::recv(stream.as_raw_fd(), std::ptr::null_mut(), bytes_max, libc::MSG_TRUNC) };
            let count = usize::try_from(count).map_err(|_| io::Error::last_os_error())?;
            discarded = Some(count);
            // At most the rest of the answer was requested, so nothing is left. This saves the runtime
            // another call to find that out.
            Err(io::ErrorKind::WouldBlock.into())
        });
        match (discarded, outcome) {
            (Some(count), _) => return Ok(count),
            (None, Err(error)) if error.kind() == io::ErrorKind::WouldBlock => {}
            (None, outcome) => return outcome,
        }
    }
}

/// Discards bytes by reading them, on other systems.
#[cfg(not(target_os = "linux"))]
pub async fn discard(stream: &mut TcpStream, bytes_max: usize) -> io::Result<usize> {
    use tokio::io::AsyncReadExt;
    let mut unread = [0; 16 * 1024];
    let room = unread.len().min(bytes_max);
    stream.read(&mut unread[..room]).await
}
