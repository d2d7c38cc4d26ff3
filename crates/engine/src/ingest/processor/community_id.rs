//! `community_id`: "one identifier for both directions of a network flow".
//!
//! Source: the Community ID Flow Hashing specification, version 1, and Elasticsearch's
//! `CommunityIdProcessor`.

use std::net::IpAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use limber_mapping::RequestError;
use sha1::{Digest, Sha1};

use super::super::document::IngestDocument;
use super::super::document::node::Kind;
use super::super::document::path::FieldPath;
use super::super::document::value::java_text;
use super::super::options::Options;
use super::text::string_field;
use super::{Flow, Processor};

#[derive(Debug)]
struct CommunityId {
    source_ip: FieldPath,
    source_port: FieldPath,
    destination_ip: FieldPath,
    destination_port: FieldPath,
    iana_number: FieldPath,
    icmp_type: FieldPath,
    icmp_code: FieldPath,
    transport: FieldPath,
    target: FieldPath,
    seed: u16,
    ignore_missing: bool,
}

/// Compiles the processor. Optional: the fields of the flow (`source_ip`, `source_port`, ...), `seed` and
/// `ignore_missing` (true). OpenSearch's names of the fields (`source_ip_field`, `source_port_field`, ...,
/// `protocol_field`) are accepted too.
pub fn parse(options: &mut Options) -> Result<Box<dyn Processor>, RequestError> {
    let names_of_opensearch = options.has("source_ip_field");
    let mut path = |name: &str, opensearch: &str, default: &str| {
        let name = if names_of_opensearch { opensearch } else { name };
        FieldPath::parse(&options.string_or(name, default)?)
    };
    let source_ip = path("source_ip", "source_ip_field", "source.ip")?;
    let source_port = path("source_port", "source_port_field", "source.port")?;
    let destination_ip = path("destination_ip", "destination_ip_field", "destination.ip")?;
    let destination_port = path("destination_port", "destination_port_field", "destination.port")?;
    let iana_number = path("iana_number", "iana_protocol_number_field", "network.iana_number")?;
    let icmp_type = path("icmp_type", "icmp_type_field", "icmp.type")?;
    let icmp_code = path("icmp_code", "icmp_code_field", "icmp.code")?;
    let transport = path("transport", "protocol_field", "network.transport")?;
    let target = if names_of_opensearch { "community_id" } else { "network.community_id" };
    let target = path("target_field", "target_field", target)?;
    let seed = options.optional_int("seed")?.unwrap_or(0);
    let seed =
        u16::try_from(seed).map_err(|_| options.error("seed", "must be a value between 0 and 65535"))?;
    let ignore_missing = options.bool_or("ignore_missing", true)?;
    Ok(Box::new(CommunityId {
        source_ip,
        source_port,
        destination_ip,
        destination_port,
        iana_number,
        icmp_type,
        icmp_code,
        transport,
        target,
        seed,
        ignore_missing,
    }))
}

const ICMP: u8 = 1;
const TCP: u8 = 6;
const UDP: u8 = 17;
const ICMP_V6: u8 = 58;
const SCTP: u8 = 132;

const TRANSPORTS: [(&str, u8); 12] = [
    ("icmp", ICMP),
    ("igmp", 2),
    ("tcp", TCP),
    ("udp", UDP),
    ("gre", 47),
    ("ipv6-icmp", ICMP_V6),
    ("icmp-v6", ICMP_V6),
    ("icmpv6", ICMP_V6),
    ("eigrp", 88),
    ("ospf", 89),
    ("pim", 103),
    ("sctp", SCTP),
];

/// Pairs of ICMP message types of which one answers the other.
const ICMP_PAIRS: [(u8, u8); 5] = [(8, 0), (13, 14), (15, 16), (10, 9), (17, 18)];
const ICMP_V6_PAIRS: [(u8, u8); 5] = [(128, 129), (133, 134), (135, 136), (130, 131), (144, 145)];

impl Processor for CommunityId {
    fn execute(&self, document: &mut IngestDocument<'_>) -> Result<Flow, RequestError> {
        let Some(flow) = self.flow(document)? else { return Ok(Flow::Continue) };
        let id = document.make_string(&flow.id(self.seed))?;
        self.target.set(document, id)?;
        Ok(Flow::Continue)
    }
}

struct NetworkFlow {
    source: IpAddr,
    destination: IpAddr,
    protocol: u8,
    /// Ports of source and destination, or type and code of ICMP; `None` if the protocol has neither.
    ports: Option<(u16, u16)>,
    /// Whether the flow has no answers, so that source and destination are not swapped.
    is_one_way: bool,
}

