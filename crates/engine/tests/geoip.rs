//! Tests the ingest processor `geoip` with databases generated here: a search tree of networks and their
//! records, in the MaxMind DB format 2.0 (<https://maxmind.github.io/MaxMind-DB/>).

mod common;

use std::net::Ipv4Addr;

use common::*;
use serde_json::{Value, json};

/// Networks as address and prefix length, with the offset of their record.
type Networks = Vec<((Ipv4Addr, u8), usize)>;

/// Generates a database of disjoint IPv4 networks, with a record size of 24 bits.
fn database(kind: &str, networks: &[(&str, Value)]) -> Vec<u8> {
    let mut data = Vec::new();
    let mut placed: Networks = Vec::new();
    for (network, record) in networks {
        let (address, prefix) = network.split_once('/').expect("a network");
        placed.push(((address.parse().expect("an address"), prefix.parse().expect("a prefix")), data.len()));
        encode(record, &mut data);
    }
    // Each node of the search tree has two sides, and each side is a node, nothing, or a record.
    #[derive(Clone, Copy, PartialEq)]
    enum Side {
        Nothing,
        Node(usize),
        Record(usize),
    }
    let mut nodes = vec![[Side::Nothing; 2]];
    for ((address, prefix), place) in placed {
        let bits = u32::from(address);
        let mut at = 0;
        for depth in 0..prefix {
            let side = (bits >> (31 - depth) & 1) as usize;
            if depth + 1 == prefix {
                nodes[at][side] = Side::Record(place);
                break;
            }
            at = match nodes[at][side] {
                Side::Node(next) => next,
                _ => {
                    nodes.push([Side::Nothing; 2]);
                    let next = nodes.len() - 1;
                    nodes[at][side] = Side::Node(next);
                    next
                }
            };
        }
    }
    let count = nodes.len();
    let mut out = Vec::new();
    for side in nodes.iter().flatten() {
        let value = match side {
            Side::Nothing => count,
            Side::Node(next) => *next,
            Side::Record(place) => count + 16 + place,
        };
        out.extend_from_slice(&(value as u32).to_be_bytes()[1..]);
    }
    out.extend_from_slice(&[0; 16]);
    out.extend_from_slice(&data);
    out.extend_from_slice(b"\xab\xcd\xefMaxMind.com");
    encode(
        &json!({
            "binary_format_major_version": 2, "binary_format_minor_version": 0, "build_epoch": 1_700_000_000,
            "database_type": kind, "description": {"en": "made by a test"}, "ip_version": 4, "languages": ["en"],
            "node_count": count, "record_size": 24,
        }),
        &mut out,
    );
    out
}

/// Encodes a value for the data section: string 2, double 3, map 7, whole numbers 5, 6 and 9 (16, 32 and 64
/// bits), array 11, boolean 14.
fn encode(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::String(text) => {
            head(2, text.len(), out);
            out.extend_from_slice(text.as_bytes());
        }
        Value::Number(number) => match number.as_u64() {
            Some(whole) => {
                head(6, 4, out);
                out.extend_from_slice(&(whole as u32).to_be_bytes());
            }
            None => {
                head(3, 8, out);
                out.extend_from_slice(&number.as_f64().expect("a number").to_be_bytes());
            }
        },
        Value::Object(members) => {
            head(7, members.len(), out);
            for (name, value) in members {
                encode(&json!(name), out);
                match (name.as_str(), value.as_u64()) {
                    ("build_epoch", Some(whole)) => {
                        head(9, 8, out);
                        out.extend_from_slice(&whole.to_be_bytes());
                    }
                    (
                        "binary_format_major_version"
                        | "binary_format_minor_version"
                        | "ip_version"
                        | "record_size"
                        | "accuracy_radius",
                        Some(whole),
                    ) => {
                        head(5, 2, out);
                        out.extend_from_slice(&(whole as u16).to_be_bytes());
                    }
                    _ => encode(value, out),
                }
            }
        }
        Value::Array(items) => {
            head(11, items.len(), out);
            items.iter().for_each(|item| encode(item, out));
        }
        Value::Bool(flag) => head(14, usize::from(*flag), out),
        Value::Null => panic!("no null in a database"),
    }
}

fn head(kind: u8, size: usize, out: &mut Vec<u8>) {
    let (short, long) = if size < 29 { (size as u8, None) } else { (29, Some((size - 29) as u8)) };
    match kind {
        1..=7 => out.push(kind << 5 | short),
        _ => out.extend_from_slice(&[short, kind - 7]),
    }
    out.extend(long);
}

