//! Maps that survive their file: "what happens if a mapped page cannot be read?"
//!
//! Reading a mapped page raises SIGBUS if the disk refuses it or if it lies past the end of a file that was
//! truncated, and SIGBUS ends the process. Limber survives it. Every map is registered, and a handler that
//! finds the address in one of them replaces the rest of that map by zeros and marks it as damaged. The
//! reader continues with zeros, so **code that returns what it read from a map must check
//! [`FileBytes::damage`](crate::FileBytes::damage) first**: after a fault, nothing in the map can be trusted.
//! An address outside all maps is passed to the handler that was installed before.
//!
//! A file that is truncated within the last page of its map raises nothing: the rest of the page reads as
//! zeros. Files are immutable, so their last bytes reveal it. They are remembered when a file is mapped,
//! and compared when damage is queried.
//!
//! **In the handler** nothing allocates, locks or prints: it reads atomics and makes one system call
//! (`mmap`). Entries of the registry are never freed, only reused. Each has a version that is odd while the
//! entry changes, so that a handler on another thread never acts on half of an entry. The entry that the
//! handler looks for does not change, because the faulting thread holds the map.
//!
//! The map is replaced from the faulting page to its end, not only in that page. This costs at most one
//! more mapping per file (`vm.max_map_count` limits them) and one fault instead of one per page, and
//! readers have lost the file anyway. Untouched zeros take no memory.

use std::fs::File;
use std::io;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering, fence};

use parking_lot::Mutex;

/// Entries that are allocated at once; a data folder of ten thousand segment files fills ten such blocks.
const ENTRIES_PER_BLOCK: usize = 1024;

struct Entry {
    /// Odd while the entry changes.
    version: AtomicU64,
    /// Address of the map; 0 if the entry is free.
    start: AtomicUsize,
    end: AtomicUsize,
    is_damaged: AtomicBool,
    /// Offset of the first page that could not be read.
    damaged_from: AtomicUsize,
}

struct EntryBlock {
    entries: [Entry; ENTRIES_PER_BLOCK],
    next: AtomicPtr<EntryBlock>,
}

/// The newest block of entries. Blocks are linked and live forever.
static BLOCKS: AtomicPtr<EntryBlock> = AtomicPtr::new(std::ptr::null_mut());
/// Entries that can be reused. The handler never touches this list.
static FREE: Mutex<Vec<&'static Entry>> = Mutex::new(Vec::new());
/// Held while pages are released and while a map is removed, so that nothing else can have been mapped at
/// its address.
static RELEASING: Mutex<()> = Mutex::new(());
/// Number of maps that were damaged since the process began.
static FAULTS: AtomicU64 = AtomicU64::new(0);
static INSTALLED: Once = Once::new();
static PAGE_BYTES: AtomicUsize = AtomicUsize::new(4096);
/// The previous SIGBUS handler. Written once, before the new handler is installed.
static BEFORE: AtomicPtr<libc::sigaction> = AtomicPtr::new(std::ptr::null_mut());

/// Returns how many maps have been damaged since the process began. While it does not change, no new one
/// has been.
#[inline]
pub fn fault_count() -> u64 {
    // Everything read before the call is ordered before the load of the counter.
    fence(Ordering::Acquire);
    FAULTS.load(Ordering::Acquire)
}

/// A whole file, mapped for reading.
pub(crate) struct MappedFile {
    map: memmap2::Mmap,
    entry: &'static Entry,
    /// The last bytes of the file when it was mapped.
    tail: u64,
}

impl MappedFile {
    /// Maps `file`, which must not be empty.
    ///
    /// Mapped files are immutable once written: only this process, which holds the folder's lock, deletes
    /// or replaces them. If another process breaks that rule, reads see what it wrote, or zeros and a
    /// damaged map, but are never undefined.
    pub(crate) fn open(file: &File) -> io::Result<MappedFile> {
        INSTALLED.call_once(install);
        // SAFETY: the bytes may change only if another process writes to a file of a locked folder; the
        // handler covers a file that becomes shorter.
        let map = unsafe { memmap2::Mmap::map(file) }?;
        let entry = free_entry();
        let page_bytes = PAGE_BYTES.load(Ordering::Relaxed);
        let start = map.as_ptr() as usize;
        let version = entry.version.load(Ordering::Relaxed);
        entry.version.store(version + 1, Ordering::Relaxed);
        fence(Ordering::Release);
        entry.is_damaged.store(false, Ordering::Relaxed);
        entry.start.store(start, Ordering::Relaxed);
        entry.end.store(start + map.len().next_multiple_of(page_bytes), Ordering::Relaxed);
        entry.version.store(version + 2, Ordering::Release);
        let mut file = MappedFile { map, entry, tail: 0 };
        file.tail = file.read_tail();
        Ok(file)
    }

