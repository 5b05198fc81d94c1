// The panel of what is selected, with all fields.

const MOST_LINKS = 60;

function showDetails() {
  const box = byId('details');
  box.scrollTop = 0;
  if (selection.instance) showInstance(box, selection.instance);
  else if (selection.run !== null) showRun(box, selection.run);
  else {
    byId('details-title').textContent = 'Details';
    const line = selection.lines.length ? 'No command is of this line.' : 'Click a bar, a line of the text or a row of the table.';
    box.replaceChildren(make('p', { class: 'quiet' }, D.runCount ? line : 'no commands'));
  }
}

function fieldsOf(pairs) {
  const list = make('dl');
  for (const [name, value] of pairs) {
    if (value === null || value === undefined || value === '') continue;
    list.append(make('dt', {}, name), make('dd', {}, value));
  }
  return list;
}

function showInstance(box, instance) {
  const loop = T.loops[instance.loop];
  byId('details-title').textContent = `${loopName(instance.loop)} ×${count(loop.times)}`;
  box.replaceChildren(
    make('div', { class: 'actions' },
      make('button', { type: 'button', onclick: () => { toggleLoop(instance.loop); } }, folded.has(instance.loop) ? 'Unfold this loop' : 'Fold this loop'),
      make('button', { type: 'button', onclick: () => fit(instance.start, instance.end) }, 'Fit')),
    fieldsOf([
      ['line', lineLink(loop.text, loop.line)],
      ['times', count(loop.times)],
      ['start – end', `${count(instance.start)} – ${count(instance.end)}`],
      ['takes', units(instance.end - instance.start)],
      ['runs', `#${instance.first} – #${instance.last}`],
      ['commands', `${count(loop.commands[0])} – ${count(loop.commands[1])}`],
      ...(T.folded ? [] : T.tracks).map((track, i) => [cut(track.name, 40), shareOf(i, instance)]),
    ]));
}

function shareOf(track, { start, end }) {
  return `${percent(busyBefore(track, end) - busyBefore(track, start), end - start)} busy`;
}

function showRun(box, run) {
  const command = T.runs.command[run];
  byId('details-title').replaceChildren(`#${run} `, bdi(commandName(command, 80)));
  box.replaceChildren(
    actionsOf(run, command),
    fieldsOf([...fieldsOfRun(run, command), ...fieldsOfCommand(command), ...fieldsOfData(run, command)]));
}

function actionsOf(run, command) {
  const actions = [make('button', { type: 'button', onclick: () => fit(T.runs.start[run], T.runs.end[run]) }, 'Fit')];
  const runs = D.runsOfCommand[command];
  const at = runs.indexOf(run);
  if (at > 0) actions.push(make('button', { type: 'button', onclick: () => selectRun(runs[at - 1]) }, '‹ Earlier run of it'));
  if (at + 1 < runs.length) actions.push(make('button', { type: 'button', onclick: () => selectRun(runs[at + 1]) }, 'Later run of it ›'));
  const instances = D.instancesOf[run];
  if (instances.length) {
    const { loop } = instances[instances.length - 1];
    actions.push(make('button', { type: 'button', onclick: () => toggleLoop(loop) }, 'Fold or unfold its loop'));
  }
  return make('div', { class: 'actions' }, ...actions);
}

function fieldsOfRun(run, command) {
  const { start, end, iteration, waits } = T.runs;
  const marked = selection.runs.size > 1 ? `${count(selection.runs.size)} runs are marked; this is the first` : null;
  return [
    ['marked', marked],
    ['name', bdi(commandName(command, Infinity))],
    ['command', bdi(T.commands.label[command])],
    ['line', lineLink(T.commands.text[command], T.commands.line[command])],
    ['start – end', `${count(start[run])} – ${count(end[run])}`],
    ['takes', units(end[run] - start[run])],
    ['idle before', Number.isFinite(D.idle[run]) ? units(D.idle[run]) : null],
    ['iteration', iteration[run].length ? iterationInWords(run, command) : null],
    ['waited for', linksToRuns(waits[run])],
    ['waits for it', linksToRuns(D.waiters.get(run) || [])],
    ['why', T.commands.reason[command] === null ? null : bdi(T.commands.reason[command])],
    ['measured', theirsInWords(run)],
  ];
}

