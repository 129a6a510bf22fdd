//! The heap: blocks by size class, freed blocks reused, memory grown page by page.
//!
//! Classes are 1, 2, 3, 4, 6, 8, 12, 16, … units of 16 bytes, so at most a third of a block is waste. The
//! block last carved grows in place and is given back on free, which keeps the written memory short.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::ptr;
use core::sync::atomic::{AtomicU32, Ordering};

/// Bytes of a unit; also the alignment of every block and the most that can be asked for.
const UNIT: usize = 16;

/// 1 unit to 2^20 units (16 MiB, more than any policy's memory) in half steps of a power of two.
const CLASSES: usize = 40;

/// What the host may read after an evaluation: the export `evalspan_heap`.
#[repr(C)]
#[derive(Debug)]
pub struct HeapUse {
    highest: AtomicU32,
    exhausted: AtomicU32,
}

impl HeapUse {
    /// Nothing used, nothing refused.
    #[must_use]
    #[allow(clippy::new_without_default)] // only ever a static
    pub const fn new() -> Self {
        Self {
            highest: AtomicU32::new(0),
            exhausted: AtomicU32::new(0),
        }
    }

    fn reached(&self, address: usize) {
        if address > self.highest.load(Ordering::Relaxed) as usize {
            self.highest.store(address as u32, Ordering::Relaxed);
        }
    }

    fn refused(&self) {
        self.exhausted.store(1, Ordering::Relaxed);
    }
}

/// Where the heap gets memory from: a contiguous region that can only grow.
trait Pages {
    /// The first address and the present end; asked once, before the first block.
    fn bounds(&mut self) -> (usize, usize);

    /// Grows the region by at least `bytes` and returns its new end, or `None` at the module's maximum.
    fn grow(&mut self, bytes: usize) -> Option<usize>;
}

/// The free lists and the part of the region not carved yet. Addresses; 0 is none.
struct Blocks {
    next: usize,
    end: usize,
    free: [usize; CLASSES],
}

/// The class of a size and the bytes of a block of that class; `None` above the largest class.
fn class(bytes: usize) -> Option<(usize, usize)> {
    let units = bytes.checked_add(UNIT - 1)? / UNIT;
    if units <= 2 {
        let index = usize::from(units == 2);
        return Some((index, UNIT << index));
    }
    let power = usize::BITS - 1 - (units - 1).leading_zeros();
    let half = 3 << (power - 1);
    let (index, size) = if units <= half {
        (2 * power, half)
    } else {
        (2 * power + 1, 2 << power)
    };
    if index as usize >= CLASSES {
        return None;
    }
    Some((index as usize, size * UNIT))
}

impl Blocks {
    const fn new() -> Self {
        Self {
            next: 0,
            end: 0,
            free: [0; CLASSES],
        }
    }

    /// A block of at least `bytes`, or `None` where the memory is exhausted.
    ///
    /// # Safety
    /// Every address in a free list is of a free block inside the region.
    unsafe fn take(&mut self, pages: &mut impl Pages, bytes: usize) -> Option<usize> {
        let (index, size) = class(bytes)?;
        let block = self.free[index];
        if block != 0 {
            self.free[index] = *(block as *const usize);
            return Some(block);
        }
        self.reach(pages, size)?;
        let block = self.next;
        self.next += size;
        Some(block)
    }

    /// Makes sure that `bytes` lie between `next` and `end`.
    fn reach(&mut self, pages: &mut impl Pages, bytes: usize) -> Option<()> {
        if bytes <= self.end - self.next {
            return Some(());
        }
        if self.end == 0 {
            let (first, end) = pages.bounds();
            self.next = (first + UNIT - 1) & !(UNIT - 1);
            self.end = end.max(self.next);
        }
        if bytes > self.end - self.next {
            self.end = pages.grow(bytes - (self.end - self.next))?;
        }
        Some(())
    }

