//! The folders of `path.data` as one tree.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use limber_store::directory::temporary_name;
use limber_store::sync::Mutex;
use limber_store::{Directory, Disk, DiskPart, DiskSpace, Error, FsDisk, Result};

use super::absent::{Absent, absent_error};
use super::files::{Known, POINTER_NAME, read_pointer, write_pointer};
use super::place::{Candidate, rank, shard_of};
use super::volume::{Opener, Refusal, Volume};
use crate::environment::{Randomness, SystemRandomness, random_uuid};

/// The main folder and its volumes, as one disk. Clones share it.
#[derive(Clone)]
pub struct Volumes {
    inner: Arc<Inner>,
}

struct Inner {
    main: Arc<dyn Disk>,
    others: Vec<Volume>,
    randomness: Arc<dyn Randomness>,
    state: Mutex<State>,
}

struct State {
    /// `None` while the main folder has never had a volume: all shards are in the main folder.
    known: Option<Known>,
    /// The place of each shard, by its path.
    places: BTreeMap<String, Place>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    Main,
    /// The id of the volume.
    Volume(String),
    /// The pointer cannot be read, and why.
    Unknown(String),
}

impl Volumes {
    /// Opens and locks the folders; the first one is the main one.
    ///
    /// # Errors
    /// The main folder cannot be opened, or another one cannot be used as it is (in use by another process,
    /// of another node, or with other contents). A folder that fails otherwise is tried again later.
    pub fn open(paths: &[PathBuf]) -> Result<Volumes> {
        let Some((first, others)) = paths.split_first() else {
            return Err(Error::io("open", "", std::io::Error::other("no data folder is given")));
        };
        let main: Arc<dyn Disk> = Arc::new(FsDisk::open(first)?);
        let opener = |path: &PathBuf| -> (PathBuf, Opener) {
            // The main folder notes where its volumes are, so the paths must not depend on where it was
            // started.
            let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
            let folder = path.clone();
            let open = move || -> Result<Arc<dyn Disk>> { Ok(Arc::new(FsDisk::open(&folder)?)) };
            (path, Box::new(open))
        };
        Volumes::over(main, others.iter().map(opener).collect(), Arc::new(SystemRandomness))
    }

    /// Opens and locks a main folder and the volumes that it has had, at the paths where they were last seen.
    /// The call creates no folder.
    ///
    /// # Errors
    /// As for [`Volumes::open`].
    pub fn open_known(main: &Path) -> Result<Volumes> {
        let main: Arc<dyn Disk> = Arc::new(FsDisk::open(main)?);
        let mut known = Known::read(&*main)?.map_or_else(BTreeMap::new, |known| known.volumes);
        let places = if known.is_empty() { BTreeMap::new() } else { read_places(&*main)? };
        known.retain(|id, _| places.values().any(|place| *place == Place::Volume(id.clone())));
        let opener = |path: String| -> (PathBuf, Opener) {
            let folder = PathBuf::from(path);
            let path = folder.clone();
            let open = move || -> Result<Arc<dyn Disk>> {
                match folder.is_dir() {
                    true => Ok(Arc::new(FsDisk::open(&folder)?)),
                    false => Err(absent_error(&folder, "there is no such folder")),
                }
            };
            (path, Box::new(open))
        };
        let others = known.into_values().map(opener).collect();
        Volumes::over(main, others, Arc::new(SystemRandomness))
    }

    /// Works like [`Volumes::open`], over a given main folder and volumes that the openers open.
    pub fn over(
        main: Arc<dyn Disk>,
        others: Vec<(PathBuf, Opener)>,
        randomness: Arc<dyn Randomness>,
    ) -> Result<Volumes> {
        let mut known = Known::read(&*main)?;
        if known.is_none() && !others.is_empty() {
            let first = Known { main: random_uuid(&*randomness), volumes: BTreeMap::new() };
            first.write(&*main)?;
            known = Some(first);
        }
        let places = match known {
            Some(_) => read_places(&*main)?,
            None => BTreeMap::new(),
        };
        let others = others.into_iter().map(|(path, open)| Volume::new(path, open)).collect();
        let inner = Inner { main, others, randomness, state: Mutex::new(State { known, places }) };
        inner.attach_all()?;
        Ok(Volumes { inner: Arc::new(inner) })
    }
}

