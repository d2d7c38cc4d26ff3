//! A tree of summaries over runs of items: "which of a million items may touch that rectangle?"

use std::ops::Range;

use limber_codec::z_order::interleave;

use super::grid_edges::GridBounds;

/// Number of items in a run, and of runs in a run of the next level.
const FAN: usize = 8;

/// Runs of [`FAN`] consecutive items, runs of [`FAN`] such runs, and so on. `N` is the summary of a run, such
/// as its bounding rectangle.
#[derive(Debug)]
pub struct GridTree<N> {
    count: usize,
    /// The runs of items first, then the runs of each higher level; the last level has at most [`FAN`].
    levels: Vec<Vec<N>>,
}

impl<N> GridTree<N> {
    /// Builds a tree over `count` items. `of_items` summarizes a run of items; `of_runs` combines the
    /// summaries of two consecutive runs, the second of which begins at item `joint`.
    pub fn new(
        count: usize,
        of_items: impl Fn(Range<usize>) -> N,
        of_runs: impl Fn(&N, &N, usize) -> N,
    ) -> GridTree<N>
    where
        N: Clone,
    {
        let run = |number: usize| number * FAN..((number + 1) * FAN).min(count);
        let mut levels =
            vec![(0..count.div_ceil(FAN)).map(|number| of_items(run(number))).collect::<Vec<N>>()];
        let mut run_things = FAN;
        while let Some(below) = levels.last().filter(|level| level.len() > FAN) {
            let joined = below.chunks(FAN).enumerate().map(|(number, runs)| {
                let first = number * FAN;
                let rest = runs.iter().enumerate().skip(1);
                rest.fold(runs[0].clone(), |all, (at, run)| of_runs(&all, run, (first + at) * run_things))
            });
            let above = joined.collect();
            levels.push(above);
            run_things *= FAN;
        }
        GridTree { count, levels }
    }

    /// Calls `is_found` for the items of all runs that `may_hold` accepts, in order, until it returns true.
    pub fn any(
        &self,
        mut may_hold: impl FnMut(&N, Range<usize>) -> bool,
        mut is_found: impl FnMut(usize) -> bool,
    ) -> bool {
        let top = self.levels.len() - 1;
        self.any_of(top, 0..self.levels[top].len(), &mut may_hold, &mut is_found)
    }

    fn any_of<M, F>(&self, level: usize, runs: Range<usize>, may_hold: &mut M, is_found: &mut F) -> bool
    where
        M: FnMut(&N, Range<usize>) -> bool,
        F: FnMut(usize) -> bool,
    {
        let run_things = FAN.pow(level as u32 + 1);
        for number in runs {
            let things = number * run_things..((number + 1) * run_things).min(self.count);
            if !may_hold(&self.levels[level][number], things.clone()) {
                continue;
            }
            let is_in_it = match level.checked_sub(1) {
                None => things.into_iter().any(&mut *is_found),
                Some(below) => {
                    let last = ((number + 1) * FAN).min(self.levels[below].len());
                    self.any_of(below, number * FAN..last, may_hold, is_found)
                }
            };
            if is_in_it {
                return true;
            }
        }
        false
    }
}

impl GridTree<GridBounds> {
    /// Builds a tree over items with these bounding rectangles.
    pub fn around(bounds: &[GridBounds]) -> GridTree<GridBounds> {
        let of_items =
            |run: Range<usize>| bounds[run].iter().fold(GridBounds::NOTHING, |all, one| all.with(one));
        GridTree::new(bounds.len(), of_items, |all, run, _| all.with(run))
    }

    /// Calls `is_found` for items that may touch a rectangle, until it returns true.
    pub fn any_near(&self, bounds: &GridBounds, is_found: impl FnMut(usize) -> bool) -> bool {
        self.any(|run, _| run.touches(bounds), is_found)
    }
}

/// Sorts items so that those close to one another are consecutive, as a [`GridTree`] needs.
pub fn sort_by_place<T>(things: &mut [T], bounds_of: impl Fn(&T) -> GridBounds) {
    let all = things.iter().fold(GridBounds::NOTHING, |all, thing| all.with(&bounds_of(thing)));
    let share = |at: i64, (low, high): (i64, i64)| {
        let wide = (i128::from(high) - i128::from(low)).max(1);
        ((i128::from(at) - i128::from(low)) * i128::from(u32::MAX) / wide) as u32
    };
    things.sort_by_cached_key(|thing| {
        let GridBounds { x, y } = bounds_of(thing);
        interleave(share(x.0.midpoint(x.1), all.x), share(y.0.midpoint(y.1), all.y))
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_that_touch_are_found_and_few_others_looked_at() {
        for count in [0usize, 1, 8, 9, 64, 65, 5_000] {
            let at = |n: usize| ((n * 7_919 % 1_000) as i64 * 10, (n * 104_729 % 1_000) as i64 * 10);
            let mut boxes: Vec<GridBounds> =
                (0..count).map(at).map(|(x, y)| GridBounds { x: (x, x + 5), y: (y, y + 5) }).collect();
            sort_by_place(&mut boxes, |one| *one);
            let tree = GridTree::around(&boxes);
            for n in 0..50 {
                let (x, y) = at(n * 31);
                let asked = GridBounds { x: (x, x + 200), y: (y - 30, y) };
                let (mut looked_at, mut found) = (0, 0);
                tree.any_near(&asked, |one| {
                    looked_at += 1;
                    found += usize::from(boxes[one].touches(&asked));
                    false
                });
                assert_eq!(found, boxes.iter().filter(|one| one.touches(&asked)).count());
                assert!(looked_at <= found * FAN + 40 * FAN, "{count}: {looked_at} for {found}");
            }
        }
    }
}
