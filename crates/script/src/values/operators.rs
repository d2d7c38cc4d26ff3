//! Casts and operators on values, with Java's types: "what is the result of this operator for these
//! operands?"

use super::value::{Value, cast_failure};
use crate::error::Failure;
use crate::types::{Binary, Type, Unary};

impl Value {
    /// Casts to another type as Java does.
    ///
    /// # Errors
    /// `class_cast_exception`.
    pub fn cast(self, to: Type) -> Result<Value, Failure> {
        let refused = |value: &Value| {
            if value.is_null() {
                return ("null_pointer_exception", format!("cannot cast null to {}", to.name()));
            }
            cast_failure(format!("cannot explicitly cast def [{}] to {}", value.plain_class(), to.name()))
        };
        Ok(match (to, &self) {
            (Type::Def | Type::Object(_) | Type::Void, _) => self,
            (Type::Bool, Value::Bool(_)) | (Type::Str, Value::Str(_) | Value::Null) => self,
            (Type::Str, Value::Char(_)) => Value::str(self.text()),
            (Type::Char, Value::Str(text)) if text.encode_utf16().count() == 1 => {
                Value::Char(text.encode_utf16().next().unwrap_or(0))
            }
            (Type::Bool | Type::Str, _) => return Err(refused(&self)),
            (_, value) if !value.is_number() => return Err(refused(&self)),
            (Type::Double, _) => Value::Double(self.f64()),
            (Type::Float, Value::Double(number)) => Value::Float(*number as f32),
            (Type::Float, Value::Float(_)) => self,
            (Type::Float, _) => Value::Float(self.i64() as f32),
            (Type::Long, _) => Value::Long(self.i64()),
            (to, value) => {
                // Java converts a floating-point number to `int` first.
                let whole = match value {
                    Value::Double(number) => *number as i32,
                    Value::Float(number) => *number as i32,
                    other => other.i64() as i32,
                };
                match to {
                    Type::Byte => Value::Int(i32::from(whole as i8)),
                    Type::Short => Value::Int(i32::from(whole as i16)),
                    Type::Char => Value::Char(whole as u16),
                    _ => Value::Int(whole),
                }
            }
        })
    }

    /// Applies a unary operator.
    ///
    /// # Errors
    /// The operator is not defined for values of this class.
    pub fn unary(self, op: Unary) -> Result<Value, Failure> {
        Ok(match (op, self) {
            (Unary::Not, Value::Bool(flag)) => Value::Bool(!flag),
            (Unary::Minus, Value::Int(number)) => Value::Int(number.wrapping_neg()),
            (Unary::Minus, Value::Long(number)) => Value::Long(number.wrapping_neg()),
            (Unary::Minus, Value::Float(number)) => Value::Float(-number),
            (Unary::Minus, Value::Double(number)) => Value::Double(-number),
            (Unary::Minus, Value::Char(unit)) => Value::Int(-i32::from(unit)),
            (Unary::Plus, value) if value.is_number() => value,
            (Unary::BitNot, Value::Int(number)) => Value::Int(!number),
            (Unary::BitNot, Value::Long(number)) => Value::Long(!number),
            (_, value) => {
                return Err(cast_failure(format!("Cannot apply a unary operator to [{}]", value.class())));
            }
        })
    }