/// Reads where all shards of the main folder lie.
fn read_places(main: &dyn Disk) -> Result<BTreeMap<String, Place>> {
    let mut places = BTreeMap::new();
    for uuid in main.folders("indices")? {
        for number in main.folders(&format!("indices/{uuid}"))? {
            let path = format!("indices/{uuid}/{number}");
            if shard_of(&path).is_none() {
                continue;
            }
            let place = match read_pointer(&*main.folder(&path)?) {
                Ok(None) => Place::Main,
                Ok(Some(volume)) => Place::Volume(volume),
                Err(error) => Place::Unknown(error.to_string()),
            };
            places.insert(path, place);
        }
    }
    Ok(places)
}

impl State {
    fn shards_on(&self, place: &Place) -> usize {
        self.places.values().filter(|one| *one == place).count()
    }

    /// Returns the volume that was last seen at a path, if it has shards.
    fn expected_at(&self, path: &Path) -> Option<String> {
        let path = path.display().to_string();
        let volumes = self.known.as_ref().map(|known| &known.volumes);
        let mut ids = volumes.into_iter().flatten().filter(|(_, at)| **at == path).map(|(id, _)| id);
        ids.find(|id| self.shards_on(&Place::Volume((*id).clone())) > 0).cloned()
    }
}

impl Inner {
    /// Attaches every volume that is there, and logs the others.
    fn attach_all(&self) -> Result<()> {
        for volume in &self.others {
            match self.attach(volume) {
                Ok(()) => self.note_leftovers(volume),
                Err(Refusal::Unusable(error)) => return Err(error),
                Err(Refusal::Absent(why)) => {
                    let path = volume.path.display();
                    tracing::error!(%path, why, "a data folder is not there; its shards are unavailable");
                }
            }
        }
        let ids: HashSet<String> =
            self.others.iter().filter_map(|volume| volume.attached().ok()).map(|(id, _)| id).collect();
        let state = self.state.lock();
        let Some(known) = &state.known else { return Ok(()) };
        for (id, path) in known.volumes.iter().filter(|(id, _)| !ids.contains(*id)) {
            let shards = state.shards_on(&Place::Volume(id.clone()));
            if shards > 0 {
                tracing::error!(
                    volume = id,
                    path,
                    shards,
                    "shards are unavailable: their data folder is missing"
                );
            }
        }
        Ok(())
    }

    fn attach(&self, volume: &Volume) -> std::result::Result<(), Refusal> {
        let mut state = self.state.lock();
        let expected = state.expected_at(&volume.path);
        let Some(known) = &mut state.known else { return Ok(()) };
        volume.attach(&*self.main, known, expected.as_deref(), || random_uuid(&*self.randomness))
    }

    /// Logs folders of indices that were deleted while the volume was missing. They are kept: if the main
    /// folder was restored from a copy, they may be all that is left of an index.
    fn note_leftovers(&self, volume: &Volume) {
        let Ok((_, disk)) = volume.attached() else { return };
        let (Ok(on_volume), Ok(listed)) = (disk.folders("indices"), self.main.folders("indices")) else {
            return;
        };
        for uuid in on_volume.iter().filter(|uuid| listed.binary_search(uuid).is_err()) {
            let path = volume.full_path(&format!("indices/{uuid}"));
            let path = path.display();
            tracing::warn!(%path, "the index was deleted while this data folder was missing; its files are kept");
        }
    }

    /// Returns the volume with this id, or why it is not there.
    fn disk_of(&self, id: &str) -> std::result::Result<Arc<dyn Disk>, String> {
        let mut why = None;
        for volume in &self.others {
            match volume.attached() {
                Ok((own, disk)) if own == id => return Ok(disk),
                Ok(_) => {}
                Err(reason) => why = Some(reason),
            }
        }
        let state = self.state.lock();
        let path = state.known.as_ref().and_then(|known| known.volumes.get(id));
        let at = path.map_or_else(|| "an unknown path".to_owned(), |path| format!("[{path}]"));
        let why = why.map_or_else(String::new, |why| format!(" ({why})"));
        Err(format!("the data folder with the volume [{id}], last seen at {at}, is not there{why}"))
    }