    /// Takes back a block that was asked for with `bytes`.
    ///
    /// # Safety
    /// `block` came from `take` or `resize` with the class of `bytes`, and is not used again.
    unsafe fn give(&mut self, block: usize, bytes: usize) {
        // A block was handed out for these bytes, so they have a class.
        if let Some((index, size)) = class(bytes) {
            if block + size == self.next {
                self.next = block;
            } else {
                *(block as *mut usize) = self.free[index];
                self.free[index] = block;
            }
        }
    }

    /// Whether the block now holds `new` bytes where it is.
    ///
    /// # Safety
    /// As for `give`, but the block stays in use.
    unsafe fn resize(&mut self, pages: &mut impl Pages, block: usize, old: usize, new: usize) -> bool {
        let (old_size, new_size) = match (class(old), class(new)) {
            (Some((_, old_size)), Some((_, new_size))) => (old_size, new_size),
            _ => return false,
        };
        if old_size == new_size {
            return true;
        }
        if block + old_size != self.next {
            return false;
        }
        if new_size > old_size && self.reach(pages, new_size - old_size).is_none() {
            return false;
        }
        self.next = block + new_size;
        true
    }
}

/// The global allocator of a guest.
pub struct Heap {
    blocks: UnsafeCell<Blocks>,
    heap_use: &'static HeapUse,
}

// SAFETY: a module has one thread.
unsafe impl Sync for Heap {}

impl Heap {
    /// An empty heap that records its use in `heap_use`.
    #[must_use]
    pub const fn new(heap_use: &'static HeapUse) -> Self {
        Self {
            blocks: UnsafeCell::new(Blocks::new()),
            heap_use,
        }
    }
}

// SAFETY: blocks are disjoint, at least as large as asked and aligned to 16 bytes; a larger alignment is
// refused. The cell is borrowed only inside these calls, which do not re-enter each other.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let blocks = &mut *self.blocks.get();
        if layout.align() > UNIT {
            return ptr::null_mut();
        }
        match blocks.take(&mut LinearMemory, layout.size()) {
            Some(block) => {
                self.heap_use.reached(blocks.next);
                block as *mut u8
            }
            None => {
                self.heap_use.refused();
                ptr::null_mut()
            }
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        (*self.blocks.get()).give(block as usize, layout.size());
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        let blocks = &mut *self.blocks.get();
        if blocks.resize(&mut LinearMemory, block as usize, layout.size(), new_size) {
            self.heap_use.reached(blocks.next);
            return block;
        }
        let moved = self.alloc(Layout::from_size_align_unchecked(new_size, layout.align()));
        if !moved.is_null() {
            ptr::copy_nonoverlapping(block, moved, layout.size().min(new_size));
            self.dealloc(block, layout);
        }
        moved
    }
}

/// The module's linear memory, from the end of its data on.
struct LinearMemory;

#[cfg(target_arch = "wasm32")]
impl Pages for LinearMemory {
    fn bounds(&mut self) -> (usize, usize) {
        extern "C" {
            static __heap_base: u8;
        }
        // SAFETY: only the address is taken; the linker defines the symbol at the end of data and stack.
        let first = unsafe { ptr::addr_of!(__heap_base) } as usize;
        (first, core::arch::wasm32::memory_size(0) * PAGE)
    }

    fn grow(&mut self, bytes: usize) -> Option<usize> {
        let before = core::arch::wasm32::memory_grow(0, (bytes + PAGE - 1) / PAGE);
        if before == usize::MAX {
            return None;
        }
        Some(core::arch::wasm32::memory_size(0) * PAGE)
    }
}

/// Bytes of a WebAssembly page.
#[cfg(target_arch = "wasm32")]
const PAGE: usize = 65536;

/// The heap exists in a module only; the host's tests use a region of their own.
#[cfg(not(target_arch = "wasm32"))]
impl Pages for LinearMemory {
    fn bounds(&mut self) -> (usize, usize) {
        (UNIT, UNIT)
    }

