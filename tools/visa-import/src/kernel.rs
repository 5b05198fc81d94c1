//! A kernel: a function that is marked `#[device]`, as a `tm.func`.

use crate::device::{changes, size};
use crate::emit::new;
use crate::error::{Error, SourcePosition};
use crate::eval::{Cell, Eval, Evaluator, Frame, Stop, Tables, Want};
use crate::host::Host;
use crate::instance::{Instance, parameters};
use crate::map::{AxisId, Map};
use crate::marks::plain;
use crate::place::deref;
use crate::program::{Program, is_device};
use crate::scalar::Scalar;
use crate::value::{Memory, PlaceId, Record, TensorType, Type, Value, View};
use std::collections::{BTreeMap, BTreeSet};
use syn::spanned::Spanned;
use visa_algebra::Expr;
use visa_ir::context::Context;
use visa_mapping::ops::func::{Func, Return};
use visa_mapping::ops::view::Relabel;
use visa_mapping::{HBM, Tensor, make};

/// A kernel's arguments.
#[derive(Default)]
struct Arguments {
    /// Number of arguments.
    count: usize,
    /// Those that are changed and stay, and their numbers.
    inout: Vec<(PlaceId, i64)>,
    /// Those that are numbers.
    scalars: Vec<Scalar>,
    /// Changed tensors in data memory, and the arguments in HBM that have their elements between launches.
    staged: Vec<(View, View)>,
}

/// A function as text.
pub(crate) struct Written {
    pub(crate) text: String,
    /// Where each line of it is in the input.
    pub(crate) places: Vec<Option<SourcePosition>>,
    pub(crate) tables: Tables,
    /// The axes of blocks that its arguments have, and their sizes.
    pub(crate) blocks: BTreeMap<String, u64>,
    /// The axes that it mentions.
    pub(crate) axes: BTreeSet<AxisId>,
    /// The positions of dropped addresses.
    pub(crate) dropped: BTreeSet<SourcePosition>,
    /// Notes about it that are no errors.
    pub(crate) remarks: Vec<Error>,
}

/// Imports a kernel, or a function that launches some, under a name.
pub(crate) fn kernel(
    ctx: &Context,
    program: &Program,
    instance: &Instance,
    (sizes, axis_names): (&[u64], &[String]),
    launched: &mut Vec<Instance>,
) -> Result<Written, Error> {
    let (device, name) = (instance.device, instance.name.as_str());
    let mut eval = Evaluator::new(ctx, program, sizes.to_vec(), axis_names);
    let item = program.functions[device.0].item.tree.clone()?;
    eval.state.host = (!is_device(&item)).then(Host::default);
    let mut frame = eval.frame_of(device);
    frame.generics = instance.generics.clone();
    let written = whole(&mut eval, &mut frame, &item, name);
    launched.extend(eval.state.host.iter_mut().flat_map(|host| std::mem::take(&mut host.launched)));
    match written {
        Ok((text, places)) => one_name_each(&eval, &frame, &item).map(|()| Written {
            text,
            places,
            tables: eval.state.tables,
            blocks: eval.state.blocks,
            axes: eval.used.take(),
            dropped: eval.state.dropped,
            remarks: eval.state.remarks,
        }),
        Err(Stop::Error(error) | Stop::NeedsNumber(error)) => Err(error),
        Err(Stop::Return(_) | Stop::Break(..) | Stop::Continue(_)) => {
            Err(Error::new(frame.place(item.sig.span()), "`return`, `break` or `continue` out of place"))
        }
    }
}

/// Axes of several modules may share a name, but not in one kernel.
fn one_name_each(eval: &Evaluator<'_>, frame: &Frame, item: &syn::ItemFn) -> Result<(), Error> {
    let mut known = BTreeMap::new();
    for &id in eval.used.borrow().iter() {
        if let Some(other) = known.insert(&eval.axis_names[id.0], id) {
            let [one, other] = [other, id].map(|id| &eval.program.axes[id.0].place);
            let message = format!("the kernel has two axes `{}`: {one} and {other}", eval.axis_names[id.0]);
            let place = frame.place(item.sig.span());
            return Err(Error::new(place, message).fix("give one of them another name"));
        }
    }
    Ok(())
}

