//! The settings that are tried.

use serde_json::{Map, Value, json};

use crate::error::Error;
use crate::model::bare_text;
use crate::random::Random;

/// What a knob changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Target {
    /// `engine:<setting>`: a setting of the server, as in its configuration file.
    Engine(String),
    /// `memory-limit`: the memory limit of Limber.
    MemoryLimit,
    /// `heap`: the heap of a JVM.
    Heap,
    /// `jvm`: further options of a JVM, separated by spaces, for example a garbage collector. Empty for none.
    Jvm,
    /// `index:<setting>`: a setting of every index and template of the track.
    Index(String),
    /// `bulk-size`: the bulk size of every bulk operation.
    BulkSize,
    /// `clients:<task>`: the number of clients of a task.
    Clients(String),
    /// `track:<parameter>`: a parameter of the track.
    Track(String),
}

const TARGETS: &str = "engine:<setting>, memory-limit, heap, jvm, index:<setting>, bulk-size, clients:<task>, track:<parameter>";

impl Target {
    /// # Errors
    /// `Argument` for a name that is not one of [`TARGETS`].
    pub(super) fn parse(name: &str) -> Result<Target, Error> {
        let (kind, rest) = name.split_once(':').unwrap_or((name, ""));
        let named = |target: fn(String) -> Target| match rest {
            "" => Err(refused(format!("knob [{name}] needs a name after the colon"))),
            rest => Ok(target(rest.to_owned())),
        };
        match kind {
            "engine" => named(Target::Engine),
            "index" => named(Target::Index),
            "track" => named(Target::Track),
            "clients" => named(Target::Clients),
            "memory-limit" => Ok(Target::MemoryLimit),
            "heap" => Ok(Target::Heap),
            "jvm" => Ok(Target::Jvm),
            "bulk-size" => Ok(Target::BulkSize),
            _ => Err(refused(format!("knob [{name}] is not known; knobs are {TARGETS}"))),
        }
    }

    /// Whether it needs a server that is started for each race.
    pub(super) fn is_of_engine(&self) -> bool {
        matches!(self, Target::Engine(_) | Target::MemoryLimit | Target::Heap | Target::Jvm)
    }
}

/// One setting and the values that are tried, of which the first is the baseline.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Knob {
    pub name: String,
    pub target: Target,
    pub values: Vec<Value>,
}

impl Knob {
    /// Reads `name=value,value,…` or `name=low..high/steps`. Numbers and sizes of a range are evenly spaced
    /// on a logarithmic scale.
    ///
    /// # Errors
    /// `Argument` for anything else.
    pub(super) fn parse(text: &str) -> Result<Knob, Error> {
        let (name, values) = text.split_once('=').ok_or_else(|| {
            refused(format!("--knob [{text}] is not of the form name=value,value or name=low..high/steps"))
        })?;
        let values = match range(values) {
            Some(values) => values,
            None => values.split(',').map(|value| scalar(value.trim())).collect(),
        };
        Knob::new(name.trim(), values)
    }

    /// Reads an element of an experiment file: `{"knob": name, "values": […]}` or
    /// `{"knob": name, "range": "low..high/steps"}`.
    ///
    /// # Errors
    /// `Argument` for anything else.
    pub(super) fn from_json(json: &Value) -> Result<Knob, Error> {
        let wrong = || {
            refused(format!(
                "{json} is no knob; write {{\"knob\": name, \"values\": [...]}} or {{\"knob\": name, \"range\": \"low..high/steps\"}}"
            ))
        };
        let name = json["knob"].as_str().ok_or_else(wrong)?;
        match (&json["values"], &json["range"]) {
            (Value::Array(values), Value::Null) => Knob::new(name, values.clone()),
            (Value::Null, Value::String(text)) => Knob::new(name, range(text).ok_or_else(wrong)?),
            _ => Err(wrong()),
        }
    }

    fn new(name: &str, values: Vec<Value>) -> Result<Knob, Error> {
        let target = Target::parse(name)?;
        for (index, value) in values.iter().enumerate() {
            if value.is_object() || value.is_array() {
                return Err(refused(format!("knob [{name}]: {value} is no plain value")));
            }
            if values[..index].contains(value) {
                return Err(refused(format!("knob [{name}] has the value {value} twice")));
            }
        }
        if values.is_empty() {
            return Err(refused(format!("knob [{name}] has no values")));
        }
        Ok(Knob { name: name.to_owned(), target, values })
    }
}

fn refused(reason: String) -> Error {
    Error::Argument(reason)
}

fn scalar(text: &str) -> Value {
    match text {
        "true" => json!(true),
        "false" => json!(false),
        text => text.parse::<i64>().map_or_else(|_| json!(text), |number| json!(number)),
    }
}