    /// Reads the last eight bytes, or as many as there are, from memory again.
    #[inline]
    fn read_tail(&self) -> u64 {
        let len = self.map.len();
        let mut tail = 0;
        for at in len.saturating_sub(8)..len {
            // SAFETY: inside the map, which lives as long as `self`. Volatile, because another process may
            // change the bytes.
            let byte = unsafe { self.map.as_ptr().add(at).read_volatile() };
            tail = tail << 8 | u64::from(byte);
        }
        tail
    }

    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.map
    }

    /// Returns the offset of the first page that could not be read; `None` if no reader has hit one so far.
    #[inline]
    pub(crate) fn damage(&self) -> Option<u64> {
        // Everything read before the call is ordered before the load of the mark.
        fence(Ordering::Acquire);
        if !self.entry.is_damaged.load(Ordering::Acquire) {
            if self.read_tail() == self.tail {
                return None;
            }
            mark(self.entry, self.map.len().saturating_sub(8));
        }
        Some(self.entry.damaged_from.load(Ordering::Relaxed) as u64)
    }
}

impl Drop for MappedFile {
    fn drop(&mut self) {
        let _not_let_go = RELEASING.lock();
        let version = self.entry.version.load(Ordering::Relaxed);
        self.entry.version.store(version + 1, Ordering::Relaxed);
        fence(Ordering::Release);
        self.entry.end.store(0, Ordering::Relaxed);
        self.entry.start.store(0, Ordering::Relaxed);
        self.entry.version.store(version + 2, Ordering::Release);
        FREE.lock().push(self.entry);
        // The map itself is removed after this; nobody reads it any more.
    }
}

/// Returns the first result of `look`, which is called with the entry, start and end of each registered
/// map. Skips entries that are being changed. Neither allocates nor locks, because the handler calls it.
fn find_map<T>(mut look: impl FnMut(&'static Entry, usize, usize) -> Option<T>) -> Option<T> {
    let mut block = BLOCKS.load(Ordering::Acquire);
    // SAFETY: blocks are leaked, so a pointer that is not null stays valid forever.
    while let Some(entries) = unsafe { block.as_ref() } {
        for entry in &entries.entries {
            let version = entry.version.load(Ordering::Acquire);
            let (start, end) = (entry.start.load(Ordering::Relaxed), entry.end.load(Ordering::Relaxed));
            fence(Ordering::Acquire);
            let is_whole = version.is_multiple_of(2) && entry.version.load(Ordering::Relaxed) == version;
            if is_whole && let Some(answer) = look(entry, start, end) {
                return Some(answer);
            }
        }
        block = entries.next.load(Ordering::Acquire);
    }
    None
}

/// Releases all pages of all maps: they stay in the page cache, and are mapped again when they are read.
pub fn release_pages() {
    let _letting_go = RELEASING.lock();
    find_map(|_, start, end| {
        if start < end {
            // SAFETY: the range is a map, from its first page to its last, of a file or of zeros that
            // replace it. Nobody writes to it, so reading it again gives the same bytes. It still exists,
            // because removing a map waits for the lock before it clears the entry.
            unsafe { libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_DONTNEED) };
        }
        None::<()>
    });
}

fn free_entry() -> &'static Entry {
    let mut free = FREE.lock();
    if let Some(entry) = free.pop() {
        return entry;
    }
    let empty = || Entry {
        version: AtomicU64::new(0),
        start: AtomicUsize::new(0),
        end: AtomicUsize::new(0),
        is_damaged: AtomicBool::new(false),
        damaged_from: AtomicUsize::new(0),
    };
    let block: &'static mut EntryBlock = Box::leak(Box::new(EntryBlock {
        entries: std::array::from_fn(|_| empty()),
        next: AtomicPtr::new(BLOCKS.load(Ordering::Acquire)),
    }));
    let block: *mut EntryBlock = block;
    BLOCKS.store(block, Ordering::Release);
    // SAFETY: leaked just now; from here on it is only shared.
    let block: &'static EntryBlock = unsafe { &*block };
    let (first, rest) = (&block.entries[0], &block.entries[1..]);
    free.extend(rest);
    first
}

