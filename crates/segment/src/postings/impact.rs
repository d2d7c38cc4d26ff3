//! Impacts: "what is the highest score that any document of this block can reach?"

use limber_codec::{Corrupt, Reader, varint};

/// A pair that bounds scores: some document has this frequency in a field of this norm, and no document of
/// the block has both a higher frequency and a smaller norm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Impact {
    /// Occurrences in the document.
    pub freq: u32,
    /// Encoded as in [`limber_codec::norm`]; 1 in fields without norms.
    pub norm: u8,
}

/// Frequencies below this number have a slot of their own.
const SMALL_FREQS: usize = 32;

/// Collects the (frequency, norm) pairs of a block.
pub struct ImpactCollector {
    /// Smallest norm by frequency; `u16::MAX` if there is none.
    small: [u16; SMALL_FREQS],
    large: Vec<Impact>,
    front: Vec<Impact>,
}

impl Default for ImpactCollector {
    fn default() -> ImpactCollector {
        ImpactCollector { small: [u16::MAX; SMALL_FREQS], large: Vec::new(), front: Vec::new() }
    }
}

impl ImpactCollector {
    #[inline]
    pub(crate) fn add(&mut self, freq: u32, norm: u8) {
        match self.small.get_mut(freq as usize) {
            Some(smallest) => *smallest = (*smallest).min(norm as u16),
            None => self.large.push(Impact { freq, norm }),
        }
    }

    /// Returns the Pareto front of the added pairs, ascending by frequency and norm, and empties the
    /// collector.
    pub fn take_front(&mut self) -> &[Impact] {
        self.front.clear();
        self.large.sort_unstable_by_key(|impact| (impact.freq, std::cmp::Reverse(impact.norm)));
        let small = self.small.iter().enumerate().filter(|(_, norm)| **norm <= u8::MAX as u16);
        let small = small.map(|(freq, &norm)| Impact { freq: freq as u32, norm: norm as u8 });
        // From the highest frequency down, a pair belongs to the front if its norm is smaller than all
        // before it.
        let mut smallest_norm = u16::MAX;
        for impact in self.large.iter().rev().copied().chain(small.rev()) {
            if (impact.norm as u16) < smallest_norm {
                smallest_norm = impact.norm as u16;
                self.front.push(impact);
            }
        }
        self.front.reverse();
        self.small = [u16::MAX; SMALL_FREQS];
        self.large.clear();
        &self.front
    }
}

/// Appends a Pareto front. It has at most 256 pairs, since their norms differ; 256 pairs are written as 255
/// that bound them all.
pub fn write(impacts: &[Impact], out: &mut Vec<u8>) {
    let (mut first, rest) = match impacts {
        [] => return out.push(0),
        [first, rest @ ..] => (*first, rest),
    };
    let rest = if rest.len() == 255 {
        first.freq = rest[0].freq;
        &rest[1..]
    } else {
        rest
    };
    out.push(rest.len() as u8 + 1);
    for impact in std::iter::once(&first).chain(rest) {
        varint::write_u32(out, impact.freq);
        out.push(impact.norm);
    }
}

/// Computes a score from an impact in two steps, so that the second step is only taken for the best of many
/// impacts.
pub trait Strength {
    /// Grows with the frequency and shrinks with the norm.
    fn strength(&self, impact: Impact) -> f32;
    /// Grows with the strength.
    fn score(&self, strength: f32) -> f32;
}

/// Returns the greatest strength in a list; `NEG_INFINITY` for an empty one.
#[inline]
pub fn greatest(reader: &mut Reader<'_>, scale: &impl Strength) -> Result<f32, Corrupt> {
    let count = usize::from(reader.u8()?);
    // Frequencies are nearly always single bytes.
    if let Some(pairs) = reader.rest().get(..2 * count) {
        // Two maxima, so that the processor need not wait for the one before.
        let (mut bits, mut maxima) = (0, [f32::NEG_INFINITY; 2]);
        let (fours, rest) = pairs.as_chunks::<4>();
        let mut compare = |at: usize, freq: u8, norm: u8| {
            bits |= freq;
            let strength = scale.strength(Impact { freq: u32::from(freq), norm });
            // Strengths are numbers, for which this is one instruction.
            maxima[at] = if strength > maxima[at] { strength } else { maxima[at] };
        };
        for [freq, norm, other_freq, other_norm] in fours {
            compare(0, *freq, *norm);
            compare(1, *other_freq, *other_norm);
        }
        if let [freq, norm] = rest {
            compare(0, *freq, *norm);
        }
        if bits < 0x80 {
            return Ok(maxima[0].max(maxima[1]));
        }
    }
    let mut most = f32::NEG_INFINITY;
    for _ in 0..count {
        most = most.max(scale.strength(Impact { freq: reader.varint_u32()?, norm: reader.u8()? }));
    }
    Ok(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Freq;

    impl Strength for Freq {
        fn strength(&self, impact: Impact) -> f32 {
            impact.freq as f32
        }

        fn score(&self, strength: f32) -> f32 {
            strength
        }
    }

    #[track_caller]
    fn check(pairs: &[(u32, u8)], expected: &[(u32, u8)]) {
        let mut collector = ImpactCollector::default();
        for _ in 0..2 {
            for &(freq, norm) in pairs {
                collector.add(freq, norm);
            }
            let front: Vec<_> =
                collector.take_front().iter().map(|impact| (impact.freq, impact.norm)).collect();
            assert_eq!(front, expected);
        }
    }

    #[test]
    fn keeps_the_pareto_front() {
        check(&[], &[]);
        check(&[(1, 9), (1, 7), (1, 8)], &[(1, 7)]);
        check(&[(1, 9), (2, 9), (3, 12), (2, 8)], &[(2, 8), (3, 12)]);
        check(
            &[(1, 3), (100, 200), (50, 200), (90, 100), (100, 150), (2, 3)],
            &[(2, 3), (90, 100), (100, 150)],
        );
        check(&[(40, 0), (1, 255)], &[(40, 0)]);
    }

    #[test]
    fn lists_are_these_bytes() {
        let mut bytes = Vec::new();
        write(&[Impact { freq: 2, norm: 8 }, Impact { freq: 300, norm: 12 }], &mut bytes);
        assert_eq!(bytes, [2, 2, 8, 0xac, 2, 12]);
        assert_eq!(greatest(&mut Reader::new(&bytes), &Freq), Ok(300.0));
        assert!(greatest(&mut Reader::new(&bytes[..4]), &Freq).is_err());
        let mut small = Vec::new();
        write(&[Impact { freq: 2, norm: 8 }, Impact { freq: 127, norm: 12 }], &mut small);
        assert_eq!(greatest(&mut Reader::new(&small), &Freq), Ok(127.0));
        assert_eq!(greatest(&mut Reader::new(&[0]), &Freq), Ok(f32::NEG_INFINITY));
        assert!(greatest(&mut Reader::new(&small[..4]), &Freq).is_err());
    }
}
