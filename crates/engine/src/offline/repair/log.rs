//! Repairs a damaged translog: "where is the damage, and what is intact after it?"

use std::sync::Arc;

use limber_store::{Directory, Error as StoreError};

use super::conduct::Lines;
use super::folders::{RepairFolders, Saved, SavedFile};
use crate::translog::{self, OperationType, Record};

/// The position at which a translog is damaged, and what is intact before it.
pub(super) struct DamagedLog {
    pub cut: translog::Cut,
    pub operations_before: u64,
    pub error: String,
}

/// Finds the damage; `None` when the translog is intact. Fails with errors that say nothing about the bytes,
/// and for a newer version.
pub(super) fn find_damage(
    directory: &Arc<dyn Directory>,
    first_generation: u64,
    history: &[u8; 16],
) -> limber_store::Result<Option<DamagedLog>> {
    let mut operations_before = 0;
    let refused = |name: &str, offset: usize| StoreError::Corrupt {
        file: name.to_owned(),
        offset: offset as u64,
        expected: "readable bytes".to_owned(),
        found: "a part that the disk cannot read".to_owned(),
    };
    let recovered = translog::recover_or(directory, first_generation, history, refused, |_| {
        operations_before += 1;
        Ok::<(), StoreError>(())
    });
    let error = match recovered {
        Ok(_) => return Ok(None),
        Err(error @ StoreError::Corrupt { .. }) => error,
        Err(error) => return Err(error),
    };
    let StoreError::Corrupt { file, offset, .. } = &error else { return Ok(None) };
    let cut = translog::Cut::at(&**directory, first_generation, file, *offset)?;
    Ok(Some(DamagedLog { cut, operations_before, error: error.to_string() }))
}

/// Saves the intact operations after the damage, keeps copies of the originals, and truncates the translog.
pub(super) fn repair(
    directory: &Arc<dyn Directory>,
    folder: &str,
    history: &[u8; 16],
    index: &str,
    damaged: &DamagedLog,
    folders: &RepairFolders,
    lines: &mut Lines,
) -> limber_store::Result<()> {
    let mut file = folders.saved_file(folder, "translog");
    let mut seq_nos = Vec::new();
    damaged.cut.beyond(&**directory, &mut |record| save(record, index, &mut file, &mut seq_nos, folders))?;
    let saved = file.count;
    let place = file.finish(folders)?;
    lines.plan(format!(
        "the log is cut at {}: {} operations before are kept, {saved} whole ones behind{}{}; what lies between is lost",
        damaged.cut,
        damaged.operations_before,
        super::conduct::ranges(&seq_nos),
        place.map_or_else(String::new, |place| format!(" go to {place}")),
    ));
    lines.loses = true;
    if !folders.applies {
        return Ok(());
    }
    for name in directory.list()?.iter().filter(|name| translog::is_file_of_log(name)) {
        folders.keep(folder, &**directory, name)?;
    }
    damaged.cut.apply(&**directory, history)
}

fn save(
    Record { operation, identity }: &Record<'_>,
    index: &str,
    file: &mut SavedFile,
    seq_nos: &mut Vec<u64>,
    folders: &RepairFolders,
) -> limber_store::Result<()> {
    let source = match operation.kind {
        OperationType::Index => Some(operation.source),
        OperationType::Delete => None,
        OperationType::NoOp => return Ok(()),
    };
    seq_nos.push(identity.seq_no);
    file.save(
        folders,
        &Saved { index, id: operation.id, routing: operation.routing, source, only_if_absent: false },
    )
}
