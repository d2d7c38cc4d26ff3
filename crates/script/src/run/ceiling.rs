//! Bounds of a numeric script over a range of values, by interval arithmetic: "how large can its result be
//! at most?"
//!
//! Only scripts of one expression over one field are understood. All others have no ceiling and must be
//! run.

use limber_mapping::{Field, ValueKind};
use serde_json::{Map, Value as Json};

use super::block::only_expression;
use super::interpreter::Run;
use crate::decay::Falloff;
use crate::documents::BoundField;
use crate::language::{Compiled, Expr, Kind};
use crate::library::{Decay, Machine, math};
use crate::types::{Binary, FieldPart, Type, Unary};
use crate::values::Value;

/// Least and greatest value.
type Interval = (f64, f64);

/// Doubles represent all whole numbers up to here.
const WHOLE_MAX: f64 = (1u64 << 53) as f64;
/// Relative error allowed for functions of the system's math library.
const SLACK: f64 = 1.0 + 1e-9;

/// Functions that are increasing wherever they are defined.
const ASCENDING: [&str; 14] = [
    "asin", "atan", "cbrt", "ceil", "exp", "expm1", "floor", "log", "log10", "log1p", "rint", "sinh", "sqrt",
    "tanh",
];

enum Node {
    Constant(f64),
    /// The field's value as a number.
    Number,
    Arithmetic(Binary, Box<Node>, Box<Node>),
    Minus(Box<Node>),
    Ascending(fn(f64) -> f64, Box<Node>),
    Greater(Box<Node>, Box<Node>),
    Lesser(Box<Node>, Box<Node>),
    /// A number of an integer type; beyond this absolute value the arithmetic may overflow, and nothing is
    /// known.
    Whole(f64, Box<Node>),
    Decay(Falloff, Box<Node>),
    /// A decay of the field's point.
    DecayOfPoint(Falloff),
}

/// A range of a field's values.
#[derive(Debug, Clone, Copy)]
pub enum Span {
    /// As stored, both ends included.
    Numbers(i64, i64),
    /// Between these degrees.
    Places {
        /// West and east.
        longitudes: (f64, f64),
        /// South and north.
        latitudes: (f64, f64),
    },
}

/// An upper bound of a script's results, given the values of its only field.
pub struct ScriptCeiling<'s> {
    field: &'s Field,
    root: Node,
}

impl<'s> ScriptCeiling<'s> {
    /// Analyses a script; `None` if nothing is known of its results without running it.
    pub fn of(
        script: &Compiled,
        params: &Map<String, Json>,
        fields: &'s [BoundField],
    ) -> Option<ScriptCeiling<'s>> {
        let [only] = fields else { return None };
        let field = only.field.as_deref()?;
        if script.uses_score || only.refused.is_some() || only.is_runtime {
            return None;
        }
        let mut run = Run::new(script, params);
        let root = Reading { run: &mut run, field }.node(only_expression(script)?)?.0;
        Some(ScriptCeiling { field, root })
    }

    /// Returns the script's only field.
    pub fn field(&self) -> &Field {
        self.field
    }

    /// Returns an upper bound for all documents whose only value is in the span; infinity if none is known.
    pub fn most(&self, span: &Span) -> f64 {
        match self.interval(&self.root, span) {
            Some((least, most)) if least >= 0.0 => most * SLACK,
            // Negative scores are an error, so such documents must not be skipped.
            _ => f64::INFINITY,
        }
    }
}

/// Converts expressions to nodes.
struct Reading<'r, 's> {
    run: &'r mut Run<'s>,
    field: &'s Field,
}

