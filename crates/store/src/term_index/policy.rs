//! W-TinyLFU over the pages of one shard: "which page is evicted next?"
//!
//! New pages enter a *window* (1 % of the shard, and at least the newest page). When the window is too
//! large, its oldest page is compared, by the counts of the sketch, with the page that the *main* area
//! would lose; the page with the lower count is evicted. The main area is a segmented LRU: *probation* (20
//! %) and, for pages that were used again there, *protected* (80 %). So a scan passes through the window
//! and does not evict hot pages. (Einziger, Friedman and Manes, "TinyLFU", 2017; Caffeine.)
//!
//! Hits do not call the policy: pages count their own uses ([`Member::drain_uses`]). The counts are collected
//! when a page is considered as a victim; a used page then moves as if it had been used just now. A clock
//! hand also visits all pages in turn, a few at every insertion, so that counts and order stay recent.

use super::sketch::Sketch;

/// The window is one of this many parts of a shard.
const WINDOW_PARTS: u64 = 100;
/// Share of the protected list in the main area, in percent.
const PROTECTED_PERCENT: u64 = 80;
/// Pages whose uses are collected at each insertion: about 0.1 microseconds, compared with 10 for a load.
const HAND_STEPS: usize = 8;
const NONE: u32 = u32::MAX;

/// What the policy needs to know of a page.
pub trait Member {
    /// Returns the key of the page in the sketch.
    fn hash(&self) -> u64;
    /// Uses since the last call.
    fn drain_uses(&self) -> u64;
    /// Whether a reader uses the page now, so that it cannot be evicted.
    fn is_pinned(&self) -> bool;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Window,
    Probation,
    Protected,
    /// In no list: the page is doomed, or the entry is free.
    Nowhere,
}

struct Entry<M> {
    /// `None` if the entry is free.
    member: Option<M>,
    weight: u64,
    place: Place,
    newer: u32,
    older: u32,
}

#[derive(Clone, Copy)]
struct List {
    newest: u32,
    oldest: u32,
    weight: u64,
    count: usize,
}

const EMPTY: List = List { newest: NONE, oldest: NONE, weight: 0, count: 0 };

/// Bytes that a shard should hold, derived from the budget.
#[derive(Debug, Clone, Copy)]
pub struct Share {
    /// Maximum bytes that the shard should hold.
    pub bytes: u64,
    /// Bytes of the incoming page, which the window must be able to hold.
    pub incoming: u64,
}

impl Share {
    fn window(self) -> u64 {
        (self.bytes / WINDOW_PARTS).max(self.incoming)
    }

    fn main(self) -> u64 {
        self.bytes.saturating_sub(self.window())
    }
}

/// The page to evict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Victim {
    /// Number of the page in the policy.
    pub entry: u32,
    /// Whether it came from the window and lost against the main area.
    pub refused: bool,
}

/// The pages of one shard in eviction order.
pub struct Policy<M> {
    entries: Vec<Entry<M>>,
    free: Vec<u32>,
    window: List,
    probation: List,
    protected: List,
    sketch: Sketch,
    hand: usize,
    /// Uses collected from pages, for statistics.
    pub uses_drained: u64,
}

impl<M> Default for Policy<M> {
    fn default() -> Policy<M> {
        Policy {
            entries: Vec::new(),
            free: Vec::new(),
            window: EMPTY,
            probation: EMPTY,
            protected: EMPTY,
            sketch: Sketch::default(),
            hand: 0,
            uses_drained: 0,
        }
    }
}

impl<M: Member> Policy<M> {
    /// Bytes per page in this structure.
    pub const ENTRY_BYTES: u64 = size_of::<Entry<M>>() as u64;

    /// Returns the bytes of the sketch; the entries of pages are part of their weights.
    pub fn overhead_bytes(&self) -> u64 {
        self.sketch.bytes()
    }

    /// Returns the page with this number. Panics if the entry is free.
    pub fn member(&self, entry: u32) -> &M {
        self.entries[entry as usize].member.as_ref().expect("an entry in use")
    }

