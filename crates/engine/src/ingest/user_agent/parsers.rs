//! Pattern files, each read once, with a cache of recent results.

use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::{Arc, OnceLock};

use limber_store::Directory;
use limber_store::sync::Mutex;
use lru::LruCache;
use ua_parser::{Extractor, Regexes};

use super::details::{Details, Version};

/// The name of the built-in patterns.
pub const DEFAULT: &str = "_default_";

const BUILT_IN: &str = include_str!("regexes.yaml");

/// How many headers are cached (Elasticsearch's default of `ingest.user_agent.cache_size`).
const CACHE_COUNT: NonZeroUsize = NonZeroUsize::new(1000).expect("not zero");

/// Longest header that is cached.
const CACHED_BYTES_MAX: usize = 2048;

/// Largest pattern file.
const FILE_BYTES_MAX: usize = 16 << 20;

/// One pattern file.
pub struct UserAgentParser {
    extractor: Extractor<'static>,
    cache: Mutex<LruCache<Box<str>, Arc<Details>>>,
}

impl fmt::Debug for UserAgentParser {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("UserAgentParser").finish_non_exhaustive()
    }
}

impl UserAgentParser {
    /// Parses patterns in uap-core's form. The error says what is wrong.
    pub fn parse(yaml: &str) -> Result<UserAgentParser, String> {
        let regexes: Regexes<'static> = serde_yaml_ng::from_str(yaml).map_err(|error| error.to_string())?;
        let extractor = Extractor::try_from(regexes).map_err(|error| error.to_string())?;
        Ok(UserAgentParser { extractor, cache: Mutex::new(LruCache::new(CACHE_COUNT)) })
    }

    /// Returns what is found in a header. Recent headers are cached.
    pub fn details(&self, header: &str) -> Arc<Details> {
        if let Some(known) = self.cache.lock().get(header) {
            return known.clone();
        }
        let details = Arc::new(self.parse_header(header));
        if header.len() <= CACHED_BYTES_MAX {
            self.cache.lock().put(header.into(), details.clone());
        }
        details
    }

    fn parse_header(&self, header: &str) -> Details {
        let agent = self.extractor.ua.extract(header).map(|found| {
            Version::new(&found.family, [found.major, found.minor, found.patch, found.patch_minor])
        });
        let os = self.extractor.os.extract(header).map(|found| {
            let parts = [&found.major, &found.minor, &found.patch, &found.patch_minor];
            Version::new(&found.os, parts.map(Option::as_deref))
        });
        let device = self.extractor.dev.extract(header).map(|found| found.device.into_owned());
        Details { agent, os, device }
    }
}

/// The pattern files that existed when the node started.
#[derive(Default)]
pub struct Parsers {
    built_in: OnceLock<Arc<UserAgentParser>>,
    folder: Option<Arc<dyn Directory>>,
    files: BTreeMap<String, OnceLock<Result<Arc<UserAgentParser>, String>>>,
}

impl fmt::Debug for Parsers {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Parsers").field("files", &self.files.keys()).finish_non_exhaustive()
    }
}

impl Parsers {
    /// Lists the pattern files of a folder; the built-in patterns are always available.
    pub fn of(folder: Option<Arc<dyn Directory>>) -> Parsers {
        let names = folder.as_ref().and_then(|folder| folder.list().ok()).unwrap_or_default();
        let names = names.into_iter().filter(|name| name.ends_with(".yml") || name.ends_with(".yaml"));
        Parsers {
            built_in: OnceLock::new(),
            folder,
            files: names.map(|name| (name, OnceLock::new())).collect(),
        }
    }

    /// Returns the patterns of a file; `None` when there is no such file. The error says what is wrong with
    /// it.
    pub fn get(&self, name: &str) -> Option<Result<Arc<UserAgentParser>, String>> {
        if name == DEFAULT {
            let built_in = self.built_in.get_or_init(|| {
                Arc::new(UserAgentParser::parse(BUILT_IN).expect("the built-in patterns are sound"))
            });
            return Some(Ok(built_in.clone()));
        }
        let (folder, file) = (self.folder.as_ref()?, self.files.get(name)?);
        Some(file.get_or_init(|| read(&**folder, name)).clone())
    }
}

fn read(folder: &dyn Directory, name: &str) -> Result<Arc<UserAgentParser>, String> {
    let bytes = folder.open(name).map_err(|error| error.to_string())?;
    if bytes.len() > FILE_BYTES_MAX {
        return Err(format!("the file has more than {FILE_BYTES_MAX} bytes"));
    }
    let text = std::str::from_utf8(&bytes).map_err(|error| error.to_string())?;
    UserAgentParser::parse(text).map(Arc::new)
}