    /// Applies a binary operator, with numbers promoted as in Java.
    ///
    /// # Errors
    /// The operator is not defined for values of these classes; a whole number is divided by zero.
    pub fn binary(op: Binary, left: &Value, right: &Value) -> Result<Value, Failure> {
        match op {
            Binary::Equal => return Ok(Value::Bool(left.same(right))),
            Binary::NotEqual => return Ok(Value::Bool(!left.same(right))),
            Binary::Add if matches!(left, Value::Str(_)) || matches!(right, Value::Str(_)) => {
                return Ok(Value::str(left.text() + &right.text()));
            }
            _ => {}
        }
        if let (Value::Bool(left), Value::Bool(right)) = (left, right) {
            match op {
                Binary::And => return Ok(Value::Bool(left & right)),
                Binary::Or => return Ok(Value::Bool(left | right)),
                Binary::Xor => return Ok(Value::Bool(left ^ right)),
                _ => {}
            }
        }
        let (Some(left_rank), Some(right_rank)) = (left.number_type(), right.number_type()) else {
            if left.is_null() || right.is_null() {
                let which = if left.is_null() { "left" } else { "right" };
                return Err((
                    "null_pointer_exception",
                    format!("Cannot invoke \"Object.getClass()\" because \"{which}\" is null"),
                ));
            }
            return Err(cast_failure(format!(
                "Cannot apply [{}] operation to types [{}] and [{}].",
                symbol(op),
                left.class(),
                right.class()
            )));
        };
        let rank = if op.is_shift() { left_rank.max(3) } else { left_rank.max(right_rank) };
        match rank {
            6 => doubles(op, left.f64(), right.f64()),
            5 => match doubles(op, left.f64(), right.f64())? {
                Value::Double(number) => Ok(Value::Float(number as f32)),
                other => Ok(other),
            },
            4 => longs(op, left.i64(), right.i64()),
            _ => ints(op, left.i64() as i32, right.i64() as i32),
        }
    }
}

fn symbol(op: Binary) -> &'static str {
    match op {
        Binary::Add => "+",
        Binary::Sub => "-",
        Binary::Mul => "*",
        Binary::Div => "/",
        Binary::Rem => "%",
        Binary::And => "and",
        Binary::Or => "or",
        Binary::Xor => "xor",
        Binary::ShiftLeft => "<<",
        Binary::ShiftRight => ">>",
        Binary::ShiftRightUnsigned => ">>>",
        Binary::Equal => "==",
        Binary::NotEqual => "!=",
        Binary::Less => "<",
        Binary::LessEqual => "<=",
        Binary::Greater => ">",
        Binary::GreaterEqual => ">=",
    }
}

fn by_zero() -> Failure {
    ("arithmetic_exception", "/ by zero".to_owned())
}

fn doubles(op: Binary, left: f64, right: f64) -> Result<Value, Failure> {
    Ok(match op {
        Binary::Add => Value::Double(left + right),
        Binary::Sub => Value::Double(left - right),
        Binary::Mul => Value::Double(left * right),
        Binary::Div => Value::Double(left / right),
        Binary::Rem => Value::Double(left % right),
        Binary::Less => Value::Bool(left < right),
        Binary::LessEqual => Value::Bool(left <= right),
        Binary::Greater => Value::Bool(left > right),
        Binary::GreaterEqual => Value::Bool(left >= right),
        _ => {
            return Err(cast_failure(format!("Cannot apply [{}] operation to floating numbers", symbol(op))));
        }
    })
}

/// Arithmetic on integers of one width; overflow wraps as in Java.
macro_rules! integers {
    ($name:ident, $signed:ty, $unsigned:ty, $make:path) => {
        fn $name(op: Binary, left: $signed, right: $signed) -> Result<Value, Failure> {
            Ok(match op {
                Binary::Add => $make(left.wrapping_add(right)),
                Binary::Sub => $make(left.wrapping_sub(right)),
                Binary::Mul => $make(left.wrapping_mul(right)),
                Binary::Div | Binary::Rem if right == 0 => return Err(by_zero()),
                Binary::Div => $make(left.wrapping_div(right)),
                Binary::Rem => $make(left.wrapping_rem(right)),
                Binary::And => $make(left & right),
                Binary::Or => $make(left | right),
                Binary::Xor => $make(left ^ right),
                Binary::ShiftLeft => $make(left.wrapping_shl(right as u32)),
                Binary::ShiftRight => $make(left.wrapping_shr(right as u32)),
                Binary::ShiftRightUnsigned => {
                    $make((left as $unsigned).wrapping_shr(right as u32) as $signed)
                }
                Binary::Less => Value::Bool(left < right),
                Binary::LessEqual => Value::Bool(left <= right),
                Binary::Greater => Value::Bool(left > right),
                Binary::GreaterEqual => Value::Bool(left >= right),
                Binary::Equal | Binary::NotEqual => Value::Bool((left == right) == (op == Binary::Equal)),
            })
        }
    };
}

integers!(ints, i32, u32, Value::Int);
integers!(longs, i64, u64, Value::Long);
