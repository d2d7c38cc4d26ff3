//! `gauss`, `exp` and `linear`: functions that decrease with the distance of a field's value from an origin.
//!
//! Source: Elasticsearch's `DecayFunctionBuilder` and its three `DecayFunction`s.

use std::sync::Arc;

use limber_mapping::date::Zone;
use limber_mapping::geo::{self, ArcFrom, GeoPoint, Unit, parse_distance};
use limber_mapping::number::java_double;
use limber_mapping::{Field, ObjectParser, RequestError, ValueKind};
use limber_script::decay::{Curve, Falloff, Origin, Shape};
use limber_segment::columns::Batch;
use limber_segment::{DocId, Segment};
use serde_json::{Map, Value};

use super::{BoundFunction, FunctionReader, ScoreFunction};
use crate::error::Error;
use crate::geo::degrees as geo_degrees;
use crate::query::bind::Binder;
use crate::score::{Explanation, MaxScores, Span};
use crate::script::{NumberSource, RuntimeField};
use crate::values::json;
use crate::values::mode::MultiValueMode;

#[derive(Debug, Clone)]
struct Decay {
    shape: Shape,
    field: String,
    parameters: Map<String, Value>,
    mode: MultiValueMode,
}

pub(super) fn parse(
    name: &str,
    members: &Map<String, Value>,
) -> Result<Box<dyn ScoreFunction>, RequestError> {
    let malformed = || RequestError::parsing("malformed score function score parameters.");
    let shape = match name {
        "gauss" => Shape::Gauss,
        "exp" => Shape::Exp,
        _ => Shape::Linear,
    };
    let (mut field, mut mode) = (None, MultiValueMode::Min);
    for (key, value) in members {
        match value {
            Value::Object(parameters) => field = Some((key.clone(), parameters.clone())),
            value if key == "multi_value_mode" => {
                let text = json::scalar_text(value).unwrap_or_default();
                mode = MultiValueMode::parse(&text)
                    .ok_or_else(|| RequestError::illegal_argument(format!("Illegal sort mode: {text}")))?;
            }
            _ => return Err(malformed()),
        }
    }
    let (field, parameters) = field.ok_or_else(malformed)?;
    Ok(Box::new(Decay { shape, field, parameters, mode }))
}

const DEFAULT_DECAY: f64 = 0.5;

impl ScoreFunction for Decay {
    fn bind(&self, binder: &Binder<'_>) -> Result<Box<dyn BoundFunction>, Error> {
        let Some(field) = binder.field(&self.field) else {
            return Err(ObjectParser::parsing("").unknown(&self.field).into());
        };
        binder.check_column(&field)?;
        let bound = match &field.values {
            ValueKind::Point => self.on_points(&field),
            ValueKind::Date { .. } => self.on_dates(&field, binder.now_millis()),
            _ if field.is_quantity() => self.on_numbers(&field),
            _ => Err(RequestError::illegal_argument(format!(
                "field [{}] is of type [{}], but only numeric types are supported.",
                field.path,
                field.type_name()
            ))),
        };
        let mut bound = bound.map_err(|error| binder.wrapped(error))?;
        bound.runtime = RuntimeField::bind(&field, binder.shard())?;
        Ok(Box::new(bound))
    }
}

/// The parameters of one field that are common to all types.
struct Parameters<'a> {
    origin: Option<&'a Value>,
    scale: Option<&'a Value>,
    offset: Option<&'a Value>,
    decay: f64,
}

fn parse_error(reason: impl Into<String>) -> RequestError {
    RequestError::bad_request("parse_exception", reason)
}

fn double(value: &Value) -> Result<f64, RequestError> {
    let text = json::scalar_text(value).unwrap_or_default();
    text.trim().parse().map_err(|_| json::number_format(text))
}

