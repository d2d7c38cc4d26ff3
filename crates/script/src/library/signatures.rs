//! Which methods a value of a known type has: "what type does this method return?"

use crate::types::Type;

/// Methods of strings: name, number of arguments, type of the result.
const STRING_METHODS: &[(&str, usize, Type)] = &[
    ("charAt", 1, Type::Char),
    ("chars", 0, Type::Def),
    ("codePointAt", 1, Type::Int),
    ("codePointBefore", 1, Type::Int),
    ("codePointCount", 2, Type::Int),
    ("codePoints", 0, Type::Def),
    ("compareTo", 1, Type::Int),
    ("compareToIgnoreCase", 1, Type::Int),
    ("concat", 1, Type::Str),
    ("contains", 1, Type::Bool),
    ("contentEquals", 1, Type::Bool),
    ("decodeBase64", 0, Type::Str),
    ("encodeBase64", 0, Type::Str),
    ("endsWith", 1, Type::Bool),
    ("equals", 1, Type::Bool),
    ("equalsIgnoreCase", 1, Type::Bool),
    ("hashCode", 0, Type::Int),
    ("indexOf", 1, Type::Int),
    ("indexOf", 2, Type::Int),
    ("isEmpty", 0, Type::Bool),
    ("lastIndexOf", 1, Type::Int),
    ("lastIndexOf", 2, Type::Int),
    ("length", 0, Type::Int),
    ("offsetByCodePoints", 2, Type::Int),
    ("regionMatches", 4, Type::Bool),
    ("regionMatches", 5, Type::Bool),
    ("replace", 2, Type::Str),
    ("replaceAll", 2, Type::Str),
    ("replaceFirst", 2, Type::Str),
    ("sha1", 0, Type::Str),
    ("sha256", 0, Type::Str),
    ("sha512", 0, Type::Str),
    ("splitOnToken", 1, Type::Def),
    ("splitOnToken", 2, Type::Def),
    ("startsWith", 1, Type::Bool),
    ("startsWith", 2, Type::Bool),
    ("subSequence", 2, Type::Str),
    ("substring", 1, Type::Str),
    ("substring", 2, Type::Str),
    ("toCharArray", 0, Type::Def),
    ("toLowerCase", 0, Type::Str),
    ("toLowerCase", 1, Type::Str),
    ("toString", 0, Type::Str),
    ("toUpperCase", 0, Type::Str),
    ("toUpperCase", 1, Type::Str),
    ("trim", 0, Type::Str),
];

/// Methods of lists: name, number of arguments.
const LIST_METHODS: &[(&str, usize)] = &[
    ("add", 1),
    ("add", 2),
    ("addAll", 1),
    ("addAll", 2),
    ("asCollection", 0),
    ("asList", 0),
    ("clear", 0),
    ("clone", 0),
    ("contains", 1),
    ("containsAll", 1),
    ("each", 1),
    ("eachWithIndex", 1),
    ("findResult", 1),
    ("findResult", 2),
    ("findResults", 1),
    ("getByPath", 1),
    ("getByPath", 2),
    ("groupBy", 1),
    ("replaceAll", 1),
    ("retainAll", 1),
    ("split", 1),
    ("toArray", 0),
    ("toArray", 1),
    ("trimToSize", 0),
    ("equals", 1),
    ("forEach", 1),
    ("get", 1),
    ("getLength", 0),
    ("indexOf", 1),
    ("isEmpty", 0),
    ("iterator", 0),
    ("join", 1),
    ("lastIndexOf", 1),
    ("remove", 1),
    ("removeAll", 1),
    ("removeIf", 1),
    ("set", 2),
    ("size", 0),
    ("sort", 1),
    ("stream", 0),
    ("subList", 2),
    ("sum", 0),
    ("sum", 1),
    ("toString", 0),
    ("any", 1),
    ("collect", 1),
    ("collect", 2),
    ("every", 1),
    ("find", 1),
    ("findAll", 1),
    ("hashCode", 0),
];

/// Methods of numbers and booleans, which are called on their boxes: name, number of arguments, type of the
/// result.
const BOX_METHODS: &[(&str, usize, Type)] = &[
    ("compareTo", 1, Type::Int),
    ("equals", 1, Type::Bool),
    ("hashCode", 0, Type::Int),
    ("toString", 0, Type::Str),
];

/// Methods that the boxes of numbers have besides: name, type of the result. None takes arguments.
const NUMBER_METHODS: &[(&str, Type)] = &[
    ("byteValue", Type::Byte),
    ("doubleValue", Type::Double),
    ("floatValue", Type::Float),
    ("intValue", Type::Int),
    ("longValue", Type::Long),
    ("shortValue", Type::Short),
];

/// Returns the type of the result of a method that a box of this type has besides [`BOX_METHODS`].
fn own_method_of_box(of: Type, name: &str) -> Option<Type> {
    match (of, name) {
        (Type::Double | Type::Float, "isNaN" | "isInfinite") => Some(Type::Bool),
        (Type::Bool, "booleanValue") => Some(Type::Bool),
        (Type::Char, "charValue") => Some(Type::Char),
        (Type::Bool | Type::Char, _) => None,
        _ => NUMBER_METHODS.iter().find(|(known, _)| *known == name).map(|(_, returns)| *returns),
    }
}

/// Checks that a known class has a method; returns the type of its result. Errors have Painless's words.
pub(crate) fn check_method(target: Type, name: &str, count: usize) -> Result<Type, String> {
    let missing = |class: &str| Err(format!("member method [{class}, {name}/{count}] not found"));
    match target {
        Type::Str => {
            match STRING_METHODS.iter().find(|(known, arguments, _)| *known == name && *arguments == count) {
                Some((_, _, returns)) => Ok(*returns),
                None => missing("java.lang.String"),
            }
        }
        Type::Object(class @ ("java.util.List" | "java.util.ArrayList")) => {
            match LIST_METHODS.iter().any(|(known, arguments)| *known == name && *arguments == count) {
                true => Ok(Type::Def),
                false => missing(class),
            }
        }
        Type::Void => missing(target.name()),
        ty if ty.is_number() || ty == Type::Bool => {
            match BOX_METHODS.iter().find(|(known, arguments, _)| *known == name && *arguments == count) {
                Some((_, _, returns)) => Ok(*returns),
                None => match own_method_of_box(ty, name).filter(|_| count == 0) {
                    Some(returns) => Ok(returns),
                    None => missing(ty.name()),
                },
            }
        }
        _ => Ok(Type::Def),
    }
}