    /// Works like [`Inner::disk_of`], for the shard at `path`.
    fn disk_for(&self, id: &str, path: &str) -> Result<Arc<dyn Disk>> {
        self.disk_of(id).map_err(|why| absent_error(Path::new(path), &why))
    }

    /// Opens the folder of a shard on a volume, after trying to attach the volumes that are missing.
    fn reopen(&self, id: &str, path: &str) -> Result<Arc<dyn Directory>> {
        if self.disk_of(id).is_err() {
            for volume in self.others.iter().filter(|volume| volume.attached().is_err()) {
                if self.attach(volume).is_ok() {
                    tracing::info!(path = %volume.path.display(), "a data folder is back");
                    self.note_leftovers(volume);
                }
            }
        }
        self.disk_for(id, path)?.folder(path)
    }

    /// Returns where a shard lies; `None` if it is new.
    fn place_of(&self, shard: &str) -> Option<Place> {
        let state = self.state.lock();
        match state.known {
            Some(_) => state.places.get(shard).cloned(),
            None => Some(Place::Main),
        }
    }

    /// Creates the folder of a new shard where there is room. A volume that refuses it is passed over.
    fn create(&self, path: &str, shard: &str, index: &str) -> Result<Arc<dyn Directory>> {
        let mut refused = None;
        for candidate in rank(self.candidates(index)) {
            let made = match &candidate.volume {
                None => self.create_on_main(path, shard),
                Some(id) => self.create_on(id, path, shard),
            };
            match made {
                Ok((place, directory)) => {
                    self.state.lock().places.insert(shard.to_owned(), place);
                    return Ok(directory);
                }
                Err(error) => {
                    tracing::warn!(path, volume = candidate.volume, %error, "a data folder refuses a shard");
                    refused.get_or_insert(error);
                }
            }
        }
        Err(refused.unwrap_or_else(|| absent_error(Path::new(path), "no data folder has room")))
    }

    fn create_on(&self, id: &str, path: &str, shard: &str) -> Result<(Place, Arc<dyn Directory>)> {
        let disk = self.disk_for(id, path)?;
        write_pointer(&*self.main.folder(shard)?, id)?;
        let directory = disk.folder(path)?;
        probe(&*directory)?;
        Ok((Place::Volume(id.to_owned()), directory))
    }

    fn candidates(&self, index: &str) -> Vec<Candidate> {
        let attached = self.others.iter().filter_map(|volume| volume.attached().ok());
        let disks: Vec<(Option<String>, Arc<dyn Disk>)> = std::iter::once((None, self.main.clone()))
            .chain(attached.map(|(id, disk)| (Some(id), disk)))
            .collect();
        let state = self.state.lock();
        let of_index = format!("{index}/");
        let candidate = |(volume, disk): (Option<String>, Arc<dyn Disk>)| {
            let place = volume.clone().map_or(Place::Main, Place::Volume);
            let is_on = |(path, on): &(&String, &Place)| **on == place && path.starts_with(&of_index);
            Candidate {
                of_index: state.places.iter().filter(is_on).count(),
                shards: state.shards_on(&place),
                space: disk.space().unwrap_or_default(),
                volume,
            }
        };
        disks.into_iter().map(candidate).collect()
    }

    /// Creates the folder of a new shard in the main folder, where no pointer may be left of an attempt on a
    /// volume.
    fn create_on_main(&self, path: &str, shard: &str) -> Result<(Place, Arc<dyn Directory>)> {
        let place = self.main.folder(shard)?;
        if place.exists(POINTER_NAME)? {
            place.delete(POINTER_NAME)?;
            place.sync_names()?;
        }
        Ok((Place::Main, self.main.folder(path)?))
    }
}