/// Reads `low..high/steps`. A unit that both ends have (such as `mb`) is kept.
fn range(text: &str) -> Option<Vec<Value>> {
    let (bounds, steps) = text.trim().split_once('/')?;
    let (low, high) = bounds.split_once("..")?;
    let steps: usize = steps.trim().parse().ok().filter(|steps| (2..=100).contains(steps))?;
    let split = |text: &str| {
        let text = text.trim().to_owned();
        let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        Some((text[..digits].parse::<f64>().ok()?, text[digits..].to_owned()))
    };
    let ((low, unit), (high, unit_high)) = (split(low)?, split(high)?);
    if unit != unit_high || low <= 0.0 || high <= low {
        return None;
    }
    let ratio = (high / low).powf(1.0 / (steps - 1) as f64);
    let mut values: Vec<Value> = Vec::new();
    for step in 0..steps {
        let number = (low * ratio.powi(step as i32)).round() as i64;
        let value = if unit.is_empty() { json!(number) } else { json!(format!("{number}{unit}")) };
        if !values.contains(&value) {
            values.push(value);
        }
    }
    Some(values)
}

/// One setting of all knobs: the index of each knob's value.
pub(super) type Candidate = Vec<usize>;

/// All knobs.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Space {
    pub knobs: Vec<Knob>,
}

impl Space {
    /// Returns the number of combinations.
    pub(super) fn size(&self) -> usize {
        self.knobs.iter().fold(1, |product: usize, knob| product.saturating_mul(knob.values.len()))
    }

    /// Returns at most `count_max` candidates: all combinations if they fit, otherwise a random choice
    /// without repetition. The first candidate is the baseline, which has the first value of every knob.
    pub(super) fn candidates(&self, count_max: usize, seed: u64) -> Vec<Candidate> {
        let size = self.size();
        if size <= count_max {
            return (0..size).map(|index| self.combination(index)).collect();
        }
        let mut random = Random::new(seed);
        let mut chosen = vec![0usize];
        while chosen.len() < count_max {
            let index = random.below(size as u64) as usize;
            if !chosen.contains(&index) {
                chosen.push(index);
            }
        }
        chosen.into_iter().map(|index| self.combination(index)).collect()
    }

    /// Returns the combination with this index. Combinations count up like digits, the last knob fastest.
    fn combination(&self, mut index: usize) -> Candidate {
        let mut candidate = vec![0; self.knobs.len()];
        for (place, knob) in candidate.iter_mut().zip(&self.knobs).rev() {
            *place = index % knob.values.len();
            index /= knob.values.len();
        }
        candidate
    }

    /// Returns the candidate's settings by knob name.
    pub(super) fn settings(&self, candidate: &Candidate) -> Map<String, Value> {
        let setting = |(knob, value): (&Knob, &usize)| (knob.name.clone(), knob.values[*value].clone());
        self.knobs.iter().zip(candidate).map(setting).collect()
    }

    /// Returns `name=value, name=value`.
    pub(super) fn described(&self, candidate: &Candidate) -> String {
        let shown = |(name, value): (&String, &Value)| format!("{name}={}", bare_text(value));
        self.settings(candidate).iter().map(shown).collect::<Vec<_>>().join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knobs_are_lists_and_ranges() {
        let values =
            |text: &str| Knob::parse(text).map(|knob| knob.values).map_err(|error| error.to_string());
        assert_eq!(values("heap=512m,1g").unwrap(), [json!("512m"), json!("1g")]);
        assert_eq!(values("bulk-size=500..8000/5").unwrap(), [500, 1000, 2000, 4000, 8000].map(Value::from));
        assert_eq!(
            values("memory-limit=128mb..512mb/3").unwrap(),
            ["128mb", "256mb", "512mb"].map(Value::from)
        );
        assert_eq!(values("engine:x.y=true,false").unwrap(), [json!(true), json!(false)]);
        for (text, part) in [
            ("heap", "not of the form"),
            ("speed=1,2", "[speed] is not known"),
            ("clients=1,2", "needs a name"),
            ("heap=1g,1g", "twice"),
        ] {
            let error = values(text).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
        let json = json!({"knob": "index:index.codec", "values": ["default", "best_compression"]});
        assert_eq!(Knob::from_json(&json).unwrap().target, Target::Index("index.codec".into()));
        assert!(Knob::from_json(&json!({"knob": "heap"})).is_err());
    }

    #[test]
    fn candidates_begin_with_the_baseline() {
        let knob = |text: &str| Knob::parse(text).unwrap();
        let space = Space { knobs: vec![knob("heap=1g,2g"), knob("bulk-size=1,2,3")] };
        let all = space.candidates(100, 1);
        assert_eq!(all.len(), 6);
        assert_eq!((&all[0], &all[1], &all[5]), (&vec![0, 0], &vec![0, 1], &vec![1, 2]));
        assert_eq!(space.described(&all[5]), "heap=2g, bulk-size=3");
        let some = space.candidates(4, 1);
        assert_eq!((some.len(), &some[0]), (4, &vec![0, 0]));
        assert_eq!(some, space.candidates(4, 1));
        assert!((1..4).all(|i| !some[..i].contains(&some[i])));
    }
}
