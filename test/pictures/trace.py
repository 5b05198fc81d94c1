"""Reads a trace of visa-run with Perfetto's own messages, and compares it with the timeline of the same run.

    visa-run KERNEL --cost --timeline T.json --trace T.pftrace
    python3 test/pictures/trace.py T.json T.pftrace

Needs `perfetto` from PyPI, of which only the generated messages are used. Exits 1 at the first difference.
"""

import json
import sys
from collections import Counter

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent



def same(what, found, expected):
    if found != expected:
        only = [item for item in found if item not in expected][:3] if isinstance(found, (list, Counter)) else found
        other = [item for item in expected if item not in found][:3] if isinstance(found, (list, Counter)) else expected
        sys.exit(f"error: {what} differ: the trace has {only}, the timeline {other}")


class Reader:
    """What a trace says: slices, flows and counters by the names of their tracks."""

    def __init__(self, packets):
        self.tracks, self.open, self.names, self.strings, self.keys = {}, {}, {}, {}, {}
        self.slices, self.runs, self.flows, self.starts, self.counters = Counter(), {}, Counter(), {}, {}
        for packet in packets:
            self.learn(packet)
        events = [packet for packet in packets if packet.HasField("track_event")]
        # Those of one time stay in the order of the file.
        for packet in sorted(events, key=lambda packet: packet.timestamp):
            self.event(packet.timestamp, packet.track_event)
        left = [track for track, stack in self.open.items() if stack]
        if left:
            sys.exit(f"error: slices without an end on {left}")

    def learn(self, packet):
        if packet.trusted_packet_sequence_id == 0:
            sys.exit("error: a packet of no sequence")
        if not packet.sequence_flags & 3:
            sys.exit("error: a packet that does not say what it refers to")
        interned = packet.interned_data
        self.names.update((own.iid, own.name) for own in interned.event_names)
        self.keys.update((own.iid, own.name) for own in interned.debug_annotation_names)
        self.strings.update((own.iid, own.str.decode()) for own in interned.debug_annotation_string_values)
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            if track.uuid in self.tracks:
                sys.exit(f"error: two tracks have the number {track.uuid}")
            self.tracks[track.uuid] = track

    def path(self, uuid):
        track = self.tracks[uuid]
        return (self.path(track.parent_uuid) if track.HasField("parent_uuid") else ()) + (track.name,)

    def event(self, time, event):
        path = self.path(event.track_uuid)
        if event.type == TrackEvent.TYPE_COUNTER:
            if not self.tracks[event.track_uuid].HasField("counter"):
                sys.exit(f"error: {path} is no counter")
            self.counters.setdefault(path[-1], []).append((time, event.double_counter_value))
        elif event.type == TrackEvent.TYPE_SLICE_BEGIN:
            self.begin(time, path, event)
        elif event.type == TrackEvent.TYPE_SLICE_END:
            name, start, said = self.open[path].pop()
            self.slices[path, name, start, time] += 1
            if "run" in said:
                self.runs[said["run"]] = said
        else:
            sys.exit(f"error: an event of type {event.type}")

    def begin(self, time, path, event):
        stack = self.open.setdefault(path, [])
        if stack:
            sys.exit(f"error: slices overlap on {path} at {time}")
        name = event.name if event.HasField("name") else self.names[event.name_iid]
        said = {self.keys[own.name_iid]: self.value(own) for own in event.debug_annotations}
        stack.append((name, time, said))
        for flow in event.flow_ids:
            self.starts[flow] = said["run"]
        for flow in event.terminating_flow_ids:
            self.flows[self.starts.pop(flow), said["run"]] += 1

    def value(self, annotation):
        kind = annotation.WhichOneof("value")
        return self.strings[annotation.string_value_iid] if kind == "string_value_iid" else getattr(annotation, kind)


def on_lanes(name, spans):
    """Each of some spans with the name of its track: one that overlaps others is on the first track that is free."""
    free = []
    for start, end, of in sorted(spans):
        lane = next((lane for lane, ended in enumerate(free) if ended <= start), len(free))
        free[lane:lane + 1] = [end]
        yield (name if lane == 0 else f"{name} ({lane + 1})"), of, start, end


