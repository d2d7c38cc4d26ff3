//! One page of the term index: "which block of this page may hold this term?"

use fst::raw::{Builder, Fst, Node};

use super::format::{LIST_KEYS_MAX, PAGE_BYTES_TARGET, PAGE_FST, PAGE_LIST};
use crate::{Error, Result};

const SECTION: &str = "term index";

/// Collects the separators of a page's blocks after the first, ascending.
#[derive(Default)]
pub struct PageBuilder {
    /// Keys back to back; moved to the FST when there are too many for a list.
    keys: Vec<u8>,
    ends: Vec<u32>,
    fst: Option<Builder<Vec<u8>>>,
    key_count: u64,
}

impl PageBuilder {
    pub(crate) fn is_full(&self) -> bool {
        let fst_bytes = self.fst.as_ref().map_or(0, |fst| fst.bytes_written() as usize);
        self.keys.len() + self.ends.len() * 4 + fst_bytes >= PAGE_BYTES_TARGET
    }

    /// Adds the separator of the page's next block.
    pub fn add(&mut self, separator: &[u8]) -> Result<()> {
        self.key_count += 1;
        if let Some(fst) = &mut self.fst {
            return fst.insert(separator, self.key_count).map_err(build_error);
        }
        self.keys.extend_from_slice(separator);
        self.ends.push(self.keys.len() as u32);
        if self.ends.len() > LIST_KEYS_MAX {
            let mut fst = Builder::memory();
            let mut start = 0;
            for (i, &end) in self.ends.iter().enumerate() {
                fst.insert(&self.keys[start..end as usize], i as u64 + 1).map_err(build_error)?;
                start = end as usize;
            }
            self.keys.clear();
            self.ends.clear();
            self.fst = Some(fst);
        }
        Ok(())
    }

    /// Returns the page's bytes, none if it has one block, and resets the builder for the next page.
    pub fn finish(&mut self) -> Result<Vec<u8>> {
        let page = if let Some(fst) = self.fst.take() {
            let mut page = fst.into_inner().map_err(build_error)?;
            page.insert(0, PAGE_FST);
            page
        } else if self.ends.is_empty() {
            Vec::new()
        } else {
            let mut page = vec![PAGE_LIST];
            page.extend_from_slice(&(self.ends.len() as u16).to_le_bytes());
            page.extend(self.ends.iter().flat_map(|end| end.to_le_bytes()));
            page.extend_from_slice(&self.keys);
            page
        };
        self.keys.clear();
        self.ends.clear();
        self.key_count = 0;
        Ok(page)
    }
}

/// A builder only fails for unordered keys, and the dictionary's writer has refused those already.
#[cold]
fn build_error(_: fst::Error) -> Error {
    Error::corrupt(SECTION, 0, "terms in ascending order")
}

/// Returns the block that may hold `target`, counted from the page's first block. `page` is not empty and
/// its checksum was verified when it was loaded.
#[inline]
pub fn find_block(page: &[u8], target: &[u8]) -> Result<u64> {
    match page {
        [PAGE_FST, fst @ ..] => {
            let fst = Fst::new(fst).map_err(|_| Error::corrupt(SECTION, 0, "an FST"))?;
            Ok(floor(&fst, target).unwrap_or(0))
        }
        [PAGE_LIST, low, high, list @ ..] => {
            let count = u16::from_le_bytes([*low, *high]) as usize;
            find_in_list(list, count, target).ok_or_else(|| Error::corrupt(SECTION, 0, "a list of keys"))
        }
        _ => Err(Error::corrupt(SECTION, 0, "a page")),
    }
}

/// Returns the number of keys that are at most `target`; `None` if the list is corrupt.
fn find_in_list(list: &[u8], count: usize, target: &[u8]) -> Option<u64> {
    let (ends, keys) = list.split_at_checked(count * 4)?;
    let end = |i: usize| {
        u32::from_le_bytes([ends[4 * i], ends[4 * i + 1], ends[4 * i + 2], ends[4 * i + 3]]) as usize
    };
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = (low + high) / 2;
        let start = if middle == 0 { 0 } else { end(middle - 1) };
        if keys.get(start..end(middle))? <= target {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    Some(low as u64)
}

/// The position of the greatest smaller key, relative to the path of the target.
enum Below<'f> {
    Nothing,
    /// The key that ends on the path.
    Key(u64),
    /// The greatest key under this transition of this node.
    Branch(Node<'f>, usize, u64),
}

/// Returns the value of the greatest key that is at most `target`.
fn floor(fst: &Fst<&[u8]>, target: &[u8]) -> Option<u64> {
    let mut node = fst.root();
    let mut value = 0u64;
    let mut below = Below::Nothing;
    for &byte in target {
        if node.is_final() {
            below = Below::Key(value + node.final_output().value());
        }
        let exact = node.find_input(byte);
        let smaller = match exact {
            Some(i) => i,
            None => node.transitions().take_while(|transition| transition.inp < byte).count(),
        };
        let next = exact.map(|i| node.transition(i));
        if smaller > 0 {
            below = Below::Branch(node, smaller - 1, value);
        }
        let Some(transition) = next else { return greatest(fst, below) };
        value += transition.out.value();
        node = fst.node(transition.addr);
    }
    if node.is_final() { Some(value + node.final_output().value()) } else { greatest(fst, below) }
}

fn greatest(fst: &Fst<&[u8]>, below: Below<'_>) -> Option<u64> {
    match below {
        Below::Nothing => None,
        Below::Key(value) => Some(value),
        Below::Branch(node, transition, mut value) => {
            let mut transition = node.transition(transition);
            loop {
                value += transition.out.value();
                let node = fst.node(transition.addr);
                if node.is_empty() {
                    return Some(value + node.final_output().value());
                }
                transition = node.transition(node.len() - 1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(keys: &[Vec<u8>], targets: &[Vec<u8>]) {
        let mut builder = PageBuilder::default();
        for key in keys {
            builder.add(key).expect("ascending");
        }
        let page = builder.finish().expect("ascending");
        assert_eq!(page[0], if keys.len() > LIST_KEYS_MAX { PAGE_FST } else { PAGE_LIST });
        for target in keys.iter().chain(targets) {
            let expected = keys.iter().filter(|key| *key <= target).count() as u64;
            assert_eq!(find_block(&page, target).expect("sound"), expected, "{target:?} in {keys:?}");
        }
    }

    #[test]
    fn finds_the_greatest_key_below() {
        let keys = |count: u32, step: u32| -> Vec<Vec<u8>> {
            let mut keys: Vec<Vec<u8>> =
                (0..count).map(|i| (i * step).to_string().into_bytes()).chain([b"77".repeat(9)]).collect();
            keys.sort();
            keys.dedup();
            keys
        };
        let mut targets = keys(700, 3);
        targets.extend([b"".to_vec(), b"\0".to_vec(), b"~".to_vec(), vec![0xff; 40]]);
        for count in [1, 2, 40, 64, 65, 66, 500, 900] {
            check(&keys(count, 7), &targets);
        }
    }

    #[test]
    fn a_list_page_is_these_bytes() {
        let mut builder = PageBuilder::default();
        builder.add(b"b").expect("ascending");
        builder.add(b"cd").expect("ascending");
        let page = builder.finish().expect("ascending");
        assert_eq!(page, [1, 2, 0, 1, 0, 0, 0, 3, 0, 0, 0, b'b', b'c', b'd']);
        assert!(builder.finish().expect("empty").is_empty());
        for len in 0..page.len() {
            // The page may be cut anywhere: the result is an error or some block, but no panic.
            let _ = find_block(&page[..len], b"zz");
        }
    }
}