/// The text of the function, and the place of each line of it.
fn whole(
    eval: &mut Evaluator<'_>,
    frame: &mut Frame,
    item: &syn::ItemFn,
    name: &str,
) -> Eval<(String, Vec<Option<SourcePosition>>)> {
    check_parameters(eval, frame, item)?;
    let size = size(eval, frame, item)?;
    eval.state.device = eval.state.host.is_none().then_some(size);
    eval.state.out.begin(eval.ctx);
    let mut arguments = Arguments::default();
    for input in &item.sig.inputs {
        let syn::FnArg::Typed(typed) = input else {
            return Err(frame.error(input.span(), "a kernel is a function, not a method"));
        };
        let name = match &*typed.pat {
            syn::Pat::Ident(ident) => plain(&ident.ident.to_string()).to_owned(),
            _ => format!("argument{}", arguments.count),
        };
        let changed = changes(&typed.ty);
        let value = written_argument(eval, frame, &mut arguments, (&name, &typed.ty, changed), input.span())?;
        eval.bind(frame, &typed.pat, value)?;
    }
    let want = match &item.sig.output {
        syn::ReturnType::Default => Want::default(),
        syn::ReturnType::Type(_, ty) => Want::of(eval.ty(frame, ty)?),
    };
    frame.result.clone_from(&want.ty);
    let result = match eval.block(frame, &item.block, &want) {
        Err(Stop::Return(value)) => value,
        other => other?,
    };
    let place = frame.place(item.sig.span());
    let mut names = Vec::new();
    results(eval, frame, item.sig.output.span(), &deref(result), &mut names)?;
    for (tensor, given) in &arguments.staged {
        eval.written(frame, item.sig.span(), tensor, given)?;
    }
    for (own, _) in &arguments.inout {
        names.push(eval.current(frame, item.sig.span(), *own)?);
    }
    let returned = new!(eval.ctx, Return, eval.values(&names));
    eval.state.out.write(eval.ctx, returned.into(), &[], &place);
    eval.state.declare(eval.ctx, frame, &arguments.scalars)?;
    let size = match &eval.state.host {
        Some(host) => host.size.as_ref().map(|(size, _)| *size),
        None => Some(size),
    };
    let size = size.ok_or_else(|| frame.error(item.sig.span(), "a host program that launches no kernel"))?;
    let number = |number: i128| {
        let number = i64::try_from(number);
        number.map_err(|_| frame.error(item.sig.span(), "a device of more than 2^63 chips or PEs"))
    };
    let inout: Vec<i64> = arguments.inout.iter().map(|&(_, number)| number).collect();
    let head = new!(eval.ctx, Func).name(name).at_auto().chips(number(size.chips)?);
    let head = head.pes(size.pes.map(number).transpose()?);
    let head = head.inout(Some(inout).filter(|inout| !inout.is_empty()));
    Ok(eval.state.out.end(eval.ctx, head.spec(), &place))
}

/// Refuses a generic kernel without a choice of its parameters.
fn check_parameters(eval: &Evaluator<'_>, frame: &Frame, item: &syn::ItemFn) -> Eval<()> {
    let Err(parameter) = eval.instance_suffix(item, &frame.generics) else { return Ok(()) };
    let name = &item.sig.ident;
    let message = format!(
        "a kernel with generic parameters: the device runs it for one choice of them, and nothing chooses \
         `{parameter}`"
    );
    let parameters = parameters(&item.sig.generics).next().map_or(item.sig.span(), Spanned::span);
    let fix = format!(
        "launch it in the file, from an `async` function with tensors in HBM, or name a choice: `--entry \
         '{name}::<..>'`"
    );
    Err(Stop::Error(Error::new(frame.place(parameters), message).fix(fix)))
}

