//! A repository in a bucket of S3, or of a service that speaks its protocol.
//!
//! `object_store` is asynchronous. The calls here block the calling thread and run on one small runtime that
//! all repositories of the process share. A blob is one request; the engine splits large files into parts.

use std::fmt;
use std::io;
use std::sync::OnceLock;
use std::time::Duration;

use futures_util::TryStreamExt;
use object_store::aws::{AmazonS3, AmazonS3Builder, S3ConditionalPut};
use object_store::path::Path;
use object_store::{
    ClientOptions, ObjectStore, ObjectStoreExt, PutMode, PutOptions, PutPayload, RetryConfig,
};
use tokio::runtime::Runtime;

use super::blobs::{Blob, Blobs, check_name};
use crate::{Error, Result};

/// A string that no message, log or response shows.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps `text`; only this module can read it.
    pub fn new(text: impl Into<String>) -> Secret {
        Secret(text.into())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret(..)")
    }
}

/// A bucket, its service and the credentials for it.
#[derive(Debug, Clone, Default)]
pub struct S3Place {
    /// Name of the bucket.
    pub bucket: String,
    /// Prefix of all names; may be empty.
    pub base_path: String,
    /// Address of the service; `None` for Amazon's in the region.
    pub endpoint: Option<String>,
    /// Region of the service, which is part of signatures (`eu-central-1`).
    pub region: String,
    /// Whether blobs are addressed as `https://endpoint/bucket/name` instead of
    /// `https://bucket.endpoint/name`.
    pub path_style_access: bool,
    /// Id of the access key.
    pub access_key: Secret,
    /// Secret of `access_key`.
    pub secret_key: Secret,
    /// Token of temporary credentials; `None` for permanent ones.
    pub session_token: Option<Secret>,
}

/// A repository whose blobs are the objects of a bucket below a prefix.
pub struct S3Blobs {
    store: AmazonS3,
    base: Path,
    place: String,
}

/// Timeout of a request: uploading a part over a slow line may take minutes.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(300);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum number of retries of a request, and (`RETRY_TIMEOUT`) the time after which there are none.
const RETRIES_MAX: usize = 5;
const RETRY_TIMEOUT: Duration = Duration::from_secs(60);

/// Returns the runtime on which requests run: one thread moves bytes between sockets and waiting callers.
fn runtime() -> Result<&'static Runtime> {
    static RUNTIME: OnceLock<std::result::Result<Runtime, String>> = OnceLock::new();
    let made = RUNTIME.get_or_init(|| {
        // Sets the process's TLS provider unless one was chosen before.
        let _ = rustls::crypto::ring::default_provider().install_default();
        tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .max_blocking_threads(4)
            .thread_name("repository")
            .enable_all()
            .build()
            .map_err(|error| error.to_string())
    });
    made.as_ref().map_err(|why| Error::io("start the threads of", "s3", io::Error::other(why.clone())))
}

impl S3Blobs {
    /// Creates the client without contacting the service.
    ///
    /// # Errors
    /// Fails if the endpoint is not a valid address.
    pub fn open(place: &S3Place) -> Result<S3Blobs> {
        let runtime = runtime()?;
        let _inside = runtime.enter();
        let shown = match place.base_path.trim_matches('/') {
            "" => format!("s3://{}", place.bucket),
            base => format!("s3://{}/{base}", place.bucket),
        };
        let options =
            ClientOptions::new().with_timeout(REQUEST_TIMEOUT).with_connect_timeout(CONNECT_TIMEOUT);
        let retry =
            RetryConfig { max_retries: RETRIES_MAX, retry_timeout: RETRY_TIMEOUT, ..RetryConfig::default() };
        let mut builder = AmazonS3Builder::new()
            .with_client_options(options)
            .with_retry(retry)
            .with_bucket_name(&place.bucket)
            .with_region(&place.region)
            .with_access_key_id(&place.access_key.0)
            .with_secret_access_key(&place.secret_key.0)
            .with_virtual_hosted_style_request(!place.path_style_access)
            .with_conditional_put(S3ConditionalPut::ETagMatch);
        if let Some(token) = &place.session_token {
            builder = builder.with_token(&token.0);
        }
        if let Some(endpoint) = &place.endpoint {
            let is_plain = endpoint.starts_with("http://");
            builder = builder.with_endpoint(endpoint).with_allow_http(is_plain);
        }
        let store = builder.build().map_err(|error| failed("open", &shown, "", &error))?;
        Ok(S3Blobs { store, base: Path::from(place.base_path.trim_matches('/')), place: shown })
    }

