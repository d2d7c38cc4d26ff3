//! What scripts over tokens can ask a token for.

/// The members of a token: the name in a script, and the getter's.
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

/// The member of a token that a name or a getter means.
pub(crate) fn token_member(name: &str) -> Option<&'static str> {
    let found = TOKEN_MEMBERS.iter().find(|(member, getter)| *member == name || *getter == name);
    found.map(|(member, _)| *member)
}
