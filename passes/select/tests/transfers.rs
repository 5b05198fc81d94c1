//! Streams of transfers against brute force: every deal of the loops to engines, every order of the others, every cut
//! of a packet, written as nested choices.

use visa_algebra::{Axes, Expr};
use visa_cost::MemoryModel;
use visa_lowering::transfers::Start;
use visa_machine::Machine;
use visa_mapping::{DM, HBM, StreamOrder, Tensor, TensorKind, parse_tensor};
use visa_numerics::DType;
use visa_select::transfer::choose::{Slot, Slots, TransferCx};
use visa_support::Random;

const OPEN: Slots = Slots { engines: Slot::Open, time: Slot::Open, packet: Slot::Open };

fn tensor(kind: &'static TensorKind, text: &str) -> Tensor {
    let parsed = parse_tensor(kind, text).expect(text).into_any();
    parsed.downcast_ref::<Tensor>().expect(text).clone()
}

fn axes(sizes: &[(&str, u64)]) -> Axes {
    let mut axes = Axes::new();
    for &(name, size) in sizes {
        axes.declare(name, size).expect("a name");
    }
    axes
}

/// A factor that is placed: its text and iterations.
type Part = (String, u64);

/// The state of the search: the loops yet to be placed, and the positions of the others.
#[derive(Clone, Default)]
struct Tried {
    engines: Vec<Part>,
    time: Vec<Part>,
}

/// Every way to deal `left` to engines and time: each loop whole, or in two parts with one of them on engines, or cut
/// at a network of 32 slices.
fn deals(left: &[Part], tried: &Tried, found: &mut Vec<Tried>) {
    let Some(((text, limit), rest)) = left.split_first() else {
        found.push(tried.clone());
        return;
    };
    let used: u64 = tried.engines.iter().map(|(_, limit)| limit).product();
    let with = |engines: &[Part], time: &[Part], found: &mut Vec<Tried>| {
        let mut next = tried.clone();
        next.engines.extend_from_slice(engines);
        next.time.extend_from_slice(time);
        deals(rest, &next, found);
    };
    let whole = (text.clone(), *limit);
    with(&[], std::slice::from_ref(&whole), found);
    if used * limit <= 8 {
        with(std::slice::from_ref(&whole), &[], found);
    }
    for engines in (2..=8).filter(|engines| limit % engines == 0 && limit > engines && used * engines <= 8) {
        let inner = limit / engines;
        let (outer, inner) = ((format!("{text} / {inner}"), engines), (format!("{text} % {inner}"), inner));
        with(std::slice::from_ref(&outer), std::slice::from_ref(&inner), found);
    }
    if *limit > 32 && limit % 32 == 0 {
        with(&[], &[(format!("{text} / 32"), limit / 32), (format!("{text} % 32"), 32)], found);
    }
}

fn orders(parts: &[Part]) -> Vec<Vec<Part>> {
    if parts.is_empty() {
        return vec![Vec::new()];
    }
    let each = (0..parts.len()).flat_map(|at| {
        let mut rest = parts.to_vec();
        let first = rest.remove(at);
        orders(&rest).into_iter().map(move |order| [vec![first.clone()], order].concat()).collect::<Vec<_>>()
    });
    each.collect()
}

fn map(parts: &[Part]) -> Expr {
    if parts.is_empty() {
        return Expr::Literal(1);
    }
    let texts: Vec<&str> = parts.iter().map(|(text, _)| text.as_str()).collect();
    Expr::parse(&format!("[{}]", texts.join(", "))).expect("a mapping")
}

/// The fewest cycles of all of these, and how many were priced.
fn brute_force(cx: &TransferCx<'_>, outer: &[Part], row: &Part) -> (u64, u64) {
    let (mut best, mut priced) = (u64::MAX, 0);
    let request = 256 / u64::from(cx.start.dtype.bits() / 8);
    let whole = (Vec::new(), vec![row.clone()]);
    let cut = (
        vec![(format!("{} / {request}", row.0), row.1 / request)],
        vec![(format!("{} % {request}", row.0), request)],
    );
    let packets =
        if row.1 > request && row.1.is_multiple_of(request) { vec![whole, cut] } else { vec![whole] };
    for (more, packet) in packets {
        let mut found = Vec::new();
        deals(&[outer.to_vec(), more].concat(), &Tried::default(), &mut found);
        for deal in found {
            for time in orders(&deal.time) {
                let order = StreamOrder {
                    engines: map(&deal.engines),
                    time: Some(map(&time)),
                    packet: Some(map(&packet)),
                };
                if let Some((cost, _)) = cx.price(Some(&order)) {
                    best = best.min(cost.cycles);
                    priced += 1;
                }
            }
        }
    }
    (best, priced)
}

