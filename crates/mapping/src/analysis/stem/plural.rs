//! Stemmers that only remove plurals (English, Spanish), and one for Persian endings.

use super::suffix::{Suffix, Word, without_accent};

/// Removes English plurals. Source: Elasticsearch's `EnglishPluralStemFilter`.
pub fn english(word: &mut Word) {
    const KEEP_OE: &[&str] = &["shoes", "canoes", "oboes"];
    const KEEP_CHE: &[&str] = &[
        "cliches",
        "avalanches",
        "mustaches",
        "moustaches",
        "quiches",
        "headaches",
        "heartaches",
        "porsches",
        "tranches",
        "caches",
    ];
    let length = word.len();
    if length < 3 || word.back(1) != 's' || matches!(word.back(2), 'u' | 's') {
        return;
    }
    let ends = |list: &[&str]| list.iter().any(|one| word.ends(one));
    let count = match (word.back(4), word.back(3), word.back(2)) {
        (_, 'i', 'e') if length > 4 => {
            word.put(3, 'y');
            2
        }
        (_, 'x', 'e') if length > 4 => 2,
        (_, 'o', 'e') if length > 3 && !ends(KEEP_OE) => 2,
        ('s', 'h' | 's', 'e') if length > 4 => 2,
        ('c', 'h', 'e') if length > 4 && !ends(KEEP_CHE) => 2,
        _ => 1,
    };
    word.cut(count);
}

/// Spanish words that look like plurals.
const INVARIANT: &str = "\
    abrebotellas abrecartas abrelatas afueras albatros albricias aledaños alexis alicates analisis \
    andurriales antitesis añicos apendicitis apocalipsis arcoiris aries bilis boletus boris brindis \
    cactus canutas caries cascanueces cascarrabias ciempies cifosis cortaplumas corpus cosmos cosquillas \
    creces crisis cuatrocientas cuatrocientos cuelgacapas cuentacuentos cuentapasos cumpleaños \
    doscientas doscientos dosis enseres entonces esponsales estatus exequias fauces forceps fotosintesis \
    gafas gafotas gargaras gris honorarios ictus jueves lapsus lavacoches lavaplatos limpiabotas lunes \
    maitines martes mondadientes novecientas novecientos nupcias ochocientas ochocientos pais paris \
    parabrisas paracaidas parachoques paraguas pararrayos pisapapeles piscis portaaviones portamaletas \
    portamantas quinientas quinientos quitamanchas recogepelotas rictus rompeolas sacacorchos sacapuntas \
    saltamontes salvavidas seis seiscientas seiscientos setecientas setecientos sintesis tenis tifus \
    trabalenguas vacaciones venus versus viacrucis virus viveres volandas";
/// Words whose plural has `es` where the rules expect `s`.
const SPECIAL: &str = "\
    yoes noes sies clubes faralaes albalaes itemes albumes sandwiches relojes bojes contrarreloj \
    carcajes";

/// Removes Spanish plurals. Source: Lucene's `SpanishPluralStemmer`.
pub fn spanish(word: &mut Word) {
    if word.len() < 4 {
        return;
    }
    for c in word.iter_mut() {
        *c = without_accent(*c);
    }
    let text: String = word.iter().collect();
    let is_listed = |list: &str| {
        let text = text.to_lowercase();
        list.split(' ').any(|one| one == text)
    };
    if is_listed(INVARIANT) {
        return;
    }
    if is_listed(SPECIAL) {
        word.cut(2);
        return;
    }
    if word.back(1) != 's' {
        return;
    }
    let vowel = |n: usize| matches!(word.back(n), 'a' | 'e' | 'i' | 'o' | 'u');
    let (third, second) = (word.back(3), word.back(2));
    let is_gui = word.back(4) == 'q' || word.back(4) == 'g' && third == 'u' && matches!(second, 'i' | 'e');
    if !vowel(2) || is_gui {
        word.cut(1);
        return;
    }
    let takes_es = second == 'e'
        && (vowel(4) && matches!(third, 'r' | 'd' | 'l' | 'n' | 'x')
            || matches!(third, 'y' | 'u' | 's')
            || third == 'i' && matches!(word.back(4), 'u' | 'l' | 'r' | 't' | 'n'));
    if takes_es {
        word.cut(2);
    } else if second == 'i' && (vowel(3) || third == 'd') {
        word.put(2, 'y');
        word.cut(1);
    } else if (third, second) == ('c', 'e') {
        word.put(3, 'z');
        word.cut(2);
    } else {
        word.cut(1);
    }
}

/// Removes Persian endings. Source: Lucene's `PersianStemmer`.
pub fn persian(word: &mut Word) {
    for ending in ["ات", "ان", "ترين", "تر", "يي", "ي", "ها", "\u{200c}"] {
        if word.len() >= ending.chars().count() + 2 {
            word.strip(ending);
        }
    }
}
