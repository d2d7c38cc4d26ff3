//! Calls that only scripts that see a document as `ctx` may make: `field`, `$` and `metadata`.

use std::sync::Arc;

use super::conversions::coerce;
use super::parser::Parser;
use super::tree::{Expr, Kind, Variable};
use crate::error::ScriptError;
use crate::types::{Literal, Type};

impl Parser {
    /// Whether this is a call of a function that the context offers for its document.
    pub(super) fn is_document_call(&self, name: &str, count: usize) -> bool {
        match (name, count) {
            ("field", 1) | ("$", 2) => self.context.has_fields(),
            ("metadata", 0) => self.context.has_metadata(),
            _ => false,
        }
    }

    /// Parses such a call. Its first argument is the map that it works on.
    pub(super) fn document_call(
        &mut self,
        name: &str,
        arguments: Vec<Expr>,
        at: u32,
    ) -> Result<Expr, ScriptError> {
        // The script may reach all members of `ctx`.
        self.ctx_count += 1;
        let text = |text: Arc<str>| Expr { kind: Kind::Literal(Literal::Str(text)), ty: Type::Str, at };
        let ctx = Expr { kind: Kind::Variable(Variable::Ctx), ty: Type::Object("java.util.Map"), at };
        let source = |ctx: Expr| {
            let kind = Kind::Index(Box::new(ctx), Box::new(text("_source".into())));
            Expr { kind, ty: Type::Def, at }
        };
        let (name, root) = match name {
            "metadata" => ("metadata", ctx),
            "field" if self.context.ctx_is_document() => ("field", ctx),
            "field" => ("field", source(ctx)),
            _ if self.context.ctx_is_document() => ("$", ctx),
            _ => ("$", source(ctx)),
        };
        let mut all = vec![root];
        if name == "metadata" {
            all.push(text(self.context.name().into()));
        }
        for argument in arguments {
            all.push(match all.len() {
                1 => coerce(argument, Type::Str, false)?,
                _ => argument,
            });
        }
        Ok(Expr { kind: Kind::BuiltIn { name, arguments: all }, ty: Type::Def, at })
    }
}
