//! The memory of one page, allocated separately, exactly accounted, and returned to the system when it is
//! freed.
//!
//! Above [`HEAP_BYTES_MAX`] a page is an anonymous mapping of its own. Freeing it lowers the process's RSS
//! at once, and `mremap` turns the memory of an evicted page into that of the next one without new page
//! faults (64 of them cost more than reading 256 KiB). Smaller pages come from the allocator, with sizes
//! rounded up to its size classes, so that the allocated bytes are known.

use std::alloc::{Layout, alloc, dealloc};
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::LazyLock;

/// A size class of the allocator; above it, rounding up to system pages wastes at most an eighth.
const HEAP_BYTES_MAX: usize = 28 << 10;
/// Two cache lines, which are fetched together. The alignment also lets a test's allocator recognise these
/// allocations.
const HEAP_ALIGN: usize = 128;

/// Size of the system's memory pages.
static SYSTEM_PAGE_BYTES: LazyLock<usize> = LazyLock::new(|| {
    // SAFETY: a query that takes no pointers.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(bytes).unwrap_or(4096).max(4096)
});

/// The bytes of one page, allocated separately.
pub struct PageMemory {
    start: NonNull<u8>,
    len: u32,
    allocated: u32,
}

// SAFETY: the memory belongs to this value alone, like that of a `Box<[u8]>`.
unsafe impl Send for PageMemory {}
// SAFETY: shared references only read.
unsafe impl Sync for PageMemory {}

impl PageMemory {
    /// Returns the bytes allocated for a page of `len` bytes: on the heap four size classes per doubling
    /// (as in jemalloc), above that whole system pages.
    pub fn allocated_bytes(len: usize) -> usize {
        if len > HEAP_BYTES_MAX {
            return len.next_multiple_of(*SYSTEM_PAGE_BYTES);
        }
        let len = len.max(4 * HEAP_ALIGN);
        len.next_multiple_of(1 << (len.ilog2() - 2))
    }

    /// Allocates zeroed memory; `None` if the system has none.
    pub fn allocate(len: u32) -> Option<PageMemory> {
        let allocated = PageMemory::allocated_bytes(len as usize);
        let counted = u32::try_from(allocated).ok()?;
        let start = if is_mapped(allocated) {
            map(allocated)?
        } else {
            // SAFETY: the size is not zero.
            let start = NonNull::new(unsafe { alloc(heap_layout(allocated)) })?;
            // Zeroed here, because for zeroed memory jemalloc would return pages to the system and have
            // them faulted in again. SAFETY: the allocation has this size.
            unsafe { start.write_bytes(0, allocated) };
            start
        };
        Some(PageMemory { start, len, allocated: counted })
    }

    /// Returns the bytes allocated for the page, at least its length.
    pub fn allocated(&self) -> usize {
        self.allocated as usize
    }

    fn is_mapped(&self) -> bool {
        is_mapped(self.allocated())
    }

    /// Whether [`PageMemory::resize`] can make this a page of `len` bytes cheaply: a mapping becomes
    /// another mapping if it is at most twice the needed size, heap memory stays in its size class.
    pub fn suits(&self, len: u32) -> bool {
        let needed = PageMemory::allocated_bytes(len as usize);
        needed == self.allocated() || self.is_mapped() && is_mapped(needed) && self.allocated() >= needed / 2
    }

    /// Makes a page that [suits](PageMemory::suits) into one of `len` bytes, with unspecified contents.
    /// Returns `None` if the system has no memory; the page is then freed.
    pub fn resize(self, len: u32) -> Option<PageMemory> {
        assert!(self.suits(len), "the caller asked");
        let new = PageMemory::allocated_bytes(len as usize);
        let counted = u32::try_from(new).ok()?;
        let (start, old) = (self.start, self.allocated());
        std::mem::forget(self);
        let start = if new == old { start } else { remap(start, old, new)? };
        Some(PageMemory { start, len, allocated: counted })
    }

