//! Secrets: how they are generated, stored and compared.
//!
//! Passwords, which people choose, are stored as argon2id with the parameters that OWASP recommends (19
//! MiB, two passes, one lane); a hash takes about 20 ms. Keys and tokens have at least 128 random bits and
//! cannot be guessed, so a salted SHA-256 suffices, and it is fast.

use argon2::password_hash::{PasswordHash, PasswordHasher, PasswordVerifier, SaltString};
use argon2::{Algorithm, Argon2, Params, Version};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use limber_mapping::RequestError;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::Result;

/// Memory in KiB and passes (`PASSES`) of argon2id.
const MEMORY_KIB: u32 = 19 << 10;
const PASSES: u32 = 2;
/// Maximum cost of a hash from elsewhere (`password_hash`): it is paid at each login that is not cached.
const MEMORY_KIB_MAX: u32 = 64 << 10;
const PASSES_MAX: u32 = 8;

/// Characters of generated passwords; none has a special meaning in a shell or URL.
const PASSWORD_ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const PASSWORD_LENGTH: usize = 22;

fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).expect("the system has random bytes");
    bytes
}

fn argon2() -> Argon2<'static> {
    let params = Params::new(MEMORY_KIB, PASSES, 1, None).expect("the parameters are valid");
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
}

/// Returns the hash of a password for storage.
///
/// # Errors
/// There is not enough memory.
pub fn hash_password(password: &str) -> Result<String> {
    let failed = |error| RequestError::internal("exception", format!("a password cannot be hashed: {error}"));
    let salt = SaltString::encode_b64(&random::<16>()).map_err(failed)?;
    Ok(argon2().hash_password(password.as_bytes(), &salt).map_err(failed)?.to_string())
}

/// Whether `hash` has the form and bounded cost of one made by [`hash_password`].
pub(crate) fn is_password_hash(hash: &str) -> bool {
    let Ok(parsed) = PasswordHash::new(hash) else { return false };
    let Ok(params) = Params::try_from(&parsed) else { return false };
    parsed.algorithm.as_str() == "argon2id"
        && parsed.hash.is_some()
        && params.m_cost() <= MEMORY_KIB_MAX
        && params.t_cost() <= PASSES_MAX
        && params.p_cost() == 1
}

/// Whether `password` has this hash. Takes the same time for users that do not exist (`None`).
pub fn password_matches(password: &str, hash: Option<&str>) -> bool {
    // The hash of a password that nobody knows.
    const NOBODY: &str =
        "$argon2id$v=19$m=19456,t=2,p=1$bGltYmVyLW5vYm9keTAwMA$c2l4dGVlbi1ieXRlcy1vZi1ub3RoaW5nLWF0LWFsbDA";
    let text = hash.filter(|hash| is_password_hash(hash));
    let Ok(parsed) = PasswordHash::new(text.unwrap_or(NOBODY)) else { return false };
    argon2().verify_password(password.as_bytes(), &parsed).is_ok() && text.is_some()
}

/// Generates a random password for a person: 22 characters, 132 bits.
pub fn new_password() -> String {
    random::<PASSWORD_LENGTH>()
        .iter()
        .map(|byte| char::from(PASSWORD_ALPHABET[usize::from(byte % 64)]))
        .collect()
}

/// Generates the secret of an API key or token: 22 characters, 128 bits.
pub fn new_secret() -> String {
    URL_SAFE_NO_PAD.encode(random::<16>())
}

/// Generates an id in Elasticsearch's form: 20 characters.
pub fn new_uuid() -> String {
    URL_SAFE_NO_PAD.encode(random::<15>())
}

/// Returns the digest of an API key's or token's secret for storage: `salt$digest`.
pub fn secret_digest(secret: &str) -> String {
    let salt = STANDARD_NO_PAD.encode(random::<16>());
    let digest = salted(&salt, secret);
    format!("{salt}${}", STANDARD_NO_PAD.encode(digest))
}

/// Whether `kept` is the digest of this secret. The time does not depend on where they differ.
pub fn digest_matches(secret: &str, kept: &str) -> bool {
    let Some((salt, digest)) = kept.split_once('$') else { return false };
    let Ok(digest) = STANDARD_NO_PAD.decode(digest) else { return false };
    salted(salt, secret).ct_eq(digest.as_slice()).into()
}

fn salted(salt: &str, secret: &str) -> [u8; 32] {
    Sha256::new().chain_update(salt).chain_update([0]).chain_update(secret).finalize().into()
}

/// A random key of this process under which verified credentials are cached; without it the cached digests
/// reveal nothing.
#[derive(Clone)]
pub struct SecretKey([u8; 64]);

impl std::fmt::Debug for SecretKey {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("SecretKey")
    }
}

impl Default for SecretKey {
    fn default() -> SecretKey {
        SecretKey(random())
    }
}

impl SecretKey {
    /// Returns the HMAC-SHA-256 of `text`. The key is exactly one block long, so it need not be hashed.
    pub fn digest(&self, text: &[u8]) -> [u8; 32] {
        let pad = |byte: u8| self.0.map(|own| own ^ byte);
        let inner = Sha256::new().chain_update(pad(0x36)).chain_update(text).finalize();
        Sha256::new().chain_update(pad(0x5c)).chain_update(inner).finalize().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords() {
        let hash = hash_password("correct horse").expect("hashed");
        assert!(is_password_hash(&hash), "{hash}");
        assert!(password_matches("correct horse", Some(&hash)));
        assert!(!password_matches("correct hors", Some(&hash)));
        assert!(!password_matches("correct horse", None));
        assert!(!password_matches("x", Some("x")));
        assert!(!is_password_hash("$2a$10$abcdefghijklmnopqrstuv"));
        assert!(!is_password_hash(&hash.replace("m=19456", "m=4194304")));
        assert_eq!(new_password().len(), PASSWORD_LENGTH);
        assert_ne!(new_password(), new_password());
    }

    #[test]
    fn secrets() {
        let secret = new_secret();
        assert_eq!(secret.len(), 22);
        let kept = secret_digest(&secret);
        assert!(digest_matches(&secret, &kept) && !digest_matches("other", &kept));
        assert!(!kept.contains(&secret) && kept != secret_digest(&secret));
        assert!(!digest_matches("", "") && !digest_matches("", "a$"));
        let (one, other) = (SecretKey::default(), SecretKey::default());
        assert_eq!(one.digest(b"a"), one.digest(b"a"));
        assert_ne!(one.digest(b"a"), other.digest(b"a"));
    }
}
