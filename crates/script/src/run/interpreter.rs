//! Runs a compiled script on one document after another: the interpreter for everything that
//! [`super::block`] cannot do for a whole block of documents.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use limber_mapping::date::DateFormat;

use super::emit::Emitted;
use super::flow::Flow;
use super::frozen::Frozen;
use super::functions::Calls;
use crate::documents::{DocId, Documents};
use crate::error::{Outcome, ScriptError, failed};
use crate::language::{Compiled, Expr, Kind, Variable};
use crate::library::{
    Machine, call_built_in, call_method, call_static, create_object, field_named, get_index, get_member,
    is_instance,
};
use crate::types::FieldPart;
use crate::values::{
    MapOrder, MapValue, Value, dismantle, each_container, each_new, is_container, is_of_one_script, part_of,
};

/// Maximum number of iterations of a function's loops, as in Painless.
pub(super) const LOOPS_MAX: u32 = 1_000_000;
/// Largest nesting of calls and expressions at run time that fits the stack of a thread.
const DEPTH_MAX: u32 = 240;
/// Longest time for one batch of documents. Painless has no such limit.
const TIME_MAX: Duration = Duration::from_secs(10);
/// Maximum number of items and characters that a script may make for a batch of documents.
const GROWTH_MAX: u64 = 32 << 20;

/// The documents that the script runs over.
pub(crate) struct Batch<'a> {
    pub(crate) documents: Box<dyn Documents + 'a>,
    pub(crate) docs: Vec<DocId>,
    /// Index of the current document in the batch.
    pub(crate) at: usize,
    /// The document whose source was read last, and the source.
    pub(crate) source: Option<(DocId, Value)>,
}

/// A script with its parameters, on one segment or on none.
pub(crate) struct Run<'a> {
    pub(crate) script: &'a Compiled,
    pub(crate) batch: Option<Batch<'a>>,
    pub(crate) params: Value,
    pub(crate) score: f64,
    /// The value that the script is given in its first slot
    /// ([`ScriptContext::given`](crate::language::ScriptContext::given)).
    pub(crate) given: Option<Value>,
    /// The numbers in its first slots
    /// ([`ScriptContext::given_numbers`](crate::language::ScriptContext::given_numbers)).
    pub(crate) given_numbers: Vec<Value>,
    /// `ctx`.
    pub(crate) ctx: Value,
    /// The part of `ctx` that may not be changed.
    pub(crate) frozen: Frozen,
    /// When the request began, as text.
    pub(crate) timestamp: Option<Arc<str>>,
    /// `_value`.
    pub(crate) aggregated: Value,
    pub(crate) locals: Vec<Value>,
    /// Index in `locals` of the running function's first slot.
    pub(crate) base: usize,
    pub(super) calls: Calls,
    pub(super) loops_left: u32,
    pub(super) depth: u32,
    /// Steps of the library since the time was last checked.
    pub(super) steps: usize,
    pub(crate) growth_left: u64,
    pub(crate) until: Instant,
    /// The runtime field that the script computes.
    pub(crate) field_name: Arc<str>,
    /// How a runtime field's script reads dates.
    pub(crate) date_format: Option<Arc<DateFormat>>,
    /// The values emitted for the document so far.
    pub(crate) emitted: Vec<Emitted>,
    /// Every list, map and set that was made for the document. They are emptied one by one, so that
    /// dropping a chain of them needs no deep stack, and one that contains itself is freed.
    pub(super) made: Vec<Value>,
    /// Those of `ctx` and of the parameters, as the script got them: it may have put one into itself.
    adopted: Vec<Value>,
}

impl Drop for Run<'_> {
    fn drop(&mut self) {
        self.dismantle();
        // The value that a script is given outlives it, and may contain parameters.
        if self.given.is_none() {
            dismantle(&mut self.adopted);
        }
    }
}

