//! `network_direction`: "is this packet inbound, outbound, internal or external?"
//!
//! Source: Elasticsearch's `NetworkDirectionProcessor`.

use std::net::IpAddr;

use limber_mapping::RequestError;

use super::super::document::IngestDocument;
use super::super::document::node::Kind;
use super::super::document::path::FieldPath;
use super::super::document::value::java_text;
use super::super::options::Options;
use super::text::{string_field, wrong_type};
use super::{Flow, Processor};

#[derive(Debug)]
struct NetworkDirection {
    source: FieldPath,
    destination: FieldPath,
    target: FieldPath,
    networks: Networks,
    ignore_missing: bool,
}

/// The networks that count as internal.
#[derive(Debug)]
enum Networks {
    Given(Vec<String>),
    /// A field of the document lists them.
    Field(FieldPath),
}

/// Compiles the processor. Optional: `source_ip` (`source.ip`), `destination_ip` (`destination.ip`),
/// `target_field` (`network.direction`), `internal_networks`, `internal_networks_field` and `ignore_missing`
/// (true).
pub fn parse(options: &mut Options) -> Result<Box<dyn Processor>, RequestError> {
    let source = FieldPath::parse(&options.string_or("source_ip", "source.ip")?)?;
    let destination = FieldPath::parse(&options.string_or("destination_ip", "destination.ip")?)?;
    let target = FieldPath::parse(&options.string_or("target_field", "network.direction")?)?;
    let given = match options.has("internal_networks") {
        true => Some(options.strings("internal_networks")?),
        false => None,
    };
    let field = options.optional_path("internal_networks_field")?;
    let networks = match (given, field) {
        (Some(list), None) => Networks::Given(list),
        (None, Some(field)) => Networks::Field(field),
        (None, None) => {
            return Err(options.error("internal_networks", "or [internal_networks_field] must be specified"));
        }
        (Some(_), Some(_)) => {
            let reason = "and [internal_networks_field] cannot both be used in the same processor";
            return Err(options.error("internal_networks", reason));
        }
    };
    let ignore_missing = options.bool_or("ignore_missing", true)?;
    Ok(Box::new(NetworkDirection { source, destination, target, networks, ignore_missing }))
}

impl Processor for NetworkDirection {
    fn execute(&self, document: &mut IngestDocument<'_>) -> Result<Flow, RequestError> {
        let mut listed = Vec::new();
        let networks = match &self.networks {
            Networks::Given(networks) => networks,
            Networks::Field(field) => {
                if self.ignore_missing && field.find(document)?.is_none() {
                    return Ok(Flow::Continue);
                }
                let list = field.get(document)?;
                if document.node(list).kind != Kind::Array {
                    return Err(wrong_type(document, field, list, "java.util.ArrayList"));
                }
                listed.extend(document.children(list).map(|id| java_text(document, id)));
                &listed
            }
        };
        let source = string_field(document, &self.source, self.ignore_missing, "cannot process it.")?;
        let Some(source) = source else { return Ok(Flow::Continue) };
        let destination =
            string_field(document, &self.destination, self.ignore_missing, "cannot process it.")?;
        let Some(destination) = destination else { return Ok(Flow::Continue) };
        let (source, destination) = (is_inside(&source, networks)?, is_inside(&destination, networks)?);
        let direction = match (source, destination) {
            (true, true) => "internal",
            (true, false) => "outbound",
            (false, true) => "inbound",
            (false, false) => "external",
        };
        let direction = document.make_string(direction)?;
        self.target.set(document, direction)?;
        Ok(Flow::Continue)
    }
}

fn address(text: &str) -> Result<IpAddr, RequestError> {
    text.parse().map_err(|_| RequestError::illegal_argument(format!("'{text}' is not an IP string literal.")))
}

fn is_inside(text: &str, networks: &[String]) -> Result<bool, RequestError> {
    let ip = address(text)?;
    for network in networks {
        if matches(ip, network)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn matches(ip: IpAddr, network: &str) -> Result<bool, RequestError> {
    let is_loopback = ip.is_loopback();
    let is_unspecified = ip.is_unspecified();
    let is_multicast = ip.is_multicast();
    let is_link_local = match ip {
        IpAddr::V4(ip) => ip.is_link_local(),
        IpAddr::V6(ip) => ip.segments()[0] & 0xffc0 == 0xfe80,
    };
    let is_private = match ip {
        IpAddr::V4(ip) => ip.is_private(),
        // Unique local addresses in use begin with `fd`; the other half of their range is not assigned.
        IpAddr::V6(ip) => ip.segments()[0] >> 8 == 0xfd,
    };
    let multicast_scope = |scope: u16| match ip {
        IpAddr::V4(_) => false,
        IpAddr::V6(ip) => is_multicast && ip.segments()[0] & 0xf == scope,
    };
    let is_unicast = match ip {
        IpAddr::V4(ip) => {
            !ip.is_broadcast() && !is_unspecified && !is_loopback && !is_multicast && !is_link_local
        }
        IpAddr::V6(_) => !is_unspecified && !is_loopback && !is_multicast && !is_link_local,
    };
    Ok(match network {
        "loopback" => is_loopback,
        "unicast" | "global_unicast" => is_unicast,
        "multicast" => is_multicast,
        "interface_local_multicast" => multicast_scope(1),
        "link_local_unicast" => is_link_local,
        "link_local_multicast" => match ip {
            IpAddr::V4(ip) => ip.octets()[..3] == [224, 0, 0],
            IpAddr::V6(_) => multicast_scope(2),
        },
        "private" => is_private,
        "public" => !(is_private || is_loopback || is_unspecified || is_link_local || is_multicast),
        "unspecified" => is_unspecified,
        block => in_block(ip, block)?,
    })
}

/// Whether an address lies in a block such as `10.0.0.0/8`.
fn in_block(ip: IpAddr, block: &str) -> Result<bool, RequestError> {
    let Some((base, length)) = block.split_once('/') else {
        return Err(address(block).err().unwrap_or_else(|| {
            RequestError::illegal_argument(format!("Expected [ip/prefix] but was [{block}]"))
        }));
    };
    let base = address(base)?;
    let bits = if base.is_ipv4() { 32 } else { 128 };
    let length: u32 = match length.parse() {
        Ok(length) if length <= bits => length,
        _ => {
            return Err(RequestError::illegal_argument(format!(
                "Illegal prefix length [{length}] in [{block}]. Must be 0-32 for IPv4 ranges, 0-128 for IPv6 ranges"
            )));
        }
    };
    let number = |ip: IpAddr| match ip {
        IpAddr::V4(ip) => u128::from(u32::from(ip)) << 96,
        IpAddr::V6(ip) => u128::from(ip),
    };
    let differing = number(ip) ^ number(base);
    Ok(ip.is_ipv4() == base.is_ipv4() && (length == 0 || differing >> (128 - length) == 0))
}