    /// Returns the page's bytes for filling.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: `len` bytes from `start` are allocated, initialised and borrowed through `self`.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len as usize) }
    }
}

impl Deref for PageMemory {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: `len` bytes from `start` are allocated, initialised and borrowed through `self`.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len as usize) }
    }
}

impl Drop for PageMemory {
    fn drop(&mut self) {
        if self.is_mapped() {
            // SAFETY: a mapping of exactly this size to which nothing else refers.
            unsafe { libc::munmap(self.start.as_ptr().cast(), self.allocated()) };
        } else {
            // SAFETY: allocated with this layout.
            unsafe { dealloc(self.start.as_ptr(), heap_layout(self.allocated())) };
        }
    }
}

/// Whether memory of this size is a mapping; the answer is the same for a length and for the bytes
/// allocated for it.
fn is_mapped(bytes: usize) -> bool {
    bytes > HEAP_BYTES_MAX
}

fn heap_layout(allocated: usize) -> Layout {
    Layout::from_size_align(allocated, HEAP_ALIGN).expect("a power of two, and a size of at most 28 KiB")
}

/// Creates a mapping with its memory in place: one call instead of a fault every 4 KiB.
fn map(bytes: usize) -> Option<NonNull<u8>> {
    #[cfg(target_os = "linux")]
    const FLAGS: libc::c_int = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_POPULATE;
    #[cfg(not(target_os = "linux"))]
    const FLAGS: libc::c_int = libc::MAP_PRIVATE | libc::MAP_ANON;
    // SAFETY: an anonymous mapping at an address chosen by the system touches nothing that exists.
    let start =
        unsafe { libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_READ | libc::PROT_WRITE, FLAGS, -1, 0) };
    if start == libc::MAP_FAILED { None } else { NonNull::new(start.cast()) }
}

/// Resizes the mapping `start` from `old` to `new` bytes and moves it if necessary. On `None` it is unmapped.
fn remap(start: NonNull<u8>, old: usize, new: usize) -> Option<NonNull<u8>> {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: the caller owns the whole mapping and uses only what is returned.
        let moved = unsafe { libc::mremap(start.as_ptr().cast(), old, new, libc::MREMAP_MAYMOVE) };
        if moved != libc::MAP_FAILED {
            return NonNull::new(moved.cast());
        }
    }
    // SAFETY: as above; the mapping is not used again.
    unsafe { libc::munmap(start.as_ptr().cast(), old) };
    if cfg!(target_os = "linux") { None } else { map(new) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_classes_of_the_allocator_or_whole_pages() {
        let cases = [
            (1, 512),
            (512, 512),
            (513, 640),
            (1000, 1024),
            (1025, 1280),
            (28_672, 28_672),
            (28_673, 32_768),
            (32_769, 36_864),
            (262_145, 266_240),
        ];
        for (len, expected) in cases {
            assert_eq!(PageMemory::allocated_bytes(len), expected, "{len}");
        }
    }

    #[test]
    fn pages_are_written_resized_and_freed() {
        for len in [1, 300, 28_672, 28_673, 31_000, 40_000, 300_000] {
            let mut page = PageMemory::allocate(len).expect("memory");
            page.bytes_mut().fill(7);
            assert_eq!(page.len(), len as usize);
            assert!(page.iter().all(|&byte| byte == 7));
        }
        let page = PageMemory::allocate(100_000).expect("memory");
        assert!(!page.suits(400_000) && !page.suits(1_000));
        let mut page = page.resize(200_000).expect("memory");
        page.bytes_mut().fill(9);
        let page = page.resize(50_000).expect("memory");
        assert!(page.len() == 50_000 && page.iter().all(|&byte| byte == 9));
        let page = PageMemory::allocate(1_000).expect("memory");
        assert!(!page.suits(1_025));
        assert_eq!(page.resize(1_024).expect("the same class").len(), 1_024);
    }
}
