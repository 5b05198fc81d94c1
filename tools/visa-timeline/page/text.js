// The kernel's text, a tab per file. Lines with commands say which share of all busy time their runs take.

const text = { all: [], busy: 0, shown: 0, cursor: -1, lines: [], rows: null, showTab: null };
const MOST_LETTERS = 2000;

function startText() {
  const box = byId('text');
  if (!T.texts.length) {
    byId('text-tabs').hidden = true;
    box.append(make('p', { class: 'quiet', style: 'padding: 0 12px' }, 'The document has no text of the kernel.'));
    return;
  }
  text.all = T.texts.map((one) => one.text.split(/\r\n|\n/));
  text.busy = D.unitsOf.reduce((sum, units) => sum + units, 0);
  text.rows = makeRows(box, 18, lineElement);
  text.rows.inside.style.minHeight = '100%';
  text.showTab = makeTabs(byId('text-tabs'), T.texts.map((one) => one.name), showText);
  box.addEventListener('click', clickText);
  box.addEventListener('keydown', keyOnText);
}

function showText(chosen) {
  text.shown = chosen;
  text.cursor = -1;
  text.lines = text.all[chosen];
  const widest = text.lines.reduce((most, line) => Math.max(most, Math.min(line.length, MOST_LETTERS)), 0);
  text.rows.inside.style.width = `calc(${widest + String(text.lines.length).length + 4}ch + 64px)`;
  byId('text').scrollTop = 0;
  text.rows.resize(text.lines.length);
}

function lineElement(i) {
  const line = i + 1;
  const commands = D.commandsOfLine.get(lineKey(text.shown, line));
  const units = (commands || []).reduce((sum, command) => sum + D.unitsOf[command], 0);
  const marked = selection.lines.some((one) => one.text === text.shown && one.line === line);
  const digits = String(text.lines.length).length;
  const number = make('span', { class: 'line-number', style: `width: ${digits + 2}ch` }, String(line));
  const share = make('span', { class: 'share', style: `left: ${digits + 2}ch` }, commands ? percent(units, text.busy) : '');
  const element = make('div', { class: 'line', role: 'option', id: `line-${line}`, 'aria-selected': String(marked) }, number, share, bdi(text.lines[i], MOST_LETTERS));
  element.dataset.line = line;
  if (commands) element.classList.add('timed');
  if (marked) element.classList.add('marked');
  if (i === text.cursor) element.classList.add('cursor');
  return element;
}

function clickText(event) {
  const element = event.target.closest('.line');
  if (!element) return;
  text.cursor = Number(element.dataset.line) - 1;
  selectLine(text.shown, text.cursor + 1);
}

function keyOnText(event) {
  const page = Math.max(1, Math.floor(byId('text').clientHeight / 18) - 1);
  const step = { ArrowUp: -1, ArrowDown: 1, PageUp: -page, PageDown: page, Home: -Infinity, End: Infinity }[event.key];
  if (event.key === 'Enter' && text.cursor >= 0) selectLine(text.shown, text.cursor + 1);
  else if (step) {
    text.cursor = Math.max(0, Math.min(text.lines.length - 1, text.cursor + step));
    text.rows.reveal(text.cursor, false);
    byId('text').setAttribute('aria-activedescendant', `line-${text.cursor + 1}`);
  } else return;
  event.preventDefault();
}

// Marks the selected lines, and scrolls to the first of them.
function showLines() {
  if (!text.rows) return;
  const first = selection.lines[0];
  if (!first || !T.texts[first.text]) { text.rows.draw(); return; }
  if (first.text !== text.shown) text.showTab(first.text);
  text.cursor = first.line - 1;
  const { top, bottom } = sightOf(first.line - 1);
  text.rows.reveal(first.line - 1, top < 0 || bottom > byId('text').clientHeight);
}

function sightOf(i) {
  const top = i * 18 - byId('text').scrollTop;
  return { top, bottom: top + 18 };
}