impl Decay {
    fn parameters(&self) -> Result<Parameters<'_>, RequestError> {
        let mut found = Parameters { origin: None, scale: None, offset: None, decay: DEFAULT_DECAY };
        for (key, value) in &self.parameters {
            match key.as_str() {
                "origin" => found.origin = Some(value),
                "scale" => found.scale = Some(value),
                "offset" => found.offset = Some(value),
                "decay" => found.decay = double(value)?,
                other => return Err(parse_error(format!("parameter [{other}] not supported!"))),
            }
        }
        Ok(found)
    }

    fn on_numbers(&self, field: &Arc<Field>) -> Result<BoundDecay, RequestError> {
        let found = self.parameters()?;
        let (Some(origin), Some(scale)) = (found.origin, found.scale) else {
            return Err(parse_error("both [scale] and [origin] must be set for numeric fields."));
        };
        let offset = found.offset.map(double).transpose()?.unwrap_or(0.0);
        self.bound(field, Origin::Number(double(origin)?), double(scale)?, offset, found.decay)
    }

    fn on_dates(&self, field: &Arc<Field>, now_millis: i64) -> Result<BoundDecay, RequestError> {
        let found = self.parameters()?;
        let Some(scale) = found.scale else {
            return Err(parse_error("[scale] must be set for date fields."));
        };
        let origin = match (found.origin, field.date()) {
            (Some(origin), Some((format, _))) => {
                let text = json::scalar_text(origin).unwrap_or_default();
                format.parse_with_math(&text, now_millis, false, &Zone::Utc)?
            }
            _ => now_millis,
        };
        let millis = |value: &Value, setting: &str| {
            let text = json::scalar_text(value).unwrap_or_default();
            Ok::<f64, RequestError>(json::time_millis(&text, setting)?.map_or(-1.0, |millis| millis as f64))
        };
        let scale = millis(scale, "DecayFunctionParser.scale")?;
        let offset = found.offset.map(|offset| millis(offset, "DecayFunctionParser.offset")).transpose()?;
        self.bound(field, Origin::Number(origin as f64), scale, offset.unwrap_or(0.0), found.decay)
    }

    fn on_points(&self, field: &Arc<Field>) -> Result<BoundDecay, RequestError> {
        let found = self.parameters()?;
        let Some(scale) = found.scale else {
            return Err(parse_error("[origin] and [scale] must be set for geo fields."));
        };
        let metres =
            |value: &Value| parse_distance(&json::scalar_text(value).unwrap_or_default(), Unit::METERS);
        let origin = match found.origin {
            Some(origin) => {
                geo::read(origin, &field.path, geo::ReadOptions { ignore_z: true, bring_back: false })?
            }
            None => GeoPoint { latitude: 0.0, longitude: 0.0 },
        };
        let origin = ArcFrom::new(origin.latitude, origin.longitude);
        let offset = found.offset.map(metres).transpose()?.unwrap_or(0.0);
        self.bound(field, Origin::Point(origin), metres(scale)?, offset, found.decay)
    }

    fn bound(
        &self,
        field: &Arc<Field>,
        origin: Origin,
        scale: f64,
        offset: f64,
        decay: f64,
    ) -> Result<BoundDecay, RequestError> {
        let refuse = |what: &str| Err(RequestError::illegal_argument(format!("function_score : {what}")));
        if scale.is_nan() || scale <= 0.0 {
            return refuse("scale must be > 0.0.");
        }
        if decay.is_nan() || decay <= 0.0 || decay >= 1.0 {
            return refuse("decay must be in the range [0..1].");
        }
        if offset.is_nan() || offset < 0.0 {
            return refuse("offset must be > 0.0");
        }
        let falloff = Falloff { origin, offset, curve: Curve::new(self.shape, scale, decay) };
        Ok(BoundDecay { field: field.clone(), runtime: None, falloff, mode: self.mode })
    }
}

#[derive(Debug)]
struct BoundDecay {
    field: Arc<Field>,
    runtime: Option<Arc<RuntimeField>>,
    falloff: Falloff,
    mode: MultiValueMode,
}

impl BoundDecay {
    #[inline]
    fn distance(&self, stored: i64) -> f64 {
        let distance = match self.falloff.origin {
            Origin::Number(origin) => (self.field.decode_f64(stored) - origin).abs(),
            Origin::Point(origin) => {
                let point = GeoPoint::decode(stored);
                origin.meters(point.latitude, point.longitude)
            }
        };
        self.falloff.beyond_offset(distance)
    }

