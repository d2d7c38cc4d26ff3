//! Plurals, past tense and `-ing`.

use super::stem::Stem;

impl Stem {
    pub(super) fn plural(&mut self) {
        if self.at(self.last) != b's' {
            return;
        }
        if self.ends("ies") {
            self.keep(self.before + 3);
            self.last -= 1;
            if !self.is_known() {
                self.try_with("y");
            }
        } else if self.ends("es") {
            self.keep(self.before + 2);
            self.last -= 1;
            let takes_e =
                self.before > 0 && !(self.at(self.before) == b's' && self.at(self.before - 1) == b's');
            if takes_e && self.is_known() {
                return;
            }
            self.keep(self.before + 1);
            self.last -= 1;
            if self.is_known() {
                return;
            }
            self.add("e");
            self.last += 1;
            if !takes_e {
                self.is_known();
            }
        } else if self.word.len() > 3 && self.at(self.last - 1) != b's' && !self.ends("ous") {
            self.keep(self.last);
            self.last -= 1;
            self.is_known();
        }
    }

    pub(super) fn past_tense(&mut self) {
        if self.word.len() <= 4 {
            return;
        }
        if self.ends("ied") {
            self.keep(self.before + 3);
            self.last -= 1;
            if !self.is_known() {
                self.try_with("y");
            }
            return;
        }
        if !(self.ends("ed") && self.has_vowel()) {
            return;
        }
        self.keep(self.before + 2);
        self.last = self.before + 1;
        if self.entry().is_some_and(|entry| !entry.is_exception) || self.try_with("") {
            return;
        }
        if self.has_double(self.last) {
            self.single_or_double();
        } else if self.word.starts_with(b"un") {
            self.add("ed");
            self.last += 2;
        } else {
            self.keep(self.before + 1);
            self.add("e");
            self.last = self.before + 1;
        }
    }

    pub(super) fn aspect(&mut self) {
        if self.word.len() <= 5 || !(self.ends("ing") && self.has_vowel()) {
            return;
        }
        self.put(self.before + 1, b'e');
        self.keep(self.before + 2);
        self.last = self.before + 1;
        if self.entry().is_some_and(|entry| !entry.is_exception) || self.try_with("") {
            return;
        }
        if self.has_double(self.last) {
            self.single_or_double();
        } else if self.before > 0 && self.is_consonant(self.before) && self.is_consonant(self.before - 1) {
            self.last = self.before;
            self.keep(self.last + 1);
        } else {
            self.keep(self.before + 1);
            self.add("e");
            self.last = self.before + 1;
        }
    }

    /// Removes the second of two equal consonants at the end, if that is in the list; else keeps both.
    fn single_or_double(&mut self) {
        self.keep(self.last);
        self.last -= 1;
        if self.is_known() {
            return;
        }
        self.word.push(self.at(self.last));
        self.last += 1;
        self.is_known();
    }
}
