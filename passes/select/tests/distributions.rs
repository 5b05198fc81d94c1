//! The proposed distributions for tensors whose distribution in data memory is open. Whole kernels show that the best
//! of them is chosen.

use std::collections::BTreeSet;
use visa_ir::context::Context;
use visa_ir::decl::Dialect;
use visa_ir::infer::infer_all;
use visa_ir::module::Module;
use visa_ir::parse::parse;
use visa_ir::span::Source;
use visa_ir::verify::{Analysis, has_errors};
use visa_mapping::facts::DeclaredAxes;
use visa_select::distribution::distributions::{Distribution, distributions};

const DIALECTS: [&Dialect; 2] = [&visa_mapping::DIALECT, &visa_stream::DIALECT];

/// A kernel whose loads are all open: its arguments, the operations between the loads and the end of its pipeline, the
/// layout of the result.
fn kernel(args: &[&str], ops: &[&str], result: &str) -> String {
    let tensors = args.iter().enumerate().map(|(number, layout)| {
        (
            format!("%x{number}: !tm.hbm<i8, [1], [{layout}]>"),
            format!("%d{number} = tm.to_dm %x{number} at auto, cluster auto, slice auto, element auto"),
        )
    });
    let (args, loads): (Vec<_>, Vec<_>) = tensors.unzip();
    let ends = [
        "%y = stream.commit %c at auto, element auto".to_owned(),
        format!("%r = tm.to_hbm %y at auto, element [{result}]"),
    ];
    let body: Vec<String> =
        loads.into_iter().chain(ops.iter().map(|op| (*op).to_owned())).chain(ends).collect();
    format!(
        "visa 1\ntm.axes [T = 2, P = 8, S = 256, X = 4, Q = 32, V = 3, R = 17]\ntm.func @f({}) at auto, chips 1 \
         {{\n{}\ntm.return %r\n}}\n",
        args.join(", "),
        body.join("\n")
    )
}

/// The distributions of a kernel, each with the slice and the element mapping of its loads.
fn found(text: &str) -> Result<Vec<Vec<String>>, String> {
    let ctx = Context::new(&DIALECTS);
    let parsed = parse(&ctx, &Source::new("test", text), 0..text.len());
    assert!(!has_errors(&parsed.diagnostics), "{text}{:?}", parsed.diagnostics);
    let mut module: Module = parsed.module;
    infer_all(&ctx, &mut module).map_err(|error| error.message)?;
    let function = *module.ops(module.body()).last().expect("a function");
    let axes = DeclaredAxes::build(&ctx, &module).0;
    let shown = |distribution: &Distribution| {
        distribution.loads.iter().map(|(_, [_, slice, element])| format!("{slice} | {element}")).collect()
    };
    let distributions = distributions(module.op(&ctx, function), &axes).map_err(|error| error.message)?;
    Ok(distributions.iter().map(shown).collect())
}

const READ: [&str; 3] = [
    "%s = stream.begin main %d0",
    "%f = stream.fetch %s time auto, packet auto",
    "%c = stream.collect %f time auto, packet auto",
];

#[test]
fn a_tensor_is_spread_over_its_axes_in_every_way_that_slices_have_room_for() {
    // T into 1 or 2 parts, P into 1, 2, 4 or 8.
    let all = found(&kernel(&["T, P"], &READ, "T, P")).expect("distributions");
    assert_eq!(all.len(), 8, "{all:?}");
    assert!(all.contains(&vec!["[[T, P / 2] # 256] | [P % 2]".to_owned()]), "{all:?}");
    assert!(all.contains(&vec!["[1 # 256] | [T, P]".to_owned()]), "{all:?}");
}

#[test]
fn each_place_is_proposed_once() {
    // The slices written after the switch lead to some of the distributions that the axes themselves give.
    let ops = [
        "%s = stream.begin main %d0",
        "%f = stream.fetch %s time auto, packet auto",
        "%w = stream.switch auto %f slice [S]",
        "%c = stream.collect %w time auto, packet auto",
    ];
    let all = found(&kernel(&["S, T, P"], &ops, "S, T, P")).expect("distributions");
    assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len(), "{all:?}");
    assert_eq!(all[0], ["[S] | [T, P]"], "what is written after the switch leads");
}

