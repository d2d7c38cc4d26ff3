//! `date_index_name`: "put this document into the index of its month". Source: Elasticsearch's
//! `DateIndexNameProcessor`.
//!
//! `_index` becomes date math (`<prefix-{2016-04-25||/M{yyyy-MM-dd|UTC}}>`), which is resolved when the
//! document is written.

use jiff::tz::TimeZone;
use limber_mapping::RequestError;

use super::super::date_pattern::{DatePattern, zone};
use super::super::document::IngestDocument;
use super::super::document::path::FieldPath;
use super::super::document::value::java_text;
use super::super::options::Options;
use super::super::template::Text;
use super::date::{Format, first_instant, formats_of};
use super::{Flow, Processor};

const FORMAT: &str = "yyyy-MM-dd'T'HH:mm:ss.SSSXX";

#[derive(Debug)]
struct DateIndexName {
    field: FieldPath,
    index: FieldPath,
    formats: Vec<Format>,
    zone: TimeZone,
    zone_name: String,
    prefix: Text,
    rounding: Text,
    name_format: Text,
}

/// Compiles the processor. Options: `field` and `date_rounding`; optional `locale`, `timezone` (`UTC`),
/// `date_formats`, `index_name_prefix` (empty) and `index_name_format` (`yyyy-MM-dd`).
pub fn parse(options: &mut Options) -> Result<Box<dyn Processor>, RequestError> {
    if let Some(locale) = options.optional_string("locale")?
        && !super::date::is_english(&locale)
    {
        return Err(RequestError::unsupported(format!(
            "the locale [{locale}] of the processor [date_index_name]"
        )));
    }
    let zone_name = options.string_or("timezone", "UTC")?;
    let zone = zone(&zone_name).ok_or_else(|| {
        let reason = format!("Unknown time-zone ID: {zone_name}");
        let shown = format!("java.time.zone.ZoneRulesException: {reason}");
        let cause = RequestError::internal("zone_rules_exception", reason);
        options.locate(RequestError::internal("exception", shown).caused_by(cause))
    })?;
    let formats = match options.has("date_formats") {
        true => options.strings("date_formats")?,
        false => vec![FORMAT.to_owned()],
    };
    let formats = formats_of(formats)?;
    if let Some(Format::Pattern(name, Err(reason))) =
        formats.iter().find(|format| matches!(format, Format::Pattern(_, Err(_))))
    {
        let reason = format!("Invalid format: [{name}]: {reason}");
        let shown = format!("java.lang.IllegalArgumentException: {reason}");
        let cause = RequestError::illegal_argument(reason);
        return Err(options.locate(RequestError::internal("exception", shown).caused_by(cause)));
    }
    let field = options.path("field")?;
    let prefix = Text::parse(&options.string_or("index_name_prefix", "")?)?;
    let rounding = options.template("date_rounding")?;
    let name_format = Text::parse(&options.string_or("index_name_format", "yyyy-MM-dd")?)?;
    let index = FieldPath::parse("_index")?;
    Ok(Box::new(DateIndexName { field, index, formats, zone, zone_name, prefix, rounding, name_format }))
}

impl Processor for DateIndexName {
    fn execute(&self, document: &mut IngestDocument<'_>) -> Result<Flow, RequestError> {
        let id = self.field.get(document)?;
        let text = java_text(document, id);
        let year = document.timestamp().get(..4).and_then(|year| year.parse().ok()).unwrap_or(1970);
        let instant = first_instant(&self.formats, &text, year, &self.zone)?;
        let name_format = self.name_format.render(document)?;
        let pattern = DatePattern::parse(&name_format).map_err(|reason| {
            RequestError::illegal_argument(format!("Invalid format: [{name_format}]: {reason}"))
        })?;
        let name = format!(
            "<{}{{{}||/{}{{{name_format}|{}}}}}>",
            self.prefix.render(document)?,
            pattern.format(instant, &self.zone),
            self.rounding.render(document)?,
            self.zone_name
        );
        let name = document.make_string(&name)?;
        self.index.set(document, name)?;
        Ok(Flow::Continue)
    }
}
