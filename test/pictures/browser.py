#!/usr/bin/env python3
"""Opens timeline pages in Chromium and uses them: browser.py FILE.html... [--shots DIR] [--timed]

Needs Python's playwright and /usr/bin/chromium. Exits with 1, and says which check of which file failed. How long a zoom
takes is printed; only with --timed, on a machine that does nothing else, may it fail.
"""
import argparse
import base64
import gzip
import json
import random
import re
import sys
from pathlib import Path

from playwright.sync_api import Error, sync_playwright

CHROMIUM = '/usr/bin/chromium'
FLAGS = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
         '--disable-background-networking', '--disable-component-update', '--disable-sync']
WIDTHS = (400, 1600)
MOST_RENDER_MS = 100
CONTROLS = ['theme', 'help-open', 'zoom-in', 'zoom-out', 'zoom-all', 'zoom-fit', 'lanes', 'text', 'details', 'filter', 'table']
TURNING = re.compile('[\u0000-\u0008\u202a-\u202e\u2066-\u2069]')


class Failed(Exception):
    pass


def check(holds, message):
    if not holds:
        raise Failed(message)


def embedded(path):
    """The document that the file carries, and how many script elements the file itself has."""
    html = path.read_text(encoding='utf-8')
    found = re.search(r'<script type="application/gzip;base64" id="timeline">(.*?)</script>', html, re.DOTALL)
    check(found, 'the file has no timeline')
    return json.loads(gzip.decompress(base64.b64decode(found.group(1)))), len(re.findall(r'<script\b', html))


class Opened:
    """A page of a file, with what went wrong in it and what it asked the network for."""

    def __init__(self, browser, path, width, scheme='light'):
        self.url = path.resolve().as_uri()
        self.wrong = []
        self.page = browser.new_page(viewport={'width': width, 'height': 900}, color_scheme=scheme)
        self.page.on('console', lambda message: message.type == 'error' and self.wrong.append(f'console: {message.text}'))
        self.page.on('pageerror', lambda error: self.wrong.append(f'error: {error}'))
        self.page.on('websocket', lambda socket: self.wrong.append(f'websocket: {socket.url}'))
        self.page.route('**/*', self.answer)
        self.page.goto(self.url)
        try:
            self.page.wait_for_function('Boolean(window.visa)', timeout=5000)
        except Exception:
            raise Failed(f'the page did not start: {self.wrong or self.page.text_content("#message")}') from None

    def answer(self, route):
        if route.request.url == self.url:
            return route.continue_()
        self.wrong.append(f'request: {route.request.url}')
        return route.abort()

    def js(self, script, value=None):
        return self.page.evaluate(f'(value) => ({script})', value)

    def wait(self, script, value, message):
        try:
            self.page.wait_for_function(f'(value) => ({script})', arg=value, timeout=3000)
        except Exception:
            raise Failed(message) from None

    def close(self):
        self.page.close()
        check(not self.wrong, '; '.join(self.wrong[:5]))


def check_totals(opened, document):
    commands, runs, times = document['commands'], document['runs'], document['commands']['runs']
    # A folded document has one run for all of a command's.
    busy = [0] * len(document['tracks'])
    for command, start, end in zip(runs['command'], runs['start'], runs['end']):
        for track in commands['tracks'][command]:
            busy[track] += commands['cycles'][command] * times[command] if document['folded'] else end - start
    ours = {
        'units': max(runs['end'], default=0), 'runs': sum(times), 'busyPerTrack': busy,
        'macs': sum(macs * n for macs, n in zip(commands['macs'], times)),
        'hbmBytes': sum((moved[0] + moved[1]) * n for moved, n in zip(commands['bytes'], times)),
    }
    theirs = opened.js('visa.totals')
    for name, value in ours.items():
        check(theirs[name] == value, f'totals.{name} is {theirs[name]}, the document says {value}')


def check_safety(opened, scripts):
    check(opened.js('window.hacked === undefined'), 'a name was run as a script')
    check(opened.js('document.scripts.length') == scripts, f'there are other than the {scripts} script elements of the file')
    for name in ('img', 'iframe', 'object', 'embed', 'link'):
        check(opened.js('document.getElementsByTagName(value).length', name) == 0, f'a {name} element has appeared')


def show_run(opened, document, run):
    """Zooms so that a run takes a third of the timeline, and selects nothing."""
    opened.js('visa.select(value)', run)
    start, end = document['runs']['start'][run], document['runs']['end'][run]
    margin = max(1, end - start)
    opened.js('visa.zoom(value[0], value[1])', [start - margin, end + margin])
    opened.page.focus('#lanes')
    opened.page.keyboard.press('Escape')
    check(opened.js('visa.selected') is None, 'Escape does not clear the selection')