impl Reading<'_, '_> {
    /// Returns the node with the type that the expression has at run time: the type of `doc` values is only
    /// known here.
    fn node(&mut self, expr: &Expr) -> Option<(Node, Type)> {
        Some(match &expr.kind {
            Kind::Literal(_) | Kind::Param(_) => match self.constant(expr)? {
                Value::Int(number) => (Node::Constant(f64::from(number)), Type::Int),
                Value::Long(number) => whole(Node::Constant(number as f64), Type::Long),
                Value::Double(number) => (Node::Constant(number), Type::Double),
                _ => return None,
            },
            Kind::FieldPart(_, FieldPart::First) => match self.field.number_form() {
                None => return None,
                _ if self.field.is_bool() => return None,
                _ => (Node::Number, Type::Double),
            },
            Kind::FieldValue(_) => match self.field.values {
                ValueKind::Long(_) => whole(Node::Number, Type::Long),
                ValueKind::Double(_) | ValueKind::Scaled(_) => (Node::Number, Type::Double),
                _ => return None,
            },
            Kind::Binary(op @ (Binary::Add | Binary::Sub | Binary::Mul | Binary::Div), left, right) => {
                let ((left, left_type), (right, right_type)) = (self.node(left)?, self.node(right)?);
                let ty = if left_type.rank()? >= right_type.rank()? { left_type } else { right_type };
                // Integer division truncates.
                if *op == Binary::Div && ty != Type::Double {
                    return None;
                }
                whole(Node::Arithmetic(*op, Box::new(left), Box::new(right)), ty)
            }
            Kind::Unary(Unary::Plus, inner) => self.node(inner)?,
            Kind::Unary(Unary::Minus, inner) => {
                let (inner, ty) = self.node(inner)?;
                whole(Node::Minus(Box::new(inner)), ty)
            }
            Kind::Cast(Type::Double, inner) => (self.node(inner)?.0, Type::Double),
            Kind::Cast(Type::Def, inner) => self.node(inner)?,
            Kind::Static { class: "Math", name, arguments } => {
                let node = match (&**name, arguments.as_slice()) {
                    ("max", [left, right]) => Node::Greater(self.boxed(left)?, self.boxed(right)?),
                    ("min", [left, right]) => Node::Lesser(self.boxed(left)?, self.boxed(right)?),
                    (name, [inner]) if ASCENDING.contains(&name) => {
                        Node::Ascending(math(name)?, self.boxed(inner)?)
                    }
                    _ => return None,
                };
                (node, Type::Double)
            }
            Kind::BuiltIn { name, arguments } => (self.built_in(name, arguments)?, Type::Double),
            _ => return None,
        })
    }

    fn boxed(&mut self, expr: &Expr) -> Option<Box<Node>> {
        self.node(expr).map(|(node, _)| Box::new(node))
    }

    fn built_in(&mut self, name: &str, arguments: &[Expr]) -> Option<Node> {
        let [origin, scale, offset, factor, value] = arguments else { return None };
        if !name.starts_with("decay") {
            return None;
        }
        let parameters =
            [origin, scale, offset, factor].into_iter().map(|parameter| self.constant(parameter));
        let Decay(falloff) = Decay::new(name, &parameters.collect::<Option<Vec<Value>>>()?, 0).ok()?;
        match (&value.kind, &self.field.values) {
            (Kind::FieldValue(_), ValueKind::Point) => Some(Node::DecayOfPoint(falloff)),
            (Kind::FieldValue(_), ValueKind::Date { .. }) => {
                Some(Node::Decay(falloff, Box::new(Node::Number)))
            }
            _ => Some(Node::Decay(falloff, self.boxed(value)?)),
        }
    }

    fn constant(&mut self, expr: &Expr) -> Option<Value> {
        match &expr.kind {
            Kind::Literal(literal) => Some(Value::of(literal)),
            Kind::Param(name) => self.run.param(name).ok(),
            _ => None,
        }
    }
}

/// Limits `node` to the range of its type.
fn whole(node: Node, ty: Type) -> (Node, Type) {
    match ty {
        Type::Int => (Node::Whole(f64::from(i32::MAX), Box::new(node)), ty),
        Type::Long => (Node::Whole(WHOLE_MAX, Box::new(node)), ty),
        _ => (node, ty),
    }
}

impl ScriptCeiling<'_> {
    fn interval(&self, node: &Node, span: &Span) -> Option<Interval> {
        let (least, most) = match node {
            Node::Constant(number) => (*number, *number),
            Node::Number => match *span {
                Span::Numbers(min, max) => (self.field.decode_f64(min), self.field.decode_f64(max)),
                Span::Places { .. } => return None,
            },
            Node::Arithmetic(op, left, right) => {
                let (left, right) = (self.interval(left, span)?, self.interval(right, span)?);
                arithmetic(*op, left, right)?
            }
            Node::Minus(inner) => {
                let (least, most) = self.interval(inner, span)?;
                (-most, -least)
            }
            Node::Ascending(function, inner) => {
                let (least, most) = self.interval(inner, span)?;
                (function(least), function(most))
            }
            Node::Greater(left, right) => {
                let (left, right) = (self.interval(left, span)?, self.interval(right, span)?);
                (left.0.max(right.0), left.1.max(right.1))
            }
            Node::Lesser(left, right) => {
                let (left, right) = (self.interval(left, span)?, self.interval(right, span)?);
                (left.0.min(right.0), left.1.min(right.1))
            }
            Node::Whole(limit, inner) => {
                let (least, most) = self.interval(inner, span)?;
                if least < -limit || most > *limit {
                    return None;
                }
                (least, most)
            }
            Node::Decay(falloff, inner) => {
                let (least, most) = self.interval(inner, span)?;
                let (greatest, smallest) = falloff.most_and_least(least, most);
                (smallest, greatest)
            }
            Node::DecayOfPoint(falloff) => match *span {
                Span::Places { longitudes, latitudes } => (0.0, falloff.most_in(longitudes, latitudes)),
                Span::Numbers(..) => return None,
            },
        };
        (least <= most).then_some((least, most))
    }
}