#[test]
fn no_stream_is_faster_than_the_chosen_one() {
    let mut random = Random(0x57e);
    let machine = Machine::rngd();
    for _ in 0..40 {
        let (rows, slices, run) = (
            random.of(&[3, 4, 6, 8, 12]),
            random.of(&[8, 16, 64, 128]),
            random.of(&[64, 128, 256, 512, 1024]),
        );
        let axes = axes(&[("R", rows), ("S", slices), ("K", run)]);
        let hbm = random.of(&["[R, S, K]", "[S, R, K]"]);
        let far = tensor(&HBM, &format!("i8, [1], {hbm}"));
        let near = tensor(&DM, "i8, [1], [1 # 2], [S # 256], [R, K]");
        let to_dm = random.below(2) == 0;
        let (source, result) = if to_dm { (&far, &near) } else { (&near, &far) };
        let cx = TransferCx {
            source,
            result,
            start: Start { read: 0, write: 0, dtype: DType::I8 },
            free: &|_| false,
            pcie: false,
            queue: None,
            axes: &axes,
            machine: &machine,
            model: MemoryModel::Book,
        };
        let chosen = cx.choose(&OPEN).expect("a choice");
        let outer = [("R".to_owned(), rows), ("S".to_owned(), slices)];
        let (best, priced) = brute_force(&cx, &outer, &("K".to_owned(), run));
        let names = format!("{hbm}, R = {rows}, S = {slices}, K = {run}, to data memory: {to_dm}");
        assert!(priced > 4, "{names}: {priced}");
        assert!(
            chosen.cycles <= best,
            "{names}: {} by `{:?}`, {best} by brute force",
            chosen.cycles,
            chosen.order
        );
        let own = chosen.own.expect("a price");
        assert!(chosen.cycles <= own, "{names}: {}, the lowering itself {own}", chosen.cycles);
    }
}

#[test]
fn what_is_written_stays() {
    let (machine, axes) = (Machine::rngd(), axes(&[("R", 8), ("S", 256), ("K", 256)]));
    let source = tensor(&HBM, "i8, [1], [R, S, K]");
    let result = tensor(&DM, "i8, [1], [1 # 2], [S], [R, K]");
    let cx = TransferCx {
        source: &source,
        result: &result,
        start: Start { read: 0, write: 0, dtype: DType::I8 },
        free: &|_| false,
        pcie: false,
        queue: None,
        axes: &axes,
        machine: &machine,
        model: MemoryModel::Book,
    };
    let written = Expr::parse("[S / 64]").expect("a mapping");
    let slots = Slots { engines: Slot::Written(written.clone()), ..OPEN };
    let found = cx.choose(&slots).expect("a choice");
    assert_eq!(found.order.engines, written);
    assert!(found.order.time.is_some() && found.order.packet.is_some());
    let absent = Slots { time: Slot::Absent, ..OPEN };
    assert_eq!(cx.choose(&absent).expect("a choice").order.time, None);
    // One engine takes longer than all of them.
    let alone = Slots { engines: Slot::Written(Expr::Literal(1)), ..OPEN };
    let cycles = |slots: &Slots| cx.choose(slots).expect("a choice").cycles;
    assert!(cycles(&alone) > cycles(&OPEN));
}

#[test]
fn ragged_transfers_are_left_to_the_lowering() {
    let (machine, axes) = (Machine::rngd(), axes(&[("R", 15), ("K", 256)]));
    let source = tensor(&DM, "i8, [1], [1 # 2], [R # 16 / 2 # 256], [R # 16 % 2, K]");
    let result = tensor(&HBM, "i8, [1], [R, K]");
    let cx = TransferCx {
        source: &source,
        result: &result,
        start: Start { read: 0, write: 0, dtype: DType::I8 },
        free: &|_| false,
        pcie: false,
        queue: None,
        axes: &axes,
        machine: &machine,
        model: MemoryModel::Book,
    };
    assert!(cx.choose(&OPEN).is_none());
}
