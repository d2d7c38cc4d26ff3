//! The small files of volumes: identities and pointers.

use std::collections::BTreeMap;
use std::path::Path;

use limber_store::directory::{Replaced, replace};
use limber_store::{Directory, Disk, Error, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::checked_file::Format;

/// The file in the place of a shard whose folder is on a volume.
pub(super) const POINTER_NAME: &str = "volume";
const POINTER: Format = Format { magic: "limber-volume-pointer", version: 1 };

/// The folder and the file of a volume that say whose it is.
pub(super) const IDENTITY_FOLDER: &str = "volume";
const IDENTITY_NAME: &str = "identity";
const IDENTITY: Format = Format { magic: "limber-volume", version: 1 };

/// The folder and the file of the main folder that list the volumes it has had.
const KNOWN_FOLDER: &str = "volumes";
const KNOWN_NAME: &str = "known";
const KNOWN: Format = Format { magic: "limber-volumes", version: 1 };

/// The volume of one shard.
#[derive(Serialize, Deserialize)]
struct Pointer {
    volume: String,
}

/// Who a volume is, and to which main folder it belongs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Identity {
    pub id: String,
    pub main: String,
}

/// What the main folder knows about itself and its volumes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Known {
    /// The id of the main folder.
    pub main: String,
    /// The paths at which volumes were last seen, by id.
    pub volumes: BTreeMap<String, String>,
}

impl Known {
    /// Returns `None` if the main folder never had volumes.
    pub(super) fn read(main: &dyn Disk) -> Result<Option<Known>> {
        read_in(main, KNOWN_FOLDER, KNOWN_NAME, &KNOWN)
    }

    pub(super) fn write(&self, main: &dyn Disk) -> Result<()> {
        write(&*main.folder(KNOWN_FOLDER)?, KNOWN_NAME, &KNOWN, self)
    }
}

impl Identity {
    /// Returns `None` if the volume has no identity yet.
    pub(super) fn read(volume: &dyn Disk) -> Result<Option<Identity>> {
        read_in(volume, IDENTITY_FOLDER, IDENTITY_NAME, &IDENTITY)
    }

    pub(super) fn write(&self, volume: &dyn Disk) -> Result<()> {
        write(&*volume.folder(IDENTITY_FOLDER)?, IDENTITY_NAME, &IDENTITY, self)
    }
}

/// Returns the id of the volume that has the shard of this place in the main folder; `None` if the main
/// folder itself has it.
pub(super) fn read_pointer(place: &dyn Directory) -> Result<Option<String>> {
    let pointer: Option<Pointer> = read(place, POINTER_NAME, &POINTER)?;
    Ok(pointer.map(|pointer| pointer.volume))
}

/// Makes the place of a shard in the main folder point to a volume.
pub(super) fn write_pointer(place: &dyn Directory, volume: &str) -> Result<()> {
    write(place, POINTER_NAME, &POINTER, &Pointer { volume: volume.to_owned() })
}

/// Whether the folder is a volume of any node.
pub(crate) fn is_volume(path: &Path) -> bool {
    path.join(IDENTITY_FOLDER).join(IDENTITY_NAME).is_file()
}

/// Reads a file of a folder without creating the folder.
fn read_in<T: DeserializeOwned>(
    disk: &dyn Disk,
    folder: &str,
    name: &str,
    format: &Format,
) -> Result<Option<T>> {
    match disk.folders("")?.iter().any(|known| known == folder) {
        true => read(&*disk.folder(folder)?, name, format),
        false => Ok(None),
    }
}

fn read<T: DeserializeOwned>(directory: &dyn Directory, name: &str, format: &Format) -> Result<Option<T>> {
    if !directory.exists(name)? {
        return Ok(None);
    }
    let bytes = directory.read_whole(name)?;
    let file = directory.path().join(name).display().to_string();
    let body = format.decode(&bytes).map_err(|error| error.in_file(&file))?;
    let value = serde_json::from_slice(body).map_err(|error| Error::Corrupt {
        file,
        offset: 0,
        expected: "the members of this file".into(),
        found: error.to_string(),
    })?;
    Ok(Some(value))
}

fn write(directory: &dyn Directory, name: &str, format: &Format, value: &impl Serialize) -> Result<()> {
    let body = serde_json::to_string(value).expect("plain members always serialise");
    match replace(directory, name, &format.encode(&body)) {
        Replaced::Done => Ok(()),
        Replaced::Untouched(error) | Replaced::Unknown(error) => Err(error),
    }
}