impl<'a> Run<'a> {
    /// Prepares a script without documents.
    pub fn new(script: &'a Compiled, params: &serde_json::Map<String, serde_json::Value>) -> Run<'a> {
        let params = Value::from_json(&serde_json::Value::Object(params.clone()));
        let mut adopted = Vec::new();
        each_container(&params, |container| adopted.push(container.clone()));
        Run {
            script,
            batch: None,
            params,
            score: 0.0,
            given: None,
            given_numbers: Vec::new(),
            ctx: Value::Null,
            frozen: Frozen::Nothing,
            timestamp: None,
            aggregated: Value::Null,
            locals: Vec::new(),
            base: 0,
            calls: Calls::default(),
            loops_left: LOOPS_MAX,
            depth: 0,
            steps: 0,
            growth_left: GROWTH_MAX,
            until: Instant::now() + TIME_MAX,
            field_name: Arc::from(""),
            date_format: None,
            emitted: Vec::new(),
            made: Vec::new(),
            adopted,
        }
    }

    /// Gives the script its `ctx`.
    pub(crate) fn give_ctx(&mut self, ctx: Value) {
        each_container(&ctx, |container| self.adopted.push(container.clone()));
        self.ctx = ctx;
    }

    /// Gives the script the documents that it runs over.
    pub fn over(mut self, documents: Box<dyn Documents + 'a>) -> Run<'a> {
        self.batch = Some(Batch { documents, docs: Vec::new(), at: 0, source: None });
        self
    }

    /// Resets the script's time limit, and its memory limit less `kept_bytes`.
    pub fn renew(&mut self, kept_bytes: u64) {
        self.until = Instant::now() + TIME_MAX;
        self.renew_memory(kept_bytes);
    }

    /// Resets the script's memory limit. `kept_bytes` outlive the document and still count.
    pub fn renew_memory(&mut self, kept_bytes: u64) {
        self.growth_left = GROWTH_MAX.saturating_sub(kept_bytes);
    }

    /// Starts a batch of ascending documents.
    pub fn begin(&mut self, docs: &[DocId]) {
        self.renew(0);
        if let Some(batch) = &mut self.batch {
            batch.docs.clear();
            batch.docs.extend_from_slice(docs);
            batch.documents.unload();
        }
    }

    /// Runs the script for document `at` of the batch.
    pub fn run(&mut self, at: usize) -> Outcome<Value> {
        if let Some(batch) = &mut self.batch {
            batch.at = at;
        }
        let script = self.script;
        self.dismantle();
        self.base = 0;
        self.calls.restart();
        self.depth = 0;
        self.loops_left = LOOPS_MAX;
        self.locals.clear();
        self.locals.resize(usize::from(script.slots), Value::Null);
        if let (Some(slot), Some(given)) = (self.locals.first_mut(), &self.given) {
            *slot = given.clone();
        }
        for (slot, number) in self.locals.iter_mut().zip(&self.given_numbers) {
            *slot = number.clone();
        }
        match self.block(&script.body)? {
            Flow::Return(value) => Ok(value),
            _ => Ok(Value::Null),
        }
    }

    /// Replaces a field by the list of its values, which outlives the document.
    pub fn settle(&mut self, value: Value) -> Outcome<Value> {
        match value {
            Value::Field(field) => Ok(Value::list(self.field_values(field, 0)?)),
            other => Ok(other),
        }
    }

    /// Returns the documents of the batch, and the reader of their values.
    pub(crate) fn batch(&self) -> Option<(&dyn Documents, &[DocId])> {
        self.batch.as_ref().map(|batch| (&*batch.documents as &dyn Documents, batch.docs.as_slice()))
    }

    /// Sets a parameter.
    pub(crate) fn set_param(&mut self, name: &str, value: Value) {
        if let Value::Map(map) = &self.params {
            map.borrow_mut().put(Value::str(name), value);
        }
    }

    /// Moves the values that the script made to `made`, which the caller must dismantle; returns how much
    /// they count. The next run has the full allowance again.
    pub(crate) fn hand_over(&mut self, made: &mut Vec<Value>) -> u64 {
        made.append(&mut self.made);
        self.forget_source();
        GROWTH_MAX - std::mem::replace(&mut self.growth_left, GROWTH_MAX)
    }

    fn dismantle(&mut self) {
        dismantle(&mut self.made);
        self.forget_source();
    }

    /// Records and charges a value that was just made and has no other owner yet.
    fn remember(&mut self, value: &Value, at: u32) -> Outcome<()> {
        let (mut bytes, mut is_kept) = (0usize, false);
        let (made, is_given) = (&mut self.made, self.given.is_some());
        each_new(value, |new| {
            bytes = bytes.saturating_add(new.bytes());
            if is_container(new) {
                made.push(new.clone());
            }
            if is_given {
                new.each_held(|held| is_kept |= is_of_one_script(held));
            }
        });
        if is_kept {
            return Err(kept_function(at));
        }
        match bytes {
            0 => Ok(()),
            bytes => self.grow(bytes, at),
        }
    }

    pub(crate) fn tick(&mut self, at: u32) -> Outcome<()> {
        if self.loops_left == 0 {
            return Err(ScriptError::limit(
                at,
                "The maximum number of statements that can be executed in a loop has been reached.",
            ));
        }
        self.loops_left -= 1;
        if self.loops_left.is_multiple_of(1024) { self.check_time(at) } else { Ok(()) }
    }

    /// Enters a level of nesting.
    pub(super) fn deeper(&mut self, at: u32) -> Outcome<()> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(ScriptError::new(at, "stack_overflow_error", ""));
        }
        Ok(())
    }

