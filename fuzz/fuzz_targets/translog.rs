//! Any bytes as the newest translog file: replayed up to a torn tail or refused as corrupt, never a panic.
#![no_main]

use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use limber_engine::translog;
use limber_store::{Directory, Error, FsDirectory};

fuzz_target!(|bytes: &[u8]| {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join(translog::format::file_name(1)), bytes).expect("the file is written");
    let directory: Arc<dyn Directory> = Arc::new(FsDirectory::open(folder.path()).expect("the folder opens"));
    let mut replayed = 0u64;
    let outcome = translog::recover::<Error>(&directory, 1, &[0; 16], |_| {
        replayed += 1;
        Ok(())
    });
    if let Ok(recovered) = outcome {
        assert_eq!(recovered.operations, replayed);
    }
});