    fn path(&self, name: &str) -> Result<Path> {
        check_name(&self.place, name)?;
        Ok(name.split('/').fold(self.base.clone(), |path, part| path.join(part)))
    }
}

fn failed(action: &'static str, place: &str, name: &str, error: &object_store::Error) -> Error {
    let why = match error {
        object_store::Error::NotFound { .. } => io::Error::new(io::ErrorKind::NotFound, "there is none"),
        other => io::Error::other(other.to_string()),
    };
    Error::io(action, format!("{place}/{name}"), why)
}

impl Blobs for S3Blobs {
    fn put_if_absent(&self, name: &str, bytes: Vec<u8>) -> Result<bool> {
        let path = self.path(name)?;
        let options = PutOptions::from(PutMode::Create);
        let put = self.store.put_opts(&path, PutPayload::from(bytes), options);
        match runtime()?.block_on(put) {
            Ok(_) => Ok(true),
            Err(object_store::Error::AlreadyExists { .. } | object_store::Error::Precondition { .. }) => {
                Ok(false)
            }
            Err(error) => Err(failed("write", &self.place, name, &error)),
        }
    }

    fn get_if(&self, name: &str, admits: &mut dyn FnMut(u64) -> Result<()>) -> Result<Vec<u8>> {
        let path = self.path(name)?;
        let read = async {
            let found =
                self.store.get(&path).await.map_err(|error| failed("read", &self.place, name, &error))?;
            admits(found.meta.size)?;
            found.bytes().await.map_err(|error| failed("read", &self.place, name, &error))
        };
        Ok(runtime()?.block_on(read)?.to_vec())
    }

    fn list(&self, folder: &str) -> Result<Vec<Blob>> {
        let path = if folder.is_empty() { self.base.clone() } else { self.path(folder)? };
        let prefix = match self.base.as_ref() {
            "" => String::new(),
            base => format!("{base}/"),
        };
        let listing = async {
            let mut blobs = Vec::new();
            let mut objects = self.store.list(Some(&path));
            while let Some(object) = objects.try_next().await? {
                if let Some(name) = object.location.as_ref().strip_prefix(&prefix) {
                    blobs.push(Blob { name: name.to_owned(), bytes: object.size });
                }
            }
            Ok(blobs)
        };
        let listed = runtime()?.block_on(listing);
        let blobs: Vec<Blob> = listed.map_err(|error| failed("list", &self.place, folder, &error))?;
        Ok(blobs.into_iter().filter(|blob| check_name(&self.place, &blob.name).is_ok()).collect())
    }

    fn delete(&self, name: &str) -> Result<()> {
        let path = self.path(name)?;
        match runtime()?.block_on(self.store.delete(&path)) {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(failed("delete", &self.place, name, &error)),
        }
    }

    fn place(&self) -> &str {
        &self.place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_not_shown() {
        let place = S3Place {
            bucket: "b".into(),
            region: "eu".into(),
            access_key: Secret::new("AKIA-hidden"),
            secret_key: Secret::new("very-hidden"),
            session_token: Some(Secret::new("token-hidden")),
            ..S3Place::default()
        };
        assert!(!format!("{place:?}").contains("hidden"));
        let refused = S3Blobs::open(&S3Place { endpoint: Some("no address".into()), ..place });
        if let Err(error) = refused {
            assert!(!error.to_string().contains("hidden"), "{error}");
        }
    }
}
