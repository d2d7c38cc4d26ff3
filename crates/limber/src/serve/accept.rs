//! Sockets: "a client connects; is there capacity for it, and which limits end its connection?"

use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use http_body_util::BodyExt;
use hyper::service::service_fn;
use limber_mapping::{ErrorClass, RequestError};
use limber_race::ReadAhead;
use socket2::{SockRef, TcpKeepalive};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

use super::answer::answer;
use super::tls::Tls;
use crate::http::config::HttpConfig;
use crate::http::connections::{Admission, Connection, Connections, Verdict};
use crate::http::render::Shape;
use crate::http::socket::Socket;
use crate::http::watched::{Parked, READ_BYTES_MAX, Watched};
use crate::machine;
use crate::rest::App;

/// After this long without a byte the system asks whether the client still exists, as Elasticsearch does by
/// default (`http.tcp.keep_alive`, `http.tcp.keep_idle`). Its further questions are a minute apart.
const KEEP_ALIVE_AFTER: Duration = Duration::from_secs(300);
const KEEP_ALIVE_EVERY: Duration = Duration::from_secs(60);
/// A client must finish the TLS handshake within this time.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// Interval at which the open file descriptors of the process are counted. Shards that open in between use
/// the reserve.
const MEASURE_EVERY: Duration = Duration::from_millis(200);
/// How long a connection that was asked to close, and has no request in flight, may take to end by itself.
const CLOSING_TIME: Duration = Duration::from_millis(100);
/// Interval at which a new connection checks whether idle ones have closed.
const LATER: Duration = Duration::from_millis(2);
/// How long a stopping server waits for requests in flight.
const DRAIN_TIME_MAX: Duration = Duration::from_secs(10);
/// How many refused clients at a time are told the reason, and how long each may take to receive it. Others
/// are disconnected without a response.
const REFUSALS_MAX: usize = 16;
const REFUSAL_TIME: Duration = Duration::from_secs(1);

/// Serves until `stop` is notified.
pub async fn serve(
    listener: TcpListener,
    app: Arc<App>,
    config: HttpConfig,
    tls: Option<Arc<Tls>>,
    stop: Arc<Notify>,
) {
    if let Some(tls) = &tls {
        tokio::spawn(tls.clone().watch());
    }
    let config = Arc::new(config);
    let refusals = Arc::new(AtomicUsize::new(0));
    let mut pauses = Pauses::default();
    let mut measure = tokio::time::interval(MEASURE_EVERY);
    measure.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = measure.tick() => {
                if let Some(count) = machine::open_descriptor_count() {
                    app.connections.adjust_to(count);
                }
                continue;
            }
            () = stop.notified() => {
                drop(listener);
                drain(&app.connections).await;
                return;
            }
        };
        match accepted {
            Ok((stream, peer)) => {
                pauses.end();
                let _ = stream.set_nodelay(true);
                let keep_alive =
                    TcpKeepalive::new().with_time(KEEP_ALIVE_AFTER).with_interval(KEEP_ALIVE_EVERY);
                let _ = SockRef::from(&stream).set_tcp_keepalive(&keep_alive);
                match verdict(&app.connections).await {
                    Some(admission) => {
                        let (app, config) = (app.clone(), config.clone());
                        // Two tasks, so that one without TLS has no room for a handshake.
                        match tls.clone() {
                            None => tokio::spawn(take_in(stream, peer, admission, app, config)),
                            Some(tls) => {
                                tokio::spawn(take_in_by_tls(stream, peer, admission, app, config, tls))
                            }
                        };
                    }
                    // A client that speaks TLS would not understand a plain response.
                    None if tls.is_some() => drop(stream),
                    None => refuse(stream, app.connections.stats().allowed, &refusals),
                }
            }
            // The client gave up before it was accepted.
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            Err(error) => {
                // Most likely the process is out of file descriptors. Idle connections are closed, and the
                // server accepts again after a pause.
                app.connections.note_accept_failure();
                tokio::time::sleep(pauses.next(&error)).await;
            }
        }
    }
}

