//! The address to listen on: "is it free?" This is asked before the data folder is opened or created.

use std::io;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};

use anyhow::Error;
use socket2::{Domain, Socket, Type};

/// Connections that wait to be accepted; the system's `net.core.somaxconn` may allow fewer.
const BACKLOG: i32 = 4096;

/// An address that no other program listens on. Clients are refused until this one does.
#[derive(Debug)]
pub struct Reserved {
    socket: Socket,
}

impl Reserved {
    /// Reserves the address, which is `host:port`. Port 0 is any free port.
    ///
    /// # Errors
    /// Another program listens there, the machine does not have the address, or the user may not use the
    /// port.
    pub fn take(address: &str) -> io::Result<Reserved> {
        let mut failure = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
        for address in address.to_socket_addrs()? {
            match bind(address) {
                Ok(socket) => return Ok(Reserved { socket }),
                Err(error) => failure = error,
            }
        }
        Err(failure)
    }

    /// Begins to listen. The listener does not block.
    ///
    /// # Errors
    /// Another program began to listen in the meantime.
    pub fn listen(self) -> io::Result<TcpListener> {
        self.socket.listen(BACKLOG)?;
        self.socket.set_nonblocking(true)?;
        Ok(self.socket.into())
    }
}

fn bind(address: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    // Connections of an earlier server that are still closing do not occupy the address. A server that
    // listens does.
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    Ok(socket)
}

/// Says why a server cannot listen on an address, and what can be done about it.
pub fn cannot_listen(address: &str, error: &io::Error) -> Error {
    let advice = match error.kind() {
        io::ErrorKind::AddrInUse => {
            ". Another program listens there, perhaps a server that runs already. Choose another port by --http"
        }
        io::ErrorKind::PermissionDenied => {
            ". Ports below 1024 need privileges (AmbientCapabilities=CAP_NET_BIND_SERVICE for a service)"
        }
        io::ErrorKind::AddrNotAvailable => ". It is not an address of this machine",
        _ => "",
    };
    Error::msg(format!("cannot listen on [{address}]: {error}{advice}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_free_or_the_reason_is_known() {
        let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = taken.local_addr().expect("an address").to_string();
        let error = Reserved::take(&address).expect_err("taken");
        assert_eq!(error.kind(), io::ErrorKind::AddrInUse);
        let told = cannot_listen(&address, &error).to_string();
        assert!(told.contains(&address) && told.contains("Another program listens there"), "{told}");
        drop(taken);
        let reserved = Reserved::take(&address).expect("free");
        assert!(std::net::TcpStream::connect(&address).is_err(), "clients are refused until it listens");
        let listener = reserved.listen().expect("listens");
        assert!(std::net::TcpStream::connect(&address).is_ok());
        assert_eq!(listener.local_addr().expect("an address").to_string(), address);
        let error = io::Error::from(io::ErrorKind::AddrNotAvailable);
        assert!(
            cannot_listen("192.0.2.1:9200", &error).to_string().ends_with("not an address of this machine")
        );
    }
}
