//! IP addresses as 16 bytes: "which address or block of addresses does this string mean?"

use std::net::Ipv6Addr;

/// An address. IPv4 addresses are in `::ffff:0:0/96`, as in Lucene's `InetAddressPoint`.
pub type IpBytes = [u8; 16];

const V4_PREFIX: [u8; 12] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];

/// Parses an address; `None` if the text is not one. IPv4 in dotted decimal is parsed without allocation or
/// tables.
#[inline]
pub fn parse(text: &[u8]) -> Option<IpBytes> {
    match parse_v4(text) {
        Some(v4) => Some(mapped(v4)),
        None => parse_v6(text),
    }
}

fn mapped(v4: [u8; 4]) -> IpBytes {
    let mut bytes = [0; 16];
    bytes[..12].copy_from_slice(&V4_PREFIX);
    bytes[12..].copy_from_slice(&v4);
    bytes
}

/// Parses four decimal numbers of one to three digits. As in Guava's `InetAddresses`, a leading zero is
/// refused.
#[inline]
fn parse_v4(text: &[u8]) -> Option<[u8; 4]> {
    if text.len() > 15 {
        return None;
    }
    let digit = |at: usize| {
        let digit = text.get(at)?.wrapping_sub(b'0');
        (digit < 10).then_some(u32::from(digit))
    };
    let mut parts = [0u8; 4];
    let mut at = 0;
    for (i, part) in parts.iter_mut().enumerate() {
        if i > 0 {
            if text.get(at) != Some(&b'.') {
                return None;
            }
            at += 1;
        }
        let mut value = digit(at)?;
        at += 1;
        if let Some(second) = digit(at) {
            if value == 0 {
                return None;
            }
            value = value * 10 + second;
            at += 1;
            if let Some(third) = digit(at) {
                value = value * 10 + third;
                at += 1;
            }
        }
        *part = u8::try_from(value).ok()?;
    }
    (at == text.len()).then_some(parts)
}

fn parse_v6(text: &[u8]) -> Option<IpBytes> {
    let text = std::str::from_utf8(text).ok()?;
    // A scope (`%eth0`) is ignored, as in Guava since version 33.
    match text.split_once('%') {
        Some((_, "")) => None,
        Some((address, _)) => parse(address.as_bytes()).filter(|_| !address.contains('%')),
        None => text.parse::<Ipv6Addr>().ok().map(|address| address.octets()),
    }
}

/// Returns the first and the last address of a CIDR block such as `10.0.0.0/8` or `2001:db8::/32`.
pub fn parse_cidr(text: &str) -> Option<(IpBytes, IpBytes)> {
    let (address, length) = text.split_once('/')?;
    if length.is_empty() || !length.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let length: u32 = length.parse().ok()?;
    let bytes = parse(address.as_bytes())?;
    let length = if address.contains(':') { length } else { length.checked_add(96)? };
    if length > 128 {
        return None;
    }
    let value = u128::from_be_bytes(bytes);
    let host = if length == 0 { u128::MAX } else { (1u128 << (128 - length)).wrapping_sub(1) };
    Some(((value & !host).to_be_bytes(), (value | host).to_be_bytes()))
}

/// Formats the address as Elasticsearch prints it: IPv4 dotted, IPv6 with the longest run of zeros as `::`.
pub fn format(bytes: &IpBytes) -> String {
    if bytes[..12] == V4_PREFIX {
        return format!("{}.{}.{}.{}", bytes[12], bytes[13], bytes[14], bytes[15]);
    }
    let groups: Vec<u16> = bytes.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]])).collect();
    let mut best = (0, 0);
    let mut start = 0;
    while start < 8 {
        let length = groups[start..].iter().take_while(|&&group| group == 0).count();
        if length > best.1 {
            best = (start, length);
        }
        start += length.max(1);
    }
    let hex = |groups: &[u16]| groups.iter().map(|group| format!("{group:x}")).collect::<Vec<_>>().join(":");
    if best.1 < 2 {
        return hex(&groups);
    }
    format!("{}::{}", hex(&groups[..best.0]), hex(&groups[best.0 + best.1..]))
}

/// Returns the next higher address; `None` after the last.
pub fn next(bytes: &IpBytes) -> Option<IpBytes> {
    u128::from_be_bytes(*bytes).checked_add(1).map(u128::to_be_bytes)
}

/// Returns the next lower address; `None` before the first.
pub fn previous(bytes: &IpBytes) -> Option<IpBytes> {
    u128::from_be_bytes(*bytes).checked_sub(1).map(u128::to_be_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_round_trip() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(parse(text.as_bytes()).map(|bytes| format(&bytes)).as_deref(), expected, "{text}");
        };
        check("1.2.3.4", Some("1.2.3.4"));
        check("255.255.255.255", Some("255.255.255.255"));
        check("0.0.0.0", Some("0.0.0.0"));
        check("256.0.0.1", None);
        check("1.2.3", None);
        check("1.2.3.4.5", None);
        check("1.2.3.0004", None);
        check("1..3.4", None);
        check("192.168.0.10", Some("192.168.0.10"));
        check("01.2.3.4", None);
        check("1.2.3.", None);
        check("", None);
        check("abc", None);
        check("::1", Some("::1"));
        check("::", Some("::"));
        check("2001:DB8::0:1", Some("2001:db8::1"));
        check("2001:db8:0:1:0:0:0:1", Some("2001:db8:0:1::1"));
        check("::ffff:1.2.3.4", Some("1.2.3.4"));
        check("1:2:3:4:5:6:7:8", Some("1:2:3:4:5:6:7:8"));
        check("1:0:3:4:5:6:7:8", Some("1:0:3:4:5:6:7:8"));
        check(":::", None);
    }

    #[test]
    fn blocks() {
        let check = |text: &str, expected: Option<(&str, &str)>| {
            let found = parse_cidr(text).map(|(first, last)| (format(&first), format(&last)));
            let expected = expected.map(|(first, last)| (first.to_owned(), last.to_owned()));
            assert_eq!(found, expected, "{text}");
        };
        check("10.0.0.0/8", Some(("10.0.0.0", "10.255.255.255")));
        check("10.1.2.3/32", Some(("10.1.2.3", "10.1.2.3")));
        check("10.1.2.3/0", Some(("0.0.0.0", "255.255.255.255")));
        check("2001:db8::/32", Some(("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff")));
        check("::/0", Some(("::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")));
        check("10.0.0.0/33", None);
        check("10.0.0.0/", None);
        check("10.0.0.0/-1", None);
        check("10.0.0.0", None);
    }
}
