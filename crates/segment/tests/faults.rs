//! A disk that fails or crashes while a segment is written or merged.

mod model;

use std::sync::Arc;

use limber_segment::file::SegmentWriter;
use limber_segment::{LiveDocs, SegmentId, SegmentView, StoredCodec, merge};
use limber_store::random::SplitMix64;
use limber_store::{CrashDirectory, Directory, Fault};
use model::{assert_holds, documents, open, write, write_to};

#[test]
fn a_merge_on_a_failing_disk_leaves_nothing_behind() {
    for fault in [Fault::Io, Fault::NoSpace] {
        let mut call = 0;
        loop {
            let directory = Arc::new(CrashDirectory::new(call));
            let as_directory: Arc<dyn Directory> = directory.clone();
            let documents = documents(&mut SplitMix64::new(1), 0, 30);
            let meta = write(&documents, &*directory, SegmentId(1), StoredCodec::Lz4);
            let view = SegmentView::new(Arc::new(open(&as_directory, &meta).expect("opens")));
            let before = directory.list().expect("lists");
            directory.disk().fail_call(call, fault);
            match merge(&[view], &*directory, SegmentId(2), StoredCodec::Lz4, None) {
                Ok((meta, _)) => {
                    assert_holds(&open(&as_directory, &meta).expect("opens"), &documents);
                    break;
                }
                Err(error) => {
                    let is_full =
                        matches!(&error, limber_segment::Error::Store(store) if store.is_disk_full());
                    assert_eq!(is_full, fault == Fault::NoSpace, "{error}");
                    assert_eq!(directory.list().expect("lists"), before);
                }
            }
            call += 1;
        }
        assert!(call >= 2, "creating and writing can fail");
    }
}

#[test]
fn a_synced_segment_survives_a_crash_and_an_unsynced_one_never_opens_wrong() {
    let (mut lost, mut kept) = (0, 0);
    for seed in 0..30 {
        let directory = Arc::new(CrashDirectory::new(seed));
        let as_directory: Arc<dyn Directory> = directory.clone();
        let safe_documents = documents(&mut SplitMix64::new(seed), 0, 12);
        let safe = write(&safe_documents, &*directory, SegmentId(1), StoredCodec::Lz4);
        let mut live = LiveDocs::all(12);
        live.delete(5);
        let live_file = live.write(&*directory, SegmentId(1), 1).expect("writes");
        safe.files.iter().chain([&live_file]).for_each(|file| directory.sync(&file.name).expect("syncs"));
        directory.sync_names().expect("syncs");
        let risky_documents = documents(&mut SplitMix64::new(seed), 100, 12);
        let mut writer = SegmentWriter::new(&*directory, SegmentId(2));
        if seed % 2 == 0 {
            writer = writer.with_compound_bytes_max(50);
        }
        let risky = write_to(writer, &risky_documents, StoredCodec::Zstd);
        directory.disk().crash();
        assert_holds(&open(&as_directory, &safe).expect("was synced"), &safe_documents);
        let found = LiveDocs::open(&*directory, SegmentId(1), 1, 12).expect("was synced");
        assert_eq!(found, live);
        match open(&as_directory, &risky) {
            // Opening only verifies the ends of files; the check has to find a hole in the middle.
            Ok(segment) if segment.check().is_sound() => {
                assert_holds(&segment, &risky_documents);
                kept += 1;
            }
            _ => lost += 1,
        }
    }
    assert!(lost > 0, "{kept} kept, {lost} lost");
}
