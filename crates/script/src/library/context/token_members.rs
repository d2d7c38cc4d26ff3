//! The members of a token that scripts over tokens can read.

/// The members of a token: the name in a script, and its getter.
pub(crate) const TOKEN_MEMBERS: &[(&str, &str)] = &[
    ("term", "getTerm"),
    ("position", "getPosition"),
    ("positionIncrement", "getPositionIncrement"),
    ("positionLength", "getPositionLength"),
    ("startOffset", "getStartOffset"),
    ("endOffset", "getEndOffset"),
    ("type", "getType"),
    ("keyword", "isKeyword"),
];

/// Returns the member of a token for its name or its getter.
pub(crate) fn token_member(name: &str) -> Option<&'static str> {
    let found = TOKEN_MEMBERS.iter().find(|(member, getter)| *member == name || *getter == name);
    found.map(|(member, _)| *member)
}