    /// Returns the bytes charged for the page with this number.
    pub fn weight(&self, entry: u32) -> u64 {
        self.entries[entry as usize].weight
    }

    /// Returns the numbers of all pages here, ascending.
    pub fn entries_in_use(&self) -> impl Iterator<Item = u32> + '_ {
        (0u32..).zip(&self.entries).filter(|(_, entry)| entry.member.is_some()).map(|(number, _)| number)
    }

    /// Counts uses of a page that is not here.
    pub fn record(&mut self, member: &M) {
        let uses = member.drain_uses();
        self.uses_drained += uses;
        self.sketch.add(member.hash(), uses);
    }

    /// Adds a page to the window. Pages that exceed the window move on while the main area has space.
    pub fn insert(&mut self, member: M, weight: u64, share: Share) -> u32 {
        let entry = Entry { member: Some(member), weight, place: Place::Nowhere, newer: NONE, older: NONE };
        let number = match self.free.pop() {
            Some(number) => {
                self.entries[number as usize] = entry;
                number
            }
            None => {
                self.entries.push(entry);
                (self.entries.len() - 1) as u32
            }
        };
        self.sketch.grow(self.entries.len());
        self.link(number, Place::Window);
        while self.window.weight > share.window() && self.main_has_room(self.window.oldest, share) {
            self.relink(self.window.oldest, Place::Probation);
        }
        self.turn_hand(share);
        number
    }

    /// Takes a doomed page back into the lists.
    pub fn readmit(&mut self, entry: u32) {
        self.link(entry, Place::Probation);
    }

    /// Removes a page from the lists but not from memory, because it is doomed.
    pub fn detach(&mut self, entry: u32) {
        self.unlink(entry);
    }

    /// Removes a page and frees its number.
    pub fn remove(&mut self, entry: u32) -> M {
        self.unlink(entry);
        self.free.push(entry);
        let member = self.entries[entry as usize].member.take().expect("an entry in use");
        self.uses_drained += member.drain_uses();
        member
    }

    /// Makes a victim that turned out to be in use the newest of its list.
    pub fn keep(&mut self, entry: u32) {
        let place = self.entries[entry as usize].place;
        self.relink(entry, place);
    }

    /// Chooses the page to evict; `None` if every page is in use.
    pub fn victim(&mut self, share: Share) -> Option<Victim> {
        loop {
            let is_over = self.window.weight + share.incoming > share.window();
            let candidate = if is_over { self.oldest_idle(Place::Window, share) } else { None };
            let Some(candidate) = candidate else { break };
            if self.main_has_room(candidate, share) {
                self.relink(candidate, Place::Probation);
                continue;
            }
            let rival = self.main_victim(share);
            return Some(match rival {
                Some(rival) if self.count(candidate) > self.count(rival) => {
                    self.relink(candidate, Place::Probation);
                    Victim { entry: rival, refused: false }
                }
                _ => Victim { entry: candidate, refused: rival.is_some() },
            });
        }
        let entry = self.main_victim(share).or_else(|| self.oldest_idle(Place::Window, share))?;
        Some(Victim { entry, refused: false })
    }

    fn main_victim(&mut self, share: Share) -> Option<u32> {
        self.oldest_idle(Place::Probation, share).or_else(|| self.oldest_idle(Place::Protected, share))
    }

    fn main_has_room(&self, entry: u32, share: Share) -> bool {
        entry != NONE
            && self.probation.weight + self.protected.weight + self.entries[entry as usize].weight
                <= share.main()
    }

    fn count(&self, entry: u32) -> u64 {
        self.sketch.count(self.member(entry).hash())
    }

    /// Returns the oldest page of a list that was not used since the last check and is not in use; `None`
    /// if all are in use.
    fn oldest_idle(&mut self, place: Place, share: Share) -> Option<u32> {
        // Every page is checked once, and once more after its uses were collected.
        for _ in 0..2 * self.list(place).count {
            let entry = self.list(place).oldest;
            if entry == NONE {
                return None;
            }
            if self.member(entry).is_pinned() {
                self.relink(entry, place);
            } else if !self.take_over_uses(entry, share) {
                return Some(entry);
            }
        }
        // All pages are in use or were used recently; the oldest of the latter is evicted.
        let mut entry = self.list(place).oldest;
        while entry != NONE && self.member(entry).is_pinned() {
            entry = self.entries[entry as usize].newer;
        }
        (entry != NONE).then_some(entry)
    }

    /// Collects a page's uses and moves it accordingly; returns `false` if it was not used.
    fn take_over_uses(&mut self, entry: u32, share: Share) -> bool {
        let member = self.entries[entry as usize].member.as_ref().expect("an entry in use");
        let uses = member.drain_uses();
        if uses == 0 {
            return false;
        }
        self.uses_drained += uses;
        let hash = member.hash();
        self.sketch.add(hash, uses);
        match self.entries[entry as usize].place {
            Place::Nowhere => {}
            Place::Window => self.relink(entry, Place::Window),
            Place::Probation | Place::Protected => {
                self.relink(entry, Place::Protected);
                let protected_max = share.main() / 100 * PROTECTED_PERCENT;
                while self.protected.weight > protected_max && self.protected.count > 1 {
                    self.relink(self.protected.oldest, Place::Probation);
                }
            }
        }
        true
    }

    fn turn_hand(&mut self, share: Share) {
        for _ in 0..HAND_STEPS.min(self.entries.len()) {
            self.hand = (self.hand + 1) % self.entries.len();
            if self.entries[self.hand].member.is_some() {
                self.take_over_uses(self.hand as u32, share);
            }
        }
    }

    fn list(&mut self, place: Place) -> &mut List {
        match place {
            Place::Window => &mut self.window,
            Place::Probation => &mut self.probation,
            Place::Protected => &mut self.protected,
            Place::Nowhere => unreachable!("a page in no list"),
        }
    }

    fn relink(&mut self, entry: u32, place: Place) {
        self.unlink(entry);
        self.link(entry, place);
    }

    /// Inserts a page as the newest of `place`.
    fn link(&mut self, entry: u32, place: Place) {
        let weight = self.entries[entry as usize].weight;
        let list = self.list(place);
        let older = std::mem::replace(&mut list.newest, entry);
        if older == NONE {
            list.oldest = entry;
        }
        list.weight += weight;
        list.count += 1;
        if older != NONE {
            self.entries[older as usize].newer = entry;
        }
        let linked = &mut self.entries[entry as usize];
        (linked.place, linked.newer, linked.older) = (place, NONE, older);
    }

    fn unlink(&mut self, entry: u32) {
        let Entry { weight, place, newer, older, .. } = self.entries[entry as usize];
        if place == Place::Nowhere {
            return;
        }
        match newer {
            NONE => self.list(place).newest = older,
            _ => self.entries[newer as usize].older = older,
        }
        match older {
            NONE => self.list(place).oldest = newer,
            _ => self.entries[older as usize].newer = newer,
        }
        let list = self.list(place);
        list.weight -= weight;
        list.count -= 1;
        self.entries[entry as usize].place = Place::Nowhere;
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use proptest::prelude::*;

    use crate::random::mix;

    use super::*;

    #[derive(Clone)]
    struct Page {
        number: u64,
        uses: Rc<Cell<u64>>,
        is_pinned: Rc<Cell<bool>>,
    }

    impl Page {
        fn new(number: u64) -> Page {
            Page { number, uses: Rc::default(), is_pinned: Rc::default() }
        }
    }

    impl Member for Page {
        fn hash(&self) -> u64 {
            mix(self.number)
        }

        fn drain_uses(&self) -> u64 {
            self.uses.take()
        }

        fn is_pinned(&self) -> bool {
            self.is_pinned.get()
        }
    }

    /// A cache of pages of weight 1, managed by the policy.
    struct Cache {
        policy: Policy<Page>,
        pages: Vec<Page>,
        resident: std::collections::HashMap<u64, u32>,
        capacity: u64,
    }

    impl Cache {
        fn new(page_count: u64, capacity: u64) -> Cache {
            let pages = (0..page_count).map(Page::new).collect();
            Cache { policy: Policy::default(), pages, resident: Default::default(), capacity }
        }

        /// Uses a page; returns whether it was a hit.
        fn use_page(&mut self, number: u64) -> bool {
            let page = self.pages[number as usize].clone();
            page.uses.set(page.uses.get() + 1);
            if self.resident.contains_key(&number) {
                return true;
            }
            self.policy.record(&page);
            let share = Share { bytes: self.capacity, incoming: 1 };
            while self.resident.len() as u64 >= self.capacity {
                let Some(victim) = self.policy.victim(share) else { return false };
                let gone = self.policy.remove(victim.entry);
                assert!(!gone.is_pinned.get(), "a page in use went");
                assert_eq!(self.resident.remove(&gone.number), Some(victim.entry));
            }
            self.resident.insert(number, self.policy.insert(page, 1, share));
            false
        }
    }

    #[test]
    fn a_scan_leaves_what_is_hot() {
        let mut cache = Cache::new(10_100, 100);
        for round in 0..20 {
            (0..90).for_each(|hot| _ = cache.use_page((hot + round) % 90));
        }
        for cold in 100..10_100 {
            cache.use_page(cold);
            if cold % 10 == 0 {
                cache.use_page(cold / 10 % 90);
            }
        }
        let kept = (0..90).filter(|hot| cache.resident.contains_key(hot)).count();
        // An LRU would keep only the last 10.
        assert!(kept >= 70, "{kept} of 90 hot pages are left");
    }

    #[test]
    fn a_cache_of_few_pages_still_weighs_newcomers() {
        let mut cache = Cache::new(1000, 3);
        for _ in 0..10 {
            cache.use_page(0);
            cache.use_page(1);
        }
        (2..1000).for_each(|cold| _ = cache.use_page(cold));
        assert!(cache.resident.contains_key(&0) && cache.resident.contains_key(&1));
    }

    #[test]
    fn what_becomes_hot_gets_in() {
        let mut cache = Cache::new(200, 50);
        for _ in 0..20 {
            (0..50).for_each(|old| _ = cache.use_page(old));
        }
        for _ in 0..60 {
            (100..150).for_each(|new| _ = cache.use_page(new));
        }
        let arrived = (100..150).filter(|new| cache.resident.contains_key(new)).count();
        assert!(arrived >= 45, "{arrived} of 50");
    }

    proptest! {
        /// In every state the lists hold each resident page once, with its weight, and pinned pages stay.
        #[test]
        fn lists_and_pages_agree(
            capacity in 1u64..20,
            steps in prop::collection::vec((0u64..40, 0u8..10), 1..400),
        ) {
            let mut cache = Cache::new(40, capacity);
            for (number, action) in steps {
                match action {
                    0 => cache.pages[number as usize].is_pinned.set(cache.resident.contains_key(&number)),
                    1 | 2 => cache.pages[number as usize].is_pinned.set(false),
                    3 => if let Some(entry) = cache.resident.remove(&number) {
                        cache.pages[number as usize].is_pinned.set(false);
                        prop_assert_eq!(cache.policy.remove(entry).number, number);
                    },
                    _ => _ = cache.use_page(number),
                }
                let policy = &mut cache.policy;
                let mut found = 0;
                for place in [Place::Window, Place::Probation, Place::Protected] {
                    let list = *policy.list(place);
                    let (mut weight, mut count, mut at) = (0, 0, list.newest);
                    while at != NONE {
                        let entry = &policy.entries[at as usize];
                        prop_assert_eq!(entry.place, place);
                        let number = entry.member.as_ref().map(|page| page.number);
                        prop_assert_eq!(number.and_then(|number| cache.resident.get(&number)), Some(&at));
                        weight += entry.weight;
                        count += 1;
                        at = entry.older;
                    }
                    prop_assert_eq!((list.weight, list.count), (weight, count));
                    found += count;
                }
                prop_assert_eq!(found, cache.resident.len());
                prop_assert!(found as u64 <= capacity);
            }
        }
    }
}
