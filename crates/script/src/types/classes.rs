//! Types and classes by name.

use super::value_type::Type;

/// Classes that a script may name, with the names that errors print.
pub(crate) const CLASSES: &[(&str, &str)] = &[
    ("Object", "java.lang.Object"),
    ("Byte", "java.lang.Byte"),
    ("Short", "java.lang.Short"),
    ("Integer", "java.lang.Integer"),
    ("Long", "java.lang.Long"),
    ("Double", "java.lang.Double"),
    ("Float", "java.lang.Float"),
    ("Boolean", "java.lang.Boolean"),
    ("Character", "java.lang.Character"),
    ("Number", "java.lang.Number"),
    ("Math", "java.lang.Math"),
    ("StringBuilder", "java.lang.StringBuilder"),
    ("List", "java.util.List"),
    ("ArrayList", "java.util.ArrayList"),
    ("Collection", "java.util.Collection"),
    ("LinkedList", "java.util.LinkedList"),
    ("ArrayDeque", "java.util.ArrayDeque"),
    ("Deque", "java.util.Deque"),
    ("Queue", "java.util.Queue"),
    ("Iterator", "java.util.Iterator"),
    ("Iterable", "java.lang.Iterable"),
    ("Optional", "java.util.Optional"),
    ("Comparator", "java.util.Comparator"),
    ("Function", "java.util.function.Function"),
    ("BiFunction", "java.util.function.BiFunction"),
    ("Predicate", "java.util.function.Predicate"),
    ("Supplier", "java.util.function.Supplier"),
    ("Map", "java.util.Map"),
    ("Map.Entry", "java.util.Map$Entry"),
    ("HashMap", "java.util.HashMap"),
    ("LinkedHashMap", "java.util.LinkedHashMap"),
    ("TreeMap", "java.util.TreeMap"),
    ("SortedMap", "java.util.SortedMap"),
    ("NavigableMap", "java.util.NavigableMap"),
    ("Set", "java.util.Set"),
    ("HashSet", "java.util.HashSet"),
    ("LinkedHashSet", "java.util.LinkedHashSet"),
    ("TreeSet", "java.util.TreeSet"),
    ("SortedSet", "java.util.SortedSet"),
    ("NavigableSet", "java.util.NavigableSet"),
    ("Collections", "java.util.Collections"),
    ("Collectors", "java.util.stream.Collectors"),
    ("Objects", "java.util.Objects"),
    ("Arrays", "java.util.Arrays"),
    ("ZonedDateTime", "java.time.ZonedDateTime"),
    ("OffsetDateTime", "java.time.OffsetDateTime"),
    ("Instant", "java.time.Instant"),
    ("ZoneId", "java.time.ZoneId"),
    ("ZoneOffset", "java.time.ZoneOffset"),
    ("ChronoUnit", "java.time.temporal.ChronoUnit"),
    ("ChronoField", "java.time.temporal.ChronoField"),
    ("IsoFields", "java.time.temporal.IsoFields"),
    ("TemporalAdjusters", "java.time.temporal.TemporalAdjusters"),
    ("DayOfWeek", "java.time.DayOfWeek"),
    ("Month", "java.time.Month"),
    ("TextStyle", "java.time.format.TextStyle"),
    ("Locale", "java.util.Locale"),
    ("DateTimeFormatter", "java.time.format.DateTimeFormatter"),
    ("Duration", "java.time.Duration"),
    ("Period", "java.time.Period"),
    ("LocalDate", "java.time.LocalDate"),
    ("LocalDateTime", "java.time.LocalDateTime"),
    ("LocalTime", "java.time.LocalTime"),
    ("Year", "java.time.Year"),
    ("YearMonth", "java.time.YearMonth"),
    ("UUID", "java.util.UUID"),
    ("BigDecimal", "java.math.BigDecimal"),
    ("BigInteger", "java.math.BigInteger"),
    ("RoundingMode", "java.math.RoundingMode"),
    ("ScriptDocValues.Geometry", "org.elasticsearch.index.fielddata.ScriptDocValues$Geometry"),
    ("ScriptDocValues.GeoPoints", "org.elasticsearch.index.fielddata.ScriptDocValues$GeoPoints"),
    ("GeoBoundingBox", "org.elasticsearch.common.geo.GeoBoundingBox"),
    ("GeoPoint", "org.elasticsearch.common.geo.GeoPoint"),
    ("Stream", "java.util.stream.Stream"),
    ("IntStream", "java.util.stream.IntStream"),
    ("LongStream", "java.util.stream.LongStream"),
    ("DoubleStream", "java.util.stream.DoubleStream"),
    ("Pattern", "java.util.regex.Pattern"),
    ("Matcher", "java.util.regex.Matcher"),
    ("MovingFunctions", "org.elasticsearch.search.aggregations.pipeline.MovingFunctions"),
    ("Exception", "java.lang.Exception"),
    ("IllegalArgumentException", "java.lang.IllegalArgumentException"),
    ("IllegalStateException", "java.lang.IllegalStateException"),
    ("ArithmeticException", "java.lang.ArithmeticException"),
    ("NullPointerException", "java.lang.NullPointerException"),
    ("RuntimeException", "java.lang.RuntimeException"),
];

/// Returns the type of a name, without array brackets.
pub(crate) fn type_of(name: &str) -> Option<Type> {
    Some(match name {
        "def" => Type::Def,
        "void" => Type::Void,
        "boolean" => Type::Bool,
        "byte" => Type::Byte,
        "short" => Type::Short,
        "char" => Type::Char,
        "int" => Type::Int,
        "long" => Type::Long,
        "float" => Type::Float,
        "double" => Type::Double,
        "String" => Type::Str,
        _ => {
            let short = name.rsplit('.').next().unwrap_or(name);
            let (_, full) =
                CLASSES.iter().find(|(known, full)| *known == name || *full == name && *known == short)?;
            Type::Object(full)
        }
    })
}

/// Returns the class for a name that methods are called on (`Math`, `String`).
pub(crate) fn class_of(name: &str) -> Option<&'static str> {
    if name == "String" {
        return Some("java.lang.String");
    }
    CLASSES.iter().find(|(known, _)| *known == name).map(|(_, full)| *full)
}
