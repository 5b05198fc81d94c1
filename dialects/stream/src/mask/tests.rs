use super::*;
use crate::streams::{BEGIN, FETCH};
use visa_algebra::{Cell, Index, Map};
use visa_mapping::parse_tensor;
use visa_support::Random;

/// A fetch of `time` and `packet` from `element`, where `{P}` is a padded term.
struct Case {
    axes: Axes,
    element: String,
    time: String,
    packet: String,
}

fn tensor(kind: &'static visa_mapping::TensorKind, unit: &str, time: &str, packet: &str) -> Tensor {
    let text = format!("{unit}, i8, [1], [1 # 2], [1 # 256], {time}, {packet}");
    let body = parse_tensor(kind, &text).unwrap_or_else(|error| panic!("{text}: {error:?}")).into_any();
    body.downcast_ref::<Tensor>().unwrap().clone()
}

impl Case {
    fn new(padded: &str, element: &str, time: &str, packet: &str) -> Self {
        let mut axes = Axes::new();
        for (name, size) in [("A", 3), ("B", 5), ("C", 2)] {
            axes.declare(name, size).unwrap();
        }
        axes.define("P", &Expr::parse(padded).unwrap()).unwrap();
        let [element, time, packet] = [element, time, packet].map(str::to_owned);
        Self { axes, element, time, packet }
    }

    fn plan_in(&self, unit: &str) -> Result<(Plan, Option<Mask>), Refused> {
        let source = tensor(&BEGIN, unit, "[1]", &self.element);
        let result = tensor(&FETCH, unit, &self.time, &self.packet);
        Reading::new(&source, &result, result.dim(Dim::Time), &|_| false, &self.axes, &Machine::rngd()).plan()
    }

    fn code(&self) -> &'static str {
        self.plan_in("main").map_or_else(|refused| refused.constraint, |_| "accepted")
    }

    /// The content of each position of the stream: the term's positions are counted by an axis Z, and the term gives
    /// their content.
    fn cells(&self) -> Vec<Option<Index>> {
        let mut axes = self.axes.clone();
        let term = Map::new(&Expr::parse("[{P}]").unwrap(), &axes).unwrap();
        let counter = axes.declare("Z", term.size()).unwrap();
        let stream = format!("[{}, {}]", self.time, self.packet).replace("{P}", "Z");
        let stream = Map::new(&Expr::parse(&stream).unwrap(), &axes).unwrap();
        let cell = |position: u64| {
            let Some(Cell::Live(index)) = stream.cell(position) else { panic!("{position} is padding") };
            let Some(Cell::Live(elements)) = term.cell(index.get(counter)) else { return None };
            let mut index: Index = index.iter().filter(|(axis, _)| *axis != counter).collect();
            index.add_index(&elements);
            Some(index)
        };
        (0..stream.size()).map(cell).collect()
    }
}

/// The address of each element of a plan, and whether the mask takes it (book 08's definition, element by element).
fn walk(plan: &Plan, mask: Option<&Mask>) -> Vec<(i64, bool)> {
    let total: u64 = plan.loops.iter().map(|step| step.entry.limit).product();
    let visit = |mut position: u64| {
        let mut counts = vec![0; plan.loops.len()];
        let mut address = plan.base;
        for (count, step) in counts.iter_mut().zip(&plan.loops).rev() {
            *count = position % step.entry.limit;
            address += step.entry.stride.distance(*count);
            position /= step.entry.limit;
        }
        let masked = mask.is_some_and(|mask| {
            let (inner, outer) = (counts[counts.len() - 1], counts[mask.dim]);
            let valid = mask.valid[mask.by.map_or(0, |by| counts[by] as usize)];
            (outer == 0 && inner < mask.left)
                || (outer + 1 == plan.loops[mask.dim].entry.limit && inner >= valid)
        });
        (address, masked)
    };
    (0..total).map(visit).collect()
}

/// Checks a plan position by position: zero padding is masked, elements are read where they are.
fn check(case: &Case, plan: &Plan, mask: Option<&Mask>) {
    let found = walk(plan, mask);
    let cells = case.cells();
    let text = format!("{} / {} from {}: {plan:?} {mask:?}", case.time, case.packet, case.element);
    assert_eq!(found.len(), cells.len(), "{text}");
    let element = Map::new(&Expr::parse(&case.element).unwrap(), &case.axes).unwrap();
    for (position, ((address, masked), cell)) in found.into_iter().zip(cells).enumerate() {
        match cell {
            None => assert!(masked, "position {position} of {text}"),
            Some(index) => {
                let held = u64::try_from(address).ok().and_then(|address| element.cell(address));
                assert_eq!((masked, held), (false, Some(Cell::Live(index))), "position {position} of {text}");
            }
        }
    }
}

