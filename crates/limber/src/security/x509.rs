//! Reads what `_ssl/certificates` shows of a certificate: "whose is it, who issued it, and until when?"
//!
//! Only these parts of X.509 are read (RFC 5280, in DER); nothing is verified. Names are printed like Java's
//! `X500Principal#toString`, which Elasticsearch shows.

use limber_codec::hex::hex;

/// What is shown of a certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CertificateFacts {
    pub subject: String,
    pub issuer: String,
    /// In hexadecimal digits.
    pub serial_number: String,
    /// The end of its validity in seconds since 1970.
    pub expires_s: i64,
}

/// One element: its tag and content.
struct Element<'a> {
    tag: u8,
    content: &'a [u8],
}

const INTEGER: u8 = 0x02;
const OBJECT_ID: u8 = 0x06;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;
const BMP_STRING: u8 = 0x1e;
const SEQUENCE: u8 = 0x30;
const SET: u8 = 0x31;
/// The version of a certificate, which only the first version lacks.
const VERSION: u8 = 0xa0;

/// The keywords that Java knows (`sun.security.x509.AVAKeyword`), by object id.
const KEYWORDS: &[(&str, &str)] = &[
    ("2.5.4.3", "CN"),
    ("2.5.4.4", "SURNAME"),
    ("2.5.4.5", "SERIALNUMBER"),
    ("2.5.4.6", "C"),
    ("2.5.4.7", "L"),
    ("2.5.4.8", "ST"),
    ("2.5.4.9", "STREET"),
    ("2.5.4.10", "O"),
    ("2.5.4.11", "OU"),
    ("2.5.4.12", "T"),
    ("2.5.4.42", "GIVENNAME"),
    ("2.5.4.43", "INITIALS"),
    ("2.5.4.44", "GENERATION"),
    ("2.5.4.46", "DNQ"),
    ("0.9.2342.19200300.100.1.1", "UID"),
    ("0.9.2342.19200300.100.1.25", "DC"),
    ("1.2.840.113549.1.9.1", "EMAILADDRESS"),
];

/// Reads a certificate in DER; `None` if it is not one.
pub fn facts(der: &[u8]) -> Option<CertificateFacts> {
    let certificate = expect(&mut &*der, SEQUENCE)?;
    let mut parts = expect(&mut &*certificate, SEQUENCE)?;
    let mut first = next(&mut parts)?;
    if first.tag == VERSION {
        first = next(&mut parts)?;
    }
    if first.tag != INTEGER {
        return None;
    }
    let _algorithm = next(&mut parts)?;
    let issuer = name(expect(&mut parts, SEQUENCE)?)?;
    let mut validity = expect(&mut parts, SEQUENCE)?;
    let _from = next(&mut validity)?;
    let expires_s = time(&next(&mut validity)?)?;
    let subject = name(expect(&mut parts, SEQUENCE)?)?;
    Some(CertificateFacts { subject, issuer, serial_number: hexadecimal(first.content), expires_s })
}

/// Takes the next element.
fn next<'a>(rest: &mut &'a [u8]) -> Option<Element<'a>> {
    let (&tag, after) = rest.split_first()?;
    let (&short, mut after) = after.split_first()?;
    let mut length = usize::from(short);
    if short & 0x80 != 0 {
        let size = usize::from(short & 0x7f);
        if size == 0 || size > 4 {
            return None;
        }
        let (bytes, beyond) = after.split_at_checked(size)?;
        length = bytes.iter().fold(0, |length, byte| length << 8 | usize::from(*byte));
        after = beyond;
    }
    let (content, beyond) = after.split_at_checked(length)?;
    *rest = beyond;
    Some(Element { tag, content })
}

fn expect<'a>(rest: &mut &'a [u8], tag: u8) -> Option<&'a [u8]> {
    next(rest).filter(|element| element.tag == tag).map(|element| element.content)
}

/// Returns a positive integer as Java's `BigInteger#toString(16)` does.
fn hexadecimal(integer: &[u8]) -> String {
    match hex(integer).trim_start_matches('0') {
        "" => "0".to_owned(),
        digits => digits.to_owned(),
    }
}

