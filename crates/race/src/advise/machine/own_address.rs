//! Which addresses are this machine's.

use std::net::{IpAddr, UdpSocket};

/// Whether an address belongs to this machine.
pub(in crate::advise) fn is_own_address(address: IpAddr) -> bool {
    // The kernel refuses to bind an address of another machine.
    address.is_loopback() || UdpSocket::bind((address, 0)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_addresses_are_told_from_others() {
        assert!(is_own_address("127.0.0.1".parse().unwrap()));
        // The address is reserved for documentation (RFC 5737).
        assert!(!is_own_address("192.0.2.1".parse().unwrap()));
    }
}
