//! Derivational endings.

use super::stem::Stem;

impl Stem {
    /// Restores the ending that the word had.
    fn restore(&mut self, ending: &str, last: isize) {
        self.keep(self.before + 1);
        self.add(ending);
        self.last = last;
    }

    /// Whether the word without the second of two equal consonants before the ending is in the list. If not,
    /// restores both.
    fn is_known_single(&mut self) -> bool {
        if !self.has_double(self.before) {
            return false;
        }
        self.keep(self.before);
        self.last = self.before - 1;
        if self.is_known() {
            return true;
        }
        self.word.push(self.at(self.before - 1));
        false
    }

    pub(super) fn ity(&mut self) {
        let last = self.last;
        if !self.ends("ity") || self.try_with("") || self.try_with("e") {
            return;
        }
        self.restore("ity", last);
        let ends = (self.before > 0).then(|| (self.at(self.before - 1), self.at(self.before)));
        match ends {
            Some((b'i', b'l')) => {
                self.keep(self.before - 1);
                self.add("le");
                self.last = self.before;
                self.is_known();
            }
            Some((b'i', b'v')) => {
                self.try_with("e");
            }
            Some((b'a', b'l')) => {
                self.try_with("");
            }
            _ if self.is_known() => {}
            _ => {
                self.keep(self.before + 1);
                self.last = self.before;
            }
        }
    }

    pub(super) fn nce(&mut self) {
        let last = self.last;
        if !self.ends("nce") {
            return;
        }
        let letter = self.at(self.before);
        if !matches!(letter, b'e' | b'a') {
            return;
        }
        self.keep(self.before);
        self.add("e");
        self.last = self.before;
        if self.is_known() {
            return;
        }
        self.keep(self.before);
        self.last = self.before - 1;
        if !self.is_known() {
            self.word.push(letter);
            self.add("nce");
            self.last = last;
        }
    }

    pub(super) fn ness(&mut self) {
        if self.ends("ness") {
            self.keep(self.before + 1);
            self.last = self.before;
            if self.at(self.before) == b'i' {
                self.put(self.before, b'y');
            }
            self.is_known();
        }
    }

    pub(super) fn ism(&mut self) {
        if self.ends("ism") {
            self.try_with("");
        }
    }

    pub(super) fn ment(&mut self) {
        let last = self.last;
        if self.ends("ment") && !self.try_with("") {
            self.restore("ment", last);
        }
    }

    pub(super) fn ize(&mut self) {
        let last = self.last;
        if !self.ends("ize") || self.try_with("") {
            return;
        }
        self.add("i");
        if self.is_known_single() || self.try_with("e") {
            return;
        }
        self.restore("ize", last);
    }

    pub(super) fn ncy(&mut self) {
        if !self.ends("ncy") || !matches!(self.at(self.before), b'e' | b'a') {
            return;
        }
        self.put(self.before + 2, b't');
        self.keep(self.before + 3);
        self.last = self.before + 2;
        if self.is_known() {
            return;
        }
        self.put(self.before + 2, b'c');
        self.add("e");
        self.last = self.before + 3;
        self.is_known();
    }

    pub(super) fn ble(&mut self) {
        let last = self.last;
        if !self.ends("ble") {
            return;
        }
        let letter = self.at(self.before);
        if !matches!(letter, b'a' | b'i') {
            return;
        }
        self.keep(self.before);
        self.last = self.before - 1;
        if self.is_known() {
            return;
        }
        if self.has_double(self.last) {
            self.keep(self.last);
            self.last -= 1;
            if self.is_known() {
                return;
            }
            self.last += 1;
            self.word.push(self.at(self.last - 1));
        }
        self.keep(self.before);
        self.add("e");
        self.last = self.before;
        if self.is_known() {
            return;
        }
        self.keep(self.before);
        self.add("ate");
        self.last = self.before + 2;
        if self.is_known() {
            return;
        }
        self.keep(self.before);
        self.word.push(letter);
        self.add("ble");
        self.last = last;
    }

    pub(super) fn ic(&mut self) {
        if self.ends("ic")
            && !self.try_with("ical")
            && !self.try_with("y")
            && !self.try_with("e")
            && !self.try_with("")
        {
            self.restore("ic", self.before + 2);
        }
    }

