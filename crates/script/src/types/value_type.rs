//! The types of Java that scripts know.

/// The type of an expression as far as it is known before it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// Known only at run time.
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
    /// Returns the rank of a numeric type in Java's order of promotion; `None` for other types.
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

    /// Whether this is a primitive number; `char` is one.
    pub fn is_number(self) -> bool {
        self.rank().is_some()
    }

    /// Returns the name that errors print.
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
