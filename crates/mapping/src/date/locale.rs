//! Names of months, weekdays and other parts of dates in a language: "what does `MMM` look like in French?"
//!
//! `locales.tsv` has a line for each locale whose names or weeks differ from those of its language. Its
//! columns are the names of `MMMM`, `MMM`, `LLLL`, `LLL`, `EEEE`, `EEE`, `a`, `GGGG`, `G`, `QQQQ` and `QQQ`,
//! and the first day of the week (1 is Monday) with the number of days that its first week has at least. An
//! empty column is that of the language, or for `LLLL` and `LLL` of a language that of `MMMM` and `MMM`.
//!
//! Source: Unicode's CLDR 47 as Java 25 prints it, which runs Elasticsearch 9.4.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use super::item::{TextNames, Unit};
use crate::RequestError;

/// Number of columns with names.
const NAMES: usize = 11;
/// The weeks of Java's neutral locale: they begin on Sunday, and the first contains 1 January.
const NEUTRAL_WEEK: &str = "7|1";

/// The codes of ISO 639 with two letters that Java knows.
const LANGUAGES: &str = "\
    aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de \
    dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id \
    ie ig ii ik in io is it iu iw ja ji jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln \
    lo lt lu lv mg mh mi mk ml mn mo mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi \
    pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk \
    tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu";

/// The codes of ISO 3166.
const COUNTRIES: &str = "\
    AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT \
    BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH \
    ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT \
    HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS \
    LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI \
    NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG \
    SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG \
    UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW";

/// The names of parts of dates in one language, as it is used in one country.
#[derive(Debug)]
pub struct Locale {
    /// As Java prints it: `de`, `de_AT`, or empty for the neutral locale.
    tag: String,
    /// The names of each column, separated by `|`.
    names: [&'static str; NAMES],
    has_neutral_weeks: bool,
}

impl PartialEq for Locale {
    fn eq(&self, other: &Locale) -> bool {
        self.tag == other.tag
    }
}

static LINES: LazyLock<HashMap<&'static str, Vec<&'static str>>> = LazyLock::new(|| {
    let lines = include_str!("locales.tsv").lines();
    lines
        .filter_map(|line| line.split_once('\t'))
        .map(|(tag, row)| (tag, row.split('\t').collect()))
        .collect()
});

static ENGLISH: LazyLock<Arc<Locale>> = LazyLock::new(|| Arc::new(Locale::read("en", "en")));

impl Locale {
    /// Returns the locale of fields that name none.
    pub fn english() -> &'static Arc<Locale> {
        &ENGLISH
    }

    /// Finds a locale by its name: `de`, `de_AT` or `de-AT`; empty or `ROOT` is the neutral one.
    ///
    /// # Errors
    /// Elasticsearch's `illegal_argument_exception` for malformed names; a language whose names are not known
    /// here is refused as unsupported.
    pub fn parse(text: &str) -> Result<Arc<Locale>, RequestError> {
        let separator = if text.contains('-') { '-' } else { '_' };
        let parts: Vec<&str> = text.split(separator).collect();
        let (language, country) = match *parts {
            [""] => ("", None),
            [root] if root.eq_ignore_ascii_case("root") => ("", None),
            [language] => (language, None),
            [language, country] => (language, Some(country)),
            [_, country, _] if COUNTRIES.split(' ').any(|known| known == country.to_ascii_uppercase()) => {
                return Err(unknown(text));
            }
            [_, country, _] => {
                return Err(unknown_code("country", country, &country.to_ascii_uppercase()));
            }
            _ => {
                let reason = format!("Locales can have at most 3 parts but got {}: {parts:?}", parts.len());
                return Err(RequestError::illegal_argument(reason.replace('"', "")));
            }
        };
        let language = language.to_ascii_lowercase();
        if !LINES.contains_key(&*language) {
            return Err(match is_language(&language) {
                true => unknown(text),
                false => unknown_code("language", parts[0], &language),
            });
        }
        let Some(country) = country else { return Ok(Arc::new(Locale::read(&language, &language))) };
        let code = country.to_ascii_uppercase();
        if !COUNTRIES.split(' ').any(|known| known == code) {
            return Err(unknown_code("country", country, &code));
        }
        Ok(Arc::new(Locale::read(&format!("{language}_{code}"), &language)))
    }