def check_run(opened, document, run):
    show_run(opened, document, run)
    bar = opened.js('visa.barAt(value)', run)
    check(bar is not None, f'run {run} has no bar')
    opened.js('window.scrollTo(0, value.y - innerHeight / 2)', bar)
    opened.page.mouse.click(*opened.js('[value.x + value.width / 2 - scrollX, value.y - scrollY]', bar))
    opened.wait('visa.selected === value', run, f'a click on the bar of run {run} selects {opened.js("visa.selected")}')
    check(str(run) in opened.page.text_content('#live'), f'run {run} is not announced')
    command = document['runs']['command'][run]
    text, line = document['commands']['text'][command], document['commands']['line'][command]
    if text is None or line is None:
        return  # such a command has no line to highlight
    check(opened.js('visa.selectedLines') == [{'text': text, 'line': line}], f'run {run} does not select its line {line}')
    number = opened.page.locator('#text .line.marked .line-number')
    check(number.count() == 1 and number.text_content() == str(line), f'line {line} is not highlighted')
    number.click()
    lines = list(zip(document['commands']['text'], document['commands']['line']))
    wanted = [r for r, c in enumerate(document['runs']['command']) if lines[c] == (text, line)]
    opened.wait('String(visa.selectedRuns) === String(value)', wanted, f'a click on line {line} selects other runs than its own')
    check(opened.js('visa.barAt(visa.selected)') is not None, f'the first run of line {line} is out of sight')


def check_waits(opened, document):
    """A link of the details goes to the run that was waited for, and that one has a link back."""
    run = next((run for run, waits in enumerate(document['runs']['waits']) if waits), None)
    if run is None:
        return
    partner, why = document['runs']['waits'][run][0]
    opened.js('visa.select(value)', run)
    opened.page.locator('#details').get_by_role('button', name=f'#{partner} ({why})', exact=True).first.click()
    opened.wait('visa.selected === value', partner, f'the link of run {run} does not lead to run {partner}')
    back = opened.page.locator('#details').get_by_role('button', name=f'#{run} ({why})', exact=True).count()
    check(back > 0, f'run {partner} does not say that run {run} waited for it')


def check_zoom(opened):
    length = '(visa.view.to - visa.view.from)'
    opened.page.focus('#lanes')
    opened.page.keyboard.press('0')
    whole = opened.js('[visa.view.from, visa.view.to]')
    check(whole[0] == 0 and whole[1] >= opened.js('visa.timeline.total'), 'key 0 does not show all')
    opened.page.hover('#lanes')
    opened.page.mouse.wheel(0, -300)
    opened.wait(f'{length} < value', whole[1] - whole[0], 'the wheel does not zoom in')
    for key, word in (('w', '<'), ('s', '>'), ('+', '<'), ('-', '>')):
        before = opened.js(length)
        opened.page.keyboard.press(key)
        opened.wait(f'{length} {word} value', before, f'key {key} does not zoom')
    opened.page.keyboard.press('w')
    for key, word in (('ArrowRight', '>'), ('ArrowLeft', '<'), ('d', '>'), ('a', '<')):
        before = opened.js('visa.view.from')
        opened.page.keyboard.press(key)
        opened.wait(f'visa.view.from {word} value', before, f'key {key} does not pan')
    opened.page.keyboard.press('0')
    check(opened.js('[visa.view.from, visa.view.to]') == whole, 'key 0 does not show all')


def check_sorting(opened):
    for i, title in enumerate(opened.js('visa.table.columns')):
        button = opened.page.locator('#table .head button').nth(i)
        directions = set()
        for press in (button.click, lambda: button.press('Enter')):
            press()
            by = opened.js('visa.table.sortedBy')
            check(by['column'] == title, f'the header of {title} sorts by {by["column"]}')
            directions.add(by['down'])
            rows = opened.js('visa.table.firstRows(1e9).map((row) => row[value])', title)
            values = [value for value in rows if value is not None]
            check(all(value is None for value in rows[len(values):]), f'column {title} has empty cells before others')
            # JavaScript compares strings by UTF-16 units, which Python's own order is not.
            key = (lambda value: value.encode('utf-16-be', 'surrogatepass')) if values and isinstance(values[0], str) else None
            check(values == sorted(values, key=key, reverse=by['down']), f'column {title} is not in order')
        check(len(directions) == 2, f'column {title} does not turn')


def titles(commands):
    """What bars show first: the names of commands, or their engines."""
    return [name or label for name, label in zip(commands['name'], commands['label'])]