/// Prints a name: its parts in reverse order.
fn name(mut rest: &[u8]) -> Option<String> {
    let mut parts = Vec::new();
    while !rest.is_empty() {
        let mut set = expect(&mut rest, SET)?;
        let mut attributes = Vec::new();
        while !set.is_empty() {
            attributes.push(attribute(expect(&mut set, SEQUENCE)?)?);
        }
        parts.push(attributes.join(" + "));
    }
    parts.reverse();
    Some(parts.join(", "))
}

fn attribute(mut rest: &[u8]) -> Option<String> {
    let id = object_id(expect(&mut rest, OBJECT_ID)?)?;
    let value = next(&mut rest)?;
    let text = match value.tag {
        BMP_STRING => {
            let units = value.content.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]]));
            char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
        }
        _ => String::from_utf8_lossy(value.content).into_owned(),
    };
    let text = match text.contains([',', '+', '=', '\n', '<', '>', '#', ';', '\\', '"']) {
        true => format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")),
        false => text,
    };
    let keyword = KEYWORDS.iter().find(|(known, _)| *known == id).map(|(_, keyword)| (*keyword).to_owned());
    Some(format!("{}={text}", keyword.unwrap_or_else(|| format!("OID.{id}"))))
}

fn object_id(bytes: &[u8]) -> Option<String> {
    let (&first, rest) = bytes.split_first()?;
    let top = (first / 40).min(2);
    let mut id = format!("{top}.{}", first - top * 40);
    let mut number: u64 = 0;
    for byte in rest {
        number = number.checked_mul(128)? | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            id.push_str(&format!(".{number}"));
            number = 0;
        }
    }
    Some(id)
}

/// Reads a time in UTC, which both forms must be in.
fn time(element: &Element<'_>) -> Option<i64> {
    let text = std::str::from_utf8(element.content).ok()?.strip_suffix('Z')?;
    let (year, rest) = match element.tag {
        UTC_TIME => {
            let (year, rest) = text.split_at_checked(2)?;
            let year: i64 = year.parse().ok()?;
            // RFC 5280: two digits mean the years from 1950 to 2049.
            (year + if year < 50 { 2000 } else { 1900 }, rest)
        }
        GENERALIZED_TIME => {
            let (year, rest) = text.split_at_checked(4)?;
            (year.parse().ok()?, rest)
        }
        _ => return None,
    };
    let part = |from: usize| rest.get(from..from + 2)?.parse::<u32>().ok();
    let (month, day) = (part(0)?, part(2)?);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let days = limber_mapping::date::days_from_civil(year, month, day);
    Some(days * 86_400 + i64::from(part(4)?) * 3_600 + i64::from(part(6)?) * 60 + i64::from(part(8)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_shows_its_names_and_its_end() {
        use rcgen::{CertificateParams, DnType, KeyPair, SerialNumber};
        let mut params = CertificateParams::new(["localhost".to_owned()]).expect("good parameters");
        params.distinguished_name = rcgen::DistinguishedName::new();
        params.distinguished_name.push(DnType::OrganizationName, "Wild, Ltd");
        params.distinguished_name.push(DnType::CommonName, "node é");
        params.serial_number = Some(SerialNumber::from_slice(&[0x00, 0xa2, 0x0f]));
        params.not_after = rcgen::date_time_ymd(2061, 2, 3);
        let key = KeyPair::generate().expect("a key");
        let made = params.self_signed(&key).expect("signed");
        let expected = CertificateFacts {
            subject: "CN=node é, O=\"Wild, Ltd\"".into(),
            issuer: "CN=node é, O=\"Wild, Ltd\"".into(),
            serial_number: "a20f".into(),
            // 2061-02-03T00:00:00Z
            expires_s: 2_874_614_400,
        };
        assert_eq!(facts(made.der()), Some(expected));
        assert_eq!((facts(b""), facts(b"\x30\x84\xff\xff\xff\xff"), facts(&[0x30; 64])), (None, None, None));
    }

    #[test]
    fn times_have_two_or_four_digits_of_the_year() {
        let check = |tag, text: &str, expected| {
            assert_eq!(time(&Element { tag, content: text.as_bytes() }), expected, "{text}");
        };
        check(UTC_TIME, "700101000001Z", Some(1));
        check(UTC_TIME, "490101000000Z", Some(2_493_072_000));
        check(GENERALIZED_TIME, "20500101000000Z", Some(2_524_608_000));
        check(GENERALIZED_TIME, "20501301000000Z", None);
        check(UTC_TIME, "49", None);
    }
}