#[test]
fn slices_hold_one_coordinate_each_of_an_axis_that_a_part_does_not_name() {
    let ops = ["%part = tm.slice %d0 element [P = 4]", "%s = stream.begin main %part", READ[1], READ[2]];
    // A part of P is named, so each slice holds all of P.
    assert_eq!(found(&kernel(&["T, P"], &ops, "T, P = 4")), Ok(vec![vec!["[T # 256] | [P]".to_owned()]]));
}

#[test]
fn an_axis_that_the_part_names_stays_in_each_slice() {
    let ops = ["%part = tm.slice %d0 element [T, P = 4]", "%s = stream.begin main %part", READ[1], READ[2]];
    assert_eq!(found(&kernel(&["T, P"], &ops, "T, P = 4")), Ok(vec![vec!["[1 # 256] | [T, P]".to_owned()]]));
}

#[test]
fn a_factor_that_the_stream_meets_after_a_switch_has_the_slices_of_the_switch() {
    let ops = [
        "%g = stream.begin sub %d1",
        "%h = stream.fetch %g time auto, packet auto, dtype i32",
        "%i = stream.collect %h time auto, packet auto",
        "%factor = stream.to_vrf %i at auto, element auto",
        "%s = stream.begin main %d0",
        "%f = stream.fetch %s time auto, packet auto, dtype i32",
        "%w = stream.switch auto %f slice [S / 4, X]",
        "%e = stream.collect %w time auto, packet auto",
        "%v = stream.vector_init %e",
        "%b = stream.vector_branch unconditional %v",
        "%m = stream.vector_fxp MulInt %b, %factor",
        "%c = stream.vector_final %m",
    ];
    let all = found(&kernel(&["S, P", "X, P"], &ops, "S, X, P")).expect("distributions");
    // All of P, or half of it in each cluster.
    let factor: BTreeSet<&str> = all.iter().map(|distribution| &*distribution[1]).collect();
    assert_eq!(factor, ["[S / 4, X] | [P]", "[S / 4, X] | [P % 4]"].into());
    // The stream's own state in front of the switch is no such tensor.
    assert!(all.iter().any(|distribution| distribution[0] == "[S] | [P]"), "{all:?}");
}

const WITHIN: [&str; 9] = [
    "%s = stream.begin main %d0",
    "%f = stream.fetch %s time auto, packet auto, dtype i32",
    "%e = stream.collect %f time auto, packet auto",
    "%v = stream.vector_init %e",
    "%b = stream.vector_branch unconditional %v",
    "%t = stream.vector_trim %b packet auto",
    "%m = stream.vector_intra_slice_reduce Min %t axis [R], time auto, packet auto",
    "%p = stream.vector_pad %m packet auto",
    "%c = stream.vector_final %p",
];

#[test]
fn slices_hold_what_the_result_has_of_an_axis_that_is_reduced_within_them() {
    // 17 coordinates of R, 3 in each of 6 slices: the last slice has 2. In any other slices another 3 would be
    // reduced.
    let all = found(&kernel(&["T, R"], &WITHIN, "T, R # 18 / 3")).expect("distributions");
    let both = ["[[T, R # 18 / 3 # 8] # 256] | [R = 3]", "[R # 18 / 3 # 256] | [T, R = 3]"];
    assert_eq!(all.concat().into_iter().collect::<BTreeSet<_>>(), both.map(str::to_owned).into());
    // The inner part: slice 0 has R = 0, 4, 8, 12 and 16.
    let all = found(&kernel(&["T, R"], &WITHIN, "T, R # 20 % 4")).expect("distributions");
    let both = ["[[T, R = 4] # 256] | [R # 20 / 4]", "[R = 4 # 256] | [T, R # 20 / 4]"];
    assert_eq!(all.concat().into_iter().collect::<BTreeSet<_>>(), both.map(str::to_owned).into());
}

#[test]
fn an_axis_that_is_reduced_whole_is_in_no_slice() {
    let all = found(&kernel(&["T, R"], &WITHIN, "T")).expect("distributions");
    let both = ["[T # 256] | [R]", "[1 # 256] | [T, R]"];
    assert_eq!(all.concat().into_iter().collect::<BTreeSet<_>>(), both.map(str::to_owned).into());
}

