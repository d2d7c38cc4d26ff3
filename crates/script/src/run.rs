//! A compiled script at work on one document after another: the interpreter behind everything that [`super::block`] cannot do for a
//! whole block of documents.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use limber_mapping::RequestError;
use limber_mapping::date::DateFormat;
use limber_work as work;

use super::context::Frozen;
use super::documents::{DocId, Documents, FieldValues};
use super::emit::Emitted;
use super::error::ScriptError;
use super::field_part::part_of;
use super::map::{MapOrder, MapValue};
use super::tree::{Binary, Compiled, Expr, FieldPart, Kind, LambdaBody, Stmt, Type, Variable};
use super::value::{Failure, Value};

/// Rounds of a function's loops, as in Painless.
const LOOPS_MAX: u32 = 1_000_000;
/// Nesting of calls and expressions at run time: what fits the stack of a thread.
const DEPTH_MAX: u32 = 240;
/// What one batch of documents may take. Painless has no such limit.
const TIME_MAX: Duration = Duration::from_secs(10);
/// Items and characters that a script may make for a batch of documents.
const GROWTH_MAX: u64 = 32 << 20;

pub(super) type Outcome<T> = Result<T, ScriptError>;

enum Flow {
    Next,
    Break,
    Continue,
    Return(Value),
}

/// The documents that the script runs over.
struct Batch<'a> {
    documents: Box<dyn Documents + 'a>,
    docs: Vec<DocId>,
    /// Index of the current document in the batch.
    at: usize,
    source: Option<(DocId, Value)>,
}

/// A script with its parameters, on one segment or on none.
pub(crate) struct Run<'a> {
    script: &'a Compiled,
    batch: Option<Batch<'a>>,
    pub(super) params: Value,
    pub(crate) score: f64,
    /// What the script is given in its first slot ([`ScriptContext::given`](super::tree::ScriptContext::given)).
    pub(super) given: Option<Value>,
    /// `ctx`.
    pub(crate) ctx: Value,
    /// What of `ctx` may not be changed.
    pub(super) frozen: Frozen,
    /// `_value`.
    pub(crate) aggregated: Value,
    pub(super) locals: Vec<Value>,
    /// Where the slots of the running function begin.
    pub(super) base: usize,
    loops_left: u32,
    depth: u32,
    growth_left: u64,
    until: Instant,
    /// The runtime field that the script makes.
    pub(super) field_name: Arc<str>,
    /// How a runtime field's script reads dates.
    pub(super) date_format: Option<Arc<DateFormat>>,
    /// What the document's runtime field has so far.
    pub(crate) emitted: Vec<Emitted>,
    /// Every list, map and set that was made for the document: emptied one by one, so that neither a chain of them needs a deep stack
    /// to be dropped, nor one that holds itself stays for ever.
    made: Vec<Value>,
}

impl Drop for Run<'_> {
    fn drop(&mut self) {
        self.dismantle();
    }
}