/// Installs the handler in front of the previous one.
fn install() {
    // SAFETY: `sysconf` reads a constant of the system.
    let page_bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    if let Ok(page_bytes) = usize::try_from(page_bytes) {
        PAGE_BYTES.store(page_bytes, Ordering::Relaxed);
    }
    // SAFETY: all zeros is a valid `sigaction`; both structures live through the calls. The handler is
    // installed only after the previous one is known, and reads nothing but atomics. SA_ONSTACK: like the
    // previous handler, it works on threads that are out of stack.
    unsafe {
        let mut before: libc::sigaction = std::mem::zeroed();
        if libc::sigaction(libc::SIGBUS, std::ptr::null(), &mut before) != 0 {
            return;
        }
        BEFORE.store(Box::leak(Box::new(before)), Ordering::Release);
        let mut ours: libc::sigaction = std::mem::zeroed();
        let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) = on_bus_error;
        ours.sa_sigaction = handler as usize;
        ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigemptyset(&mut ours.sa_mask);
        libc::sigaction(libc::SIGBUS, &ours, std::ptr::null_mut());
    }
}

extern "C" fn on_bus_error(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the system passes a valid `siginfo_t` of SIGBUS, which has an address.
    let address = unsafe { (*info).si_addr() } as usize;
    if let Some((entry, end)) = entry_of(address)
        && replace_with_zeros(entry, address, end)
    {
        return;
    }
    hand_on(signal, info, context);
}

/// Returns the entry whose map holds `address`, and the end of that map.
fn entry_of(address: usize) -> Option<(&'static Entry, usize)> {
    find_map(|entry, start, end| (start <= address && address < end).then_some((entry, end)))
}

fn mark(entry: &Entry, from: usize) {
    if !entry.is_damaged.load(Ordering::Acquire) {
        entry.damaged_from.store(from, Ordering::Relaxed);
        entry.is_damaged.store(true, Ordering::Release);
        FAULTS.fetch_add(1, Ordering::AcqRel);
    }
}

/// Replaces the map from the page of `address` on by zeros; returns whether reading at `address` works now.
fn replace_with_zeros(entry: &Entry, address: usize, end: usize) -> bool {
    let page = address & !(PAGE_BYTES.load(Ordering::Relaxed) - 1);
    // Marked first, so that no thread can see a zero before it can see the mark.
    mark(entry, page - entry.start.load(Ordering::Relaxed));
    // SAFETY: `page..end` belongs to a map of this registry, which the faulting thread holds. It stays
    // readable and keeps its length; at most, bytes that other threads are reading turn to zeros. `errno`
    // belongs to the interrupted code and is restored.
    unsafe {
        let errno = libc::__errno_location();
        let kept = *errno;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED | libc::MAP_NORESERVE;
        let mapped = libc::mmap(page as *mut libc::c_void, end - page, libc::PROT_READ, flags, -1, 0);
        *errno = kept;
        mapped != libc::MAP_FAILED
    }
}