impl CommunityId {
    fn flow(&self, document: &mut IngestDocument<'_>) -> Result<Option<NetworkFlow>, RequestError> {
        let text = |document: &mut IngestDocument<'_>, path: &FieldPath| {
            string_field(document, path, self.ignore_missing, "cannot process it.")
                .map(|text| text.map(|text| text.into_owned()))
        };
        let Some(source) = text(document, &self.source_ip)? else { return Ok(None) };
        let Some(destination) = text(document, &self.destination_ip)? else { return Ok(None) };
        let Some(protocol) = self.protocol(document)? else { return Ok(None) };
        let mut flow = NetworkFlow {
            source: address(&source)?,
            destination: address(&destination)?,
            protocol,
            ports: None,
            is_one_way: false,
        };
        match protocol {
            TCP | UDP | SCTP => {
                let source = self.port(document, &self.source_port, "source")?;
                let destination = self.port(document, &self.destination_port, "destination")?;
                flow.ports = Some((source, destination));
            }
            ICMP | ICMP_V6 => {
                let kind = self.icmp(document, &self.icmp_type, "icmp type")?;
                let code = self.icmp(document, &self.icmp_code, "icmp code")?;
                let pairs = if protocol == ICMP { &ICMP_PAIRS } else { &ICMP_V6_PAIRS };
                let answer = pairs.iter().find_map(|(ask, answer)| match kind {
                    _ if kind == *ask => Some(*answer),
                    _ if kind == *answer => Some(*ask),
                    _ => None,
                });
                flow.is_one_way = answer.is_none();
                flow.ports = Some((u16::from(kind), u16::from(answer.unwrap_or(code))));
            }
            _ => {}
        }
        Ok(Some(flow))
    }

    /// Returns the number of the transport protocol.
    fn protocol(&self, document: &mut IngestDocument<'_>) -> Result<Option<u8>, RequestError> {
        let of_field = |document: &mut IngestDocument<'_>, path: &FieldPath| {
            let found = path.find(document)?.map(|found| found.node);
            Ok::<_, RequestError>(
                found
                    .filter(|node| document.node(*node).kind != Kind::Null)
                    .map(|node| java_text(document, node)),
            )
        };
        let text = match of_field(document, &self.iana_number)? {
            Some(number) => number,
            None => match of_field(document, &self.transport)? {
                Some(transport) => transport,
                None if self.ignore_missing => return Ok(None),
                None => {
                    self.transport.get(document)?;
                    return Ok(None);
                }
            },
        };
        if let Ok(number) = text.parse::<i64>() {
            return u8::try_from(number).map(Some).map_err(|_| {
                RequestError::illegal_argument(format!("invalid transport protocol number [{number}]"))
            });
        }
        let known = TRANSPORTS.iter().find(|(name, _)| text.eq_ignore_ascii_case(name));
        known.map(|(_, number)| Some(*number)).ok_or_else(|| {
            RequestError::illegal_argument(format!("could not convert string [{text}] to transport protocol"))
        })
    }

    fn port(
        &self,
        document: &mut IngestDocument<'_>,
        path: &FieldPath,
        name: &str,
    ) -> Result<u16, RequestError> {
        if !self.ignore_missing {
            path.get(document)?;
        }
        let text = match path.find(document)? {
            Some(found) => java_text(document, found.node),
            None => "null".to_owned(),
        };
        let refused = |reason: String| Err(RequestError::illegal_argument(reason));
        if text == "null" {
            return refused(format!("invalid {name} port [null]"));
        }
        match text.parse::<i64>() {
            Ok(port @ 1..=65535) => Ok(port as u16),
            Ok(port) => refused(format!("invalid {name} port [{port}]")),
            Err(_) => refused(format!("unable to parse {name} port [{text}]")),
        }
    }

    /// Returns a number of an ICMP message; 0 when it is missing.
    fn icmp(
        &self,
        document: &mut IngestDocument<'_>,
        path: &FieldPath,
        name: &str,
    ) -> Result<u8, RequestError> {
        let Some(found) = path.find(document)? else { return Ok(0) };
        if document.node(found.node).kind == Kind::Null {
            return Ok(0);
        }
        let text = java_text(document, found.node);
        match text.parse::<i64>() {
            Ok(number) => u8::try_from(number)
                .map_err(|_| RequestError::illegal_argument(format!("invalid {name} [{number}]"))),
            Err(_) => Err(RequestError::illegal_argument(format!("unable to parse {name} [{text}]"))),
        }
    }
}

/// Parses an IP address. An IPv4-mapped IPv6 address becomes IPv4.
fn address(text: &str) -> Result<IpAddr, RequestError> {
    let refused = |_| RequestError::illegal_argument(format!("'{text}' is not an IP string literal."));
    text.parse::<IpAddr>().map(|address| address.to_canonical()).map_err(refused)
}

fn bytes_of(address: &IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(address) => address.octets().to_vec(),
        IpAddr::V6(address) => address.octets().to_vec(),
    }
}

impl NetworkFlow {
    /// Returns the version, and the digest of the ends in their order.
    fn id(&self, seed: u16) -> String {
        let (source, destination) = (bytes_of(&self.source), bytes_of(&self.destination));
        let ports = self.ports.unwrap_or_default();
        let is_ordered = self.is_one_way || (&source, ports.0) <= (&destination, ports.1);
        let ((first, second), ports) = match is_ordered {
            true => ((source, destination), ports),
            false => ((destination, source), (ports.1, ports.0)),
        };
        let mut digest = Sha1::new();
        digest.update(seed.to_be_bytes());
        digest.update(first);
        digest.update(second);
        digest.update([self.protocol, 0]);
        if self.ports.is_some() {
            digest.update(ports.0.to_be_bytes());
            digest.update(ports.1.to_be_bytes());
        }
        format!("1:{}", STANDARD.encode(digest.finalize()))
    }
}