/// The element mapping of a tensor that holds one element for each block of an axis, as `H / 16`, with an axis of
/// blocks as its replacement: an input from the host is an array of whole axes.
fn by_blocks(eval: &mut Evaluator<'_>, tensor: &TensorType) -> Option<Expr> {
    let element = tensor.element()?;
    let mut axes = Vec::new();
    tensor.maps.iter().flatten().for_each(|map| map.axes(&mut axes));
    let block = |factor: &Map| match factor {
        Map::Stride(of, by) => match &*of.factors() {
            [Map::Axis(id)] if axes.iter().filter(|own| *own == id).count() == 1 => Some((*id, *by)),
            _ => None,
        },
        _ => None,
    };
    let mut found = false;
    let mut terms = Vec::new();
    for factor in element.factors() {
        terms.push(match block(factor).zip(factor.size(eval)) {
            Some(((id, by), size)) => {
                found = true;
                let name = format!("{}_by_{by}", eval.axis_names[id.0]);
                eval.state.blocks.insert(name.clone(), size);
                Expr::axis(&name)
            }
            None => eval.mapping(factor),
        });
    }
    found.then(|| Expr::pair(terms))
}

/// An argument of a type that is written: an array, or a structure with parameters, is its parts.
fn written_argument(
    eval: &mut Evaluator<'_>,
    frame: &mut Frame,
    all: &mut Arguments,
    (name, ty, changed): (&str, &syn::Type, bool),
    span: proc_macro2::Span,
) -> Eval<Value> {
    match ty {
        syn::Type::Reference(inner) => {
            let changed = changed || inner.mutability.is_some();
            written_argument(eval, frame, all, (name, &inner.elem, changed), span)
        }
        syn::Type::Array(array) => {
            let count = eval.number(frame, &array.len)?;
            let own = |at| {
                written_argument(eval, frame, all, (&format!("{name}_{at}"), &array.elem, changed), span)
            };
            (0..count).map(own).collect::<Eval<_>>().map(Value::Array)
        }
        syn::Type::Path(path) if path.qself.is_none() => {
            let Some((of, fields)) = eval.written_fields(frame, path)? else {
                let ty = eval.ty(frame, ty)?;
                return argument(eval, frame, all, (name, &ty, changed), span);
            };
            let mut values = BTreeMap::new();
            for (field, (mut own, ty)) in fields {
                let name = format!("{name}_{field}");
                let value = eval.enter(frame, span, |eval| {
                    written_argument(eval, &mut own, all, (&name, &ty, changed), span)
                })?;
                values.insert(field, value);
            }
            Ok(Value::Struct(Record { of, variant: 0, fields: values }))
        }
        _ => {
            let ty = eval.ty(frame, ty)?;
            argument(eval, frame, all, (name, &ty, changed), span)
        }
    }
}

fn argument(
    eval: &mut Evaluator<'_>,
    frame: &Frame,
    all: &mut Arguments,
    (name, ty, changed): (&str, &Type, bool),
    span: proc_macro2::Span,
) -> Eval<Value> {
    match ty {
        Type::Context => Ok(Value::Context),
        Type::Tensor(tensor) if tensor.memory == Memory::Host && eval.state.host.is_some() => {
            all.count += 1;
            eval.host_argument(frame, (name, tensor, changed), span)
        }
        Type::Tensor(tensor) => {
            if tensor.memory == Memory::Dm && tensor.maps.iter().all(Option::is_some) {
                return match eval.state.host {
                    // A host program hands on what its kernels load.
                    Some(_) => {
                        argument(eval, frame, all, (name, &Type::Tensor(tensor.in_hbm()), changed), span)
                    }
                    None => staged(eval, frame, all, (name, tensor, changed), span),
                };
            }
            let complete = tensor.memory == Memory::Hbm && tensor.maps.iter().all(Option::is_some);
            let Some(dtype) = tensor.dtype.filter(|_| complete) else {
                return Err(
                    frame.error(span, format!("`{name}` is no tensor in HBM whose mappings are known"))
                );
            };
            let text = eval.state.out.name(Some(name));
            let maps: Vec<Expr> = tensor.maps.iter().flatten().map(|map| eval.mapping(map)).collect();
            let blocks = if changed { None } else { by_blocks(eval, tensor) };
            let number = all.count as i64;
            all.count += 1;
            let given = |maps| make(eval.ctx, Tensor { kind: &HBM, unit: None, dtype, maps });
            let text = match (blocks, &*maps) {
                (Some(array), [chip, element]) => {
                    let ty = given(vec![chip.clone(), array]);
                    eval.state.out.argument(&text, ty);
                    // A host program hands it on as it is.
                    if eval.state.host.is_some() {
                        text
                    } else {
                        let new = new!(eval.ctx, Relabel, [eval.value(&text)]).element(Some(element.clone()));
                        eval.made(frame, span, Some(name), new)
                    }
                }
                (_, _) => {
                    let ty = given(maps);
                    eval.state.out.argument(&text, ty);
                    text
                }
            };
            let place = PlaceId(eval.state.cells.len());
            let cell = Cell::new(Some(text), tensor.clone(), Some(name.to_owned()));
            eval.state.cells.push(Cell { stays: changed, ..cell });
            if changed {
                all.inout.push((place, number));
            }
            Ok(Value::View(View { place, steps: Vec::new(), ty: tensor.clone() }))
        }
        Type::Tuple(types) => {
            let own = |(at, ty): (usize, &Type)| {
                argument(eval, frame, all, (&format!("{name}_{at}"), ty, changed), span)
            };
            types.iter().enumerate().map(own).collect::<Eval<_>>().map(Value::Tuple)
        }
        Type::Adt(of) => {
            let Some(types) = eval.fields_of(*of)? else {
                return Err(frame.error(span, format!("an argument of the type of `{name}` is not read")));
            };
            let mut fields = BTreeMap::new();
            for (field, ty) in &types {
                let name = format!("{name}_{field}");
                let value =
                    eval.enter(frame, span, |eval| argument(eval, frame, all, (&name, ty, changed), span))?;
                fields.insert(field.clone(), value);
            }
            Ok(Value::Struct(Record { of: *of, variant: 0, fields }))
        }
        Type::Number(format) => {
            let (scalar, value) = eval.scalar(frame, (name, format), span)?;
            all.count += 1;
            all.scalars.push(scalar);
            Ok(value)
        }
        Type::Open | Type::Map(_) | Type::Array(..) | Type::Within(_) | Type::Other(_) => {
            Err(frame.error(span, format!("an argument of the type of `{name}` is not read")))
        }
    }
}

