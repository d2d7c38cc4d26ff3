//! Combines the scores of nested documents.

/// How the scores of nested documents become that of the document that contains them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NestedScore {
    Avg,
    Sum,
    Min,
    Max,
    /// The scores do not count.
    None,
}

/// Combines the scores of the nested documents of one document.
pub(crate) struct ChildScores {
    mode: NestedScore,
    value: f64,
    count: u32,
}

impl NestedScore {
    /// Starts without any nested document.
    pub fn start(self) -> ChildScores {
        ChildScores { mode: self, value: 0.0, count: 0 }
    }
}

impl ChildScores {
    /// Adds the score of a nested document.
    #[inline]
    pub fn add(&mut self, score: f32) {
        let score = f64::from(score);
        self.value = match self.mode {
            _ if self.count == 0 => score,
            NestedScore::Avg | NestedScore::Sum => self.value + score,
            NestedScore::Min => self.value.min(score),
            NestedScore::Max => self.value.max(score),
            NestedScore::None => 0.0,
        };
        self.count += 1;
    }

    /// Returns the score that results from all nested documents; 0 if there were none.
    pub fn finish(&self) -> f32 {
        match self.mode {
            NestedScore::Avg if self.count > 0 => (self.value / f64::from(self.count)) as f32,
            NestedScore::None => 0.0,
            _ => self.value as f32,
        }
    }
}
