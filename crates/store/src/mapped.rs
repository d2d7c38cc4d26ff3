//! Maps that survive their file: "what happens when a mapped page cannot be read?"
//!
//! Reading a mapped page that the disk refuses, or that lies past the end of a file which somebody has cut,
//! raises SIGBUS, and SIGBUS ends the process. Limber survives it: every map is registered, and a handler
//! that finds the address in one of them puts zeros in the place of the rest of that map and marks it as
//! damaged. The reader goes on with zeros, and **whoever shows what was read from a map asks
//! [`FileBytes::damage`](crate::FileBytes::damage) first**: after a fault nothing of the map is to be
//! trusted. The handler that was there before gets every address that lies in no map.
//!
//! A file that is cut within the last page of its map raises nothing: the rest of the page reads as zeros.
//! Files are immutable, so their last bytes give it away: they are kept when a file is mapped, and compared
//! when somebody asks for damage.
//!
//! **In the handler** nothing allocates, locks or prints: it reads atomics and makes one system call
//! (`mmap`). Places of the registry are never freed, only used again, and each has a number that is odd while
//! it changes, so that a handler on another thread never acts on half of an entry. The entry that it looks
//! for does not change: the faulting thread holds the map.
//!
//! All of the map from the faulting page on is replaced, not the page alone: one more mapping a file at most
//! (`vm.max_map_count` counts them), one fault instead of one a page, and the file is lost to readers anyway.
//! Untouched zeros take no memory.

use std::fs::File;
use std::io;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering, fence};

use parking_lot::Mutex;

/// Places that are made at once; a data folder of ten thousand segment files fills ten of these.
const PLACES: usize = 1024;

struct Place {
    /// Odd while the entry changes.
    version: AtomicU64,
    /// Address of the map; 0: nobody's.
    start: AtomicUsize,
    end: AtomicUsize,
    is_damaged: AtomicBool,
    /// Offset of the first page that could not be read.
    damaged_from: AtomicUsize,
}

struct Places {
    places: [Place; PLACES],
    next: AtomicPtr<Places>,
}

/// The newest block of places. Blocks are linked and live for ever.
static BLOCKS: AtomicPtr<Places> = AtomicPtr::new(std::ptr::null_mut());
/// Places that are free again. Never touched by the handler.
static FREE: Mutex<Vec<&'static Place>> = Mutex::new(Vec::new());
/// Held while pages are let go: no map goes meanwhile, so that nothing else can have come to its address.
static LETTING_GO: Mutex<()> = Mutex::new(());
/// Maps that were damaged since the process began.
static FAULTS: AtomicU64 = AtomicU64::new(0);
static INSTALLED: Once = Once::new();
static PAGE_BYTES: AtomicUsize = AtomicUsize::new(4096);
/// What handled SIGBUS before. Written once, before the handler is there.
static BEFORE: AtomicPtr<libc::sigaction> = AtomicPtr::new(std::ptr::null_mut());

/// How many maps have been damaged since the process began: as long as it does not change, none has been.
#[inline]
pub fn fault_count() -> u64 {
    // What was read before the call was read before the count.
    fence(Ordering::Acquire);
    FAULTS.load(Ordering::Acquire)
}

/// A whole file, mapped for reading.
pub(crate) struct MappedFile {
    map: memmap2::Mmap,
    place: &'static Place,
    /// The last bytes when it was mapped.
    tail: u64,
}

impl MappedFile {
    /// Maps `file`, which must not be empty.
    ///
    /// Files that are mapped are immutable once written: only this process, which holds the folder's lock,
    /// deletes or replaces them. Where another breaks that rule, reads see what it wrote, or zeros and a
    /// damaged map; they are never undefined.
    pub(crate) fn open(file: &File) -> io::Result<MappedFile> {
        INSTALLED.call_once(install);
        // SAFETY: the bytes may change only if another process writes to a file of a locked folder; a file
        // that becomes shorter is the handler's business.
        let map = unsafe { memmap2::Mmap::map(file) }?;
        let place = free_place();
        let page_bytes = PAGE_BYTES.load(Ordering::Relaxed);
        let start = map.as_ptr() as usize;
        let version = place.version.load(Ordering::Relaxed);
        place.version.store(version + 1, Ordering::Relaxed);
        fence(Ordering::Release);
        place.is_damaged.store(false, Ordering::Relaxed);
        place.start.store(start, Ordering::Relaxed);
        place.end.store(start + map.len().next_multiple_of(page_bytes), Ordering::Relaxed);
        place.version.store(version + 2, Ordering::Release);
        let mut file = MappedFile { map, place, tail: 0 };
        file.tail = file.read_tail();
        Ok(file)
    }

