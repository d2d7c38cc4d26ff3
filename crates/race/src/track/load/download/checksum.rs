//! Checks that a file is the one its publisher means, with the SHA-256 of the track's author and the
//! checksums that servers send.
//!
//! Sources: `Repr-Digest` (RFC 9530), `x-goog-hash` of Google's storage, which serves Rally's corpora.
//! `Content-MD5` is not read, since it covers the body of one answer, which may be a part of the file.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use base64::Engine as _;
use sha2::Digest as _;
use ureq::http::HeaderMap;

const BUFFER_BYTES: usize = 1 << 20;

/// Digest of a whole file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Checksum {
    Sha256(Vec<u8>),
    Md5(Vec<u8>),
}

impl Checksum {
    /// Parses 64 hexadecimal digits.
    pub(super) fn sha256(text: &str) -> Option<Checksum> {
        let text = text.trim();
        let digits = (text.len() == 64 && text.is_ascii()).then_some(text)?;
        let bytes = (0..64).step_by(2).map(|start| u8::from_str_radix(&digits[start..start + 2], 16));
        Some(Checksum::Sha256(bytes.collect::<Result<_, _>>().ok()?))
    }

    pub(super) fn name(&self) -> &'static str {
        match self {
            Checksum::Sha256(_) => "SHA-256",
            Checksum::Md5(_) => "MD5",
        }
    }

    /// Returns the hexadecimal digits.
    pub(super) fn text(&self) -> String {
        let (Checksum::Sha256(bytes) | Checksum::Md5(bytes)) = self;
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Returns the checksums in an answer's headers. Those of unknown kinds are left out.
pub(super) fn of_headers(headers: &HeaderMap) -> Vec<Checksum> {
    let values = |name: &str| headers.get_all(name).into_iter().filter_map(|value| value.to_str().ok());
    let decode = |text: &str| base64::engine::general_purpose::STANDARD.decode(text.trim_matches(':')).ok();
    let members = |text: &'static str| {
        values(text)
            .flat_map(|value| value.split(','))
            .filter_map(|member| member.trim().split_once('='))
            .collect::<Vec<_>>()
    };
    let digests = members("repr-digest").into_iter().filter(|(kind, _)| *kind == "sha-256");
    let hashes = members("x-goog-hash").into_iter().filter(|(kind, _)| *kind == "md5");
    let sha256 =
        digests.filter_map(|(_, text)| decode(text)).filter(|bytes| bytes.len() == 32).map(Checksum::Sha256);
    let md5 =
        hashes.filter_map(|(_, text)| decode(text)).filter(|bytes| bytes.len() == 16).map(Checksum::Md5);
    sha256.chain(md5).collect()
}

/// Reads the file once and returns the first checksum that does not match.
pub(super) fn first_wrong<'a>(checksums: &'a [Checksum], file: &Path) -> io::Result<Option<&'a Checksum>> {
    if checksums.is_empty() {
        return Ok(None);
    }
    let (mut sha256, mut md5) = (sha2::Sha256::new(), md5::Md5::new());
    let mut input = File::open(file)?;
    let mut buffer = vec![0; BUFFER_BYTES];
    let wants_md5 = checksums.iter().any(|checksum| matches!(checksum, Checksum::Md5(_)));
    loop {
        let count = input.read(&mut buffer)?;
        if count == 0 {
            break;
        }
        sha256.update(&buffer[..count]);
        if wants_md5 {
            md5.update(&buffer[..count]);
        }
    }
    let (sha256, md5) = (sha256.finalize().to_vec(), md5.finalize().to_vec());
    Ok(checksums.iter().find(|checksum| match checksum {
        Checksum::Sha256(bytes) => *bytes != sha256,
        Checksum::Md5(bytes) => *bytes != md5,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Digests of "abc" (FIPS 180-4, RFC 1321).
    const SHA256: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    const MD5: &str = "900150983cd24fb0d6963f7d28e17f72";

    #[test]
    fn checksums_of_headers_and_texts() {
        let mut headers = HeaderMap::new();
        headers.append("x-goog-hash", "crc32c=NksyVg==".parse().unwrap());
        headers.append("x-goog-hash", "md5=kAFQmDzST7DWlj99KOF/cg==".parse().unwrap());
        headers
            .append("repr-digest", "sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=:".parse().unwrap());
        let found = of_headers(&headers);
        let texts: Vec<String> = found.iter().map(|one| format!("{} {}", one.name(), one.text())).collect();
        assert_eq!(texts, [format!("SHA-256 {SHA256}"), format!("MD5 {MD5}")]);
        assert_eq!(Checksum::sha256(&SHA256.to_uppercase()).as_ref(), Some(&found[0]));
        assert_eq!(Checksum::sha256("abc"), None);
        assert_eq!(Checksum::sha256(&"é".repeat(32)), None);
    }

    #[test]
    fn the_first_wrong_checksum_is_found() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "abc").unwrap();
        let right = Checksum::sha256(SHA256).unwrap();
        let wrong = Checksum::Md5(vec![0; 16]);
        assert_eq!(first_wrong(std::slice::from_ref(&right), file.path()).unwrap(), None);
        assert_eq!(first_wrong(&[right, wrong.clone()], file.path()).unwrap(), Some(&wrong));
    }
}
