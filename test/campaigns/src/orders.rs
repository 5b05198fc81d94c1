//! Orders: what `schedule` makes of small programs, against every order that they may have.

use crate::files::{context, read};
use crate::open_clauses::cases::passes;
use crate::settings::Settings;
use crate::shared;
use std::fmt::Write as _;
use visa_cost::{MemoryModel, price};
use visa_ir::context::Context;
use visa_machine::Machine;
use visa_support::Random;

/// Most commands of a program.
const MAX_COMMANDS: usize = 8;

/// Most orders of a program: of one that has more another one is drawn.
const MAX_ORDERS: usize = 2_000;

/// Elements of a slice of the tensors that are moved.
const SIZES: [u64; 3] = [64, 512, 4096];

/// A command of a program, and the numbers of those whose tensors it takes.
struct Command {
    text: String,
    needs: Vec<usize>,
}

/// A program of commands whose addresses are open.
struct Program {
    commands: Vec<Command>,
    /// The results, by name.
    stored: Vec<String>,
}

impl Program {
    /// Loads, copies through the Tensor Unit in main and sub, and stores; at least one of those.
    fn draw(random: &mut Random) -> Self {
        let mut program = Self { commands: Vec::new(), stored: Vec::new() };
        let count = 3 + random.below(MAX_COMMANDS - 2);
        let mut sizes: Vec<Option<usize>> = Vec::new();
        while program.commands.len() < count {
            let number = program.commands.len();
            let held: Vec<usize> = (0..number).filter(|&other| sizes[other].is_some()).collect();
            let last = number + 1 == count && program.stored.is_empty();
            let kind = if held.is_empty() { 0 } else { random.below(5) };
            let (text, needs, size) = if kind < 2 && !last || held.is_empty() {
                let size = random.below(SIZES.len());
                (load(number, size), Vec::new(), Some(size))
            } else {
                let of = random.of(&held);
                let size = sizes[of].expect("it is held");
                if kind < 4 && !last {
                    (copy(number, of, size, random.of(&["main", "sub"])), vec![of], Some(size))
                } else {
                    program.stored.push(format!("%h{number}"));
                    (store(number, of, size), vec![of], None)
                }
            };
            program.commands.push(Command { text, needs });
            sizes.push(size);
        }
        program
    }

    fn text(&self, order: &[usize]) -> String {
        let mut text = "visa 1\ntm.axes [M = 256, A = 64, B = 512, C = 4096]\n".to_owned();
        text += "tm.func @f(%x0: !tm.hbm<i32, [1], [M, A]>, %x1: !tm.hbm<i32, [1], [M, B]>, \
                 %x2: !tm.hbm<i32, [1], [M, C]>) at [0x0, 0x1000000, 0x2000000] {\n";
        order.iter().for_each(|&number| text += &self.commands[number].text);
        let _infallible = writeln!(text, "  tm.return {}\n}}", self.stored.join(", "));
        text
    }

    /// All orders in which each command comes after those that it needs; nothing if they are too many.
    fn orders(&self) -> Option<Vec<Vec<usize>>> {
        let (mut found, mut left) = (Vec::new(), vec![Vec::new()]);
        while let Some(order) = left.pop() {
            if order.len() == self.commands.len() {
                found.push(order);
                if found.len() > MAX_ORDERS {
                    return None;
                }
                continue;
            }
            for (number, command) in self.commands.iter().enumerate() {
                let ready = command.needs.iter().all(|other| order.contains(other));
                if ready && !order.contains(&number) {
                    left.push([&order[..], &[number]].concat());
                }
            }
        }
        Some(found)
    }
}

fn axis(size: usize) -> &'static str {
    ["A", "B", "C"][size]
}

fn load(number: usize, size: usize) -> String {
    let axis = axis(size);
    format!("  %d{number} = tm.to_dm %x{size} at auto, cluster [1 # 2], slice [M], element [{axis}]\n")
}

fn copy(number: usize, of: usize, size: usize, context: &str) -> String {
    let axis = axis(size);
    format!(
        "  %b{number} = stream.begin {context} %d{of}
  %f{number} = stream.fetch %b{number} time [{axis} / 2], packet [{axis} % 2]
  %k{number} = stream.collect %f{number} time [{axis} / 2], packet [{axis} % 2 # 8]
  %d{number} = stream.commit %k{number} at auto, element [{axis}]\n"
    )
}

fn store(number: usize, of: usize, size: usize) -> String {
    let at = 0x1000_0000 + number * 0x100_0000;
    format!("  %h{number} = tm.to_hbm %d{of} at {at}, element [M, {}]\n", axis(size))
}

/// What a program takes once it is allocated; `before` are passes that run first.
fn cycles(ctx: &Context, text: &str, before: &str) -> Option<u64> {
    let module = read(ctx, text)?;
    let lowered = passes(ctx, module, &format!("{before}allocate,lower-to-seq,lower-to-hw"));
    let lowered = lowered.unwrap_or_else(|why| panic!("{why}\n{text}"));
    let program = visa_hw::compile(ctx, &lowered, Some("f")).expect("a program");
    Some(price(&program, &Machine::rngd(), MemoryModel::default()).expect("a price").totals.cycles)
}

/// Draws programs. None has an order that takes fewer cycles than the one that `schedule` finds.
pub fn run(settings: &Settings<'_>) {
    let Settings { count, seed, .. } = *settings;
    let shares = shared::each_core(|numbers| {
        let numbers = numbers.take_while(|number| *number < count);
        numbers.fold([0; 2], |[orders, better], number| {
            let [own, improved] = run_case(seed, number);
            [orders + own, better + improved]
        })
    });
    let sum = |at: usize| shares.iter().map(|share| share[at]).sum::<u64>();
    println!(
        "orders, seed {seed}: {count} programs of {} orders, {} of them made faster, 0 worse than the best",
        sum(0),
        sum(1)
    );
    assert!(sum(1) * 20 > count, "seed {seed}: too few are made faster");
}

/// The orders of a program, and whether one was better than that of the text.
fn run_case(seed: u64, case: u64) -> [u64; 2] {
    let random = &mut Random::of_case(seed, case);
    let ctx = context(None);
    let (program, orders) = loop {
        let program = Program::draw(random);
        if let Some(orders) = program.orders() {
            break (program, orders);
        }
    };
    let written: Vec<usize> = (0..program.commands.len()).collect();
    let text = program.text(&written);
    let priced = orders.iter().map(|order| cycles(&ctx, &program.text(order), ""));
    let best = priced.collect::<Option<Vec<_>>>().expect("every order verifies").into_iter().min();
    let found = cycles(&ctx, &text, "schedule,");
    assert!(
        found <= best,
        "seed {seed}, case {case}: {found:?} cycles, the best order takes {best:?}\n{text}"
    );
    [orders.len() as u64, u64::from(found < cycles(&ctx, &text, ""))]
}
