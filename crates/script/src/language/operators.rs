//! Operators between operands, by precedence climbing: "which operator takes which operands?"
//!
//! Every chain makes the tree deeper, and all that walks a tree needs a frame for each level: the height of
//! what has been parsed is bounded ([`Height`]).
//!
//! Source: T. S. Norvell, *Parsing Expressions by Recursive Descent*, 1999.

use super::lexer::TokenKind;
use super::tree::Expr;
use crate::error::ScriptError;
use crate::types::Binary;

/// Maximum number of operators of one level, or of calls, in a row.
pub(super) const CHAIN_MAX: usize = 200;
/// Maximum height of an expression: a higher one could not run, as a level of it is one of the interpreter's.
const HEIGHT_MAX: u32 = 230;

/// What stands between two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    OrElse,
    AndAlso,
    Binary(Binary),
    /// `=~` or `==~`.
    Matches(&'static str),
    /// A type follows, no operand.
    InstanceOf,
}

/// Operators of one precedence level.
pub(super) type Level = &'static [(&'static str, Operator)];

/// The height of the highest expression that has been parsed since an operand began.
#[derive(Debug, Default)]
pub(super) struct Height(u32);

impl Height {
    /// Counts one more node above what has been parsed.
    ///
    /// # Errors
    /// The expression would be too high.
    pub fn raise(&mut self, at: u32) -> Result<(), ScriptError> {
        self.0 += 1;
        if self.0 > HEIGHT_MAX {
            let reason = format!("an expression has at most {HEIGHT_MAX} operators and calls around a value");
            return Err(ScriptError::argument(at, reason));
        }
        Ok(())
    }
}

/// A parser of a language with operators.
pub(super) trait Operands {
    /// The operators, loosest first.
    const LEVELS: &'static [Level];

    /// Returns the next token and its position.
    fn ahead(&self) -> (&TokenKind, u32);

    /// Takes the next token.
    fn skip_one(&mut self);

    fn height(&mut self) -> &mut Height;

    /// Parses what binds tighter than every operator between operands.
    fn operand(&mut self) -> Result<Expr, ScriptError>;

    /// Parses the type after `instanceof`.
    fn tested(&mut self, left: Expr) -> Result<Expr, ScriptError>;

    /// Returns the operation of two operands.
    fn operation(operator: Operator, left: Expr, right: Expr) -> Result<Expr, ScriptError>;

    /// Parses operands and the operators between them.
    fn operators(&mut self) -> Result<Expr, ScriptError>
    where
        Self: Sized,
    {
        operators_from(self, 0)
    }
}

/// Parses operands and the operators between them that bind at least as tightly as those of level `loosest`.
fn operators_from<P: Operands>(parser: &mut P, loosest: usize) -> Result<Expr, ScriptError> {
    let around = std::mem::take(parser.height());
    let mut left = parser.operand()?;
    // Those of a looser level follow: tighter ones are taken with the operand on the right.
    let (mut of_level, mut length) = (P::LEVELS.len(), 0);
    while let Some((level, operator)) = operator_ahead(parser).filter(|(level, _)| *level >= loosest) {
        let at = parser.ahead().1;
        if level != of_level {
            (of_level, length) = (level, 0);
        }
        length += 1;
        left = match operator {
            Operator::OrElse | Operator::AndAlso => conditions(parser, left, level, operator)?,
            _ if length > CHAIN_MAX => {
                let reason = format!("an expression has at most {CHAIN_MAX} operators in a row");
                return Err(ScriptError::argument(at, reason));
            }
            Operator::InstanceOf => {
                parser.skip_one();
                parser.tested(left)?
            }
            Operator::Binary(_) | Operator::Matches(_) => {
                parser.skip_one();
                let right = operators_from(parser, level + 1)?;
                P::operation(operator, left, right)?
            }
        };
        parser.height().raise(at)?;
    }
    let own = parser.height();
    own.0 = own.0.max(around.0);
    Ok(left)
}

/// Parses all conditions that `operator` joins, after the first. They may be thousands, in programs' sources:
/// as neither their order nor what ends them depends on the grouping, the tree is a balanced one.
fn conditions<P: Operands>(
    parser: &mut P,
    first: Expr,
    level: usize,
    operator: Operator,
) -> Result<Expr, ScriptError> {
    let mut all = vec![first];
    while operator_ahead(parser).is_some_and(|(_, found)| found == operator) {
        parser.skip_one();
        all.push(operators_from(parser, level + 1)?);
    }
    let at = parser.ahead().1;
    while all.len() > 1 {
        parser.height().raise(at)?;
        let mut joined = Vec::with_capacity(all.len().div_ceil(2));
        let mut rest = all.into_iter();
        while let Some(left) = rest.next() {
            joined.push(match rest.next() {
                Some(right) => P::operation(operator, left, right)?,
                None => left,
            });
        }
        all = joined;
    }
    Ok(all.remove(0))
}

/// Returns the operator that stands next, with its level.
fn operator_ahead<P: Operands>(parser: &P) -> Option<(usize, Operator)> {
    let next = match parser.ahead().0 {
        TokenKind::Symbol(symbol) => *symbol,
        TokenKind::Name(word) => word.as_str(),
        _ => return None,
    };
    P::LEVELS.iter().enumerate().find_map(|(level, operators)| {
        operators.iter().find(|(known, _)| *known == next).map(|(_, operator)| (level, *operator))
    })
}
