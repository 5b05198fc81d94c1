//! The ring network, router by router (book 13): the hardware that [`Route::deliver`] is the short form of. Tests
//! hold the two equal; the interpreter runs the short form.
//!
//! The first router of a ring is its root, the last its leaf. Every packet travels left to the root, turns, and
//! travels right to the leaf; on this second way each router puts out the packets that its row of the snoop bitmap
//! names. A router has one register for packets from the left and one for packets from the right, and a hop takes a
//! cycle. So packet `p` of the ring's order turns in cycle `p`, and its sender, `k` routers away, has to send it in
//! cycle `p - k`.

use crate::route::{Packet, Route};
use std::fmt;

/// The events in a ring, cycle by cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Packets that each slice sends.
    pub packets: usize,
    /// The actions of each router in each cycle.
    pub cycles: Vec<Vec<Vec<Action>>>,
}

/// An action of a router with a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Action {
    /// The packet.
    pub packet: Packet,
    /// Where it comes from.
    pub from: Origin,
    /// True if it goes to the slice's output.
    pub output: bool,
    /// The neighbour that it goes to.
    pub to: Option<Neighbour>,
}

/// A register that a router takes a packet from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The slice's own packets.
    Input,
    /// The packet that the left neighbour sent.
    Left,
    /// The packet that the right neighbour sent.
    Right,
}

/// Where a router sends a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Neighbour {
    /// Towards the root.
    Left,
    /// Towards the leaf.
    Right,
}

/// Two packets that need one register in the same cycle: no configuration of a [`Route`] should lead there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collision {
    /// The cycle.
    pub cycle: usize,
    /// The router.
    pub router: usize,
}

/// Runs ring number `ring` until every packet has arrived; each slice sends `packets`.
///
/// # Errors
/// If two packets meet in a register.
pub fn simulate(route: &Route, ring: usize, packets: usize) -> Result<Trace, Collision> {
    let members = route.ring;
    let mut routers = vec![Router::default(); members];
    let mut trace = Trace { packets, cycles: Vec::new() };
    while routers.iter().any(|router| router.busy(packets)) {
        let cycle = trace.cycles.len();
        let mut next: Vec<_> =
            routers.iter().map(|router| Router { sent: router.sent, ..Router::default() }).collect();
        let mut actions = vec![Vec::new(); members];
        for (member, router) in routers.iter().enumerate() {
            let source = ring * members + member;
            let due = router.sent < packets && turn(route, member, router.sent) == cycle;
            let input = due.then_some(Packet { source, time: router.sent });
            next[member].sent += usize::from(due);
            let done =
                router.step(route, source, member, input).ok_or(Collision { cycle, router: member })?;
            for action in &done {
                match action.to {
                    Some(Neighbour::Left) => next[member - 1].from_right = Some(action.packet),
                    Some(Neighbour::Right) => next[member + 1].from_left = Some(action.packet),
                    None => {}
                }
            }
            actions[member] = done;
        }
        trace.cycles.push(actions);
        routers = next;
    }
    Ok(trace)
}

/// The cycle in which a member sends its packet number `time`. The order of the ring is `[time / burst, group, time %
/// burst, member of the group]`; a member sends earlier by as many cycles as it is hops away from the root.
fn turn(route: &Route, member: usize, time: usize) -> usize {
    let groups = route.ring / route.group;
    let group = member / route.group;
    let sends = (time / route.burst * groups + group) * route.burst + time % route.burst;
    (sends - group) * route.group
}

#[derive(Clone, Debug, Default)]
struct Router {
    from_left: Option<Packet>,
    from_right: Option<Packet>,
    /// Packets of the slice's own that are on their way.
    sent: usize,
}

impl Router {
    fn busy(&self, packets: usize) -> bool {
        self.sent < packets || self.from_left.is_some() || self.from_right.is_some()
    }

    /// Its actions in a cycle; `None` if two packets want the same way.
    fn step(&self, route: &Route, slice: usize, member: usize, input: Option<Packet>) -> Option<Vec<Action>> {
        let mut actions = Vec::new();
        let leaf = member + 1 == route.ring;
        let mut right = |packet: Packet, from: Origin| {
            let to = (!leaf).then_some(Neighbour::Right);
            actions.push(Action { packet, from, output: route.outputs(slice, packet), to });
        };
        if let Some(packet) = self.from_left {
            right(packet, Origin::Left);
        }
        let towards_root = match (self.from_right, input) {
            (Some(_), Some(_)) => return None,
            (Some(packet), None) => Some((packet, Origin::Right)),
            (None, Some(packet)) => Some((packet, Origin::Input)),
            (None, None) => None,
        };
        if let Some((packet, from)) = towards_root {
            match member {
                0 => right(packet, from),
                _ => actions.push(Action { packet, from, output: false, to: Some(Neighbour::Left) }),
            }
        }
        Some(actions)
    }
}

impl Trace {
    /// The packets that each member of the ring has put out, in order.
    #[must_use]
    pub fn outputs(&self) -> Vec<Vec<Packet>> {
        let members = self.cycles.first().map_or(0, Vec::len);
        (0..members).map(|member| self.outputs_until(member, self.cycles.len())).collect()
    }

    fn outputs_until(&self, member: usize, end: usize) -> Vec<Packet> {
        let actions = self.cycles[..end].iter().flat_map(|routers| &routers[member]);
        actions.filter(|action| action.output).map(|action| action.packet).collect()
    }

    fn number(&self, packet: Packet) -> usize {
        packet.source * self.packets + packet.time
    }
}

/// The book's table: a line a cycle, a column a router, and the packets that each has put out so far. Packets are
/// numbered slice by slice.
impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (cycle, routers) in self.cycles.iter().enumerate() {
            let does = routers.iter().map(|actions| {
                let actions: Vec<_> = actions.iter().map(|action| self.action_text(action)).collect();
                actions.join("; ")
            });
            let outputs = (0..routers.len()).map(|member| {
                let numbers =
                    self.outputs_until(member, cycle + 1).into_iter().map(|packet| self.number(packet));
                format!("{member}: {:?}", numbers.collect::<Vec<_>>())
            });
            let columns: Vec<_> = does.chain([outputs.collect::<Vec<_>>().join(" ")]).collect();
            writeln!(f, "{cycle} | {}", columns.join(" | "))?;
        }
        Ok(())
    }
}

impl Trace {
    fn action_text(&self, action: &Action) -> String {
        let from = match action.from {
            Origin::Input => "input",
            Origin::Left => "left",
            Origin::Right => "right",
        };
        let to = match (action.output, action.to) {
            (true, Some(Neighbour::Right)) => "(output, right)",
            (true, Some(Neighbour::Left)) => "(output, left)",
            (true, None) => "output",
            (false, Some(Neighbour::Right)) => "right",
            (false, Some(Neighbour::Left)) => "left",
            (false, None) => "nothing",
        };
        format!("{}: from {from}, to {to}", self.number(action.packet))
    }
}
