//! The language reference, written from the declarations.

use crate::decl::{Arity, BodyDef, ClauseDecl, Dialect, OpDecl, Presence, Trait};
use crate::open::{self, Opening};
use std::fmt::Write as _;

/// A dialect's page of the language reference, in Markdown.
#[must_use]
pub fn dialect_page(dialect: &Dialect) -> String {
    let mut out = format!("# Dialect `{}`\n\n{}\n", dialect.name, dialect.doc.trim());
    bodies(&mut out, "Types", '!', dialect.types);
    bodies(&mut out, "Attributes", '#', dialect.attrs);
    out.push_str("\n## Operations\n");
    for op in dialect.ops.iter().copied().flatten() {
        operation(&mut out, op);
    }
    out
}

fn bodies(out: &mut String, title: &str, sigil: char, defs: &[&BodyDef]) {
    if defs.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n## {title}");
    for def in defs {
        let _ = writeln!(out, "\n### `{sigil}{}<{}>`\n\n{}", def.name, def.syntax, def.doc.trim());
    }
}

fn operation(out: &mut String, op: &OpDecl) {
    let _ = writeln!(out, "\n### `{}`\n\n{}\n", op.name, op.summary);
    let _ = writeln!(out, "```text\n{}\n```", syntax(op));
    if !op.doc.trim().is_empty() {
        let _ = writeln!(out, "\n{}", op.doc.trim());
    }
    if !op.operands.is_empty() {
        out.push_str("\n| operand | type |\n|---|---|\n");
        for operand in op.operands {
            let types: Vec<_> = operand.types.names().iter().map(|name| format!("`!{name}`")).collect();
            let types = if types.is_empty() { "any".to_owned() } else { types.join(", ") };
            let _ = writeln!(out, "| `{}` | {types} |", operand.name);
        }
    }
    if !op.clauses.is_empty() {
        out.push_str("\n| clause | value | default | meaning |\n|---|---|---|---|\n");
        op.clauses.iter().for_each(|clause| clause_row(out, clause));
    }
    if !op.constraints.is_empty() {
        out.push('\n');
        for (number, text) in op.constraints {
            let _ = writeln!(out, "- **{number}** {text}");
        }
    }
    if !op.example.trim().is_empty() {
        let _ = writeln!(out, "\nExample:\n\n```text\n{}\n```", op.example.trim());
    }
}

fn clause_row(out: &mut String, clause: &ClauseDecl) {
    let default = match clause.presence {
        Presence::Required => "required".to_owned(),
        Presence::Optional => "absent".to_owned(),
        Presence::Default(text) => format!("`{text}`"),
    };
    let kind = clause.kind.describe().replace('|', "\\|");
    let open = match clause.opening {
        Opening::Never => String::new(),
        Opening::Address | Opening::Order | Opening::Configuration => format!(", or `{}`", open::WORD),
    };
    let _ = writeln!(
        out,
        "| `{}` | {kind}{open} | {default} | {} |",
        clause.name,
        clause.doc.replace('|', "\\|")
    );
}

/// The operation's shape on one line.
#[must_use]
pub fn syntax(op: &OpDecl) -> String {
    let mut out = String::new();
    if op.has(Trait::AnyResults) {
        out.push_str("%result... = ");
    } else if !op.results.is_empty() {
        let names: Vec<_> = op.results.iter().map(|name| format!("%{name}")).collect();
        let _ = write!(out, "{} = ", names.join(", "));
    }
    out.push_str(op.name);
    if let Some(lead) = op.lead() {
        let _ = write!(out, " {}", lead.name.to_uppercase());
    }
    if op.has(Trait::Function) {
        out.push_str("(%argument: type, ...)");
    }
    for (index, operand) in op.operands.iter().enumerate() {
        let comma = if index > 0 { "," } else { "" };
        let _ = match operand.arity {
            Arity::One => write!(out, "{comma} %{}", operand.name),
            Arity::Optional => write!(out, "[{comma} %{}]", operand.name),
            Arity::Variadic => write!(out, "{comma} %{}...", operand.name),
        };
    }
    let rest =
        op.clauses.iter().filter(|clause| !clause.lead && !clause.mark).map(|clause| match clause.presence {
            Presence::Required => format!("{} {}", clause.name, clause.name.to_uppercase()),
            Presence::Optional | Presence::Default(_) => {
                format!("[{} {}]", clause.name, clause.name.to_uppercase())
            }
        });
    let rest: Vec<_> = rest.collect();
    if !rest.is_empty() {
        let comma =
            if op.operands.is_empty() && op.lead().is_some() && !op.has(Trait::Function) { "," } else { "" };
        let _ = write!(out, "{comma} {}", rest.join(", "));
    }
    if op.has_region() {
        out.push_str(" { ... }");
    }
    out
}
