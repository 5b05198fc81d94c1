// The table of commands. Rows are drawn as they come into sight; every column sorts, numbers from the greatest.

const table = { columns: [], order: [], sorted: 0, down: false, cursor: -1, rows: null };
const HEAD = 29;

function startTable() {
  const { commands: c } = T;
  const first = (command) => { const runs = D.runsOfCommand[command]; return runs.length ? T.runs.start[runs[0]] : null; };
  const last = (command) => { const runs = D.runsOfCommand[command]; return runs.length ? T.runs.end[runs[runs.length - 1]] : null; };
  const number = (title, value, width, show = count) => ({ title, value, width, show, right: true });
  const words = (title, value, width) => ({ title, value, width, show: (text) => cut(text, 120) });
  table.columns = [
    number('#', (i) => i, 52),
    number('line', (i) => c.line[i], 54),
    words('kind', (i) => c.kind[i], 52),
    words('name', titleOf, 200),
    words('command', (i) => c.label[i], 230),
    number('runs', (i) => c.runs[i], 58),
    number('start', first, 88),
    number('end', last, 88),
    number('cycles', (i) => c.cycles[i], 78),
    number('share of total', (i) => (c.cycles[i] * c.runs[i]) / (D.totals.units || 1), 116, (share) => percent(share, 1)),
    words('bottleneck', (i) => c.bottleneck[i], 96),
    words('waits for', waitsInWords, 132),
    number('waited', waitedOf, 78),
    number('stalls', (i) => c.stalls[i], 68),
    number('bound', (i) => c.least[i], 76),
    number('× bound', (i) => (c.least[i] > 0 ? c.cycles[i] / c.least[i] : null), 76, (times) => (times === null ? '–' : times.toFixed(2))),
    number('HBM bytes', (i) => c.bytes[i][0] + c.bytes[i][1], 104),
    number('DM bytes', (i) => c.bytes[i][2] + c.bytes[i][3], 104),
    number('MACs', (i) => c.macs[i], 110),
  ];
  for (const column of table.columns) column.values = Array.from({ length: D.commandCount }, (_, i) => column.value(i));
  table.order = Array.from({ length: D.commandCount }, (_, i) => i);
  table.template = table.columns.map((column) => (column.title === 'command' ? 'minmax(0, 1fr)' : `${column.width}px`)).join(' ');
  const box = byId('table');
  box.style.setProperty('--width', `${table.columns.reduce((sum, column) => sum + column.width, 0)}px`);
  box.append(headOfTable());
  table.rows = makeRows(box, 24, rowOfTable, HEAD);
  box.addEventListener('click', clickTable);
  box.addEventListener('keydown', keyOnTable);
  byId('filter').addEventListener('input', showTable);
  showTable();
}

// The kinds of waiting of all of a command's runs, the most frequent first.
function waitsInWords(command) {
  const counts = new Map();
  for (const run of D.runsOfCommand[command]) for (const [, why] of T.runs.waits[run]) counts.set(why, (counts.get(why) || 0) + 1);
  const sorted = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  return sorted.map(([why, times]) => (times > 1 ? `${why} ×${times}` : why)).join(', ');
}

function waitedOf(command) {
  return D.runsOfCommand[command].reduce((sum, run) => sum + (Number.isFinite(D.idle[run]) ? D.idle[run] : 0), 0);
}

function headOfTable() {
  const cells = table.columns.map((column, i) => {
    const cell = make('div', { role: 'columnheader', class: column.right ? 'right' : '' }, make('button', { type: 'button', title: `Sort by ${column.title}`, onclick: () => sortTable(i) }, column.title));
    column.cell = cell;
    return cell;
  });
  const head = make('div', { class: 'head', role: 'row' }, ...cells);
  head.style.gridTemplateColumns = table.template;
  return head;
}

function sortTable(i) {
  const column = table.columns[i];
  table.down = table.sorted === i ? !table.down : Boolean(column.right) && !['#', 'line', 'start', 'end'].includes(column.title);
  table.sorted = i;
  table.cursor = -1;
  showTable();
  byId('table').scrollTop = 0;
}

// What has no value comes last, whichever way the column is sorted.
function compare(a, b) {
  if (a === null || b === null) return (a === null) - (b === null);
  const order = a < b ? -1 : a > b ? 1 : 0;
  return table.down ? -order : order;
}

function showTable() {
  const wanted = byId('filter').value.trim().toLowerCase();
  const { values } = table.columns[table.sorted];
  table.order = [];
  for (let command = 0; command < D.commandCount; command++) if (!wanted || isWanted(command, wanted)) table.order.push(command);
  table.order.sort((a, b) => compare(values[a], values[b]) || a - b);
  table.columns.forEach((column, i) => {
    const sorted = i === table.sorted;
    column.cell.setAttribute('aria-sort', !sorted ? 'none' : table.down ? 'descending' : 'ascending');
    column.cell.firstChild.textContent = sorted ? `${column.title} ${table.down ? '▾' : '▴'}` : column.title;
  });
  const all = D.commandCount === 1 ? '1 command' : `${count(D.commandCount)} commands`;
  byId('shown').textContent = D.commandCount === 0 ? 'no commands' : wanted ? `${count(table.order.length)} of ${all}` : all;
  table.rows.resize(table.order.length);
}

function isWanted(command, wanted) {
  const { name, label, kind, bottleneck, line, reason } = T.commands;
  return [name, label, kind, bottleneck, reason].some((column) => column[command] !== null && column[command].toLowerCase().includes(wanted))
    || `line ${line[command]}` === wanted || String(line[command]) === wanted;
}

function rowOfTable(i) {
  const command = table.order[i];
  const row = make('div', { class: 'row', role: 'row', id: `row-${command}` });
  row.style.gridTemplateColumns = table.template;
  row.dataset.row = i;
  if (selection.run !== null && T.runs.command[selection.run] === command) row.classList.add('marked');
  if (i === table.cursor) row.classList.add('cursor');
  for (const column of table.columns) {
    const shown = column.show(column.values[command]);
    row.append(make('div', { role: 'cell', class: column.right ? 'right' : '' }, column.right ? shown : make('bdi', {}, shown)));
  }
  return row;
}

function clickTable(event) {
  const row = event.target.closest('.row');
  if (!row) return;
  table.cursor = Number(row.dataset.row);
  selectCommand(table.order[table.cursor]);
}

function keyOnTable(event) {
  if (event.target !== byId('table')) return;
  const page = Math.max(1, Math.floor(byId('table').clientHeight / 24) - 2);
  const step = { ArrowUp: -1, ArrowDown: 1, PageUp: -page, PageDown: page, Home: -Infinity, End: Infinity }[event.key];
  if (event.key === 'Enter' && table.cursor >= 0) selectCommand(table.order[table.cursor]);
  else if (step && table.order.length) {
    table.cursor = Math.max(0, Math.min(table.order.length - 1, table.cursor + step));
    table.rows.reveal(table.cursor, false);
    byId('table').setAttribute('aria-activedescendant', `row-${table.order[table.cursor]}`);
  } else return;
  event.preventDefault();
}

function markTable() { table.rows.draw(); }

function firstRows(most = 50) {
  return table.order.slice(0, most).map((command) => Object.fromEntries(table.columns.map((column) => [column.title, column.values[command]])));
}
