// Starts the page, its header and its keys, and gives scripts `window.visa`.

const KEYS = [
  ['W, +', 'zoom in'], ['S, −', 'zoom out'], ['A, D, ←, →', 'pan'], ['F', 'fit what is selected'], ['0', 'all of the time'],
  ['[, ]', 'the run before or after on its track'], ['P', 'the first run it waited for'], ['N', 'the first run that waits for it'],
  ['L', 'fold or unfold the loop of what is selected'], ['Esc', 'select nothing'], ['?', 'this help'],
  ['wheel', 'zoom at the pointer; with Shift, pan'], ['drag', 'pan'], ['click', 'a bar: select it; a loop: fold or unfold it'],
  ['arrows', 'red: what it waited for; blue: what waits for it'],
  ['double click', 'fit a bar; beside the bars, all of the time'],
];

async function start() {
  followTheme();
  try {
    await readTimeline();
  } catch (error) {
    byId('main').hidden = true;
    byId('message').hidden = false;
    byId('message').textContent = `This page's timeline cannot be read: ${visible(error.message)}`;
    return;
  }
  readColours();
  showHeader();
  setView(0, D.end);
  startLanes();
  startMemory();
  startTable();
  startText();
  startTodo();
  startRoofline();
  startHeat();
  startBelow();
  listenToControls();
  showDetails();
  expose();
  new ResizeObserver(renderSoon).observe(byId('lanes'));
  render();
}

// ---- header

function showHeader() {
  const name = cut(T.program, 200) || 'timeline';
  document.title = `${name} – visa timeline`;
  byId('program').replaceChildren(bdi(T.program || 'timeline', 200));
  const chips = T.chips === 1 ? '1 chip' : `${count(T.chips)} chips`;
  byId('machine').replaceChildren(bdi(T.machine, 60), `, ${chips}, memory model `, bdi(T.memory_model, 60));
  byId('facts').append(...facts().map(([term, value, more]) => make('div', {}, make('dt', {}, term), make('dd', {}, value, more ? make('small', {}, ` ${more}`) : ''))));
  byId('legend').append(...KINDS.filter((kind) => T.commands.kind.includes(kind)).map((kind) => {
    const mark = make('i');
    mark.style.background = `var(--${kind})`;
    return make('span', {}, mark, kind);
  }));
  byId('main').classList.toggle('empty', D.commandCount === 0);
  byId('fold-group').hidden = T.loops.length === 0;
}

function facts() {
  const list = [['Total', units(T.total), `${count(T.microseconds)} µs at ${count(T.clock_ghz)} GHz`]];
  if (T.noise) list.push(['Noise', range(T.noise.jobs), `medians of jobs; cold runs ${range(T.noise.cold)}`]);
  if (T.compared) list.push([`In ${cut(T.compared.with, 60)}`, units(T.compared.makespan), T.compared.makespan ? `here ${count(T.total / T.compared.makespan)} times as long` : '']);
  const busiest = T.tracks.reduce((best, track) => (best && best.busy >= track.busy ? best : track), null);
  if (busiest && T.total) list.push(['Busiest track', `${cut(busiest.name, 60)} ${percent(busiest.busy, T.total)}`, units(busiest.busy)]);
  if (D.commandCount) list.push(['Bound', units(T.bound.cycles), `the program takes ${count(T.bound.times)} times as long`]);
  list.push(['Commands', D.commandCount ? count(D.commandCount) : 'no commands', D.commandCount ? `${count(D.totals.runs)} runs${T.folded ? ', a bar each for all of a command' : ''}` : '']);
  return list;
}

function range([low, high]) { return `${count(low)} – ${count(high)}`; }

// ---- theme