impl<'a> Run<'a> {
    pub fn new(script: &'a Compiled, params: &serde_json::Map<String, serde_json::Value>) -> Run<'a> {
        Run {
            script,
            batch: None,
            params: Value::from_json(&serde_json::Value::Object(params.clone())),
            score: 0.0,
            given: None,
            ctx: Value::Null,
            frozen: Frozen::Nothing,
            aggregated: Value::Null,
            locals: Vec::new(),
            base: 0,
            loops_left: LOOPS_MAX,
            depth: 0,
            growth_left: GROWTH_MAX,
            until: Instant::now() + TIME_MAX,
            field_name: Arc::from(""),
            date_format: None,
            emitted: Vec::new(),
            made: Vec::new(),
        }
    }

    pub fn over(mut self, documents: Box<dyn Documents + 'a>) -> Run<'a> {
        self.batch = Some(Batch { documents, docs: Vec::new(), at: 0, source: None });
        self
    }

    /// Starts a batch of documents, ascending.
    pub fn begin(&mut self, docs: &[DocId]) {
        self.until = Instant::now() + TIME_MAX;
        self.growth_left = GROWTH_MAX;
        if let Some(batch) = &mut self.batch {
            batch.docs.clear();
            batch.docs.extend_from_slice(docs);
            batch.documents.unload();
        }
    }

    /// Runs for document `at` of the batch.
    pub fn run(&mut self, at: usize) -> Outcome<Value> {
        if let Some(batch) = &mut self.batch {
            batch.at = at;
        }
        let script = self.script;
        self.dismantle();
        self.base = 0;
        self.depth = 0;
        self.loops_left = LOOPS_MAX;
        self.locals.clear();
        self.locals.resize(usize::from(script.slots), Value::Null);
        if let (Some(slot), Some(given)) = (self.locals.first_mut(), &self.given) {
            *slot = given.clone();
        }
        match self.block(&script.body)? {
            Flow::Return(value) => Ok(value),
            _ => Ok(Value::Null),
        }
    }

    /// A field as the list of its values, so that it outlives the document.
    pub fn settle(&mut self, value: Value) -> Outcome<Value> {
        match value {
            Value::Field(field) => Ok(Value::list(self.field_values(field, 0)?)),
            other => Ok(other),
        }
    }

    pub(super) fn reader(&mut self, field: u16, at: u32) -> Outcome<(&mut dyn FieldValues, usize)> {
        let Some(batch) = &mut self.batch else {
            return Err(ScriptError::argument(at, "[doc] is not there in this context"));
        };
        let bound = batch.documents.field(field);
        if let Some(refused) = &bound.refused {
            return Err(ScriptError::new(at, refused.kind, refused.reason.clone()));
        }
        if bound.field.is_none() {
            return Err(ScriptError::argument(at, format!("No field found for [{}] in mapping", bound.name)));
        }
        Ok((batch.documents.values(field, &batch.docs)?, batch.at))
    }

    pub(super) fn is_mapped(&self, name: &str) -> bool {
        self.batch.as_ref().is_some_and(|batch| batch.documents.is_mapped(name))
    }

    pub(super) fn field_is_mapped(&self, field: u16) -> bool {
        self.batch.as_ref().is_some_and(|batch| batch.documents.field(field).field.is_some())
    }

    /// The documents of the batch, and where they come from.
    pub(super) fn batch(&self) -> Option<(&dyn Documents, &[DocId])> {
        self.batch.as_ref().map(|batch| (&*batch.documents as &dyn Documents, batch.docs.as_slice()))
    }

    /// `randomScore(seed)` of the current document.
    pub(super) fn random_by_place(&self, seed: i32) -> Option<f64> {
        self.batch.as_ref().map(|batch| batch.documents.random_by_place(batch.docs[batch.at], seed))
    }

    pub(super) fn field_size(&mut self, field: u16, at: u32) -> Outcome<usize> {
        let (reader, doc) = self.reader(field, at)?;
        Ok(reader.count(doc))
    }

    pub(super) fn field_value(&mut self, field: u16, nth: usize, at: u32) -> Outcome<Value> {
        let (reader, doc) = self.reader(field, at)?;
        match reader.count(doc) {
            0 => Err(ScriptError::new(
                at,
                "illegal_state_exception",
                "A document doesn't have a value for a field! Use doc[<field>].size()==0 to check if a document is missing a field!",
            )),
            count if nth >= count => Err(ScriptError::new(
                at,
                "index_out_of_bounds_exception",
                format!("Index {nth} out of bounds for length {count}"),
            )),
            _ => {
                let value = reader.value(doc, nth)?;
                // The script may keep it.
                if let (Value::Str(text), true) = (&value, self.given.is_some()) {
                    self.grow(text.len(), at)?;
                }
                Ok(value)
            }
        }
    }

    pub(super) fn field_values(&mut self, field: u16, at: u32) -> Outcome<Vec<Value>> {
        let count = self.field_size(field, at)?;
        (0..count).map(|nth| self.field_value(field, nth, at)).collect()
    }

    /// `params._source`.
    fn source(&mut self) -> Outcome<Value> {
        let Some(batch) = &mut self.batch else { return Ok(Value::Null) };
        let doc = batch.docs[batch.at];
        if let Some((loaded, source)) = &batch.source
            && *loaded == doc
        {
            return Ok(source.clone());
        }
        if batch.documents.is_nested() {
            return Err(ScriptError::unsupported(0, "[params._source] of a nested document"));
        }
        let source = batch.documents.source(doc)?;
        let json: serde_json::Value = serde_json::from_slice(&source).unwrap_or_default();
        let source_bytes = source.len();
        let source = Value::from_json(&json);
        batch.source = Some((doc, source.clone()));
        if self.given.is_some() {
            self.grow(source_bytes, 0)?;
        }
        Ok(source)
    }

    pub(super) fn param(&mut self, name: &str) -> Outcome<Value> {
        let found = match &self.params {
            Value::Map(map) => map.borrow().get(&Value::str(name)).cloned(),
            _ => None,
        };
        match found {
            Some(value) => Ok(value),
            None if name == "_source" => self.source(),
            None => Ok(Value::Null),
        }
    }

    /// Sets a parameter.
    pub(super) fn set_param(&mut self, name: &str, value: Value) {
        if let Value::Map(map) = &self.params {
            map.borrow_mut().put(Value::str(name), value);
        }
    }

    /// Refuses the change of a list or map that the script may not change.
    pub(super) fn check_frozen(&mut self, target: &Value, at: u32) -> Outcome<()> {
        self.frozen.check(target, &self.ctx, at)
    }

    /// What the script made, which from now on is the caller's to dismantle, and what that counts; the next run may make as much.
    pub(super) fn hand_over(&mut self, made: &mut Vec<Value>) -> u64 {
        made.append(&mut self.made);
        GROWTH_MAX - std::mem::replace(&mut self.growth_left, GROWTH_MAX)
    }

    fn dismantle(&mut self) {
        dismantle(&mut self.made);
    }

    /// Remembers what was just made and belongs to no one else yet.
    fn remember(&mut self, value: &Value) {
        let is_new = match value {
            Value::List(items) => Rc::strong_count(items) == 1,
            Value::Map(map) | Value::Set(map) => Rc::strong_count(map) == 1,
            _ => false,
        };
        if is_new {
            self.made.push(value.clone());
        }
    }

    /// Accounts for what a script makes.
    pub(super) fn grow(&mut self, amount: usize, at: u32) -> Outcome<()> {
        match self.growth_left.checked_sub(amount as u64) {
            Some(left) => {
                self.growth_left = left;
                Ok(())
            }
            None => Err(ScriptError::limit(at, "The memory that a script may use has been used up.")),
        }
    }

    fn tick(&mut self, at: u32) -> Outcome<()> {
        if self.loops_left == 0 {
            return Err(ScriptError::limit(
                at,
                "The maximum number of statements that can be executed in a loop has been reached.",
            ));
        }
        self.loops_left -= 1;
        if self.loops_left.is_multiple_of(1024) { self.check_time(at) } else { Ok(()) }
    }

    /// A regular expression of the script.
    pub(super) fn regex(&self, number: u16) -> &'a super::regex::Regex {
        &self.script.regexes[usize::from(number)]
    }

    /// A compiled pattern of the script.
    pub(super) fn extractor(&self, number: u16) -> &'a super::extract::Extractor {
        &self.script.extractors[usize::from(number)]
    }