    fn read(tag: &str, language: &str) -> Locale {
        let no_line = Vec::new();
        let own = LINES.get(tag).unwrap_or(&no_line);
        let of_language = LINES.get(language).unwrap_or(&no_line);
        let column = |line: &[&'static str], at: usize| line.get(at).copied().filter(|text| !text.is_empty());
        let names = std::array::from_fn(|at| {
            let standing_alone = (2..=3).contains(&at).then(|| column(of_language, at - 2)).flatten();
            column(own, at).or(column(of_language, at)).or(standing_alone).unwrap_or_default()
        });
        let week = column(own, NAMES).or(column(of_language, NAMES)).unwrap_or(NEUTRAL_WEEK);
        Locale { tag: tag.to_owned(), names, has_neutral_weeks: week == NEUTRAL_WEEK }
    }

    /// Returns its name as Java prints it.
    pub fn tag(&self) -> &str {
        &self.tag
    }

    /// Whether its weeks begin on Sunday, and the first of a year contains 1 January.
    pub(super) fn has_neutral_weeks(&self) -> bool {
        self.has_neutral_weeks
    }

    /// Returns the names of a unit's values. `alone`: as the months are called without a day.
    pub(super) fn names(&self, unit: Unit, full: bool, alone: bool) -> TextNames {
        let long = |at: usize| if full { at } else { at + 1 };
        let (first, column) = match unit {
            Unit::Month if alone => (1, long(2)),
            Unit::Month => (1, long(0)),
            Unit::WeekDay => (1, long(4)),
            Unit::HalfDay => (0, 6),
            Unit::Era => (0, long(7)),
            _ => (1, long(9)),
        };
        TextNames { first, names: self.names[column].split('|').collect() }
    }
}

/// Whether ISO 639 has a language. Java accepts any code of three letters.
fn is_language(code: &str) -> bool {
    code.len() == 3 || LANGUAGES.split(' ').any(|known| known == code)
}

/// Creates Elasticsearch's error for a code that Java does not know.
fn unknown_code(what: &str, given: &str, code: &str) -> RequestError {
    let cause = format!("Couldn't find 3-letter {what} code for {code}");
    RequestError::illegal_argument(format!("Unknown {what}: {given}"))
        .caused_by(RequestError::bad_request("missing_resource_exception", cause))
}

fn unknown(text: &str) -> RequestError {
    RequestError::unsupported(format!("[locale: {text}]"))
}

#[cfg(test)]
mod tests {
    use crate::date::{DateFormat, Locale, Zone};

    #[track_caller]
    fn check(locale: &str, pattern: &str, text: &str) {
        let locale = Locale::parse(locale).expect("a locale");
        let format = DateFormat::parse_list_in(pattern, &locale).expect("a pattern");
        let instant = format.parse_instant(text).expect("a date");
        assert_eq!(format.format_instant(instant, &Zone::Utc), text);
    }

    #[test]
    fn names_are_those_of_the_locale() {
        check("de", "EEE, dd MMM yyyy HH:mm", "Mi., 06 Dez. 2000 02:55");
        check("fr", "d MMMM yyyy", "1 février 2020");
        check("ru", "d MMMM yyyy", "1 января 2020");
        check("ru", "LLLL yyyy", "январь 2020");
        check("de_AT", "d MMMM yyyy", "1 Jänner 2020");
        check("pl-PL", "LLLL yyyy", "styczeń 2020");
        check("ja", "yyyy MMM", "2020 12月");
        check("", "d MMMM yyyy", "1 Jan 2020");
        check("en", "d MMMM yyyy", "1 January 2020");
    }

    #[test]
    fn other_locales_are_refused() {
        let reason = |text: &str| Locale::parse(text).expect_err("refused").reason.to_string();
        assert_eq!(reason("nonsense"), "Unknown language: nonsense");
        assert_eq!(reason("de_XX"), "Unknown country: XX");
        assert_eq!(reason("zh-Hant-TW"), "Unknown country: Hant");
        assert_eq!(reason("de_DE_x_y"), "Locales can have at most 3 parts but got 4: [de, DE, x, y]");
        assert!(reason("sw").contains("[locale: sw]"));
        let german = Locale::parse("de_DE").expect("a locale");
        let error = DateFormat::parse_list_in("YYYY-ww", &german).expect_err("weeks begin on Monday");
        assert!(error.reason.contains("de_DE"), "{}", error.reason);
    }
}