fn city() -> Vec<u8> {
    let names = |name: &str| json!({"en": name, "de": "-"});
    database(
        "GeoLite2-City",
        &[
            (
                "89.160.20.112/28",
                json!({
                    "city": {"names": names("Linköping")}, "continent": {"code": "EU", "names": names("Europe")},
                    "country": {"iso_code": "SE", "is_in_european_union": true, "names": names("Sweden")},
                    "location": {"accuracy_radius": 76, "latitude": 58.4167, "longitude": 15.6167, "time_zone": "Europe/Stockholm"},
                    "postal": {"code": "582 20"}, "registered_country": {"iso_code": "DE", "names": names("Germany")},
                    "subdivisions": [{"iso_code": "E", "names": names("Östergötland County")}],
                }),
            ),
            ("216.160.83.56/29", json!({"country": {"iso_code": "US", "names": names("United States")}})),
        ],
    )
}

fn asn() -> Vec<u8> {
    let record =
        json!({"autonomous_system_number": 29_518, "autonomous_system_organization": "Bredband2 AB"});
    database("GeoLite2-ASN", &[("89.160.0.0/17", record)])
}

/// Runs the processor on a document. Returns its new source, or the reason of the error.
fn run(files: &[(&str, Vec<u8>)], processor: &Value, source: Value) -> Result<Value, String> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let databases = folder.path().join("config/ingest-geoip");
    std::fs::create_dir_all(&databases).expect("made");
    for (name, bytes) in files {
        std::fs::write(databases.join(name), bytes).expect("written");
    }
    let node = open(folder.path());
    let body = json!({"pipeline": {"processors": [{"geoip": processor}]}, "docs": [{"_source": source}]});
    let answer = node.simulate_pipeline(None, &body, false).map_err(|error| error.reason)?;
    match &answer["docs"][0]["error"]["reason"] {
        Value::Null => Ok(answer["docs"][0]["doc"]["_source"].clone()),
        reason => Err(reason.as_str().expect("a reason").to_owned()),
    }
}

#[test]
fn places_of_addresses() {
    let files = [("GeoLite2-City.mmdb", city()), ("GeoLite2-ASN.mmdb", asn())];
    let check = |processor: Value, ip: Value, expected: Value| {
        let made = run(&files, &processor, json!({"ip": ip})).expect("no error");
        assert_eq!(made["geoip"], expected, "{processor}");
    };
    let sweden = json!({
        "continent_name": "Europe", "country_name": "Sweden", "country_iso_code": "SE", "region_iso_code": "SE-E",
        "region_name": "Östergötland County", "city_name": "Linköping", "location": {"lat": 58.4167, "lon": 15.6167},
    });
    let states = json!({"country_name": "United States", "country_iso_code": "US"});
    check(json!({"field": "ip"}), json!("89.160.20.120"), sweden.clone());
    check(json!({"field": "ip"}), json!("::ffff:89.160.20.120"), sweden.clone());
    check(json!({"field": "ip"}), json!("216.160.83.57"), states.clone());
    check(json!({"field": "ip"}), json!("127.0.0.1"), Value::Null);
    check(json!({"field": "ip"}), json!(["127.0.0.1", "216.160.83.57", "89.160.20.120"]), states.clone());
    check(
        json!({"field": "ip", "first_only": false}),
        json!(["127.0.0.1", "216.160.83.57", "89.160.20.120"]),
        json!([null, states, sweden]),
    );
    check(json!({"field": "ip", "first_only": false}), json!(["127.0.0.1"]), Value::Null);
    check(
        json!({"field": "ip", "properties": [
            "ip", "TIMEZONE", "continent_code", "postal_code", "accuracy_radius", "country_in_european_union",
            "registered_country_name", "registered_country_iso_code", "registered_country_in_european_union"]}),
        json!("89.160.20.120"),
        json!({
            "ip": "89.160.20.120", "timezone": "Europe/Stockholm", "continent_code": "EU", "postal_code": "582 20",
            "accuracy_radius": 76, "country_in_european_union": true, "registered_country_name": "Germany",
            "registered_country_iso_code": "DE", "registered_country_in_european_union": false,
        }),
    );
    check(
        json!({"field": "ip", "database_file": "GeoLite2-ASN.mmdb"}),
        json!("89.160.20.120"),
        json!({"ip": "89.160.20.120", "asn": 29_518, "organization_name": "Bredband2 AB", "network": "89.160.0.0/17"}),
    );
}