    fn explain_distance(&self, stored: &[i64]) -> String {
        if stored.is_empty() {
            return "0.0".to_owned();
        }
        let offset = java_double(self.falloff.offset);
        let one = |stored: &i64| match self.falloff.origin {
            Origin::Number(origin) => format!(
                "Math.max(Math.abs({}(=doc value) - {}(=origin))) - {offset}(=offset), 0)",
                java_double(self.field.decode_f64(*stored)),
                java_double(origin),
            ),
            Origin::Point(origin) => {
                let point = GeoPoint::decode(*stored);
                format!(
                    "Math.max(arcDistance({}, {}(=doc value),{}, {}(=origin)) - {offset}(=offset), 0)",
                    java_double(point.latitude),
                    java_double(point.longitude),
                    java_double(origin.latitude()),
                    java_double(origin.longitude()),
                )
            }
        };
        stored.iter().map(one).collect::<Vec<_>>().join(", ")
    }
}

impl BoundFunction for BoundDecay {
    fn open<'a>(&'a self, segment: &'a Segment) -> Result<Box<dyn FunctionReader + 'a>, Error> {
        let column = NumberSource::open(segment, &self.field.path, self.runtime.as_ref())?;
        Ok(Box::new(Reader { function: self, column, batch: Batch::default(), distances: Vec::new() }))
    }

    fn explain(&self, segment: &Segment, doc: DocId, score: &Explanation) -> Result<Explanation, Error> {
        let value = self.open(segment)?.read_one(doc, score.value)? as f32;
        let mut stored = Vec::new();
        if let Some(column) = NumberSource::open(segment, &self.field.path, self.runtime.as_ref())? {
            let mut batch = Batch::default();
            column.gather(&[doc], &mut batch)?;
            stored = batch.values;
        }
        let of = if matches!(self.falloff.origin, Origin::Point(_)) { " of: " } else { "" };
        let distance = format!("{}{of}[{}]", self.mode.name().to_uppercase(), self.explain_distance(&stored));
        let detail = Explanation::leaf(value, self.falloff.curve.explain(&distance));
        Ok(Explanation::of(value, format!("Function for field {}:", self.field.path), vec![detail]))
    }

    fn max_scores(&self) -> Option<Box<dyn MaxScores + '_>> {
        self.runtime.is_none().then(|| Box::new(self) as Box<dyn MaxScores>)
    }
}

impl MaxScores for &BoundDecay {
    fn field(&self) -> &Field {
        &self.field
    }

    fn max_score(&self, span: &Span) -> f64 {
        match span {
            Span::Numbers(min, max) => {
                self.falloff.most_and_least(self.field.decode_f64(*min), self.field.decode_f64(*max)).0
            }
            Span::Places(cell) => {
                let (longitudes, latitudes) = geo_degrees(cell);
                self.falloff.most_in(longitudes, latitudes)
            }
        }
    }
}

struct Reader<'a> {
    function: &'a BoundDecay,
    column: Option<NumberSource<'a>>,
    batch: Batch<i64>,
    /// The distances of one document with several values.
    distances: Vec<f64>,
}

impl FunctionReader for Reader<'_> {
    fn read(&mut self, docs: &[DocId], _: &[f32], out: &mut [f64]) -> Result<(), Error> {
        let Reader { function, column, batch, distances } = self;
        let Some(column) = column else {
            out.fill(function.falloff.curve.at(0.0));
            return Ok(());
        };
        column.gather(docs, batch)?;
        if batch.is_aligned() {
            for (out, stored) in out.iter_mut().zip(&batch.values) {
                *out = function.falloff.curve.at(function.distance(*stored));
            }
            return Ok(());
        }
        out.fill(function.falloff.curve.at(0.0));
        let mut at = 0;
        while at < batch.values.len() {
            let position = batch.positions[at];
            let count = batch.positions[at..].iter().take_while(|other| **other == position).count();
            distances.clear();
            distances.extend(batch.values[at..at + count].iter().map(|stored| function.distance(*stored)));
            distances.sort_by(f64::total_cmp);
            out[position as usize] = function.falloff.curve.at(function.mode.pick(distances));
            at += count;
        }
        Ok(())
    }
}
