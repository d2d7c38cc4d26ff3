//! How are bytes nobody wants taken from a socket?
//!
//! A bulk answer is as large as its request, and of a healthy one only the start is looked at. On Linux
//! `recv(2)` with `MSG_TRUNC` frees the rest where it lies in the kernel; copying it out cost a tenth of the
//! generator's CPU time, and its caches.

use std::io;

use tokio::net::TcpStream;

/// Waits until the socket has something and throws at most `bytes_max` away; returns how many, 0 at its end.
#[cfg(target_os = "linux")]
pub(super) async fn discard(stream: &mut TcpStream, bytes_max: usize) -> io::Result<usize> {
    use std::os::fd::AsRawFd;
    loop {
        stream.readable().await?;
        let mut discarded = None;
        let outcome = stream.try_io(tokio::io::Interest::READABLE, || {
            // SAFETY: with MSG_TRUNC a TCP socket writes nothing to the buffer (tcp(7)), so that there may be
            // none; the descriptor is open as long as `stream`.
            let count =
                unsafe { libc::recv(stream.as_raw_fd(), std::ptr::null_mut(), bytes_max, libc::MSG_TRUNC) };
            let count = usize::try_from(count).map_err(|_| io::Error::last_os_error())?;
            discarded = Some(count);
            // The answer's end or less was taken, so nothing is left: the runtime need not find that out by
            // another call.
            Err(io::ErrorKind::WouldBlock.into())
        });
        match (discarded, outcome) {
            (Some(count), _) => return Ok(count),
            (None, Err(error)) if error.kind() == io::ErrorKind::WouldBlock => {}
            (None, outcome) => return outcome,
        }
    }
}

/// As above, by reading.
#[cfg(not(target_os = "linux"))]
pub async fn discard(stream: &mut TcpStream, bytes_max: usize) -> io::Result<usize> {
    use tokio::io::AsyncReadExt;
    let mut unread = [0; 16 * 1024];
    let room = unread.len().min(bytes_max);
    stream.read(&mut unread[..room]).await
}