    fn grow(&mut self, _bytes: usize) -> Option<usize> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;

    /// A region inside one allocation, grown by 256 bytes at a time.
    struct Region {
        memory: Vec<u64>,
        bytes: usize,
    }

    impl Region {
        fn new(most: usize) -> Self {
            Self {
                memory: vec![0; most / 8],
                bytes: 0,
            }
        }

        fn first(&self) -> usize {
            self.memory.as_ptr() as usize
        }
    }

    impl Pages for Region {
        fn bounds(&mut self) -> (usize, usize) {
            (self.first(), self.first() + self.bytes)
        }

        fn grow(&mut self, bytes: usize) -> Option<usize> {
            self.bytes += (bytes + 255) / 256 * 256;
            if self.bytes > self.memory.len() * 8 {
                return None;
            }
            Some(self.first() + self.bytes)
        }
    }

    #[test]
    fn a_class_holds_its_sizes_and_wastes_at_most_a_third() {
        let mut last = 0;
        for bytes in 1..70_000 {
            let (index, size) = class(bytes).unwrap();
            assert!(size >= bytes && size % UNIT == 0, "{}", bytes);
            assert!(bytes <= UNIT || (size - UNIT) / 3 * 2 <= bytes, "{}", bytes);
            assert!(index == last || index == last + 1, "{}", bytes);
            last = index;
        }
        assert!(class(16 << 20).is_some());
        assert!(class((16 << 20) + 1).is_none() && class(usize::MAX).is_none());
    }

    #[test]
    fn a_freed_block_is_reused_by_its_class() {
        let (mut region, mut blocks) = (Region::new(4096), Blocks::new());
        unsafe {
            let first = blocks.take(&mut region, 100).unwrap();
            let second = blocks.take(&mut region, 10).unwrap();
            assert!(second >= first + 100);
            blocks.give(first, 100);
            assert_eq!(blocks.take(&mut region, 97), Some(first));
        }
    }

    #[test]
    fn the_last_block_grows_in_place_and_is_given_back() {
        let (mut region, mut blocks) = (Region::new(4096), Blocks::new());
        unsafe {
            let first = blocks.take(&mut region, 16).unwrap();
            assert!(blocks.resize(&mut region, first, 16, 1000));
            let next = blocks.next;
            assert!(blocks.resize(&mut region, first, 1000, 1001));
            assert_eq!(blocks.next, next);
            let second = blocks.take(&mut region, 16).unwrap();
            assert!(!blocks.resize(&mut region, first, 1001, 2000));
            blocks.give(second, 16);
            blocks.give(first, 1001);
            assert_eq!(blocks.take(&mut region, 500), Some(first));
        }
    }

    #[test]
    fn an_exhausted_region_gives_no_block() {
        let (mut region, mut blocks) = (Region::new(512), Blocks::new());
        unsafe {
            assert!(blocks.take(&mut region, 256).is_some());
            assert!(blocks.take(&mut region, 512).is_none());
        }
    }

    #[test]
    fn blocks_in_use_never_overlap() {
        let (mut region, mut blocks) = (Region::new(1 << 20), Blocks::new());
        let mut live: Vec<(usize, usize)> = Vec::new();
        // A fixed linear congruential sequence: any mix of sizes and orders will do.
        let mut state = 1_u32;
        for _ in 0..3000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let pick = (state >> 16) as usize;
            unsafe {
                if live.len() > 40 {
                    let (block, bytes) = live.swap_remove(pick % live.len());
                    blocks.give(block, bytes);
                } else {
                    let bytes = pick % 700 + 1;
                    let block = blocks.take(&mut region, bytes).unwrap();
                    assert!(live.iter().all(|(b, n)| block + bytes <= *b || b + n <= block));
                    live.push((block, bytes));
                }
            }
        }
    }
}