    pub(super) fn check_time(&self, at: u32) -> Outcome<()> {
        work::check_beyond_deadline().map_err(RequestError::from)?;
        if Instant::now() > self.until {
            return Err(ScriptError::limit(at, "The time that a script may take has been used up."));
        }
        Ok(())
    }

    fn deeper(&mut self, at: u32) -> Outcome<()> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(ScriptError::new(at, "stack_overflow_error", ""));
        }
        Ok(())
    }

    fn block(&mut self, body: &'a [Stmt]) -> Outcome<Flow> {
        for statement in body {
            match self.statement(statement)? {
                Flow::Next => {}
                other => return Ok(other),
            }
        }
        Ok(Flow::Next)
    }

    fn statement(&mut self, statement: &'a Stmt) -> Outcome<Flow> {
        match statement {
            Stmt::Expr(expr) => {
                self.eval(expr)?;
            }
            Stmt::Declare(slot, ty, value) => {
                let value = match value {
                    Some(value) => self.eval(value)?,
                    None => zero_of(*ty),
                };
                self.locals[self.base + usize::from(*slot)] = value;
            }
            Stmt::If(condition, yes, no) => {
                let body = if self.test(condition)? { yes } else { no };
                return self.nested(body, condition.at);
            }
            Stmt::Loop { condition, step, body, is_do, at } => {
                return self.repeat(condition.as_ref(), step.as_ref(), body, *is_do, *at);
            }
            Stmt::ForEach { slot, ty, items, body } => return self.for_each(*slot, *ty, items, body),
            Stmt::Return(None) => return Ok(Flow::Return(Value::Null)),
            Stmt::Return(Some(value)) => return Ok(Flow::Return(self.eval(value)?)),
            Stmt::Break => return Ok(Flow::Break),
            Stmt::Continue => return Ok(Flow::Continue),
            Stmt::Throw(thrown) => {
                let at = thrown.at;
                return Err(match self.eval(thrown)? {
                    Value::Exception(class, message) => {
                        ScriptError::new(at, kind_of(class), message.as_ref())
                    }
                    other => ScriptError::cast(
                        at,
                        format!("Cannot cast from [{}] to [java.lang.Exception].", other.class()),
                    ),
                });
            }
            Stmt::Block(inner) => return self.block(inner),
            Stmt::Try(body, catches) => return self.attempt(body, catches),
        }
        Ok(Flow::Next)
    }

    fn nested(&mut self, body: &'a [Stmt], at: u32) -> Outcome<Flow> {
        self.deeper(at)?;
        let flow = self.block(body)?;
        self.depth -= 1;
        Ok(flow)
    }

    fn repeat(
        &mut self,
        condition: Option<&'a Expr>,
        step: Option<&'a Expr>,
        body: &'a [Stmt],
        is_do: bool,
        at: u32,
    ) -> Outcome<Flow> {
        let mut is_first = is_do;
        loop {
            if !is_first
                && let Some(condition) = condition
                && !self.test(condition)?
            {
                return Ok(Flow::Next);
            }
            is_first = false;
            self.tick(at)?;
            match self.nested(body, at)? {
                Flow::Break => return Ok(Flow::Next),
                Flow::Return(value) => return Ok(Flow::Return(value)),
                Flow::Next | Flow::Continue => {}
            }
            if let Some(step) = step {
                self.eval(step)?;
            }
        }
    }

    fn for_each(&mut self, slot: u16, ty: Type, items: &'a Expr, body: &'a [Stmt]) -> Outcome<Flow> {
        let at = items.at;
        let list = self.eval(items)?;
        for item in self.items(&list, at)? {
            self.tick(at)?;
            let item = item.cast(ty).map_err(|failure| failed(failure, at))?;
            self.locals[self.base + usize::from(slot)] = item;
            match self.nested(body, at)? {
                Flow::Break => break,
                Flow::Return(value) => return Ok(Flow::Return(value)),
                Flow::Next | Flow::Continue => {}
            }
        }
        Ok(Flow::Next)
    }

    /// The items of what can be walked.
    pub(super) fn items(&mut self, list: &Value, at: u32) -> Outcome<Vec<Value>> {
        Ok(match list {
            Value::List(items) => {
                // The copy, and what it may be appended to.
                let bytes = items.borrow().len() * size_of::<Value>();
                work::claim(2 * bytes as u64).map_err(RequestError::from)?;
                items.borrow().clone()
            }
            Value::Set(set) => set.borrow().walk().into_iter().map(|(item, _)| item).collect(),
            Value::Field(field) => self.field_values(*field, at)?,
            Value::Null => {
                return Err(ScriptError::new(at, "null_pointer_exception", "Cannot iterate over [null]"));
            }
            other => {
                return Err(ScriptError::argument(at, format!("Cannot iterate over [{}]", other.class())));
            }
        })
    }

    fn attempt(&mut self, body: &'a [Stmt], catches: &'a [(&'static str, u16, Vec<Stmt>)]) -> Outcome<Flow> {
        let depth = self.depth;
        let error = match self.block(body) {
            Err(error) if error.foreign.is_none() && error.kind != "painless_error" => error,
            other => return other,
        };
        self.depth = depth;
        for (class, slot, caught) in catches {
            let is_caught = matches!(*class, "java.lang.Exception" | "java.lang.RuntimeException")
                || kind_of(class) == error.kind;
            if is_caught {
                let exception = Value::Exception(class, error.reason.as_str().into());
                self.locals[self.base + usize::from(*slot)] = exception;
                return self.block(caught);
            }
        }
        Err(error)
    }

    fn test(&mut self, condition: &'a Expr) -> Outcome<bool> {
        match self.eval(condition)? {
            Value::Bool(flag) => Ok(flag),
            other => Err(ScriptError::cast(
                condition.at,
                format!("Cannot cast from [{}] to [boolean].", other.class()),
            )),
        }
    }

    pub(super) fn eval(&mut self, expr: &'a Expr) -> Outcome<Value> {
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
                self.remember(&value);
                value
            }
        };
        self.depth -= 1;
        Ok(value)
    }

    /// Expressions that make things or call something; apart from the others to keep their frames small.
    #[inline(never)]
    fn eval_call(&mut self, expr: &'a Expr) -> Outcome<Value> {
        let at = expr.at;
        match &expr.kind {
            Kind::Member { target, name, null_safe } => {
                let target = self.eval(target)?;
                if *null_safe && target.is_null() { Ok(Value::Null) } else { self.member(&target, name, at) }
            }
            Kind::Index(target, index) => {
                let target = self.eval(target)?;
                let index = self.eval(index)?;
                self.index(&target, &index, at)
            }
            Kind::Call { target, name, arguments, null_safe } => {
                let target = self.eval(target)?;
                if *null_safe && target.is_null() {
                    return Ok(Value::Null);
                }
                let arguments = self.eval_all(arguments)?;
                self.method(&target, name, arguments, at)
            }
            Kind::Static { class, name, arguments } => {
                let arguments = self.eval_all(arguments)?;
                super::statics::call(self, class, name, &arguments, at)
            }
            Kind::BuiltIn { name, arguments } => self.built_in(name, arguments, at),
            Kind::Function(number, arguments) => {
                let arguments = self.eval_all(arguments)?;
                self.function(*number, arguments, at)
            }
            Kind::New(class, arguments) => {
                let arguments = self.eval_all(arguments)?;
                super::statics::create(self, class, &arguments, at)
            }
            Kind::NewArray(ty, length) => {
                let length = self.eval(length)?.i64();
                let length = usize::try_from(length)
                    .map_err(|_| ScriptError::new(at, "negative_array_size_exception", length.to_string()))?;
                self.grow(length.saturating_mul(16), at)?;
                Ok(Value::list(vec![zero_of(*ty); length]))
            }
            Kind::List(items) => {
                self.grow(64 + items.len() * 16, at)?;
                Ok(Value::list(self.eval_all(items)?))
            }
            Kind::Map(pairs) => {
                self.grow(64 + pairs.len() * 32, at)?;
                let mut map = MapValue::new(MapOrder::Hashed);
                for (key, value) in pairs {
                    let key = self.eval(key)?;
                    let value = self.eval(value)?;
                    map.put(key, value);
                }
                Ok(Value::Map(Rc::new(RefCell::new(map))))
            }
            Kind::Lambda(number) => Ok(Value::Lambda(*number)),
            Kind::Extractor(number) => Ok(Value::Extractor(*number)),
            Kind::Regex(number) => Ok(Value::Pattern(*number)),
            Kind::InstanceOf(inner, class) => {
                let value = self.eval(inner)?;
                Ok(Value::Bool(super::statics::is_instance(&value, class)))
            }
            Kind::Assign { target, op, value, gives_old } => self.assign(target, *op, value, *gives_old),
            other => Err(ScriptError::argument(at, format!("unexpected expression [{other:?}]"))),
        }
    }

    /// Refuses to put functions and patterns, which belong to one script, into what several scripts see.
    pub(super) fn check_kept(&self, name: &str, arguments: &[Value], at: u32) -> Outcome<()> {
        let is_own = |value: &Value| {
            matches!(value, Value::Lambda(_) | Value::Extractor(_) | Value::Pattern(_) | Value::Matcher(_))
        };
        let is_kept = matches!(name, "add" | "asList" | "put" | "putIfAbsent" | "set" | "singletonList");
        match self.given.is_some() && is_kept && arguments.iter().any(is_own) {
            true => Err(ScriptError::unsupported(at, "a function in a list or map")),
            false => Ok(()),
        }
    }

    #[inline(never)]
    fn built_in(&mut self, name: &str, arguments: &'a [Expr], at: u32) -> Outcome<Value> {
        let arguments = self.eval_all_lazily(arguments)?;
        match name {
            "emit" => self.emit(arguments, at),
            _ => super::score_functions::call(self, name, &arguments, at),
        }
    }

    fn eval_all(&mut self, arguments: &'a [Expr]) -> Outcome<Vec<Value>> {
        arguments.iter().map(|argument| self.eval(argument)).collect()
    }

    /// A field that is an argument is named rather than read: it need not be mapped.
    fn eval_all_lazily(&mut self, arguments: &'a [Expr]) -> Outcome<Vec<Value>> {
        arguments
            .iter()
            .map(|argument| match argument.kind {
                Kind::Field(field) => Ok(Value::Field(field)),
                _ => self.eval(argument),
            })
            .collect()
    }

    pub(super) fn binary(&mut self, op: Binary, left: &Value, right: &Value, at: u32) -> Outcome<Value> {
        let value = Value::binary(op, left, right).map_err(|failure| failed(failure, at))?;
        if let Value::Str(text) = &value {
            self.grow(text.len(), at)?;
        }
        Ok(value)
    }

    fn function(&mut self, number: u16, arguments: Vec<Value>, at: u32) -> Outcome<Value> {
        let function = &self.script.functions[usize::from(number)];
        self.deeper(at)?;
        self.check_time(at)?;
        let (base, loops_left) = (self.base, self.loops_left);
        self.base = self.locals.len();
        self.loops_left = LOOPS_MAX;
        self.locals.extend(arguments);
        self.locals.resize(self.base + usize::from(function.slots), Value::Null);
        let flow = self.block(&function.body);
        self.locals.truncate(self.base);
        (self.base, self.loops_left) = (base, loops_left);
        let value = match flow? {
            Flow::Return(value) => value,
            _ => zero_of(function.returns),
        };
        self.depth -= 1;
        Ok(value)
    }

    /// Calls a lambda, whose parameters are slots of the frame around.
    pub(super) fn lambda(&mut self, lambda: &Value, arguments: &[Value], at: u32) -> Outcome<Value> {
        let Value::Lambda(number) = lambda else {
            return Err(ScriptError::cast(
                at,
                format!("Cannot cast from [{}] to a function.", lambda.class()),
            ));
        };
        self.tick(at)?;
        let script = self.script;
        let lambda = &script.lambdas[usize::from(*number)];
        if lambda.parameters.len() != arguments.len() {
            return Err(ScriptError::argument(
                at,
                format!(
                    "Incorrect number of parameters for lambda: expected {}, found {}",
                    arguments.len(),
                    lambda.parameters.len()
                ),
            ));
        }
        for (slot, argument) in lambda.parameters.iter().zip(arguments) {
            self.locals[self.base + usize::from(*slot)] = argument.clone();
        }
        match &lambda.body {
            LambdaBody::Expr(expr) => self.eval(expr),
            LambdaBody::Block(body) => match self.nested(body, at)? {
                Flow::Return(value) => Ok(value),
                _ => Ok(Value::Null),
            },
        }
    }

    /// What expressions know of a field, and the coordinates of a point.
    fn field_part(&mut self, field: u16, part: FieldPart, at: u32) -> Outcome<f64> {
        let is_coordinate = matches!(part, FieldPart::Latitude | FieldPart::Longitude);
        // Expressions take 0 for what a document lacks.
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

/// Empties lists, maps and sets one by one, and lets go of them.
pub(super) fn dismantle(made: &mut Vec<Value>) {
    for value in made.iter() {
        match value {
            Value::List(items) => items.borrow_mut().clear(),
            Value::Map(map) | Value::Set(map) => map.borrow_mut().clear(),
            _ => {}
        }
    }
    made.clear();
}

pub(super) fn failed((kind, reason): Failure, at: u32) -> ScriptError {
    ScriptError::new(at, kind, reason)
}

fn zero_of(ty: Type) -> Value {
    match ty {
        Type::Bool => Value::Bool(false),
        Type::Char => Value::Char(0),
        Type::Byte | Type::Short | Type::Int => Value::Int(0),
        Type::Long => Value::Long(0),
        Type::Float => Value::Float(0.0),
        Type::Double => Value::Double(0.0),
        _ => Value::Null,
    }
}

/// Elasticsearch's name of an exception's class.
fn kind_of(class: &str) -> &'static str {
    match class.rsplit('.').next().unwrap_or(class) {
        "IllegalArgumentException" => "illegal_argument_exception",
        "IllegalStateException" => "illegal_state_exception",
        "ArithmeticException" => "arithmetic_exception",
        "NullPointerException" => "null_pointer_exception",
        "RuntimeException" => "runtime_exception",
        _ => "exception",
    }
}
