//! Types of Java as far as scripts know them.

/// What is known of an expression before it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// Known at run time alone.
    Def,
    Void,
    Bool,
    Byte,
    Short,
    Char,
    Int,
    Long,
    Float,
    Double,
    Str,
    /// A class, by its full name.
    Object(&'static str),
}

impl Type {
    /// Place among the numbers in the order of Java's promotion; `None`: no number.
    pub fn rank(self) -> Option<u8> {
        Some(match self {
            Type::Byte => 0,
            Type::Short => 1,
            Type::Char => 2,
            Type::Int => 3,
            Type::Long => 4,
            Type::Float => 5,
            Type::Double => 6,
            _ => return None,
        })
    }

    pub fn is_number(self) -> bool {
        self.rank().is_some()
    }

    /// As errors print it.
    pub fn name(self) -> &'static str {
        match self {
            Type::Def => "def",
            Type::Void => "void",
            Type::Bool => "boolean",
            Type::Byte => "byte",
            Type::Short => "short",
            Type::Char => "char",
            Type::Int => "int",
            Type::Long => "long",
            Type::Float => "float",
            Type::Double => "double",
            Type::Str => "java.lang.String",
            Type::Object(name) => name,
        }
    }
}
