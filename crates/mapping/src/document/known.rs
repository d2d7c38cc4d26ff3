//! Recognizes values for which dynamic mapping adds nothing: "does each of these scalars have a field
//! already?"

use super::json;
use super::scan::skip_space;
use super::walk::Walk;
use crate::definition::Dynamic;
use crate::field::FieldSink;

impl<S: FieldSink> Walk<'_, S> {
    /// Whether every scalar of the value at `at`, except null, has the path of a field that is
    /// [known](crate::Mapping::is_known). `path` is that of the value, whose grammar has been checked.
    pub(super) fn are_all_known(&self, dynamic: Dynamic, mut path: String, at: usize) -> bool {
        self.end_of_known(dynamic, &mut path, at).is_some()
    }

    /// Returns the offset after the value at `at`; `None` if one of its scalars has no known path. The limit
    /// on the depth of JSON bounds the recursion.
    fn end_of_known(&self, dynamic: Dynamic, path: &mut String, at: usize) -> Option<usize> {
        match self.bytes.get(at)? {
            b'{' => {
                let outer = path.len();
                let mut at = skip_space(self.bytes, at + 1);
                while self.bytes.get(at)? == &b'"' {
                    let (key_end, _) = json::string_end(self.bytes, at + 1).ok()?;
                    path.push('.');
                    json::unescape(&self.text[at + 1..key_end], path);
                    let name = &path[outer + 1..];
                    path.truncate(outer + 1 + name.trim_end_matches('.').len());
                    let value = json::colon(self.bytes, key_end + 1).ok()?;
                    at = self.after_known(dynamic, path, value)?;
                    path.truncate(outer);
                }
                Some(at + 1)
            }
            b'[' => {
                let mut at = skip_space(self.bytes, at + 1);
                while self.bytes.get(at)? != &b']' {
                    at = self.after_known(dynamic, path, at)?;
                }
                Some(at + 1)
            }
            b'n' => json::scalar_end(self.bytes, at).ok()?,
            _ if self.mapping.is_known(dynamic, path) => json::scalar_end(self.bytes, at).ok()?,
            _ => None,
        }
    }

    /// Returns the offset of the next member or element, or of the bracket that closes the list of them.
    fn after_known(&self, dynamic: Dynamic, path: &mut String, at: usize) -> Option<usize> {
        let at = skip_space(self.bytes, self.end_of_known(dynamic, path, at)?);
        let has_next = self.bytes.get(at) == Some(&b',');
        Some(if has_next { skip_space(self.bytes, at + 1) } else { at })
    }
}
