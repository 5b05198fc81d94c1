//! `tm.empty`: a tensor that is there and holds nothing yet.

use super::control::{Carried, carried, carries};
use super::func::{RETURN, check_chips, check_place, chips_of};
use crate::facts::{DeclaredAxes, check_mappings, machine, quoted};
use crate::interfaces::{KeepsAxes, succeeded};
use crate::raise::{Semantics, moves};
use crate::tensor::attrs::{DTYPE, MAP};
use crate::tensor::memories::kind_of;
use crate::tensor::{Dim, Tensor, TensorKind, make};
use crate::view;
use visa_algebra::Expr;
use visa_ir::decl::{ClauseDecl, ClauseKind, Interface, OpDecl};
use visa_ir::diag::{Diagnostic, counted};
use visa_ir::effects::{Effects, Target, allocates};
use visa_ir::module::{OpRef, TypeId, ValueId};
use visa_ir::open::is_unknown;
use visa_ir::verify::VerifyCx;
use visa_machine::{Medium, TensorMemory};
use visa_numerics::DType;

/// `tm.empty`.
#[visa_ir::view(Empty)]
pub static EMPTY: OpDecl = OpDecl {
    name: "tm.empty",
    summary: "A tensor without elements yet.",
    doc: "It takes room in its memory and moves nothing. Its content is undefined until a command writes it, such \
          as `tm.to_tile`: `visa-run --shadow` reports earlier uses. The memory determines its mappings: HBM `chip` \
          and `element`; data memory `chip`, `cluster`, `slice` and `element`; scratchpad memory `chip`, `cluster`, \
          `pe` and `element`.",
    constraints: &[
        ("C1", "the mappings are those of the memory's tensors"),
        (
            "C2",
            "each mapping has as many positions as there are chips, clusters, slices or PEs (book 04, 10)",
        ),
        ("C3", "the address is a multiple of the element size and the tensor fits (book 04)"),
        ("C4", "something writes it before it is returned"),
    ],
    clauses: &[
        ClauseDecl::lead("memory", ClauseKind::word::<TensorMemory>(), "the memory that it is in"),
        ClauseDecl::required("dtype", ClauseKind::body::<DType>(&DTYPE), "format of the elements"),
        ClauseDecl::required("at", ClauseKind::Int, "address, in bytes").open_address(),
        ClauseDecl::optional(
            "chip",
            ClauseKind::body::<Expr>(&MAP),
            "which part each chip holds; `[1]` if absent",
        ),
        ClauseDecl::optional("cluster", ClauseKind::body::<Expr>(&MAP), "which part each cluster holds"),
        ClauseDecl::optional("slice", ClauseKind::body::<Expr>(&MAP), "which part each slice holds"),
        ClauseDecl::optional("pe", ClauseKind::body::<Expr>(&MAP), "which part each PE of a cluster holds"),
        ClauseDecl::required("element", ClauseKind::body::<Expr>(&MAP), "the layout, in elements"),
    ],
    results: &["tensor"],
    effects: Effects::Are(&[allocates(Target::Clause("memory"))]),
    infer: Some(infer),
    verify: Some(verify),
    interfaces: &[Interface(&KeepsAxes), Interface(&Semantics(moves::empty))],
    example: "%c = tm.empty hbm, dtype bf16, at 0, element [M, N]",
    ..OpDecl::BASE
};

/// The operations of this file.
pub static OPS: &[&OpDecl] = &[&EMPTY];

/// The kind of tensors in the memory, and how many bytes of it a chip, a slice or a PE has.
fn memory(op: Empty<'_>) -> Result<(&'static TensorKind, u64), Diagnostic> {
    let medium = Medium::from(op.memory()?);
    Ok((kind_of(medium), medium.bytes(&machine(*op))))
}