#[test]
fn kinds_of_databases() {
    let traits = json!({
        "is_anonymous": true, "is_tor_exit_node": true, "connection_type": "Cable/DSL", "domain": "example.org",
        "isp": "An ISP", "organization": "An organization", "mobile_country_code": "262",
    });
    for (kind, expected) in [
        (
            "GeoIP2-Anonymous-IP",
            json!({"anonymous": true, "tor_exit_node": true, "anonymous_vpn": false, "hosting_provider": false, "public_proxy": false, "residential_proxy": false}),
        ),
        ("GeoIP2-Connection-Type", json!({"connection_type": "Cable/DSL"})),
        ("GeoIP2-Domain", json!({"domain": "example.org"})),
        (
            "GeoIP2-ISP",
            json!({"ip": "1.2.3.4", "network": "1.2.3.0/24", "isp": "An ISP", "isp_organization_name": "An organization", "mobile_country_code": "262"}),
        ),
    ] {
        let files = [("x.mmdb", database(kind, &[("1.2.3.0/24", traits.clone())]))];
        let processor = json!({"field": "ip", "database_file": "x.mmdb"});
        let made = run(&files, &processor, json!({"ip": "1.2.3.4"})).expect("no error");
        assert_eq!(made["geoip"], expected, "{kind}");
    }
    let country = json!({
        "country": {"iso_code": "FR", "names": {"en": "France"}}, "continent": {"names": {"en": "Europe"}},
        "traits": {"domain": "example.org", "user_type": "school"},
    });
    for (kind, processor, expected) in [
        (
            "GeoLite2-Country",
            json!({"field": "ip", "database_file": "x.mmdb"}),
            json!({"country_iso_code": "FR", "country_name": "France", "continent_name": "Europe"}),
        ),
        (
            "GeoIP2-Enterprise",
            json!({"field": "ip", "database_file": "x.mmdb", "properties": ["domain", "user_type", "anonymous"]}),
            json!({"domain": "example.org", "user_type": "school", "anonymous": false}),
        ),
    ] {
        let files = [("x.mmdb", database(kind, &[("1.2.3.0/24", country.clone())]))];
        assert_eq!(
            run(&files, &processor, json!({"ip": "1.2.3.4"})).expect("no error")["geoip"],
            expected,
            "{kind}"
        );
    }
}

#[test]
fn what_is_missing_or_wrong() {
    let files = [
        ("GeoLite2-City.mmdb", city()),
        ("odd.mmdb", database("Odd-Kind", &[])),
        ("bad.mmdb", vec![1, 2, 3]),
    ];
    let check = |processor: Value, source: Value, expected: Result<Value, &str>| {
        let made = run(&files, &processor, source);
        assert_eq!(
            made.as_ref().map_err(String::as_str),
            expected.as_ref().map_err(|reason| *reason),
            "{processor}"
        );
    };
    let plain = json!({"field": "ip"});
    check(plain.clone(), json!({}), Err("field [ip] not present as part of path [ip]"));
    check(plain.clone(), json!({"ip": null}), Err("field [ip] is null, cannot extract geoip information."));
    check(plain.clone(), json!({"ip": 5}), Err("field [ip] should contain only string or array of strings"));
    check(plain.clone(), json!({"ip": [5]}), Err("array in field [ip] should only contain strings"));
    check(plain, json!({"ip": "x"}), Err("'x' is not an IP string literal."));
    check(json!({"field": "ip", "ignore_missing": true}), json!({}), Ok(json!({})));
    check(json!({"field": "ip", "ignore_missing": true}), json!({"ip": null}), Ok(json!({"ip": null})));
    check(
        json!({"field": "ip", "database_file": "none.mmdb", "properties": ["later"]}),
        json!({"ip": "1.2.3.4"}),
        Ok(json!({"ip": "1.2.3.4", "tags": ["_geoip_database_unavailable_none.mmdb"]})),
    );
    for file in ["bad.mmdb", "../ingest-geoip/GeoLite2-City.mmdb"] {
        let tag = format!("_geoip_database_unavailable_{file}");
        let tagged = json!({"ip": "1.2.3.4", "tags": ["a", tag]});
        check(
            json!({"field": "ip", "database_file": file}),
            json!({"ip": "1.2.3.4", "tags": "a"}),
            Ok(tagged),
        );
    }
    check(
        json!({"field": "ip", "database_file": "odd.mmdb"}),
        json!({}),
        Err("[database_file] Unsupported database type [Odd-Kind] for file [odd.mmdb]"),
    );
    let refused =
        run(&files, &json!({"field": "ip", "properties": ["asn"]}), json!({})).expect_err("refused");
    assert!(
        refused.starts_with("[properties] illegal property value [asn]. valid values are [IP, "),
        "{refused}"
    );
    check(
        json!({"field": "ip", "foo": 1}),
        json!({}),
        Err("processor [geoip] doesn't support one or more provided configuration parameters [foo]"),
    );
}
