//! Random kernels of which all but the tensors and the operations is open: what is chosen gives what the evaluator
//! says, and nothing of it depends on memory that nothing wrote. Sizes are odd, so that rows, packets and flits need
//! padding; budgets are small, so that searches also end before their end.

use crate::kernels::{machines, run_kernel};
use crate::settings::Settings;
use crate::shared;
use std::path::Path;
use visa_support::Random;
use visa_support::kernel::list;

/// Slices of a cluster.
const SLICES: [u64; 2] = [8, 256];

/// Formats of what is multiplied.
const FORMATS: [&str; 4] = ["i8", "bf16", "f8e4m3", "i4"];

/// Sizes of axes: powers of two, one more, one less, and others.
const SIZES: [u64; 16] = [1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 20, 24, 31, 33, 40, 64];

/// Units of work for a choice.
const BUDGETS: [u64; 4] = [1_000, 4_000, 10_000, 20_000];

/// What a tensor's distribution is: in one slice, or open.
const PLACES: [&str; 2] =
    ["cluster [1 # 2], slice [1 # SLICES], element auto", "cluster auto, slice auto, element auto"];

/// A case: its text, and how much work its choice may be.
struct Case {
    text: String,
    budget: u64,
}

/// An axis and its size.
type Axis = (&'static str, u64);

/// Axes in any order. Mostly the innermost is padded, so that rows start at 8 bytes.
fn layout(random: &mut Random, mut axes: Vec<Axis>) -> String {
    random.shuffle(&mut axes);
    let mut terms: Vec<String> = axes.iter().map(|(name, _)| (*name).to_owned()).collect();
    let whole = axes.last().map_or(0, |(_, size)| size.next_multiple_of(16));
    if random.below(8) > 0
        && let Some(last) = terms.last_mut()
    {
        last.push_str(&format!(" # {whole}"));
    }
    list(&terms)
}

/// A product of two tensors, of which K and L are summed; I and G are the first's, J the second's, B both have.
fn product(random: &mut Random, slices: u64) -> Case {
    let dtype = random.of(&FORMATS);
    let few = |random: &mut Random, name, one_in| {
        (random.below(one_in) == 0).then(|| (name, SIZES[random.below(6)]))
    };
    let [outer, both, summed] =
        [("G", 3), ("B", 4), ("L", 3)].map(|(name, one_in)| few(random, name, one_in));
    let [i, j, k] = ["I", "J", "K"].map(|name| Some((name, random.of(&SIZES))));
    let own = |axes: &[Option<Axis>]| axes.iter().flatten().copied().collect::<Vec<_>>();
    let first = layout(random, own(&[i, outer, both, k, summed]));
    let second = layout(random, own(&[j, both, k, summed]));
    let result = layout(random, own(&[i, outer, both, j]));
    let over = list(&own(&[k, summed]).iter().map(|(name, _)| *name).collect::<Vec<_>>());
    let declared = own(&[i, j, k, outer, both, summed]);
    let sizes: Vec<String> = declared.iter().map(|(name, size)| format!("{name} = {size}")).collect();
    let place = random.of(&PLACES).replace("SLICES", &slices.to_string());
    let narrow = !dtype.starts_with('i') && random.below(2) == 0;
    let (cast, last) = if narrow { ("\n  %a6 = stream.cast bf16 %a5 packet auto", "a6") } else { ("", "a5") };
    let text = format!(
        "visa 1
tm.axes [{sizes}]
tm.func @f(%a: !tm.hbm<{dtype}, [1], [{first}]>, %b: !tm.hbm<{dtype}, [1], [{second}]>) at auto, chips 1 {{
  %ad = tm.to_dm %a at auto, {place}
  %bd = tm.to_dm %b at auto, {place}
  %b0 = stream.begin main %bd
  %b1 = stream.fetch %b0 time auto, packet auto
  %b2 = stream.collect %b1 time auto, packet auto
  %w = stream.to_trf %b2 at auto, row auto, element auto
  %a0 = stream.begin main %ad
  %a1 = stream.fetch %a0 time auto, packet auto
  %a2 = stream.collect %a1 time auto, packet auto
  %a3 = stream.align %a2, %w time auto, packet auto
  %a4 = stream.contract %a3 over [{over}], packet auto
  %a5 = stream.accumulate auto %a4 time auto, packet auto{cast}
  %y = stream.commit %{last} at auto, element auto
  %out = tm.to_hbm %y at auto, element [{result}]
  tm.return %out
}}
",
        sizes = sizes.join(", ")
    );
    Case { text, budget: random.of(&BUDGETS) }
}

/// Chooses and runs random kernels, in shadow mode. One in eight at least must have a choice.
///
/// # Panics
/// If a choice means something else.
pub fn run(settings: &Settings<'_>) {
    let Settings { count, seed, .. } = *settings;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let machines = machines(folder.path(), &SLICES);
    let shares = shared::each_core(|numbers| {
        let numbers = numbers.take_while(|number| *number < count);
        numbers.filter(|&number| run_case(&machines, (seed, number))).count() as u64
    });
    let found: u64 = shares.iter().sum();
    println!("choices, seed {seed}: {found} of {count} chosen and checked");
    assert!(found >= count / 8, "seed {seed}: only {found} of {count} have a choice");
}

/// Runs one kernel; whether it had a choice.
fn run_case(machines: &[impl AsRef<Path>], (seed, number): (u64, u64)) -> bool {
    let mut random = Random::of_case(seed, number);
    let at = usize::from(number.is_multiple_of(32));
    let Case { text, budget } = product(&mut random, SLICES[at]);
    let title = format!("choices, seed {seed}, case {number}, budget {budget}");
    let select = format!("--select-configs=budget={budget}");
    let machine = machines[at].as_ref().to_string_lossy();
    run_kernel(&title, &text, &machine, true, &[&select, "--allocate", "--select-transfers"])
}