/// A tensor that stays in data memory between launches: a `tm.func` takes it in HBM, so it is loaded first, and stored
/// last if it is changed.
fn staged(
    eval: &mut Evaluator<'_>,
    frame: &Frame,
    all: &mut Arguments,
    (name, tensor, changed): (&str, &TensorType, bool),
    span: proc_macro2::Span,
) -> Eval<Value> {
    let given = argument(eval, frame, all, (name, &Type::Tensor(tensor.in_hbm()), changed), span)?;
    let Value::View(given) = given else {
        return Err(frame.error(span, format!("an argument of the type of `{name}` is not read")));
    };
    let message = format!(
        "`{name}` is in data memory between launches, but a kernel of visa takes tensors in HBM: it is loaded \
         first{}, and the cost has these transfers",
        if changed { " and stored last" } else { "" }
    );
    eval.state.remarks.push(Error::new(frame.place(span), message));
    let source = eval.read(frame, span, &given)?;
    let text = eval.loaded(frame, span, (&source, name), tensor)?;
    let view = eval.cell(Some(text), tensor.clone(), Some(name.to_owned()));
    if changed {
        all.staged.push((view.clone(), given));
    }
    Ok(Value::View(view))
}

/// The names of a kernel's results.
fn results(
    eval: &mut Evaluator<'_>,
    frame: &Frame,
    span: proc_macro2::Span,
    value: &Value,
    names: &mut Vec<String>,
) -> Eval<()> {
    match value {
        Value::Nothing => Ok(()),
        Value::View(view)
            if matches!(view.ty.memory, Memory::Hbm | Memory::Host) && view.steps.is_empty() =>
        {
            let name = eval.read(frame, span, view)?;
            names.push(name);
            Ok(())
        }
        Value::View(view) if view.ty.memory == Memory::Dm && view.steps.is_empty() => {
            let stored = eval.stored_last(frame, span, view)?;
            names.push(stored);
            Ok(())
        }
        Value::Tuple(values) => values.iter().try_for_each(|own| results(eval, frame, span, own, names)),
        Value::Variant(own) if eval.state.host.is_some() && own.name() == "Ok" => {
            own.args.iter().try_for_each(|own| results(eval, frame, span, own, names))
        }
        other => Err(frame.error(span, format!("a kernel gives {}, expected tensors in HBM", other.kind()))),
    }
}