/// Waits for requests in flight, up to a limit. Their connections close after them.
async fn drain(connections: &Connections) {
    let until = Instant::now() + DRAIN_TIME_MAX;
    connections.ask_all_to_close();
    while connections.stats().current_open > 0 {
        if Instant::now() >= until {
            let open = connections.stats().current_open;
            tracing::warn!(
                open,
                seconds = DRAIN_TIME_MAX.as_secs(),
                "stopping without the answers to requests that take longer"
            );
            return;
        }
        tokio::time::sleep(LATER).await;
    }
}

/// How long to wait after a failure to accept. Each pause is longer than the previous one, and some of them
/// are logged.
#[derive(Debug, Default)]
struct Pauses {
    last: Duration,
    told: Option<Instant>,
}

impl Pauses {
    const FIRST: Duration = Duration::from_millis(10);
    const LONGEST: Duration = Duration::from_secs(1);
    const TOLD_EVERY: Duration = Duration::from_secs(10);

    fn next(&mut self, error: &io::Error) -> Duration {
        self.last = (self.last * 2).clamp(Self::FIRST, Self::LONGEST);
        if self.told.is_none_or(|told| told.elapsed() >= Self::TOLD_EVERY) {
            self.told = Some(Instant::now());
            tracing::warn!(%error, "connections are not accepted");
        }
        self.last
    }

    fn end(&mut self) {
        self.last = Duration::ZERO;
    }
}

/// Waits while idle connections are closing, if a new one only needs their slots. `None` if the new
/// connection is refused.
async fn verdict(connections: &Arc<Connections>) -> Option<Admission> {
    loop {
        match connections.admit() {
            Verdict::Admitted(admission) => return Some(admission),
            Verdict::Refused => return None,
            Verdict::Later => tokio::time::sleep(LATER).await,
        }
    }
}

/// Serves a connection from its first byte on. One whose client has sent nothing takes little more memory
/// than its socket: the rest is in a box that is made for the first byte.
async fn take_in(
    stream: TcpStream,
    peer: SocketAddr,
    admission: Admission,
    app: Arc<App>,
    config: Arc<HttpConfig>,
) {
    serve_from_first_bytes(Socket::Plain(stream), peer, admission, app, config).await;
}

/// Serves a connection whose client has sent nothing yet, and again after it was parked.
async fn serve_from_first_bytes(
    mut stream: Socket,
    peer: SocketAddr,
    admission: Admission,
    app: Arc<App>,
    config: Arc<HttpConfig>,
) {
    loop {
        let is_sent_something = tokio::select! {
            is_sent_something = stream.is_sent_something() => is_sent_something,
            () = admission.connection.asked_to_close() => false,
        };
        if !is_sent_something {
            return;
        }
        match Box::pin(serve_connection(stream, peer, &admission, &app, &config)).await {
            Some(parked) => stream = parked,
            None => return,
        }
    }
}

/// Performs the TLS handshake, and then serves the connection.
async fn take_in_by_tls(
    stream: TcpStream,
    peer: SocketAddr,
    admission: Admission,
    app: Arc<App>,
    config: Arc<HttpConfig>,
    tls: Arc<Tls>,
) {
    let connection = admission.connection.clone();
    let handshake = tls.acceptor().accept(ReadAhead::new(stream));
    let shaken = tokio::select! {
        shaken = tokio::time::timeout(HANDSHAKE_TIMEOUT, handshake) => shaken,
        // The slot is needed for another connection.
        () = connection.asked_to_close() => return,
    };
    match shaken {
        Ok(Ok(stream)) => {
            // The first request may have been read with the end of the handshake.
            let stream = Socket::Tls(Box::new(stream));
            if let Some(parked) = Box::pin(serve_connection(stream, peer, &admission, &app, &config)).await {
                serve_from_first_bytes(parked, peer, admission, app, config).await;
            }
        }
        Ok(Err(error)) => tracing::debug!(%error, %peer, "no TLS with a client"),
        Err(_) => tracing::debug!(%peer, "a client took too long to begin with TLS"),
    }
}

