//! Reselect: a kernel from Rust with its operations, whose pipelines or streams of transfers are chosen again. The
//! faster version remains.

use crate::console::{Console, Outcome};
use crate::flags::Flags;
use crate::passes;
use crate::stages::changed_lines::changed_lines;
use crate::stages::close::inline;
use crate::stages::closed::{Closed, closed};
use crate::stages::entry;
use crate::stages::order::IssueOrder;
use crate::stages::plan::{self, Planned};
use crate::stages::versions::{Against, Versions};
use visa_ir::context::{Attr, Context};
use visa_ir::diag::Diagnostic;
use visa_ir::module::Module;
use visa_ir::open::{self, Opening};
use visa_ir::span::Span;
use visa_mapping::ops::transfer::is_transfer;
use visa_opt::Registry;
use visa_pass::Level;

/// The code of the remark that compares the versions.
const CODE: &str = "reselect";

/// The passes that choose pipelines again, within the distributions of the author.
const OPENING: (&str, Option<&str>) =
    ("open-clauses", Some("distributions=false addresses=false orders=false"));

/// Returns true if the flags choose clauses of a kernel from Rust that is written in full.
pub(crate) fn is_reselected(ctx: &Context, module: &Module, flags: &Flags, console: &Console<'_>) -> bool {
    let is_configuration = |opening| opening == Opening::Configuration;
    let requested = flags.select_configs.is_some() || flags.select_transfers;
    let ordered = flags.schedule.is_some() || flags.order.is_some();
    requested
        && !ordered
        && console.rust.is_some()
        && Level::of(ctx, module) == Level::Memory
        && open::first(ctx, module, is_configuration).is_none()
}

/// Chooses the clauses again, and keeps the faster kernel. Returns it and the order of its commands.
pub(crate) fn reselect(
    ctx: &Context,
    module: &mut Module,
    registry: &Registry,
    flags: &Flags,
    console: &mut Console<'_>,
) -> Outcome<(Planned, IssueOrder)> {
    let name = plan::keep_entry(ctx, module, flags, console)?;
    let span = entry::function(ctx, module, &name).map_or_else(Span::default, |(_, span)| span);
    inline(ctx, module, &registry.passes, console)?;
    let kernel = module.clone();
    let written = closed(ctx, (module.clone(), &name), None, registry, console)?;
    let written = written.map_err(|findings| console.refuse(findings))?;
    let own = pipelines(ctx, (module, &name), registry, flags, console)?;
    let faster = |closed: &Closed| closed.version.cycles() < written.version.cycles();
    let is_faster = own.as_ref().is_ok_and(|own| flags.select_configs.is_some() && faster(own));
    let chosen = match own {
        Ok(_) if flags.select_transfers => {
            open_streams(ctx, module);
            closed(ctx, (module.clone(), &name), None, registry, console)?
        }
        own => own,
    };
    let chosen = match chosen {
        Ok(chosen) => chosen,
        Err(findings) => {
            console.emit(&[Against::Clauses.refused(CODE, (&name, span), &findings)]);
            return Ok(written.kept(module));
        }
    };
    let versions = Versions { kernel: &written.version, plan: &chosen.version, against: Against::Clauses };
    let mut compared = versions.comparison(CODE, (&name, span), &|span| console.line(span));
    if versions.is_faster() {
        let lines = changed_lines(ctx, [&kernel, module], &|span| console.line(span));
        compared = lines.into_iter().fold(compared, |compared, line| compared.note(line, None));
    }
    if flags.select_transfers {
        compared = compared.note(
            "the language has no form for the streams of transfers (`engines`, `time`, `packet`): its compiler \
             chooses them"
                .to_owned(),
            None,
        );
    }
    console.emit(&[compared]);
    let kept = if versions.is_faster() { chosen } else { written };
    *module = kept.module;
    Ok((Planned { is_input: !is_faster, ..Planned::default() }, kept.order))
}

/// The kernel with its pipelines chosen again, if the flags request that; `module` then has them too.
fn pipelines(
    ctx: &Context,
    (module, name): (&mut Module, &str),
    registry: &Registry,
    flags: &Flags,
    console: &mut Console<'_>,
) -> Outcome<Result<Closed, Vec<Diagnostic>>> {
    if let Some(options) = &flags.select_configs {
        let asked = [OPENING, ("select-configs", Some(options.as_str()))];
        match passes::choose(ctx, module, &registry.passes, &asked) {
            Ok(report) => console.passed(&report)?,
            Err(findings) => return Ok(Err(findings)),
        }
    }
    closed(ctx, (module.clone(), name), None, registry, console)
}

/// Leaves the streams of all transfers open.
fn open_streams(ctx: &Context, module: &mut Module) {
    let auto = ctx.attr(Attr::Auto);
    for id in module.walk_all() {
        let op = module.op(ctx, id);
        let clauses = op.decl().filter(|_| is_transfer(op)).map_or(&[][..], |decl| decl.clauses).iter();
        let streams =
            clauses.filter(|clause| clause.opening == Opening::Order && op.attr(clause.name).is_none());
        let names: Vec<&'static str> = streams.map(|clause| clause.name).collect();
        names.into_iter().for_each(|name| module.set_clause(id, name, Some(auto)));
    }
}