/// Writes a file and deletes it, so that a volume which can be read but not written gets no shards.
fn probe(directory: &dyn Directory) -> Result<()> {
    let name = temporary_name("probe");
    directory.delete_if_present(&name)?;
    let mut file = directory.create(&name)?;
    file.write_all(b"probe")?;
    file.sync()?;
    file.finish()?;
    directory.delete(&name)
}

/// Removes a folder of a volume durably, the folders in it first.
fn remove_durably(disk: &dyn Disk, parent: &str, path: &str) -> Result<()> {
    for name in disk.folders(path)? {
        disk.remove_folder(&format!("{path}/{name}"))?;
    }
    disk.folder(path)?.sync_names()?;
    disk.remove_folder(path)?;
    disk.folder(parent)?.sync_names()
}

impl Disk for Volumes {
    fn folder(&self, path: &str) -> Result<Arc<dyn Directory>> {
        let inner = &self.inner;
        let Some((shard, index)) = shard_of(path) else { return inner.main.folder(path) };
        let id = match inner.place_of(shard) {
            None => return inner.create(path, shard, index),
            Some(Place::Main) => return inner.main.folder(path),
            Some(Place::Unknown(why)) => {
                let place = inner.main.root().join(shard);
                let file = place.join(POINTER_NAME).display().to_string();
                let reopen = Box::new(move || {
                    let (file, found) = (file.clone(), why.clone());
                    Err(Error::Corrupt { file, offset: 0, expected: "the volume of a shard".into(), found })
                });
                return Ok(Arc::new(Absent::new(place, reopen)));
            }
            Some(Place::Volume(id)) => id,
        };
        if let Ok(directory) = inner.disk_for(&id, path).and_then(|disk| disk.folder(path)) {
            return Ok(directory);
        }
        // Only this shard is unavailable, so its folder answers with the error, and not this call.
        let (again, path_again) = (inner.clone(), path.to_owned());
        let reopen = Box::new(move || again.reopen(&id, &path_again));
        Ok(Arc::new(Absent::new(PathBuf::from(path), reopen)))
    }

    fn folders(&self, path: &str) -> Result<Vec<String>> {
        let inner = &self.inner;
        match shard_of(path).and_then(|(shard, _)| inner.place_of(shard)) {
            Some(Place::Volume(id)) => inner.disk_for(&id, path)?.folders(path),
            _ => inner.main.folders(path),
        }
    }

    fn remove_folder(&self, path: &str) -> Result<()> {
        let inner = &self.inner;
        let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
        // The pointers go last, so that a removal which is cut short can be completed.
        for (_, disk) in inner.others.iter().filter_map(|volume| volume.attached().ok()) {
            if disk.folders(parent)?.iter().any(|known| known == name) {
                remove_durably(&*disk, parent, path)?;
            }
        }
        inner.main.remove_folder(path)?;
        let below = format!("{path}/");
        inner.state.lock().places.retain(|shard, _| shard != path && !shard.starts_with(&below));
        Ok(())
    }

    fn space(&self) -> Result<DiskSpace> {
        let mut sum = self.inner.main.space()?;
        let mut devices = HashSet::from([self.inner.main.device()]);
        for (_, disk) in self.inner.others.iter().filter_map(|volume| volume.attached().ok()) {
            if let Ok(space) = disk.space()
                && (disk.device().is_none() || devices.insert(disk.device()))
            {
                sum.total_bytes = sum.total_bytes.saturating_add(space.total_bytes);
                sum.available_bytes = sum.available_bytes.saturating_add(space.available_bytes);
            }
        }
        Ok(sum)
    }

    fn parts(&self) -> Vec<DiskPart> {
        let main = self.inner.main.parts();
        let others = self.inner.others.iter().map(|volume| match volume.attached() {
            Ok((_, disk)) => DiskPart { root: volume.path.clone(), space: disk.space().ok(), missing: None },
            Err(why) => DiskPart { root: volume.path.clone(), space: None, missing: Some(why) },
        });
        main.into_iter().chain(others).collect()
    }

    fn device(&self) -> Option<u64> {
        self.inner.main.device()
    }

    fn root(&self) -> &Path {
        self.inner.main.root()
    }
}
