//! Operators of both languages.

/// A binary operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    And,
    Or,
    Xor,
    ShiftLeft,
    ShiftRight,
    ShiftRightUnsigned,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

impl Binary {
    /// Whether the result is a boolean: `==`, `<` and similar operators.
    pub fn is_comparison(self) -> bool {
        matches!(
            self,
            Binary::Equal
                | Binary::NotEqual
                | Binary::Less
                | Binary::LessEqual
                | Binary::Greater
                | Binary::GreaterEqual
        )
    }

    /// Whether the result has the type of the left operand alone: `<<`, `>>`, `>>>`.
    pub fn is_shift(self) -> bool {
        matches!(self, Binary::ShiftLeft | Binary::ShiftRight | Binary::ShiftRightUnsigned)
    }

    /// Whether it combines bits, or booleans: `&`, `|`, `^`.
    pub fn is_bitwise(self) -> bool {
        matches!(self, Binary::And | Binary::Or | Binary::Xor)
    }
}

/// A unary operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unary {
    Minus,
    Plus,
    Not,
    BitNot,
}
