//! Makes a track of what a running server holds.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::target::Selection;
use super::{cluster, files};
use crate::error::Error;
use crate::http::cluster::Cluster;
use crate::track::load::LoadError;

/// Makes a track of indices or data streams, and returns its folder. Progress goes to `log`.
///
/// # Errors
/// `NoAnswer`, `Refused` or `Answer` when the server does not answer as expected, `Load` when there is
/// nothing to take or the folder already holds a track.
pub(crate) fn from_cluster(
    name: &str,
    output: &Path,
    cluster: &mut Cluster,
    selection: &Selection,
    log: &mut dyn Write,
) -> Result<PathBuf, Error> {
    let folder = files::new_folder(output, name)?;
    cluster.known_info()?;
    let mut targets = cluster::targets(cluster, selection)?;
    if targets.is_empty() {
        let wanted = selection.names.join(", ");
        return Err(
            LoadError::NotFound(format!("There is no index or data stream to take of [{wanted}].")).into()
        );
    }
    std::fs::create_dir_all(&folder).map_err(LoadError::at(&folder))?;
    for target in &mut targets {
        target.documents = cluster::dump(cluster, &target.name, selection.batch_size, &folder, log)?;
    }
    files::write(name, &folder, &targets)?;
    Ok(folder)
}
