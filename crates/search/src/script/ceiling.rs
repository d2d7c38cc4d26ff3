//! What a numeric script makes of a whole span of values at once, by interval arithmetic: "how much can it be at most?"
//!
//! Only scripts of one expression over one field are understood; everything else has no ceiling, and is run.

use limber_mapping::{Field, FieldType};

use super::block::only_expression;
use super::bound::BoundScript;
use super::run::Run;
use super::score_functions::Decay;
use super::statics::math;
use super::tree::{Binary, Expr, FieldPart, Kind, Type, Unary};
use super::value::Value;
use crate::query::{Ceiling, Falloff, Span};

/// Least and greatest.
type Interval = (f64, f64);

/// Doubles are whole numbers up to here.
const WHOLE_MAX: f64 = (1u64 << 53) as f64;
/// By how much functions of the system's library may be off.
const SLACK: f64 = 1.0 + 1e-9;

/// Functions that ascend wherever they are defined.
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
    /// Integers: an overflow makes anything of them.
    Whole(f64, Box<Node>),
    Fade(Falloff, Box<Node>),
    /// Of the field's place.
    FadeOfPlace(Falloff),
}

pub(super) struct ScriptCeiling<'s> {
    field: &'s Field,
    root: Node,
}

impl BoundScript {
    /// What is known of the script's numbers without running it, if anything.
    pub fn ceiling(&self) -> Option<Box<dyn Ceiling + '_>> {
        let [only] = self.fields().fields.as_slice() else { return None };
        let field = only.field.as_deref()?;
        if self.uses_score() || only.refused.is_some() || only.is_made() {
            return None;
        }
        let mut run = Run::new(self.compiled(), self.params());
        let root = Reading { run: &mut run, field }.node(only_expression(self.compiled())?)?;
        Some(Box::new(ScriptCeiling { field, root }))
    }
}

/// Turns expressions into nodes.
struct Reading<'r, 's> {
    run: &'r mut Run<'s>,
    field: &'s Field,
}

impl Reading<'_, '_> {
    fn node(&mut self, expr: &Expr) -> Option<Node> {
        let node = match &expr.kind {
            Kind::Literal(_) | Kind::Param(_) => Node::Constant(number(&self.constant(expr)?)?),
            Kind::FieldValue(_) | Kind::FieldPart(_, FieldPart::First) => match self.field.kind {
                FieldType::GeoPoint | FieldType::Boolean | FieldType::Date { .. } => return None,
                _ => Node::Number,
            },
            Kind::Binary(op, left, right) => {
                if !matches!(op, Binary::Add | Binary::Sub | Binary::Mul | Binary::Div) {
                    return None;
                }
                // Integers are cut off.
                if *op == Binary::Div && expr.ty != Type::Double {
                    return None;
                }
                Node::Arithmetic(*op, self.boxed(left)?, self.boxed(right)?)
            }
            Kind::Unary(Unary::Plus, inner) => self.node(inner)?,
            Kind::Unary(Unary::Minus, inner) => Node::Minus(self.boxed(inner)?),
            Kind::Cast(Type::Double, inner) => return self.node(inner),
            Kind::Static { class: "Math", name, arguments } => match (&**name, arguments.as_slice()) {
                ("max", [left, right]) => Node::Greater(self.boxed(left)?, self.boxed(right)?),
                ("min", [left, right]) => Node::Lesser(self.boxed(left)?, self.boxed(right)?),
                (name, [inner]) if ASCENDING.contains(&name) => {
                    Node::Ascending(math(name)?, self.boxed(inner)?)
                }
                _ => return None,
            },
            Kind::BuiltIn { name, arguments } => self.built_in(name, arguments)?,
            _ => return None,
        };
        match expr.ty {
            Type::Double => Some(node),
            Type::Int => Some(Node::Whole(f64::from(i32::MAX), Box::new(node))),
            Type::Long => Some(Node::Whole(WHOLE_MAX, Box::new(node))),
            // What is found out when it runs may be a float, which rounds.
            Type::Def if matches!(node, Node::Constant(_) | Node::Number) => Some(node),
            _ => None,
        }
    }

    fn boxed(&mut self, expr: &Expr) -> Option<Box<Node>> {
        self.node(expr).map(Box::new)
    }

    fn built_in(&mut self, name: &str, arguments: &[Expr]) -> Option<Node> {
        let [origin, scale, offset, factor, value] = arguments else { return None };
        if !name.starts_with("decay") {
            return None;
        }
        let parameters =
            [origin, scale, offset, factor].into_iter().map(|parameter| self.constant(parameter));
        let Decay(falloff) = Decay::new(name, &parameters.collect::<Option<Vec<Value>>>()?, 0).ok()?;
        match (&value.kind, &self.field.kind) {
            (Kind::FieldValue(_), FieldType::GeoPoint) => Some(Node::FadeOfPlace(falloff)),
            (Kind::FieldValue(_), FieldType::Date { .. }) => {
                Some(Node::Fade(falloff, Box::new(Node::Number)))
            }
            _ => Some(Node::Fade(falloff, self.boxed(value)?)),
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

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Int(_) | Value::Long(_) | Value::Double(_) => Some(value.f64()),
        _ => None,
    }
}

impl ScriptCeiling<'_> {
    fn interval(&self, node: &Node, span: &Span) -> Option<Interval> {
        let (least, most) = match node {
            Node::Constant(number) => (*number, *number),
            Node::Number => match *span {
                Span::Numbers(min, max) => (self.field.decode_f64(min), self.field.decode_f64(max)),
                Span::Places(_) => return None,
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
            Node::Fade(falloff, inner) => {
                let (least, most) = self.interval(inner, span)?;
                let (greatest, smallest) = falloff.most_and_least(least, most);
                (smallest, greatest)
            }
            Node::FadeOfPlace(falloff) => match span {
                Span::Places(cell) => (0.0, falloff.most_in(cell)),
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

impl Ceiling for ScriptCeiling<'_> {
    fn field(&self) -> &Field {
        self.field
    }

    fn most(&self, span: &Span) -> f64 {
        match self.interval(&self.root, span) {
            Some((least, most)) if least >= 0.0 => most * SLACK,
            // Negative scores are refused, so they have to be found.
            _ => f64::INFINITY,
        }
    }
}