#[test]
fn an_axis_that_is_reduced_and_that_the_result_has_whole_is_in_no_slice() {
    // As in a softmax: the sum is met again by all that it is the sum of.
    let all = found(&kernel(&["T, R"], &WITHIN, "T, R")).expect("distributions");
    let both = ["[T # 256] | [R]", "[1 # 256] | [T, R]"];
    assert_eq!(all.concat().into_iter().collect::<BTreeSet<_>>(), both.map(str::to_owned).into());
}

#[test]
fn what_a_view_in_hbm_names_is_free() {
    let stored = kernel(&["T, P"], &READ, "T, P");
    let shown = stored.replace("tm.return %r", "%z = tm.reshape %r element [T, P / 2, P % 2]\ntm.return %z");
    assert_eq!(found(&shown), found(&stored));
}

#[test]
fn a_digit_within_another_takes_a_power_of_two_of_slices() {
    let all = found(&kernel(&["P, V"], &READ, "P, V")).expect("distributions").concat();
    // Of 256 slices 3 can be in front of nothing, or within 8 of them 4 with one left out.
    assert!(all.contains(&"[[P, V # 4] # 256] | [1]".to_owned()), "{all:?}");
    assert!(all.contains(&"[V # 256] | [P]".to_owned()), "{all:?}");
}

#[test]
fn clusters_take_a_part_of_the_outermost_axis_or_all_of_one_with_two_coordinates() {
    let all = found(&kernel(&["S, T, P"], &READ, "S, T, P")).expect("distributions").concat();
    assert!(all.contains(&"[S] | [P]".to_owned()), "T over the clusters: {all:?}");
    assert!(all.contains(&"[S % 128, T] | [P]".to_owned()), "S / 128 over the clusters: {all:?}");
}

#[test]
fn what_a_switch_copies_may_come_from_an_axis_that_has_as_many_coordinates_left() {
    let ops = [
        "%s = stream.begin main %d0",
        "%f = stream.fetch %s time auto, packet auto",
        "%w = stream.switch auto %f slice [S / 4, 4]",
        "%c = stream.collect %w time auto, packet auto",
    ];
    let all = found(&kernel(&["S, T, P"], &ops, "S, T, P")).expect("distributions");
    // They are in front; of those, the transfers determine which is the first.
    let led = &all[..3];
    assert!(led.contains(&vec!["[S] | [T, P]".to_owned()]), "all of S: {led:?}");
    assert!(led.contains(&vec!["[S] | [P]".to_owned()]), "all of S, and T over the clusters: {led:?}");
}

#[test]
fn a_number_that_is_written_to_slices_lies_with_what_meets_it() {
    let ops = [
        "%n = stream.generate 1, at 4096, dtype i8, cluster [1 # 2], slice [P # 256], element [1 # 8]",
        "%g = stream.begin sub %n",
        "%h = stream.fetch %g time auto, packet auto",
        "%i = stream.collect %h time auto, packet auto",
        "%w = stream.to_trf %i at auto, row auto, element auto",
        "%s = stream.begin main %d0",
        "%f = stream.fetch %s time auto, packet auto",
        "%e = stream.collect %f time auto, packet auto",
        "%a = stream.align %e, %w time auto, packet auto",
        "%k = stream.contract %a packet auto",
        "%c = stream.accumulate auto %k time auto, packet auto",
    ];
    assert_eq!(found(&kernel(&["P, Q"], &ops, "P")), Ok(vec![vec!["[P # 256] | [Q]".to_owned()]]));
}

#[test]
fn nothing_is_proposed_where_no_place_is_open() {
    let text = kernel(&["T, P"], &READ, "T, P")
        .replace("cluster auto, slice auto, element auto", "cluster [1 # 2], slice [T # 256], element [P]");
    assert_eq!(found(&text), Ok(Vec::new()));
}

#[test]
fn a_result_without_a_layout_leaves_nothing_to_go_by() {
    let text = kernel(&["T, P"], &READ, "T, P")
        .replace("%r = tm.to_hbm %y at auto, element [T, P]\n", "")
        .replace("tm.return %r", "tm.return %y");
    let error = found(&text).expect_err("no layout");
    assert!(error.contains("nothing says what axes its result has"), "{error}");
}