    /// The last eight bytes, or as many as there are, read anew from memory.
    #[inline]
    fn read_tail(&self) -> u64 {
        let len = self.map.len();
        let mut tail = 0;
        for at in len.saturating_sub(8)..len {
            // SAFETY: inside of the map, which lives as long as this. Volatile, as another process may change
            // what is there.
            let byte = unsafe { self.map.as_ptr().add(at).read_volatile() };
            tail = tail << 8 | u64::from(byte);
        }
        tail
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.map
    }

    /// Offset of the first page that could not be read; `None` as long as no reader has met one.
    #[inline]
    pub(crate) fn damage(&self) -> Option<u64> {
        // What was read before the call was read before the mark.
        fence(Ordering::Acquire);
        if !self.place.is_damaged.load(Ordering::Acquire) {
            if self.read_tail() == self.tail {
                return None;
            }
            mark(self.place, self.map.len().saturating_sub(8));
        }
        Some(self.place.damaged_from.load(Ordering::Relaxed) as u64)
    }
}

impl Drop for MappedFile {
    fn drop(&mut self) {
        let _not_let_go = LETTING_GO.lock();
        let version = self.place.version.load(Ordering::Relaxed);
        self.place.version.store(version + 1, Ordering::Relaxed);
        fence(Ordering::Release);
        self.place.end.store(0, Ordering::Relaxed);
        self.place.start.store(0, Ordering::Relaxed);
        self.place.version.store(version + 2, Ordering::Release);
        FREE.lock().push(self.place);
        // The map itself goes after this; nobody reads it any more.
    }
}

/// The first answer of `look` for a registered map, which is told its place, its start and its end. Places
/// that change at the moment are passed over. Neither allocates nor locks, as the handler calls it.
fn find_map<T>(mut look: impl FnMut(&'static Place, usize, usize) -> Option<T>) -> Option<T> {
    let mut block = BLOCKS.load(Ordering::Acquire);
    // SAFETY: blocks are leaked, so that a pointer which is not null is valid for ever.
    while let Some(places) = unsafe { block.as_ref() } {
        for place in &places.places {
            let version = place.version.load(Ordering::Acquire);
            let (start, end) = (place.start.load(Ordering::Relaxed), place.end.load(Ordering::Relaxed));
            fence(Ordering::Acquire);
            let is_whole = version.is_multiple_of(2) && place.version.load(Ordering::Relaxed) == version;
            if is_whole && let Some(answer) = look(place, start, end) {
                return Some(answer);
            }
        }
        block = places.next.load(Ordering::Acquire);
    }
    None
}

/// Lets go of all pages of all maps: they stay in the system's cache, and come back when they are read.
pub fn let_go_of_pages() {
    let _letting_go = LETTING_GO.lock();
    find_map(|_, start, end| {
        if start < end {
            // SAFETY: a map of a file, or of zeros that stand for it, which nobody writes to, from its first
            // page to its last: what is read again is the same. It is still there, as a map that goes waits
            // for the lock before its place is cleared.
            unsafe { libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_DONTNEED) };
        }
        None::<()>
    });
}

