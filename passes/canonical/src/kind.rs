//! Rules about mappings as a kind of rules.

use super::parse::Reader;
use super::rule::{Mapping, Rule, Sort, Term, Test};
use super::sound::check;
use visa_ir::diag::Diagnostic;
use visa_rules::{COMPARISON, Kind, RuleKind, Scope, Tree, Verdict, refuse};

impl RuleKind for Mapping {
    const KIND: Kind = Kind::Mapping;
    const FORM: &'static str = "the form of a rule is `rule NAME: MAPPING => MAPPING if CONDITION`";
    const BOTH_WAYS: bool = true;
    const CONDITIONS: &'static [&'static str] = &[COMPARISON, "exact", "anchored", "consecutive"];

    type Session<'a> = ();
    type Sort = Sort;
    type Options = ();
    type Side = Term;
    type Test = Test;

    fn options((): (), _: &Tree<'_>, options: &[Tree<'_>]) -> Result<(), Diagnostic> {
        match options.first() {
            Some(option) => {
                let message = format!("mapping rules have no options; found `{}`", option.as_str());
                Err(refuse("rule-option", option, message).fix("write `:` after the name".to_owned()))
            }
            None => Ok(()),
        }
    }

    fn side((): (), (): &(), scope: &mut Scope<Sort>, side: Tree<'_>) -> Result<Term, Diagnostic> {
        Reader { scope }.term(side)
    }

    fn test(scope: &mut Scope<Sort>, test: Tree<'_>) -> Result<Test, Diagnostic> {
        Reader { scope }.test(test)
    }

    fn prove((): (), rules: &[Rule]) -> Vec<Verdict> {
        rules.iter().map(check).collect()
    }
}