def check_names(opened, document):
    """The longest name and the longest list of engines are whole in the details, and no character turns the direction
    of the page's text."""
    commands = document['commands']
    for texts in (commands['label'], titles(commands)):
        longest = max(texts, key=len)
        opened.js('visa.select(value)', document['runs']['command'].index(texts.index(longest)))
        check(TURNING.search(longest) or longest in opened.page.text_content('#details'), 'the details cut a long name')
    check(not TURNING.search(opened.page.inner_text('body')), 'a character that turns the direction of text is shown as it is')


def check_loops(opened, document):
    run = next((run for run, command in enumerate(document['runs']['command']) if document['commands']['loop'][command] is not None), None)
    if run is None:
        return
    opened.js('visa.select(value)', run)
    opened.page.focus('#lanes')
    for word, then in (('fold', 'visa.folded.length > 0 && visa.barAt(value) === null'), ('unfold', 'visa.barAt(value) !== null')):
        opened.page.keyboard.press('l')
        opened.wait(then, run, f'key l does not {word} the loop of a run')
    for button, then in (('#fold-all', 'visa.barAt(value) === null'), ('#unfold-all', 'visa.folded.length === 0')):
        opened.page.click(button)
        opened.wait(then, run, f'{button} does nothing')


def check_tab(opened, document):
    reached = set()
    for _ in range(80):
        opened.page.keyboard.press('Tab')
        name, outline = opened.js('[document.activeElement.id, getComputedStyle(document.activeElement).outlineStyle]')
        reached.add(name)
        check(name == '' or outline != 'none', f'the focus on {name} cannot be seen')
    missing = [name for name in CONTROLS + ['space'] * bool(document['memory']['space']) if name not in reached]
    check(not missing, f'Tab does not reach {", ".join(missing)}')


def worst_render(opened, document):
    """30 random zooms, from all of the time to a millionth, with all loops unfolded."""
    if document['loops']:
        opened.page.click('#unfold-all')
    end, chance, worst = max(1, document['total']), random.Random(1), 0
    for _ in range(30):
        length = end * 10 ** chance.uniform(-6, 0)
        start = chance.uniform(0, end - length)
        worst = max(worst, opened.js('(visa.zoom(value[0], value[1]), visa.lastRender)', [start, start + length]))
    return worst


def check_runs(opened, document):
    check_zoom(opened)
    spans = zip(document['runs']['start'], document['runs']['end'])
    long = [run for run, (start, end) in enumerate(spans) if end > start]
    for run in {long[0], long[len(long) // 2], long[-1]} if long else set():
        check_run(opened, document, run)
    check_waits(opened, document)
    check_names(opened, document)
    check_loops(opened, document)


def check_file(browser, path, width):
    """Checks a file at a width; the worst time of a render, in ms."""
    document, scripts = embedded(path)
    opened = Opened(browser, path, width)
    check_totals(opened, document)
    check_tab(opened, document)
    check_sorting(opened)
    if document['runs']['start']:
        check_runs(opened, document)
    else:
        check('no commands' in opened.page.text_content('#facts'), 'an empty document does not say "no commands"')
    worst = worst_render(opened, document)
    for tab in opened.page.get_by_role('tab').all():
        tab.click()
    wide = opened.js('document.documentElement.scrollWidth')
    check(wide <= width, f'at a width of {width} the page is {wide} wide')
    check_safety(opened, scripts)
    before = opened.js('getComputedStyle(document.body).color')
    opened.page.click('#theme')
    check(opened.js('getComputedStyle(document.body).color') != before, 'the button does not change the theme')
    opened.close()
    return worst


def take_shots(browser, path, width, shots):
    for scheme in ('light', 'dark'):
        opened = Opened(browser, path, width, scheme)
        opened.js('visa.select(Math.floor(visa.timeline.runs.start.length / 3))')
        opened.page.screenshot(path=shots / f'{path.stem}-{width}-{scheme}.png', full_page=True)
        opened.close()


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument('files', nargs='+', type=Path)
    arguments.add_argument('--shots', type=Path)
    arguments.add_argument('--timed', action='store_true')
    options = arguments.parse_args()
    failures = 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, headless=True, args=FLAGS)
        for path in options.files:
            try:
                worst = [check_file(browser, path, width) for width in WIDTHS]
                check(not options.timed or max(worst) < MOST_RENDER_MS, f'a render takes {max(worst):.1f} ms')
                for width in WIDTHS if options.shots else ():
                    take_shots(browser, path, width, options.shots)
                shown = ', '.join(f'{time:.1f} ms at {width}' for time, width in zip(worst, WIDTHS))
                print(f'{path}: all checks hold; worst render {shown}')
            except (Failed, Error) as failure:
                failures += 1
                print(f'{path}: {failure}', file=sys.stderr)
        browser.close()
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