def expected_slices(timeline, root):
    commands, runs = timeline["commands"], timeline["runs"]
    titles = [name or label for name, label in zip(commands["name"], commands["label"])]
    names = [track["name"] for track in timeline["tracks"]]
    slices, ours, theirs = Counter(), {}, {}
    in_full = len(runs["command"]) <= 200_000 and not timeline["folded"]
    for run, command in enumerate(runs["command"]):
        start, end = runs["start"][run], runs["end"][run]
        for track in commands["tracks"][command]:
            ours.setdefault(names[track], []).append((start, end, titles[command]))
            for engine, time in commands["engines"][command] if in_full else []:
                slices[(root, names[track], engine), engine, start, min(end, start + time)] += 1
        first = names[commands["tracks"][command][0]] if commands["tracks"][command] else None
        for cluster, span in enumerate(runs["theirs"][run]):
            theirs.setdefault((first, cluster), []).append((*span, titles[command]))
    for queue, spans in ours.items():
        for name, title, start, end in on_lanes(queue, spans):
            slices[(root, name), title, start, end] += 1
    for (queue, cluster), spans in theirs.items():
        for name, title, start, end in on_lanes(f"{queue}, by {timeline['compared']['with']}, cluster {cluster}", spans):
            slices[(root, queue, name), title, start, end] += 1
    return slices


def expected_flows(runs):
    flows = Counter()
    for run, waits in enumerate(runs["waits"]):
        for other, _why in waits:
            first, second = sorted((run, other), key=lambda own: (runs["start"][own], own))
            flows[first, second] += 1
    return flows


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        timeline = json.load(file)
    trace = Trace()
    with open(sys.argv[2], "rb") as file:
        trace.ParseFromString(file.read())
    size = trace.ByteSize()
    trace.DiscardUnknownFields()
    if trace.ByteSize() != size:
        sys.exit("error: the trace has fields that Perfetto does not know")
    reader = Reader(trace.packet)
    runs = timeline["runs"]
    chips = "1 chip" if timeline["chips"] == 1 else f"{timeline['chips']} chips alike"
    root = f"{timeline['program']} on {timeline['machine']}, {chips}, 1 ns is a {timeline['unit']}"
    same("slices", reader.slices, expected_slices(timeline, root))
    same("flows", reader.flows, expected_flows(runs))
    same("flows that end nowhere", reader.starts, {})
    counters = {f"{own['name']} ({own['unit']} a {timeline['unit']})": own for own in timeline["counters"]}
    same("counters", sorted(reader.counters), sorted(counters))
    for name, own in counters.items():
        same(name, reader.counters[name], list(zip(own["times"], own["values"])))
    same("runs", sorted(reader.runs), list(range(len(runs["command"]))))
    for run, said in reader.runs.items():
        command = runs["command"][run]
        same(f"bottleneck of {run}", said["bottleneck"], timeline["commands"]["bottleneck"][command])
        same(f"line of {run}", said.get("line"), timeline["commands"]["line"][command])
        same(f"stalls of {run}", said.get("stalls", 0), runs["stalls"][run])
    # The bytes that a counter adds up to are those of the commands.
    moved = sum(sum(timeline["commands"]["bytes"][command][:2]) for run, command in enumerate(runs["command"])
                if runs["start"][run] < runs["end"][run])
    added = sum(value * (after - time) for own in timeline["counters"] if own["name"] == "HBM"
                for time, after, value in zip(own["times"], own["times"][1:], own["values"]))
    if not timeline["folded"] and abs(moved - added) > 1e-6 * moved:
        sys.exit(f"error: the counter of HBM adds up to {added} bytes, the commands move {moved}")
    print(f"{len(trace.packet)} packets: {sum(reader.slices.values())} slices, {sum(reader.flows.values())} flows, "
          f"{len(counters)} counters are the timeline's")


if __name__ == "__main__":
    main()
