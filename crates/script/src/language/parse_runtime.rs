//! Calls that only scripts of runtime fields may make: `emit`, and the extractors `grok` and `dissect`.

use super::context::{Emits, ScriptContext};
use super::conversions::coerce;
use super::parser::Parser;
use super::tree::{Expr, Kind};
use crate::error::ScriptError;
use crate::types::{Literal, Type};
use crate::values::Extractor;

impl Parser {
    /// Parses a call that only the script of a runtime field may make: `emit`, `grok` or `dissect`.
    pub(crate) fn runtime_field_call(
        &mut self,
        name: &str,
        arguments: Vec<Expr>,
        at: u32,
    ) -> Result<Expr, ScriptError> {
        let ScriptContext::RuntimeField(emits) = self.context else { unreachable!("checked by the caller") };
        let map = Type::Object("java.util.Map");
        let (known, types, returns): (&'static str, &[Type], Type) = match (name, emits, arguments.len()) {
            ("emit", Emits::Boolean, 1) => ("emit", &[Type::Bool], Type::Void),
            ("emit", Emits::Date | Emits::Long, 1) => ("emit", &[Type::Long], Type::Void),
            ("emit", Emits::Double, 1) => ("emit", &[Type::Double], Type::Void),
            ("emit", Emits::Ip | Emits::Keyword, 1) => ("emit", &[Type::Str], Type::Void),
            ("emit", Emits::GeoPoint, 2) => ("emit", &[Type::Double, Type::Double], Type::Void),
            ("emit", Emits::Composite, 1) => ("emit", &[map], Type::Void),
            ("emit", Emits::Composite, 2) => ("emit", &[Type::Str, Type::Def], Type::Void),
            ("parse", Emits::Date, 1) => ("parse", &[Type::Def], Type::Long),
            ("grok", _, 1) => ("grok", &[Type::Str], Type::Def),
            ("dissect", _, 1) => ("dissect", &[Type::Str], Type::Def),
            ("dissect", _, 2) => ("dissect", &[Type::Str, Type::Str], Type::Def),
            (name, _, count) => {
                return Err(ScriptError::argument(
                    at,
                    format!("Unknown call [{name}] with [{count}] arguments."),
                ));
            }
        };
        let arguments: Vec<Expr> = arguments
            .into_iter()
            .zip(types)
            .map(|(argument, ty)| coerce(argument, *ty, false))
            .collect::<Result<_, _>>()?;
        if matches!(known, "grok" | "dissect") {
            return self.extractor(known, &arguments, at);
        }
        Ok(Expr { kind: Kind::BuiltIn { name: known, arguments }, ty: returns, at })
    }

    /// Compiles `grok('...')` or `dissect('...')` with the script.
    fn extractor(&mut self, name: &str, arguments: &[Expr], at: u32) -> Result<Expr, ScriptError> {
        let mut texts = Vec::new();
        for argument in arguments {
            let Kind::Literal(Literal::Str(text)) = &argument.kind else {
                return Err(ScriptError::argument(
                    at,
                    format!(
                        "all arguments to [{name}] must be constant but the [{}] argument isn't",
                        texts.len() + 1
                    ),
                ));
            };
            texts.push(text.clone());
        }
        self.check_count(self.extractors.len(), "patterns")?;
        let extractor = match (name, texts.as_slice()) {
            ("grok", [pattern]) => Extractor::grok(pattern),
            (_, [pattern]) => Extractor::dissect(pattern, ""),
            (_, [pattern, separator, ..]) => Extractor::dissect(pattern, separator),
            _ => Err("a pattern is missing".to_owned()),
        };
        self.extractors.push(extractor.map_err(|reason| ScriptError::argument(at, reason))?);
        Ok(Expr { kind: Kind::Extractor((self.extractors.len() - 1) as u16), ty: Type::Def, at })
    }
}