fn arithmetic(op: Binary, left: Interval, right: Interval) -> Option<Interval> {
    let of_corners = |function: fn(f64, f64) -> f64| {
        let corners = [
            function(left.0, right.0),
            function(left.0, right.1),
            function(left.1, right.0),
            function(left.1, right.1),
        ];
        if corners.iter().any(|corner| corner.is_nan()) {
            return None;
        }
        Some((
            corners.into_iter().fold(f64::INFINITY, f64::min),
            corners.into_iter().fold(f64::NEG_INFINITY, f64::max),
        ))
    };
    match op {
        Binary::Add => Some((left.0 + right.0, left.1 + right.1)),
        Binary::Sub => Some((left.0 - right.1, left.1 - right.0)),
        Binary::Mul => of_corners(|left, right| left * right),
        Binary::Div if right.0 > 0.0 || right.1 < 0.0 => of_corners(|left, right| left / right),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use limber_mapping::{Mapping, MappingSettings};
    use serde_json::json;

    use super::*;
    use crate::compile::{Script, Scripts};
    use crate::language::ScriptContext;

    /// Returns the least and the greatest result of a script over stored numbers of a field.
    fn interval(source: &str, kind: &str, span: Span) -> Option<Interval> {
        let mapping = json!({ "properties": { "f": { "type": kind } } });
        let mapping = Mapping::parse(&mapping, &MappingSettings::default()).expect("a mapping");
        let field = &mapping.field("f").expect("mapped");
        let script = Script::parse(&json!({ "source": source, "params": { "two": 2, "half": 0.5 } }));
        let script = script.expect("a script");
        let compiled = Scripts::default().compile(&script, ScriptContext::Score).expect("compiles");
        let mut run = Run::new(&compiled, &script.params);
        let root = Reading { run: &mut run, field }.node(only_expression(&compiled)?)?.0;
        ScriptCeiling { field, root: Node::Constant(0.0) }.interval(&root, &span)
    }

    #[test]
    fn intervals_hold_what_the_script_can_give() {
        let whole = |source: &str| interval(source, "long", Span::Numbers(3, 8));
        assert_eq!(whole("doc['f'].value"), Some((3.0, 8.0)));
        assert_eq!(whole("10 - doc['f'].value * params.two"), Some((-6.0, 4.0)));
        assert_eq!(whole("doc['f'].value * doc['f'].value"), Some((9.0, 64.0)));
        assert_eq!(whole("1.0 / doc['f'].value"), Some((0.125, 1.0 / 3.0)));
        assert_eq!(whole("Math.sqrt(doc['f'].value + 1)"), Some((2.0, 3.0)));
        assert_eq!(whole("Math.max(5, -doc['f'].value + 10)"), Some((5.0, 7.0)));
        assert_eq!(
            whole("decayNumericLinear(5.0, 4.0, 0.0, params.half, doc['f'].value)"),
            Some((0.625, 1.0))
        );
        assert_eq!(interval("doc['f'].value", "double", Span::Numbers(0, 0)), Some((0.0, 0.0)));
    }

    #[test]
    fn nothing_is_said_of_what_may_be_anything() {
        let whole = |source: &str| interval(source, "long", Span::Numbers(-3, 8));
        assert_eq!(whole("1.0 / doc['f'].value"), None, "0 lies inside");
        assert_eq!(whole("doc['f'].value / 2"), None, "integers are cut off");
        assert_eq!(whole("Math.log(doc['f'].value)"), None, "negative");
        assert_eq!(whole("doc['f'].value % 3"), None);
        assert_eq!(whole("doc['f'].value > 2 ? 1 : 0"), None);
        let large = Span::Numbers(1 << 40, 1 << 41);
        assert_eq!(interval("doc['f'].value * doc['f'].value", "long", large), None, "overflows");
    }
}
