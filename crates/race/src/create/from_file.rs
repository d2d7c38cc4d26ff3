//! Makes a track of a log file.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::target::Target;
use super::{bodies, documents, files};
use crate::error::Error;
use crate::track::builtin::access_log;
use crate::track::load::LoadError;

/// Makes a track of an access log (common or combined format) or of NDJSON, compressed or not, and returns
/// its folder.
///
/// A log gets the mapping of the built-in track. The server decides the mapping of other documents.
///
/// # Errors
/// `Load`: the errors of [`access_log::convert`], and when the folder already holds a track.
pub(crate) fn from_file(
    name: &str,
    output: &Path,
    file: &Path,
    log: &mut dyn Write,
) -> Result<PathBuf, Error> {
    let folder = files::new_folder(output, name)?;
    let converted = access_log::convert(file, u64::MAX)?;
    if converted.skipped > 0 {
        let _ = writeln!(
            log,
            "[WARNING] {} lines of [{}] cannot be read and are left out.",
            converted.skipped,
            file.display()
        );
    }
    let mappings =
        if converted.is_log { bodies::of_access_logs()? } else { Value::Object(Default::default()) };
    std::fs::create_dir_all(&folder).map_err(LoadError::at(&folder))?;
    let mut writer = documents::Writer::create(&folder, name)?;
    for line in converted.ndjson.split_inclusive(|byte| *byte == b'\n') {
        writer.write_line(line)?;
    }
    let target = Target {
        name: name.to_owned(),
        is_data_stream: false,
        body: bodies::index(
            &serde_json::json!({"number_of_shards": "1", "number_of_replicas": "0"}),
            &mappings,
        ),
        documents: writer.finish()?,
    };
    files::write(name, &folder, &[target])?;
    Ok(folder)
}