/// Does what would have happened without this handler.
fn hand_on(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: written once before this handler was installed, and leaked.
    let before = unsafe { BEFORE.load(Ordering::Acquire).as_ref() };
    // SAFETY: a handler in a `sigaction` has the signature that its flags say. Without one, the default is
    // restored: the instruction faults again and ends the process, as it would have.
    unsafe {
        match before {
            Some(before) if before.sa_sigaction != libc::SIG_DFL && before.sa_sigaction != libc::SIG_IGN => {
                if before.sa_flags & libc::SA_SIGINFO != 0 {
                    let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) =
                        std::mem::transmute(before.sa_sigaction);
                    handler(signal, info, context);
                } else {
                    let handler: extern "C" fn(libc::c_int) = std::mem::transmute(before.sa_sigaction);
                    handler(signal);
                }
            }
            _ => {
                let mut default: libc::sigaction = std::mem::zeroed();
                default.sa_sigaction = libc::SIG_DFL;
                libc::sigaction(libc::SIGBUS, &default, std::ptr::null_mut());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Directory, FsDirectory};

    fn written(directory: &FsDirectory, name: &str, len: usize) {
        let mut writer = directory.create(name).expect("creates");
        let bytes: Vec<u8> = (0..len).map(|at| (at % 251 + 1) as u8).collect();
        writer.write_all(&bytes).expect("writes");
        writer.finish().expect("closes");
    }

    #[test]
    fn a_file_that_is_cut_under_its_map_reads_as_zeros_and_says_so() {
        let temporary = tempfile::tempdir().expect("tempdir");
        let directory = FsDirectory::open(temporary.path()).expect("opens");
        written(&directory, "cut", 100_000);
        written(&directory, "whole", 100_000);
        let (cut, whole) = (directory.open("cut").expect("opens"), directory.open("whole").expect("opens"));
        assert_eq!((cut.damage(), cut[99_999]), (None, whole[99_999]));
        let before = fault_count();
        File::options()
            .write(true)
            .open(temporary.path().join("cut"))
            .and_then(|file| file.set_len(10_000))
            .expect("cuts");
        // The page of the new end is still there.
        assert_eq!(cut[9_999], whole[9_999]);
        assert_eq!(cut[50_000], 0);
        let page_bytes = PAGE_BYTES.load(Ordering::Relaxed);
        assert_eq!(cut.damage(), Some((50_000 / page_bytes * page_bytes) as u64));
        assert_eq!(cut.slice(10, 10).expect("inside").damage(), cut.damage(), "parts know as well");
        assert!(fault_count() > before);
        assert_eq!(cut[99_999], 0);
        // What precedes the page that was accessed first faults separately.
        assert_eq!(cut[20_000], 0);
        assert_eq!(cut[9_999], whole[9_999]);
        assert_eq!((whole.damage(), whole[50_000]), (None, (50_000 % 251 + 1) as u8));
        drop(cut);
        // The entry is reused for a file that is sound.
        let again = directory.open("whole").expect("opens");
        assert_eq!(again.damage(), None);
    }

    #[test]
    fn pages_that_were_let_go_read_as_before() {
        let temporary = tempfile::tempdir().expect("tempdir");
        let directory = FsDirectory::open(temporary.path()).expect("opens");
        written(&directory, "one", 100_000);
        let bytes = directory.open("one").expect("opens");
        let before = bytes.to_vec();
        std::thread::scope(|scope| {
            scope.spawn(|| (0..200).for_each(|_| release_pages()));
            scope.spawn(|| (0..200).for_each(|_| assert_eq!(bytes[..], before[..])));
            scope.spawn(|| {
                for round in 0..50 {
                    let name = format!("other{round}");
                    written(&directory, &name, 50_000);
                    assert_eq!(directory.open(&name).expect("opens")[..50_000], before[..50_000]);
                }
            });
        });
        assert_eq!((bytes.damage(), &bytes[..]), (None, &before[..]));
    }

    #[test]
    fn a_file_that_is_cut_within_its_last_page_is_found_by_its_end() {
        let temporary = tempfile::tempdir().expect("tempdir");
        let directory = FsDirectory::open(temporary.path()).expect("opens");
        for (len, cut_to) in [(5000, 4999), (5000, 4200), (3, 2), (9, 1), (4096, 4095)] {
            let name = format!("{len}-{cut_to}");
            written(&directory, &name, len);
            let bytes = directory.open(&name).expect("opens");
            assert_eq!(bytes.damage(), None);
            let file = File::options().write(true).open(temporary.path().join(&name)).expect("opens");
            file.set_len(cut_to).expect("cuts");
            assert!(bytes.damage().is_some(), "{name}");
        }
    }

    #[test]
    fn threads_that_open_close_and_fault_do_not_disturb_each_other() {
        let temporary = tempfile::tempdir().expect("tempdir");
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let path = temporary.path().join(thread.to_string());
                scope.spawn(move || {
                    let directory = FsDirectory::open(&path).expect("opens");
                    for round in 0..50 {
                        let name = round.to_string();
                        written(&directory, &name, 40_000);
                        let (bytes, is_cut) =
                            (directory.open(&name).expect("opens"), round % 2 == thread % 2);
                        if is_cut {
                            let file = File::options().write(true).open(path.join(&name)).expect("opens");
                            file.set_len(100).expect("cuts");
                        }
                        let sum: u64 = bytes.iter().map(|byte| u64::from(*byte)).sum();
                        assert_eq!(bytes.damage().is_some(), is_cut, "thread {thread} round {round}");
                        assert_eq!(sum > 1_000_000, !is_cut);
                    }
                });
            }
        });
    }
}