    /// Evaluates a condition.
    pub(super) fn test(&mut self, condition: &'a Expr) -> Outcome<bool> {
        match self.eval(condition)? {
            Value::Bool(flag) => Ok(flag),
            other => Err(ScriptError::cast(
                condition.at,
                format!("Cannot cast from [{}] to [boolean].", other.class()),
            )),
        }
    }

    pub(crate) fn eval(&mut self, expr: &'a Expr) -> Outcome<Value> {
        self.deeper(expr.at)?;
        let value = match &expr.kind {
            Kind::Literal(literal) => Value::of(literal),
            Kind::Local(slot) => self.locals[self.base + usize::from(*slot)].clone(),
            Kind::Score => Value::Double(self.score),
            Kind::Params => Value::Params,
            Kind::Param(name) => self.param(name)?,
            Kind::Doc => Value::Doc,
            Kind::Field(field) => {
                self.reader(*field, expr.at)?;
                Value::Field(*field)
            }
            Kind::FieldValue(field) => self.field_value(*field, 0, expr.at)?,
            Kind::FieldSize(field) => Value::Int(self.field_size(*field, expr.at)? as i32),
            Kind::FieldPart(field, part) => Value::Double(self.field_part(*field, *part, expr.at)?),
            Kind::Variable(Variable::Ctx) => self.ctx.clone(),
            Kind::Variable(Variable::AggregatedValue) => self.aggregated.clone(),
            Kind::Binary(op, left, right) => {
                let left = self.eval(left)?;
                let right = self.eval(right)?;
                self.binary(*op, &left, &right, expr.at)?
            }
            Kind::Unary(op, inner) => {
                self.eval(inner)?.unary(*op).map_err(|failure| failed(failure, expr.at))?
            }
            Kind::AndAlso(left, right) => Value::Bool(self.test(left)? && self.test(right)?),
            Kind::OrElse(left, right) => Value::Bool(self.test(left)? || self.test(right)?),
            Kind::Conditional(condition, yes, no) => {
                let branch = if self.test(condition)? { yes } else { no };
                self.eval(branch)?
            }
            Kind::Elvis(left, right) => match self.eval(left)? {
                Value::Null => self.eval(right)?,
                value => value,
            },
            Kind::Cast(ty, inner) => {
                self.eval(inner)?.cast(*ty).map_err(|failure| failed(failure, expr.at))?
            }
            _ => {
                let value = self.eval_call(expr)?;
                self.remember(&value, expr.at)?;
                value
            }
        };
        self.depth -= 1;
        Ok(value)
    }

