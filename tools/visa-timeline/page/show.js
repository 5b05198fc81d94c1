// How numbers and strings of the document are shown, and small makers of elements. Data goes in as text only.

const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g;

// Control characters, those that turn the direction of text among them, become visible.
function visible(text) {
  return String(text).replace(CONTROLS, (c) => (c === '\t' ? '\t' : `\\u{${c.charCodeAt(0).toString(16)}}`));
}

function cut(text, most) {
  text = String(text);
  if (text.length <= most) return visible(text);
  const end = /[\ud800-\udbff]/.test(text[most - 1]) ? most - 1 : most;
  return `${visible(text.slice(0, end))}…`;
}

// For canvas: U+2068 and U+2069 keep a name's direction from turning what is around it.
function isolated(text, most = 120) { return `\u2068${cut(text, most)}\u2069`; }

// One format for all: to make one takes longer than to use it.
const NUMBERS = new Intl.NumberFormat('en-US', { maximumFractionDigits: 3 });

// Integers are exact, whatever their size; others have up to three digits after the point.
function count(value) {
  if (value === null || value === undefined) return '–';
  if (!Number.isFinite(value)) return '∞';
  return NUMBERS.format(value);
}

function percent(part, whole) {
  if (!whole) return '–';
  const value = (100 * part) / whole;
  if (value > 0 && value < 0.05) return '<0.1%';
  return `${value.toFixed(value !== 0 && value < 9.95 ? 1 : 0)}%`;
}

function units(value) { return `${count(value)} ${unitName(value)}`; }
function unitName(value) { return value === 1 ? T.unit : `${T.unit}s`; }
function hex(value) { return `0x${value.toString(16)}`; }

// A large number in a few characters, for axes and charts.
function short(value) {
  const sizes = [[1e15, 'P'], [1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']];
  for (const [size, letter] of sizes) if (Math.abs(value) >= size) return `${+(value / size).toPrecision(3)}${letter}`;
  return String(+value.toPrecision(3));
}

function bytesShort(value) {
  if (value >= 1 << 20) return `${+(value / (1 << 20)).toPrecision(4)} MiB`;
  return value >= 1024 ? `${+(value / 1024).toPrecision(4)} KiB` : `${value} B`;
}

function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === 'onclick') element.addEventListener('click', value); else element.setAttribute(key, value);
  }
  element.append(...children);
  return element;
}

function drawn(name, attributes = {}, text) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

function bdi(text, most = Infinity) { return make('bdi', {}, cut(text, most)); }
function link(text, action) { return make('button', { type: 'button', class: 'link', onclick: action }, text); }
function byId(id) { return document.getElementById(id); }

// What a command moves or makes, in the kernel's names; where it has none, its engines or memories.
function titleOf(command) { return T.commands.name[command] ?? T.commands.label[command]; }
function commandName(command, most = 120) { return cut(titleOf(command), most) || '(no name)'; }
function runName(run, most = 120) { return `#${run} ${commandName(T.runs.command[run], most)}`; }

function lineName(text, line) {
  if (line === null) return '–';
  return T.texts.length > 1 && text !== null && T.texts[text] ? `${cut(T.texts[text].name, 40)}:${line}` : `line ${line}`;
}

function loopName(loop) {
  const { text, line } = T.loops[loop];
  return line === null ? `loop ${loop}` : `loop at ${lineName(text, line)}`;
}

// Tabs of a list, by ARIA's pattern: one of them takes Tab, arrows go on. `choose` is called with the position.
function makeTabs(list, names, choose) {
  const tabs = names.map((name, i) => make('button', { type: 'button', role: 'tab', onclick: () => show(i) }, bdi(name, 60)));
  function show(chosen) {
    tabs.forEach((tab, i) => {
      tab.setAttribute('aria-selected', String(i === chosen));
      tab.tabIndex = i === chosen ? 0 : -1;
    });
    choose(chosen);
  }
  list.replaceChildren(...tabs);
  list.addEventListener('keydown', (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const at = tabs.indexOf(document.activeElement);
    if (!step || at < 0) return;
    event.preventDefault();
    const next = (at + step + tabs.length) % tabs.length;
    show(next);
    tabs[next].focus();
  });
  if (tabs.length) show(0);
  return show;
}

// A list of rows of one height, of which only those in sight are elements. A browser limits an element's height, so
// lists beyond MOST_HEIGHT scroll faster than their rows.
const MOST_HEIGHT = 8e6;

function makeRows(box, height, rowOf, top = 0) {
  const inside = make('div', { class: 'rows' });
  let rows = 0;
  function total() { return rows * height; }
  function scale() {
    const seen = Math.max(1, box.clientHeight - top);
    return total() <= MOST_HEIGHT ? 1 : (total() - seen) / (MOST_HEIGHT - seen);
  }
  function draw() {
    const offset = box.scrollTop * (scale() - 1);
    const first = Math.max(0, Math.floor((box.scrollTop * scale()) / height) - 4);
    const last = Math.min(rows, first + Math.ceil(box.clientHeight / height) + 9);
    const elements = [];
    for (let i = first; i < last; i++) {
      const element = rowOf(i);
      element.style.top = `${i * height - offset}px`;
      elements.push(element);
    }
    inside.replaceChildren(...elements);
  }
  function resize(now) {
    rows = now;
    inside.style.height = `${Math.min(total(), MOST_HEIGHT)}px`;
    draw();
  }
  function reveal(i, centre) {
    const seen = box.clientHeight - top;
    const at = i * height;
    const from = box.scrollTop * scale();
    if (!centre && at >= from && at + height <= from + seen) return draw();
    box.scrollTop = Math.max(0, centre ? at - seen / 2 : at < from ? at : at + height - seen) / scale();
    draw();
  }
  box.append(inside);
  box.addEventListener('scroll', draw, { passive: true });
  new ResizeObserver(draw).observe(box);
  return { resize, draw, reveal, inside };
}