#[test]
fn masks_are_what_enumeration_says() {
    let mut random = Random(8);
    let (mut masked, mut counted) = (0, 0);
    for _ in 0..2000 {
        let left = random.under(5);
        let size = 5 + left + random.under(12);
        let divisors: Vec<u64> = (1..=size).filter(|n| size.is_multiple_of(*n)).collect();
        let width = divisors[random.under(divisors.len() as u64) as usize];
        let padded = format!("[B # {} {{left 0}} # {size} {{0}}]", 5 + left);
        let element =
            random.of(&["[A, B, C]", "[A, B # 8, C # 8]", "[C, A, B # 6]", "[B, A, C]", "[{P}, A, C]"]);
        let (outer, inner) = (format!("{{P}} / {width}"), format!("{{P}} % {width}"));
        let (time, packet) = match random.under(5) {
            0 => (format!("[A, C, {outer}]"), format!("[{inner}]")),
            1 => (format!("[{outer}, C, A]"), format!("[{inner}]")),
            2 => (format!("[A, {outer}]"), format!("[C, {inner}]")),
            3 => ("[C]".to_owned(), format!("[{outer}, A, {inner}]")),
            _ => (format!("[A, {inner}]"), format!("[C, {outer}]")),
        };
        let case = Case::new(&padded, element, &time, &packet);
        if let Ok((plan, mask)) = case.plan_in("main") {
            check(&case, &plan, mask.as_ref());
            masked += usize::from(mask.is_some());
            counted += usize::from(mask.is_some_and(|mask| mask.by.is_some()));
        }
    }
    assert!(masked > 500 && counted > 100, "{masked} masks, {counted} with a count an iteration");
}

/// As messages show them.
fn loops(plan: &Plan) -> String {
    plan.loops.iter().map(Loop::to_string).collect::<Vec<_>>().join(", ")
}

#[test]
fn whole_terms_in_time_or_packet() {
    let case = Case::new("[B # 8 {0}]", "[A, B]", "[A]", "[{P}]");
    let (plan, mask) = case.plan_in("main").unwrap();
    assert_eq!(loops(&plan), "`A` 3 : 5, padding 1 : 0, `{P}` 8 : 1");
    assert_eq!(mask, Some(Mask { dim: 1, left: 0, by: None, valid: vec![5] }));
    // Whole packets: two of them by counts, one by the last iteration.
    let case = Case::new("[B # 7 {0}]", "[B, A # 8]", "[{P}]", "[A # 8]");
    let (plan, mask) = case.plan_in("main").unwrap();
    assert_eq!(loops(&plan), "`{P}` 7 : 8, padding 1 : 0, `A # 8` 8 : 1");
    assert_eq!(mask, Some(Mask { dim: 1, left: 0, by: Some(0), valid: vec![8, 8, 8, 8, 8, 0, 0] }));
    let case = Case::new("[B # 6 {0}]", "[B, A # 8]", "[{P}]", "[A # 8]");
    assert_eq!(case.plan_in("main").unwrap().1, Some(Mask { dim: 0, left: 0, by: None, valid: vec![0] }));
    // A part of the term that is live has nothing to mask.
    let case = Case::new("[B # 8 {0}]", "[A, B]", "[A]", "[{P} / 4 = 1, {P} % 4]");
    assert_eq!(case.plan_in("sub").unwrap().1, None);
}

#[test]
fn what_no_mask_does() {
    let code = |padded, element, time, packet| Case::new(padded, element, time, packet).code();
    assert_eq!(code("[B # 8 {0}]", "[A, B]", "[{P}]", "[A # 8 {0}]"), "C7", "two terms");
    assert_eq!(code("[[A # 4 {0}, B] # 24 {0}]", "[A, B]", "[1]", "[{P}]"), "C7", "one in another");
    assert_eq!(code("[B # 16 {0}]", "[A, B]", "[{P} / 8, A, {P} / 4 % 2]", "[{P} % 4]"), "C7", "three loops");
    assert_eq!(code("[[A, B] # 16 {0}]", "[A, B # 8]", "[1]", "[{P}]"), "C7", "not evenly spaced");
    assert_eq!(code("[B % 5 = 3 # 8 {0}]", "[A, B]", "[A, {P} / 2]", "[{P} % 2]"), "C7", "more of B follows");
    assert_eq!(code("[B % 5 = 3 # 8 {0}]", "[A, B]", "[A]", "[{P}]"), "accepted");
    assert_eq!(code("[B # 8 {left 0}]", "[A, B]", "[A, {P} / 2]", "[{P} % 2]"), "C8", "3 before, 2 wide");
    assert_eq!(code("[B # 8 {left 0}]", "[A, B]", "[A, {P} / 4]", "[{P} % 4]"), "accepted");
    assert_eq!(code("[B # 16 {0}]", "[A, B]", "[A, {P} / 2]", "[{P} % 2]"), "accepted", "8 counts");
    assert_eq!(code("[B # 18 {0}]", "[A, B]", "[A, {P} / 2]", "[{P} % 2]"), "C8", "9 counts");
    assert_eq!(
        code("[B # 6 {left 0} # 16 {0}]", "[A, B]", "[A, {P} / 4]", "[{P} % 4]"),
        "C8",
        "left, and counts"
    );
    assert_eq!(
        Case::new("[B # 8 {0}]", "[A, B]", "[A]", "[{P}]").plan_in("sub").unwrap_err().constraint,
        "C9"
    );
}
