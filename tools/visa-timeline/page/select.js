// What is selected, and all that follows from it: line, details, marks in the table, the words for a screen reader.

function linesOf(command) {
  const [text, line] = [T.commands.text[command], T.commands.line[command]];
  return text === null || line === null ? [] : [{ text, line }];
}

// `show` brings the run into sight; where it was clicked it already is.
function selectRun(run, { show = true } = {}) {
  if (!(run >= 0 && run < D.runCount)) return;
  Object.assign(selection, { run, runs: new Set([run]), lines: linesOf(T.runs.command[run]), instance: null });
  unfoldAround(run);
  if (show) bringIntoSight(run);
  showSelection();
}

function selectLine(text, line) {
  const commands = D.commandsOfLine.get(lineKey(text, line)) || [];
  const runs = commands.flatMap((command) => D.runsOfCommand[command]).sort((a, b) => a - b);
  Object.assign(selection, { run: runs.length ? runs[0] : null, runs: new Set(runs), lines: [{ text, line }], instance: null });
  if (runs.length) {
    unfoldAround(runs[0]);
    centre(runs[0]);
  }
  showSelection();
}

function selectCommand(command) {
  const runs = D.runsOfCommand[command];
  if (!runs.length) return;
  selectRun(runs[0]);
  runs.forEach((run) => selection.runs.add(run));
  showSelection();
}

function selectInstance(instance) {
  const { text, line } = T.loops[instance.loop];
  const lines = text === null || line === null ? [] : [{ text, line }];
  Object.assign(selection, { run: null, runs: new Set(), lines, instance });
  showSelection();
}

function selectNothing() {
  Object.assign(selection, { run: null, runs: new Set(), lines: [], instance: null });
  showSelection();
}

function bringIntoSight(run) {
  const [start, end] = [T.runs.start[run], T.runs.end[run]];
  if (end <= view.from || start >= view.to) centre(run);
}

function centre(run) {
  const [start, end] = [T.runs.start[run], T.runs.end[run]];
  const length = Math.max(view.to - view.from, (end - start) * 1.3);
  const from = Math.min(Math.max(0, (start + end - length) / 2), Math.max(0, D.end - length));
  setView(from, from + length);
}

function showSelection() {
  showLines();
  showDetails();
  markTable();
  byId('live').textContent = selectionInWords();
  render();
}

function selectionInWords() {
  if (selection.instance) return `${loopName(selection.instance.loop)}, folded`;
  const { run } = selection;
  if (run === null) return 'nothing is selected';
  const command = T.runs.command[run];
  const many = selection.runs.size > 1 ? `${count(selection.runs.size)} runs are marked; the first is ` : '';
  const tracks = T.commands.tracks[command].map((track) => cut(T.tracks[track].name, 40)).join(' and ');
  return `${many}run ${run}, ${commandName(command)}, on ${tracks}, ${count(T.runs.start[run])} to ${units(T.runs.end[run])}, ${lineName(T.commands.text[command], T.commands.line[command])}`;
}