function followTheme() {
  const dark = window.matchMedia('(prefers-color-scheme: dark)');
  setTheme(dark.matches ? 'dark' : 'light');
  const follow = (event) => { setTheme(event.matches ? 'dark' : 'light'); redraw(); };
  dark.addEventListener('change', follow);
  byId('theme').addEventListener('click', () => {
    dark.removeEventListener('change', follow);
    setTheme(document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark');
    redraw();
  });
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  byId('theme').textContent = theme === 'dark' ? 'Light' : 'Dark';
}

function redraw() {
  if (!window.visa) return;
  readColours();
  render();
  heats.forEach(drawHeat);
}

// ---- controls

function startBelow() {
  const panels = ['commands', 'todo', 'roofline', 'heat'].map(byId);
  makeTabs(byId('below-tabs'), ['Commands', 'Advice', 'Roofline', 'Heat map'], (chosen) => {
    panels.forEach((panel, i) => { panel.hidden = i !== chosen; });
    if (chosen === 0) table.rows.draw();
    if (chosen === 3) heats.forEach(drawHeat);
  });
}

function listenToControls() {
  const actions = {
    'zoom-in': () => zoomBy(0.5), 'zoom-out': () => zoomBy(2), 'zoom-all': showAll, 'zoom-fit': fitSelected,
    'fold-all': () => foldLoops(foldOutermost), 'unfold-all': () => foldLoops(() => folded.clear()), 'help-open': openHelp,
  };
  for (const [id, action] of Object.entries(actions)) byId(id).addEventListener('click', action);
  byId('keys').append(...KEYS.flatMap(([key, what]) => [make('dt', {}, ...key.split(', ').flatMap((one) => [make('kbd', {}, one), ' '])), make('dd', {}, what)]));
  document.addEventListener('keydown', keyOnPage);
}

// Letters work wherever nothing is typed into; arrows belong to what has the focus.
function keyOnPage(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) || byId('help').open) return;
  const actions = {
    w: () => zoomBy(0.7), '+': () => zoomBy(0.7), '=': () => zoomBy(0.7), s: () => zoomBy(1 / 0.7), '-': () => zoomBy(1 / 0.7),
    a: () => panBy(-0.15 * (view.to - view.from)), d: () => panBy(0.15 * (view.to - view.from)),
    f: fitSelected, 0: showAll, '[': () => stepOnLane(-1), ']': () => stepOnLane(1), l: foldSelected,
    p: () => selectPartner(selection.run === null ? [] : T.runs.waits[selection.run]),
    n: () => selectPartner(D.waiters.get(selection.run) || []),
    Escape: selectNothing, '?': openHelp,
  };
  const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!action) return;
  event.preventDefault();
  action();
}

function openHelp() { byId('help').showModal(); }
function selectPartner(partners) { if (partners.length) selectRun(partners[0][0]); }

function fitSelected() {
  if (selection.instance) { fit(selection.instance.start, selection.instance.end); return; }
  let [start, end] = [Infinity, 0];
  for (const run of selection.runs) {
    start = Math.min(start, T.runs.start[run]);
    end = Math.max(end, T.runs.end[run]);
  }
  if (end >= start) fit(start, end);
}

function foldSelected() {
  if (selection.instance) { toggleLoop(selection.instance.loop); return; }
  const around = selection.run === null ? [] : D.instancesOf[selection.run];
  if (around.length) toggleLoop(around[around.length - 1].loop);
}

// ---- for scripts and tests

function expose() {
  window.visa = {
    timeline: T,
    view,
    totals: D.totals,
    get selected() { return selection.run; },
    get selectedRuns() { return [...selection.runs]; },
    get selectedLines() { return selection.lines; },
    get folded() { return [...folded]; },
    get lastRender() { return lastRender; },
    select: (run) => selectRun(run),
    zoom(from, to) { setView(from, to); render(); },
    toggleLoop,
    barAt,
    table: {
      get sortedBy() { return { column: table.columns[table.sorted].title, down: table.down }; },
      get columns() { return table.columns.map((column) => column.title); },
      firstRows,
    },
  };
}

start();