function fieldsOfCommand(command) {
  const { kind, tracks, cycles, runs, least, bottleneck, stalls, macs, peak, engines } = T.commands;
  return [
    ['kind', cut(kind[command], 40)],
    ['tracks', tracks[command].map((track) => cut(T.tracks[track].name, 40)).join(', ')],
    ['command no.', `${count(command)}, ${count(runs[command])} ${runs[command] === 1 ? 'run' : 'runs'}`],
    ['one run', units(cycles[command])],
    ['bound', `${units(least[command])}${least[command] > 0 ? `; it takes ${count(cycles[command] / least[command])} times as long` : ''}`],
    ['bottleneck', bdi(bottleneck[command])],
    ['stalls', units(stalls[command])],
    ['MACs', macs[command] ? `${count(macs[command])}; at full rate ${count(peak[command])} ${unitName(peak[command])}` : '0'],
    ['engines', engines[command].length ? make('ul', {}, ...engines[command].map(([name, time]) => make('li', {}, bdi(name), ` ${units(time)}`))) : null],
  ];
}

function fieldsOfData(run, command) {
  const names = ['HBM read', 'HBM written', 'DM read', 'DM written', 'SPM read', 'SPM written', 'host read', 'host written'];
  const bytes = names.map((name, i) => [name, T.commands.bytes[command][i] ? `${count(T.commands.bytes[command][i])} bytes` : null]);
  return [
    ...bytes,
    ['HBM channels', unevenness(T.commands.channels[command])],
    ['DM banks', unevenness(T.commands.banks[command])],
    ['writes', rangesInWords(D.written.get(run))],
    ['reads', rangesInWords(D.read.get(run))],
  ];
}

function unevenness(shares) {
  if (!shares || !shares.length) return null;
  const sum = shares.reduce((a, b) => a + b, 0);
  const most = shares.reduce((a, b) => Math.max(a, b), 0);
  const used = shares.filter((share) => share > 0).length;
  return `${used} of ${shares.length} used; the busiest has ${count(sum ? (most * shares.length) / sum : 0)} times the even share`;
}

function rangesInWords(positions) {
  if (!positions) return null;
  const items = positions.slice(0, MOST_LINKS).map((position) => make('li', {}, bdi(T.memory.name[position], 200), ` ${rangeText(position)}`));
  if (positions.length > MOST_LINKS) items.push(make('li', {}, `and ${count(positions.length - MOST_LINKS)} more`));
  return make('ul', {}, ...items);
}

function iterationInWords(run, command) {
  const chain = chainOf(command);
  return T.runs.iteration[run].map((at, depth) => {
    const times = chain[depth] === undefined ? '' : ` of ${count(T.loops[chain[depth]].times)}`;
    return `${count(at)}${times}`;
  }).join(', ');
}

function theirsInWords(run) {
  const pairs = T.runs.theirs[run];
  if (!pairs.length) return null;
  const own = T.runs.end[run] - T.runs.start[run];
  const items = pairs.map(([start, end]) => make('li', {}, `${count(start)} – ${count(end)}: ${units(end - start)}${own ? `, ${count((end - start) / own)} times ours` : ''}`));
  return make('ul', {}, make('li', { class: 'quiet' }, bdi(T.compared.with, 200)), ...items);
}

function lineLink(inText, line) {
  if (inText === null || line === null) return null;
  return link(lineName(inText, line), () => selectLine(inText, line));
}

function linksToRuns(partners) {
  if (!partners.length) return null;
  const items = partners.slice(0, MOST_LINKS).map(([run, why]) => make('li', {}, link(`#${run} (${cut(why, 20)})`, () => selectRun(run)), ' ', bdi(commandName(T.runs.command[run], 60))));
  if (partners.length > MOST_LINKS) items.push(make('li', {}, `and ${count(partners.length - MOST_LINKS)} more`));
  return make('ul', {}, ...items);
}