    pub(super) fn ion(&mut self) {
        let last = self.last;
        if !self.ends("ion") {
            return;
        }
        if self.ends("ization") {
            self.try_with("ize");
            return;
        }
        if self.ends("ition") {
            if self.try_with("e") {
                return;
            }
            self.restore("ition", last);
        } else if self.ends("ation") {
            if self.try_with("ate") || self.try_with("e") || self.try_with("") {
                return;
            }
            self.restore("ation", last);
        }
        if self.ends("ication") {
            if self.try_with("y") {
                return;
            }
            self.restore("ication", last);
        }
        self.before = self.last - 3;
        if !self.try_with("e") && !self.try_with("") {
            self.restore("ion", last);
        }
    }

    pub(super) fn er_and_or(&mut self) {
        let last = self.last;
        if self.at(last) != b'r' {
            return;
        }
        if self.ends("izer") {
            self.try_with("ize");
            return;
        }
        if !self.ends("er") && !self.ends("or") {
            return;
        }
        let letter = self.at(self.before + 1);
        if self.is_known_single() {
            return;
        }
        let mut vowel = letter;
        if self.at(self.before) == b'i' {
            vowel = b'e';
            self.put(self.before, b'y');
            if self.try_with("") {
                return;
            }
            self.put(self.before, b'i');
        }
        if self.at(self.before) == b'e' {
            self.keep(self.before);
            self.last = self.before - 1;
            if self.is_known() {
                return;
            }
            self.add("e");
        }
        self.keep(self.before + 1);
        self.word.push(vowel);
        self.last = self.before + 1;
        if self.is_known() || self.try_with("") || self.try_with("e") {
            return;
        }
        self.keep(self.before + 1);
        self.word.extend([letter, b'r']);
        self.last = last;
    }

    pub(super) fn ly(&mut self) {
        let last = self.last;
        if !self.ends("ly") {
            return;
        }
        self.put(self.before + 2, b'e');
        if self.is_known() {
            return;
        }
        self.put(self.before + 2, b'y');
        if self.try_with("") {
            return;
        }
        let ends = (self.before > 0).then(|| (self.at(self.before - 1), self.at(self.before)));
        if ends == Some((b'a', b'l')) {
            return;
        }
        self.restore("ly", last);
        if ends == Some((b'a', b'b')) {
            self.put(self.before + 2, b'e');
            self.last = self.before + 2;
            return;
        }
        if self.at(self.before) == b'i' {
            self.keep(self.before);
            self.add("y");
            self.last = self.before;
            if self.is_known() {
                return;
            }
            self.keep(self.before);
            self.add("ily");
            self.last = last;
        }
        self.keep(self.before + 1);
        self.last = self.before;
    }

    pub(super) fn al(&mut self) {
        let last = self.last;
        if self.word.len() < 4 || !self.ends("al") || self.try_with("") {
            return;
        }
        if self.is_known_single() || self.try_with("e") || self.try_with("um") {
            return;
        }
        self.restore("al", last);
        if self.before > 0 && (self.at(self.before - 1), self.at(self.before)) == (b'i', b'c') {
            self.ical();
        } else if self.at(self.before) == b'i' {
            self.keep(self.before);
            self.last = self.before - 1;
            if self.is_known() {
                return;
            }
            self.add("ial");
            self.last = last;
            self.is_known();
        }
    }

    fn ical(&mut self) {
        for (ending, last) in [("", self.before - 2), ("y", self.before - 1), ("ic", self.before)] {
            self.keep(self.before - 1);
            self.add(ending);
            self.last = last;
            if self.is_known() {
                return;
            }
        }
    }

    pub(super) fn ive(&mut self) {
        let last = self.last;
        if !self.ends("ive") || self.try_with("") || self.try_with("e") {
            return;
        }
        self.keep(self.before + 1);
        self.add("ive");
        if self.before > 0 && (self.at(self.before - 1), self.at(self.before)) == (b'a', b't') {
            self.put(self.before - 1, b'e');
            self.keep(self.before);
            self.last = self.before - 1;
            if self.is_known() {
                return;
            }
            self.keep(self.before - 1);
            if self.is_known() {
                return;
            }
            self.add("ative");
            self.last = last;
        }
        self.put(self.before + 2, b'o');
        self.put(self.before + 3, b'n');
        if self.is_known() {
            return;
        }
        self.put(self.before + 2, b'v');
        self.put(self.before + 3, b'e');
        self.last = last;
    }
}