/// Serves a connection until it ends, or is parked. Returns its socket in the latter case.
async fn serve_connection(
    stream: Socket,
    peer: SocketAddr,
    admission: &Admission,
    app: &Arc<App>,
    config: &Arc<HttpConfig>,
) -> Option<Socket> {
    let parked = Parked::default();
    let connection: &Connection = &admission.connection;
    let service = service_fn(|request| {
        let guard = admission.connections.begin_request(connection);
        let answered = answer(request, peer, app, config);
        async move {
            let answered = answered.await;
            drop(guard);
            answered
        }
    });
    let mut serving = pin!(
        hyper::server::conn::http1::Builder::new()
            .max_buf_size(READ_BYTES_MAX)
            .max_headers(100)
            .half_close(false)
            .serve_connection(Watched::new(stream, admission.connection.clone(), parked.clone()), service)
    );
    let served = loop {
        tokio::select! {
            served = serving.as_mut() => break served,
            // If a request arrives in between, it is answered, and then the connection closes.
            () = connection.asked_to_park() => if connection.is_parking() {
                serving.as_mut().graceful_shutdown();
            },
            () = connection.asked_to_close() => {
                connection.stop_parking();
                serving.as_mut().graceful_shutdown();
                break match tokio::time::timeout(CLOSING_TIME, serving.as_mut()).await {
                    Ok(served) => served,
                    // A request arrived in between: it is answered, and then the connection closes.
                    Err(_) if connection.is_busy() && !connection.is_slow() => serving.await,
                    // Only the beginning of a request has arrived, and the rest does not come.
                    Err(_) => Ok(()),
                };
            }
        }
    };
    if let Err(error) = served {
        tracing::debug!(%error, "connection ended");
    }
    let socket = parked.lock().take();
    if socket.is_some() {
        connection.note_parked();
    }
    socket
}

/// Tells the client of a refused connection the reason, and closes it. If too many clients are being told
/// already, closes it at once.
fn refuse(stream: TcpStream, allowed: usize, refusals: &Arc<AtomicUsize>) {
    let refusals = refusals.clone();
    if refusals.fetch_add(1, Ordering::Relaxed) >= REFUSALS_MAX {
        refusals.fetch_sub(1, Ordering::Relaxed);
        return;
    }
    tokio::spawn(async move {
        let told = tokio::time::timeout(REFUSAL_TIME, tell_refusal(stream, allowed)).await;
        tracing::debug!(is_told = matches!(told, Ok(Ok(()))), "a connection was refused");
        refusals.fetch_sub(1, Ordering::Relaxed);
    });
}

/// Sends the reason. Reads what the client sends meanwhile, because closing a socket with unread bytes would
/// discard the response.
async fn tell_refusal(mut stream: TcpStream, allowed: usize) -> io::Result<()> {
    let reason = format!(
        "rejected execution of request: [{allowed}] HTTP connections are open, which is as many as there may be now (see [http.max_connections] \
         and the limit of file descriptors)"
    );
    let error = RequestError::new(ErrorClass::TooManyRequests, "es_rejected_execution_exception", reason);
    let answer = Shape::of("", false, false, None).render_error(&error);
    let (head, body) = answer.into_parts();
    let body = body.collect().await.map(|whole| whole.to_bytes()).unwrap_or_default();
    let mut bytes =
        format!("HTTP/1.1 {}\r\nconnection: close\r\ncontent-length: {}\r\n", head.status, body.len())
            .into_bytes();
    for (name, value) in
        head.headers.iter().filter(|(name, _)| !["content-length", "connection"].contains(&name.as_str()))
    {
        bytes.extend_from_slice(name.as_str().as_bytes());
        bytes.extend_from_slice(b": ");
        bytes.extend_from_slice(value.as_bytes());
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"\r\n");
    bytes.extend_from_slice(&body);
    stream.write_all(&bytes).await?;
    stream.shutdown().await?;
    let mut unread = [0; 4096];
    while stream.read(&mut unread).await? > 0 {}
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_end() {
        let (mut pauses, error) = (Pauses::default(), io::Error::from_raw_os_error(libc::EMFILE));
        let first: Vec<u64> = (0..9).map(|_| pauses.next(&error).as_millis() as u64).collect();
        assert_eq!(first, [10, 20, 40, 80, 160, 320, 640, 1000, 1000]);
        pauses.end();
        assert_eq!(pauses.next(&error), Pauses::FIRST);
    }
}