fn infer(op: OpRef<'_>) -> Result<Vec<TypeId>, Diagnostic> {
    let op = Empty::of(op)?;
    let (kind, _) = memory(op)?;
    let given = [
        (Dim::Chip, "chip", Some(op.chip()?.map_or(Expr::Literal(1), |map| (*map).clone()))),
        (Dim::Cluster, "cluster", op.cluster()?.map(|map| (*map).clone())),
        (Dim::Slice, "slice", op.slice()?.map(|map| (*map).clone())),
        (Dim::Pe, "pe", op.pe()?.map(|map| (*map).clone())),
        (Dim::Element, "element", Some((*op.element()?).clone())),
    ];
    let mut maps = Vec::new();
    for &dim in kind.dims {
        let map = given.iter().find(|(own, ..)| *own == dim);
        let map = map.and_then(|(.., map)| map.clone());
        maps.push(map.ok_or_else(|| {
            let message =
                format!("a tensor in `{}` has a {} mapping, which is not given", kind.def.name, dim.name());
            op.error("C1", message)
        })?);
    }
    let foreign = given.iter().find(|(dim, _, map)| map.is_some() && !kind.dims.contains(dim));
    if let Some((dim, clause, _)) = foreign {
        let message = format!("a tensor in `{}` has no {} mapping", kind.def.name, dim.name());
        return Err(op.clause_error("C1", clause, message).fix(format!("leave out `{clause}`")));
    }
    Ok(vec![make(op.ctx, Tensor { kind, unit: None, dtype: *op.dtype()?, maps })])
}

fn verify(op: OpRef<'_>, cx: &VerifyCx<'_>) -> Result<(), Diagnostic> {
    let axes = &cx.analysis::<DeclaredAxes>().0;
    check_mappings(op, axes)?;
    let (op, machine) = (Empty::of(op)?, machine(op));
    let tensor = op.result_tensor()?.of_type::<Tensor>()?;
    check_chips(&tensor, chips_of(*op)?, axes, op.clause_span("chip"))?;
    let topology = &machine.topology;
    let parts = [
        (Dim::Cluster, "cluster", topology.clusters_per_chip),
        (Dim::Slice, "slice", topology.slices_per_cluster),
        (Dim::Pe, "pe", topology.pes_per_cluster),
    ];
    for (dim, clause, wanted) in parts {
        let Some(map) = tensor.map(dim) else { continue };
        let found =
            map.size(axes).map_err(|error| crate::error::mapping_error(error, op.clause_span(clause)))?;
        if found != wanted {
            let message = format!("`{map}` has {}, the machine has {wanted}", counted(found, "position"));
            return Err(op.clause_error("C2", clause, message));
        }
    }
    let (_, capacity) = memory(op)?;
    check_place(*op, "at", &tensor, op.at_unless_auto()?, capacity, axes, "C3")?;
    check_written(*op)
}

/// C4, through loops and branches that carry the tensor: a tensor that a body makes and yields replaces it, and so
/// writes it. An operation whose result's type is not known yet may write it.
fn check_written(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let mut same: Vec<ValueId> = op.results().to_vec();
    let (mut next, mut returned) = (0, None);
    while let Some(&value) = same.get(next) {
        next += 1;
        for user in op.module.uses(value).iter().map(|&user| op.other(user)) {
            let through = carried(user);
            if !through.is_empty() {
                let taken: Vec<Carried> =
                    through.into_iter().filter(|carried| carried.initial == value).collect();
                let yielded = taken.iter().filter_map(|carried| op.value(carried.yielded?).made_by());
                if yielded.filter(|made| !carries(*made)).any(|made| !made.is(&EMPTY)) {
                    return Ok(());
                }
                same.extend(
                    taken.into_iter().flat_map(|carried| [carried.argument, carried.result]).flatten(),
                );
            } else if user.is(&RETURN) {
                returned = Some((value, user));
            } else if user.results().iter().any(|&result| is_unknown(op.ctx, op.module.ty(result)))
                || view::changed(user) == Some(value)
                || succeeded(user).iter().any(|(_, given)| *given == value)
            {
                return Ok(());
            }
        }
    }
    let Some((value, end)) = returned else { return Ok(()) };
    let error = op.error("C4", format!("nothing writes {}, which is returned", quoted(op, value)));
    let fix = "fill it, with `tm.to_tile` or a commit, and return the result".to_owned();
    Err(error.note("it is returned here", Some(end.span())).fix(fix))
}
