//! Makes one column of the results of two branches.

use super::coded::joined_values;
use super::column::{Column, Data, Values};
use super::texts::joined_texts;

/// How the results of two branches become one column.
pub(super) enum Join<'f> {
    /// Both branches ran on all rows: the row of the first one where the flag is set.
    Whole(&'f [bool]),
    /// Each branch ran on its own rows: the next row of the first one where the flag is set.
    Parts(&'f [bool]),
}

impl Join<'_> {
    /// Merges the values of two branches.
    pub fn values<T: Copy>(&self, yes: Values<T>, no: Values<T>) -> Vec<T> {
        let (Join::Whole(flags) | Join::Parts(flags)) = self;
        let pick = |flag: bool, yes: T, no: T| if flag { yes } else { no };
        match (self, yes, no) {
            (_, Values::Same(yes, _), Values::Same(no, _)) => {
                flags.iter().map(|flag| pick(*flag, yes, no)).collect()
            }
            (Join::Whole(_), Values::Each(yes), Values::Same(no, _)) => {
                yes.into_iter().zip(*flags).map(|(yes, flag)| pick(*flag, yes, no)).collect()
            }
            (Join::Whole(_), Values::Same(yes, _), Values::Each(no)) => {
                no.into_iter().zip(*flags).map(|(no, flag)| pick(*flag, yes, no)).collect()
            }
            (Join::Whole(_), Values::Each(yes), Values::Each(no)) => {
                yes.into_iter().zip(no).zip(*flags).map(|((yes, no), flag)| pick(*flag, yes, no)).collect()
            }
            (Join::Parts(_), yes, no) => {
                let (mut yes, mut no) = (yes.into_vec().into_iter(), no.into_vec().into_iter());
                flags.iter().filter_map(|flag| if *flag { yes.next() } else { no.next() }).collect()
            }
        }
    }

    /// Merges the columns of two branches. `None` if their values have nothing in common.
    pub fn columns(&self, yes: Column, no: Column) -> Option<Column> {
        let (yes, no) = yes.alike(no)?;
        let ty = yes.ty;
        let data = match (yes.data, no.data) {
            (Data::Whole(yes), Data::Whole(no)) => Data::Whole(Values::Each(self.values(yes, no))),
            (Data::Real(yes), Data::Real(no)) => Data::Real(Values::Each(self.values(yes, no))),
            (Data::Flag(yes), Data::Flag(no)) => Data::Flag(Values::Each(self.values(yes, no))),
            (Data::Date(yes), Data::Date(no)) => Data::Date(Values::Each(self.values(yes, no))),
            (Data::Text(yes), Data::Text(no)) => {
                Data::Text(joined_texts(yes, no, |yes, no| self.values(yes, no)))
            }
            (Data::Other(yes), Data::Other(no)) => {
                return joined_values(yes, no, |yes, no| self.values(yes, no)).column();
            }
            _ => return None,
        };
        Some(Column { ty, data })
    }
}
