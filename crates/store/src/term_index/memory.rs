//! Memory of one page, outside of everything that is parsed: "these bytes, exactly accounted, and back to the
//! system when they go".
//!
//! Above [`HEAP_BYTES_MAX`] a page is an anonymous mapping of its own: freeing it lowers the process's RSS at
//! once, and `mremap` turns the memory of an evicted page into that of the next one without new page faults
//! (64 of them cost more than reading 256 KiB). Up to it, the allocator serves sizes that are its classes
//! already, so that what is asked for is what is allocated.

use std::alloc::{Layout, alloc, dealloc};
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::LazyLock;

/// An allocator's class; above it, rounding to the system's pages wastes at most an eighth.
const HEAP_BYTES_MAX: usize = 28 << 10;
/// Two cache lines, which are fetched together; also tells these allocations from others in the eyes of a
/// test's allocator.
const HEAP_ALIGN: usize = 128;

/// Bytes of the system's memory pages.
static SYSTEM_PAGE_BYTES: LazyLock<usize> = LazyLock::new(|| {
    // SAFETY: a query without arguments in memory.
    let bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(bytes).unwrap_or(4096).max(4096)
});

/// The bytes of one page, allocated apart from everything else.
pub struct PageMemory {
    start: NonNull<u8>,
    len: u32,
    allocated: u32,
}

// SAFETY: the memory belongs to this value alone, like a `Box<[u8]>`'s.
unsafe impl Send for PageMemory {}
// SAFETY: shared references only read.
unsafe impl Sync for PageMemory {}

impl PageMemory {
    /// What a page of `len` bytes takes: four classes a doubling on the heap (jemalloc's), whole system pages
    /// above.
    pub fn allocated_bytes(len: usize) -> usize {
        if len > HEAP_BYTES_MAX {
            return len.next_multiple_of(*SYSTEM_PAGE_BYTES);
        }
        let len = len.max(4 * HEAP_ALIGN);
        len.next_multiple_of(1 << (len.ilog2() - 2))
    }

    /// Zeroed; `None` when the system has no memory.
    pub fn allocate(len: u32) -> Option<PageMemory> {
        let allocated = PageMemory::allocated_bytes(len as usize);
        let counted = u32::try_from(allocated).ok()?;
        let start = if is_mapped(allocated) {
            map(allocated)?
        } else {
            // SAFETY: the size is not zero.
            let start = NonNull::new(unsafe { alloc(heap_layout(allocated)) })?;
            // Zeroed by hand: asked for zeroed memory, jemalloc gives pages back to the system to have them
            // faulted in anew. SAFETY: the allocation has this size.
            unsafe { start.write_bytes(0, allocated) };
            start
        };
        Some(PageMemory { start, len, allocated: counted })
    }

    /// Bytes that are allocated for the page, at least its length.
    pub fn allocated(&self) -> usize {
        self.allocated as usize
    }

    fn is_mapped(&self) -> bool {
        is_mapped(self.allocated())
    }

    /// Whether [`PageMemory::resize`] makes this a page of `len` bytes, and cheaply: a mapping another one of
    /// at most twice the size, a piece of the heap one of its class.
    pub fn suits(&self, len: u32) -> bool {
        let needed = PageMemory::allocated_bytes(len as usize);
        needed == self.allocated() || self.is_mapped() && is_mapped(needed) && self.allocated() >= needed / 2
    }

    /// Makes a page that [suits](PageMemory::suits) one of `len` bytes; its contents are whatever they are.
    /// `None`: the system has no memory, and the page is gone.
    pub fn resize(self, len: u32) -> Option<PageMemory> {
        assert!(self.suits(len), "the caller asked");
        let new = PageMemory::allocated_bytes(len as usize);
        let counted = u32::try_from(new).ok()?;
        let (start, old) = (self.start, self.allocated());
        std::mem::forget(self);
        let start = if new == old { start } else { remap(start, old, new)? };
        Some(PageMemory { start, len, allocated: counted })
    }

    /// The page's bytes, to fill them.
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
            // SAFETY: a mapping of exactly this size that nothing else knows.
            unsafe { libc::munmap(self.start.as_ptr().cast(), self.allocated()) };
        } else {
            // SAFETY: allocated with this layout.
            unsafe { dealloc(self.start.as_ptr(), heap_layout(self.allocated())) };
        }
    }
}

/// The same for a length and for what is allocated for it.
fn is_mapped(bytes: usize) -> bool {
    bytes > HEAP_BYTES_MAX
}

fn heap_layout(allocated: usize) -> Layout {
    Layout::from_size_align(allocated, HEAP_ALIGN).expect("a power of two, and a size of at most 28 KiB")
}

/// A new mapping with its memory in place: one call instead of a fault every 4 KiB.
fn map(bytes: usize) -> Option<NonNull<u8>> {
    #[cfg(target_os = "linux")]
    const FLAGS: libc::c_int = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_POPULATE;
    #[cfg(not(target_os = "linux"))]
    const FLAGS: libc::c_int = libc::MAP_PRIVATE | libc::MAP_ANON;
    // SAFETY: an anonymous mapping at an address of the system's choice touches nothing that exists.
    let start =
        unsafe { libc::mmap(std::ptr::null_mut(), bytes, libc::PROT_READ | libc::PROT_WRITE, FLAGS, -1, 0) };
    if start == libc::MAP_FAILED { None } else { NonNull::new(start.cast()) }
}

/// The mapping `start` of `old` bytes with `new` bytes, moved when it has to be. `None`: it is unmapped.
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