fn free_place() -> &'static Place {
    let mut free = FREE.lock();
    if let Some(place) = free.pop() {
        return place;
    }
    let empty = || Place {
        version: AtomicU64::new(0),
        start: AtomicUsize::new(0),
        end: AtomicUsize::new(0),
        is_damaged: AtomicBool::new(false),
        damaged_from: AtomicUsize::new(0),
    };
    let block: &'static mut Places = Box::leak(Box::new(Places {
        places: std::array::from_fn(|_| empty()),
        next: AtomicPtr::new(BLOCKS.load(Ordering::Acquire)),
    }));
    let block: *mut Places = block;
    BLOCKS.store(block, Ordering::Release);
    // SAFETY: leaked just now; from here on it is only shared.
    let block: &'static Places = unsafe { &*block };
    let (first, rest) = (&block.places[0], &block.places[1..]);
    free.extend(rest);
    first
}

/// Puts the handler in front of the one that is there.
fn install() {
    // SAFETY: `sysconf` reads a constant of the system.
    let page_bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    if let Ok(page_bytes) = usize::try_from(page_bytes) {
        PAGE_BYTES.store(page_bytes, Ordering::Relaxed);
    }
    // SAFETY: all zeros is a valid `sigaction`; both structures live through the calls. The handler is
    // installed only after the old one is known, and reads nothing but atomics. SA_ONSTACK: it works on
    // threads that are out of stack, as the one before does.
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
    // SAFETY: the system hands in a valid `siginfo_t`, of SIGBUS, which has an address.
    let address = unsafe { (*info).si_addr() } as usize;
    if let Some((place, end)) = place_of(address)
        && replace_with_zeros(place, address, end)
    {
        return;
    }
    hand_on(signal, info, context);
}

/// The entry whose map holds `address`, and where that map ends.
fn place_of(address: usize) -> Option<(&'static Place, usize)> {
    find_map(|place, start, end| (start <= address && address < end).then_some((place, end)))
}

fn mark(place: &Place, from: usize) {
    if !place.is_damaged.load(Ordering::Acquire) {
        place.damaged_from.store(from, Ordering::Relaxed);
        place.is_damaged.store(true, Ordering::Release);
        FAULTS.fetch_add(1, Ordering::AcqRel);
    }
}

/// Whether reading at `address` works now.
fn replace_with_zeros(place: &Place, address: usize, end: usize) -> bool {
    let page = address & !(PAGE_BYTES.load(Ordering::Relaxed) - 1);
    // Marked first: no thread sees a zero before it can see the mark.
    mark(place, page - place.start.load(Ordering::Relaxed));
    // SAFETY: from `page` to `end` there is a map of this registry, which the faulting thread holds; it stays
    // readable and of the same length, and bytes that others read just now turn to zeros at most. `errno` is
    // the interrupted code's and is put back.
    unsafe {
        let errno = libc::__errno_location();
        let kept = *errno;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED | libc::MAP_NORESERVE;
        let mapped = libc::mmap(page as *mut libc::c_void, end - page, libc::PROT_READ, flags, -1, 0);
        *errno = kept;
        mapped != libc::MAP_FAILED
    }
}

/// What would have happened without us.
fn hand_on(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: written once before this handler was installed, and leaked.
    let before = unsafe { BEFORE.load(Ordering::Acquire).as_ref() };
    // SAFETY: a handler that a `sigaction` names has the form that its flags say. Without one the default is
    // put back: the instruction faults again and ends the process, as it would have.
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
        // The page of the end is still there.
        assert_eq!(cut[9_999], whole[9_999]);
        assert_eq!(cut[50_000], 0);
        let page_bytes = PAGE_BYTES.load(Ordering::Relaxed);
        assert_eq!(cut.damage(), Some((50_000 / page_bytes * page_bytes) as u64));
        assert_eq!(cut.slice(10, 10).expect("inside").damage(), cut.damage(), "parts know as well");
        assert!(fault_count() > before);
        assert_eq!(cut[99_999], 0);
        // What lies before the page that was asked for first faults by itself.
        assert_eq!(cut[20_000], 0);
        assert_eq!(cut[9_999], whole[9_999]);
        assert_eq!((whole.damage(), whole[50_000]), (None, (50_000 % 251 + 1) as u8));
        drop(cut);
        // The place is used again, for a file that is sound.
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
            scope.spawn(|| (0..200).for_each(|_| let_go_of_pages()));
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
