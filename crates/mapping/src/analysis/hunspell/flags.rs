//! Flags of affixes and words.

/// How flags are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FlagForm {
    /// One character each.
    #[default]
    Short,
    /// Two characters each.
    Long,
    /// Comma-separated numbers.
    Number,
}

impl FlagForm {
    /// Parses the line `FLAG`.
    pub fn parse(name: &str) -> Result<FlagForm, String> {
        match name {
            "UTF-8" => Ok(FlagForm::Short),
            "long" => Ok(FlagForm::Long),
            "num" => Ok(FlagForm::Number),
            other => Err(format!("Unknown flag type: {other}")),
        }
    }

    /// Parses flags and sorts them.
    pub fn read(self, text: &str) -> Result<Box<[u32]>, String> {
        let mut flags: Vec<u32> = match self {
            FlagForm::Short => text.chars().map(u32::from).collect(),
            FlagForm::Long => {
                let chars: Vec<char> = text.chars().collect();
                chars.chunks_exact(2).map(|pair| (pair[0] as u32) << 8 | pair[1] as u32).collect()
            }
            FlagForm::Number => {
                let mut numbers = Vec::new();
                for part in text.split(',') {
                    let digits: String = part.chars().filter(char::is_ascii_digit).collect();
                    if !digits.is_empty() {
                        numbers.push(digits.parse().map_err(|_| format!("Bad flag number: {part}"))?);
                    }
                }
                numbers
            }
        };
        flags.sort_unstable();
        flags.dedup();
        Ok(flags.into())
    }

    /// Parses a line with a single flag.
    pub fn one(self, text: &str) -> Result<u32, String> {
        self.read(text)?.first().copied().ok_or_else(|| format!("expected one flag, got: {text}"))
    }
}

/// Whether a flag is among these; false if the file does not define the flag.
pub fn has(flags: &[u32], flag: Option<u32>) -> bool {
    flag.is_some_and(|flag| flags.binary_search(&flag).is_ok())
}