    /// Evaluates expressions that create values or call something; apart from the others to keep their
    /// stack frames small.
    #[inline(never)]
    fn eval_call(&mut self, expr: &'a Expr) -> Outcome<Value> {
        let at = expr.at;
        match &expr.kind {
            Kind::Member { target, name, null_safe } => {
                let target = self.eval(target)?;
                if *null_safe && target.is_null() {
                    Ok(Value::Null)
                } else {
                    get_member(self, &target, name, at)
                }
            }
            Kind::Index(target, index) => {
                let target = self.eval(target)?;
                let index = self.eval(index)?;
                get_index(self, &target, &index, at)
            }
            Kind::Call { target, name, arguments, null_safe } => {
                let target = self.eval(target)?;
                if *null_safe && target.is_null() {
                    return Ok(Value::Null);
                }
                let arguments = self.eval_all(arguments)?;
                call_method(self, &target, name, arguments, at)
            }
            Kind::Static { class, name, arguments } => {
                let arguments = self.eval_all(arguments)?;
                call_static(self, class, name, &arguments, at)
            }
            Kind::BuiltIn { name, arguments } => self.built_in(name, arguments, at),
            Kind::Function(number, arguments) => {
                let arguments = self.eval_all(arguments)?;
                self.function(*number, arguments, at)
            }
            Kind::New(class, arguments) => {
                let arguments = self.eval_all(arguments)?;
                create_object(self, class, &arguments, at)
            }
            Kind::NewArray(ty, lengths) => self.new_array(*ty, lengths, at),
            Kind::List(items) => Ok(Value::list(self.eval_all(items)?)),
            Kind::Map(pairs) => {
                let mut map = MapValue::new(MapOrder::Hashed);
                for (key, value) in pairs {
                    let key = self.eval(key)?;
                    let value = self.eval(value)?;
                    map.put(key, value);
                }
                Ok(Value::Map(Rc::new(RefCell::new(map))))
            }
            Kind::Lambda(number) => Ok(self.closure(*number)),
            Kind::Extractor(number) => Ok(Value::Extractor(*number)),
            Kind::Regex(number) => Ok(Value::Pattern(*number)),
            Kind::InstanceOf(inner, class) => {
                let value = self.eval(inner)?;
                Ok(Value::Bool(is_instance(&value, class)))
            }
            Kind::Assign { target, op, value, gives_old } => self.assign(target, *op, value, *gives_old),
            other => Err(ScriptError::argument(at, format!("unexpected expression [{other:?}]"))),
        }
    }

    #[inline(never)]
    fn built_in(&mut self, name: &str, arguments: &'a [Expr], at: u32) -> Outcome<Value> {
        let mut arguments = self.eval_all_lazily(arguments)?;
        if let ("field" | "$", Some(Value::Str(name))) = (name, arguments.first()) {
            let name = name.clone();
            arguments[0] = field_named(self, &name, at)?;
        }
        match name {
            "emit" => self.emit(arguments, at),
            _ => call_built_in(self, name, &arguments, at),
        }
    }

    fn eval_all(&mut self, arguments: &'a [Expr]) -> Outcome<Vec<Value>> {
        arguments.iter().map(|argument| self.eval(argument)).collect()
    }

    /// Evaluates arguments; a field is passed by name instead of being read, as it need not be mapped.
    fn eval_all_lazily(&mut self, arguments: &'a [Expr]) -> Outcome<Vec<Value>> {
        arguments
            .iter()
            .map(|argument| match argument.kind {
                Kind::Field(field) => Ok(Value::Field(field)),
                _ => self.eval(argument),
            })
            .collect()
    }

    /// Returns a part of a field that expressions know, or a coordinate of a point.
    fn field_part(&mut self, field: u16, part: FieldPart, at: u32) -> Outcome<f64> {
        let is_coordinate = matches!(part, FieldPart::Latitude | FieldPart::Longitude);
        // In expressions, a missing value is 0.
        if is_coordinate && self.script.language != "expression" {
            return match self.field_value(field, 0, at)? {
                Value::Point(point) if part == FieldPart::Latitude => Ok(point.latitude),
                Value::Point(point) => Ok(point.longitude),
                other => Err(ScriptError::argument(
                    at,
                    format!("dynamic getter [{}, lat] not found", other.class()),
                )),
            };
        }
        let (reader, doc) = self.reader(field, at)?;
        let Some(mapped) = reader.field() else { return Ok(0.0) };
        Ok(part_of(part, reader.stored(doc), mapped.resolution(), |stored| mapped.decode_f64(stored)))
    }
}

/// Returns the error for a value of one script in a list or map that other scripts see.
pub(super) fn kept_function(at: u32) -> ScriptError {
    ScriptError::unsupported(at, "a function in a list or map")
}
