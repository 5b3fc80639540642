"""Usage: report_page_test.py CHROMIUM [--template report.html] [--profile-dir DIR]...
                              [--trainer PROGRAM] [--screenshots DIR]

Opens report pages in headless Chromium. With --template, the page's template is filled with sample
profiles; with --profile-dir, the report.html that was written into DIR is opened; and with
--trainer, those that two short runs of the program write. Each page must
show every figure of its profile as it is, draw, zoom and highlight, make no request and no error,
and fit a telephone. What fails is printed, and the exit code is then 1."""
import argparse
import base64
import heapq
import json
import os
import pathlib
import random
import re
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time
import urllib.parse

ACTIVITIES = ['forward', 'backward', 'update', 'exchange', 'load']
WAITS = ['input', 'gradient', 'credit', 'outputs', 'host_store', 'gate', 'dispatch', 'call_end']
CLASSES = ['weights', 'optimizer_state', 'accumulators', 'stash', 'working']
PLACEHOLDERS = ['/*PENSTOCK_PROFILE*/null', '/*PENSTOCK_EVENTS*/null']
HOSTILE = ['</script><script>bad()</script>', '<img src=x onerror="bad()">', '<!--<script>',
           '&amp; "quotes" \'and\' `ticks`', 'größe μ-batch 重み 🙂', '${bad()}',
           '\\u0022\u2028\u202e', '']
PHONE = 360


# Samples: a pipeline is simulated, and its profile is added up from the events.

class Pipeline:
    """Simulates calls of a pipeline in microseconds. Each stage of each replica has an IPU."""

    def __init__(self, stages, micro_batches, windows, replicas, training, loads, costs, seed=1):
        self.stages, self.micro_batches, self.windows = stages, micro_batches, windows
        self.replicas, self.training, self.loads, self.costs = replicas, training, loads, costs
        self.random = random.Random(seed)
        self.events, self.calls, self.now, self.first = [], [], 0.0, 0

    def cost(self, stage, activity):
        share = {0: 1, 1: 2, 2: 0.6, 3: 0.4, 4: 0.8}[activity]
        return self.costs[stage] * share * self.random.uniform(.95, 1.1)

    def call(self):
        begin = self.now = self.now + self.random.uniform(60, 140)
        first = self.first
        for _ in range(self.windows):
            self.window()
        self.first = first + self.micro_batches * self.windows
        self.now += 20
        self.calls.append([begin, self.now, first, self.micro_batches * self.windows])

    def window(self):
        ends = [self.replica(replica) for replica in range(self.replicas)]
        self.first += self.micro_batches
        if not self.training:
            self.now = max(map(max, ends))
            return
        gate = max(map(max, ends))
        for replica in range(self.replicas):
            for stage in range(self.stages):
                free = ends[replica][stage]
                if self.replicas > 1:
                    free = self.record(replica, stage, 3, 5, self.first - 1, gate, max(free, gate))
                self.record(replica, stage, 2, 5, self.first - 1, gate, max(free, gate))
        self.now = max(event[8] for event in self.events[-2 * self.stages * self.replicas:])

    def record(self, replica, stage, activity, wait, micro_batch, ready, free):
        begin = max(ready, free) + self.random.uniform(1, 4)
        end = begin + self.cost(stage, activity)
        moved = 0 if activity == 2 else 64000 * (stage + 1)
        times = [round(ready, 3), round(begin, 3), round(end, 3)]
        self.events.append([replica * self.stages + stage, replica, stage, activity, wait,
                            micro_batch, *times, moved])
        return round(end, 3)

    def replica(self, replica):
        """Runs a window of one replica, and returns when each stage was free."""
        last, free = self.stages - 1, [self.now] * self.stages
        if self.loads:
            free = [self.record(replica, stage, 4, 4, self.first, self.now + 30, self.now)
                    for stage in range(self.stages)]
        forwards = [[] for _ in range(self.stages)]
        backwards = [[] for _ in range(self.stages)]
        held, blocked = [0] * self.stages, [False] * self.stages
        for index in range(self.micro_batches):
            heapq.heappush(forwards[0], (self.now, self.first + index))
        while any(forwards) or any(backwards):
            options = []
            for stage in range(self.stages):
                may = not self.training or held[stage] < 2 * (last - stage) + 1
                blocked[stage] = blocked[stage] or bool(forwards[stage]) and not may
                if forwards[stage] and may:
                    options.append((max(free[stage], forwards[stage][0][0]), 0, stage))
                if backwards[stage]:
                    options.append((max(free[stage], backwards[stage][0][0]), 1, stage))
            _, activity, stage = min(options)
            ready, micro_batch = heapq.heappop((backwards if activity else forwards)[stage])
            wait = 1 if activity else 2 if blocked[stage] else 0
            end = self.record(replica, stage, activity, wait, micro_batch, ready, free[stage])
            free[stage] = end
            blocked[stage] = False
            held[stage] += (-1 if activity else 1) if self.training else 0
            if activity == 0 and stage < last:
                heapq.heappush(forwards[stage + 1], (end, micro_batch))
            elif activity == 0 and self.training:
                heapq.heappush(backwards[stage], (end, micro_batch))
            elif activity == 1 and stage > 0:
                heapq.heappush(backwards[stage - 1], (end, micro_batch))
        return free


def time_split(pipeline, ipu):
    """Adds up what one IPU did and waited for, as the engine would."""
    active, waiting = dict.fromkeys(ACTIVITIES, 0.0), dict.fromkeys(WAITS, 0.0)
    mine, place = [event for event in pipeline.events if event[0] == ipu], 0
    for begin, end, _, _ in pipeline.calls:
        now = begin
        while place < len(mine) and mine[place][7] < end:
            _, _, _, activity, wait, _, ready, start, stop, _ = mine[place]
            ready = min(max(ready, now), start)
            waiting[WAITS[wait]] += round(ready - now, 3) / 1e6
            waiting['dispatch'] += round(start - ready, 3) / 1e6
            active[ACTIVITIES[activity]] += round(stop - start, 3) / 1e6
            now, place = stop, place + 1
        waiting['call_end'] += round(end - now, 3) / 1e6
    busy, idle = sum(active.values()), sum(waiting.values())
    return {'active': active, 'waiting': waiting, 'busy': busy, 'idle': idle, 'total': busy + idle}


def run_times(pipeline, stage, activity):
    times = [(event[8] - event[7]) / 1e6 for event in pipeline.events
             if event[2] == stage and event[3] == activity]
    return {'runs': len(times), 'seconds': sum(times),
            'mean_seconds': sum(times) / max(1, len(times)),
            'least_seconds': min(times, default=0), 'most_seconds': max(times, default=0)}


def ops_of(stage, name, times, layers, backward, recomputed):
    kinds = ['conv2d', 'batch_norm', 'relu', 'max_pool2d', 'linear']
    return [{'stage': stage, 'backward': backward, 'recomputed': recomputed and layer == 0,
             'name': f'{name}{stage}.{layer}.{kinds[layer % 5]}{"/gradient" if backward else ""}',
             'op': kinds[layer % 5] + ('_gradient' if backward else ''),
             'flops': 0.0 if layer % 5 in (2, 3) else 3.1e7 * (layer + 1),
             'timed_runs': times['runs'] // 16, 'mean_seconds': times['mean_seconds'] / layers,
             'seconds': times['seconds'] / layers * (1 + .3 * (layer % 3 - 1))}
            for layer in range(layers)]


def stage_profile(pipeline, stage, names, all_seconds):
    times = {each: run_times(pipeline, stage, index) for index, each in enumerate(ACTIVITIES[:3])}
    name = names[stage % len(names)]
    ops = ops_of(stage, name, times['forward'], 5 + stage, False, False)
    if pipeline.training:
        ops += ops_of(stage, name, times['backward'], 6 + stage, True, True)
    last = pipeline.stages - 1
    limit = 2 * (last - stage) + 1
    liveness = [{'instruction': op['name'], 'backward': op['backward'],
                 'bytes': 90000 + 61000 * (index * 7 % 11)} for index, op in enumerate(ops)]
    return {'stage': stage,
            'ipus': [replica * pipeline.stages + stage for replica in range(pipeline.replicas)],
            'blocks': [f'{name}{stage}', f'B{stage}b'][:1 + stage % 2], **times,
            'share': (times['forward']['seconds'] + times['backward']['seconds']) / all_seconds,
            'in_flight_limit': limit, 'max_in_flight': limit,
            'sent_bytes': sum(event[9] for event in pipeline.events if event[2] == stage),
            'resident_bytes': 1200000 + 400000 * stage, 'stash_bytes': 210000 // (stage + 1),
            'liveness': liveness}, ops


def memory_of(stage, names, training, budget):
    classes = {'weights': stage['resident_bytes'] // 4,
               'optimizer_state': stage['resident_bytes'] // 2 * training,
               'accumulators': stage['resident_bytes'] // 4 * training,
               'stash': stage['stash_bytes'] * (stage['max_in_flight'] if training else 1),
               'working': max(point['bytes'] for point in stage['liveness'])}
    tensors = [{'name': f'{names[0]}{index}.weight', 'class': name,
                'stage': -1 if name == 'working' else stage['stage'],
                'bytes': classes[name] // (index + 2), 'copies': 1 + 4 * (name == 'stash')}
               for name in CLASSES for index in range(2) if classes[name]]
    return {'budget_bytes': budget, 'peak_bytes': sum(classes.values()), 'classes': classes,
            'tensors': sorted(tensors, key=lambda tensor: -tensor['bytes'])}


def sample(stages=4, micro_batches=10, windows=4, calls=4, replicas=1, training=True,
           names=('block',), advice=True, budget=4000000, loads=False, dropped=0):
    """Makes a profile and its trace by simulation."""
    costs = [70 + 25 * (stage % 3) + (40 if stage == 2 else 0) for stage in range(stages)]
    pipeline = Pipeline(stages, micro_batches, windows, replicas, training, loads, costs)
    for _ in range(calls):
        pipeline.call()
    pipeline.events.sort(key=lambda event: event[7])
    programs = sum(event[8] - event[7] for event in pipeline.events if event[3] < 2) / 1e6
    described = [stage_profile(pipeline, stage, names, programs) for stage in range(stages)]
    ipus = [{'ipu': ipu, 'seconds': time_split(pipeline, ipu),
             'memory': memory_of(described[ipu % stages][0], names, training, budget)}
            for ipu in range(stages * replicas)]
    idle = sum(ipu['seconds']['idle'] for ipu in ipus)
    idle /= sum(ipu['seconds']['total'] for ipu in ipus)
    count = micro_batches * windows * calls
    profile = {
        'model': names[0] + ' network', 'training': training, 'schedule': 'grouped',
        'replicas': replicas, 'batch_size': 16,
        'gradient_accumulation': micro_batches if training else 1,
        'processors': stages, 'calls': calls, 'short_calls': 1, 'micro_batches': count * replicas,
        'samples': count * replicas * 16,
        'call_seconds': sum(end - begin for begin, end, _, _ in pipeline.calls) / 1e6,
        'elapsed_seconds': (pipeline.calls[-1][1] - pipeline.calls[0][0]) / 1e6,
        'compile': compile_report(names, advice), 'ipus': ipus,
        'stages': [stage for stage, _ in described],
        'ops': [op for _, ops in described for op in ops],
        'bubble': {'measured': idle * .9, 'predicted': idle * .85,
                   'closed_form': (stages - 1) / (micro_batches + stages - 1)},
        'advice': advice_of(names) if advice else [],
        'older_events': dropped, 'dropped_events': dropped // 100}
    events = pipeline.events[dropped:]
    kept = [call for call in pipeline.calls if call[1] > events[0][7]]
    return profile, {'origin_ns': 123456789, 'whole': dropped == 0, 'calls': kept,
                     'events': events}


def compile_report(names, warns):
    steps = {'infer shapes': .0004, 'differentiate': .0012, 'split': .0021,
              'choose layouts': .0037, 'plan memory': .0058}
    return {'seconds': .0132, 'from_cache': False, 'expected_utilization': .769,
            'steps': [{'name': name, 'seconds': seconds} for name, seconds in steps.items()],
            'warnings': [f'{names[-1]}: 10 micro-batches are few for 4 stages.'] if warns else []}


def advice_of(names):
    return [{'topic': 'split', 'speedup': 1.184, 'text':
             'Stage 2 takes 1.4 times as long as the mean. Move its last block to stage 3.'},
            {'topic': 'accumulation', 'speedup': 1.09, 'text':
             f'{names[-1]}: With 20 micro-batches in a window, the pipeline fills less often.'},
            {'topic': 'memory', 'speedup': 0, 'text':
             'Recomputation in stage 0 would free 1.1 MB of stash.'}]


def empty():
    """Makes the profile of a model that has not run, whose figures are all 0."""
    profile, _ = sample(stages=1, micro_batches=1, windows=1, calls=1, advice=False, budget=0)

    def nothing(value):
        if isinstance(value, dict):
            return {key: nothing(each) for key, each in value.items()}
        if isinstance(value, list):
            return [nothing(each) for each in value]
        return value if isinstance(value, (bool, str)) else 0
    return nothing({**profile, 'ops': []}), {
        'origin_ns': 0, 'whole': True, 'calls': [], 'events': []}


def nearly_nothing():
    """Makes a profile whose lists are empty."""
    profile, trace = empty()
    profile['compile']['steps'] = []
    return {**profile, 'ipus': [], 'stages': []}, trace


def hostile():
    profile, trace = sample(names=HOSTILE, replicas=2, calls=1)
    profile['schedule'], profile['model'] = HOSTILE[:2]
    for index, op in enumerate(profile['ops']):
        op['op'] = HOSTILE[index % len(HOSTILE)]
    profile['advice'][0]['topic'] = HOSTILE[1]
    return profile, trace


def fill(template, profile, trace):
    """Puts the data in place of the placeholders. No `<` may be in a script, for `<!--` has a
    meaning there as well as `</`."""
    parts = re.split('|'.join(map(re.escape, PLACEHOLDERS)), template)
    if len(parts) != 3:
        sys.exit('the template does not have each placeholder once')
    text = [json.dumps(each, ensure_ascii=False).replace('<', '\\u003c')
            for each in (profile, trace)]
    return parts[0] + text[0] + parts[1] + text[1] + parts[2]


# The DevTools protocol of Chromium, over a websocket.

class WebSocket:
    """Sends and receives texts by RFC 6455, which is all that DevTools needs."""

    def __init__(self, url):
        parts = urllib.parse.urlparse(url)
        self.socket = socket.create_connection((parts.hostname, parts.port), timeout=30)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(f'GET {parts.path} HTTP/1.1\r\nHost: {parts.netloc}\r\n'
                            'Upgrade: websocket\r\nConnection: Upgrade\r\n'
                            f'Sec-WebSocket-Key: {key}\r\n'
                            'Sec-WebSocket-Version: 13\r\n\r\n'.encode())
        self.stream = self.socket.makefile('rb')
        if b' 101 ' not in self.stream.readline():
            raise RuntimeError('Chromium refused the websocket')
        while self.stream.readline() not in (b'\r\n', b''):
            pass

    def send(self, text):
        data, mask = text.encode(), os.urandom(4)
        size = struct.pack('>B', 0x80 | len(data)) if len(data) < 126 else \
            struct.pack('>BH', 0x80 | 126, len(data)) if len(data) < 65536 else \
            struct.pack('>BQ', 0x80 | 127, len(data))
        masked = bytes(byte ^ mask[place % 4] for place, byte in enumerate(data))
        self.socket.sendall(b'\x81' + size + mask + masked)

    def receive(self):
        message = b''
        while True:
            head = self.stream.read(2)
            if len(head) < 2:
                raise RuntimeError('Chromium closed the websocket')
            size = head[1] & 127
            if size > 125:
                size = int.from_bytes(self.stream.read(2 if size == 126 else 8), 'big')
            data = self.stream.read(size)
            if head[0] & 15 in (0, 1, 2):
                message += data
                if head[0] & 128:
                    return message.decode()


class Browser:
    """Runs Chromium, and gives commands to pages of it."""

    def __init__(self, program, home):
        self.log = open(home / 'log', 'w+')
        self.process = subprocess.Popen(
            [program, '--headless=new', '--no-sandbox', '--disable-gpu', '--no-first-run',
             '--remote-debugging-port=0', '--disable-background-networking',
             '--disable-dev-shm-usage', '--force-device-scale-factor=1', '--hide-scrollbars',
             f'--user-data-dir={home}/profile', 'about:blank'],
            stdout=subprocess.DEVNULL, stderr=self.log)
        self.web_socket = WebSocket(self.address())
        self.number = 0

    def address(self):
        for _ in range(600):
            log = pathlib.Path(self.log.name).read_text()
            if match := re.search(r'DevTools listening on (ws://\S+)', log):
                return match.group(1)
            if self.process.poll() is not None:
                break
            time.sleep(.05)
        self.close()
        sys.exit('Chromium did not start:\n' + log)

    def command(self, method, session=None, events=None, **parameters):
        self.number += 1
        message = {'id': self.number, 'method': method, 'params': parameters}
        self.web_socket.send(json.dumps({**message, **({'sessionId': session} if session else {})}))
        while True:
            answer = json.loads(self.web_socket.receive())
            if answer.get('id') == self.number:
                if 'error' in answer:
                    raise RuntimeError(f'{method}: {answer["error"]}')
                return answer['result']
            if events is not None and answer.get('sessionId') == session:
                events.append(answer)

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()


class Page:
    """Is one tab of the browser, which notes all errors and requests."""

    def __init__(self, browser, path, width=1200, height=900):
        self.browser, self.events, self.url, self.most_seconds = browser, [], path.as_uri(), 0
        self.target = browser.command('Target.createTarget', url='about:blank')['targetId']
        self.session = browser.command('Target.attachToTarget', targetId=self.target,
                                       flatten=True)['sessionId']
        for domain in ('Page', 'Runtime', 'Log', 'Network'):
            self.do(f'{domain}.enable')
        self.size(width, height)
        self.do('Page.navigate', url=self.url)
        self.wait_for("location.href !== 'about:blank' && document.readyState === 'complete'")
        self.colours('light')

    def do(self, method, **parameters):
        return self.browser.command(method, self.session, self.events, **parameters)

    def size(self, width, height=900):
        self.do('Emulation.setDeviceMetricsOverride', width=width, height=height,
                deviceScaleFactor=1, mobile=width < 500)

    def colours(self, scheme):
        self.do('Emulation.setEmulatedMedia',
                features=[{'name': 'prefers-color-scheme', 'value': scheme}])
        self.settle()

    def paper(self):
        return base64.b64decode(self.do('Page.printToPDF', preferCSSPageSize=True,
                                        printBackground=True)['data'])

    def js(self, code):
        result = self.do('Runtime.evaluate', expression=code, returnByValue=True, awaitPromise=True)
        if 'exceptionDetails' in result:
            raise RuntimeError(f'{code}: {result["exceptionDetails"]}')
        return result['result'].get('value')

    def wait_for(self, condition):
        for _ in range(400):
            if self.js(condition):
                return
            time.sleep(.05)
        raise RuntimeError(f'{self.url}: this never became true: {condition}')

    def settle(self):
        """Waits until the page has drawn what has changed."""
        self.js('new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))')

    def mouse(self, kind, x, y, **more):
        self.do('Input.dispatchMouseEvent', type=kind, x=x, y=y, **more)

    def key(self, key, code):
        for kind in ('keyDown', 'keyUp'):
            self.do('Input.dispatchKeyEvent', type=kind, key=key, windowsVirtualKeyCode=code)

    def complaints(self):
        """Returns errors, and requests for anything but the page itself."""
        found = []
        for event in self.events:
            method, parameters = event.get('method'), event.get('params', {})
            if method == 'Runtime.exceptionThrown':
                found.append('exception: ' + json.dumps(parameters['exceptionDetails'])[:400])
            elif method == 'Runtime.consoleAPICalled':
                found.append('console: ' + json.dumps(parameters['args'])[:300])
            elif method == 'Log.entryAdded':
                found.append('log: ' + json.dumps(parameters['entry'])[:300])
            elif method == 'Network.requestWillBeSent':
                url = parameters['request']['url']
                if url.split('#')[0] != self.url and not url.startswith(('data:', 'about:')):
                    found.append('request: ' + url)
        return found

    def picture(self, path, full=True):
        data = self.do('Page.captureScreenshot', format='png', captureBeyondViewport=full)
        path.write_bytes(base64.b64decode(data['data']))

    def close(self):
        self.browser.command('Target.closeTarget', targetId=self.target)


# Checks: each gives the texts of what failed.

UNITS = {'s': 1, 'ms': 1e-3, 'µs': 1e-6, 'ns': 1e-9, 'GB': 1e9, 'MB': 1e6, 'kB': 1e3, 'B': 1,
         'GFLOP': 1e9, 'MFLOP': 1e6, 'kFLOP': 1e3, 'FLOP': 1, '%': .01, '': 1}
SECTIONS = ['summary', 'time', 'insights', 'trace', 'balance', 'memory', 'liveness', 'programs',
            'operations']


def leaves(value, path=''):
    if isinstance(value, (dict, list)):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(each, f'{path}.{key}' if path else str(key))
    else:
        yield path, value


def reads_as(text, value):
    """Says whether the text of a figure, which is rounded and may have a unit, is the value."""
    match = re.fullmatch(r'(-?[\d,]+(?:\.\d+)?)[ \xa0\u202f]?(\S*)', text)
    if not match or match.group(2) not in UNITS:
        return text == 'all' and value == -1 or text in ('no limit', '–') and not value
    shown = float(match.group(1).replace(',', '')) * UNITS[match.group(2)]
    return abs(shown - value) <= max(abs(value) * .006, .0006 * (match.group(2) == '%'))


def check_figures(page, profile):
    """Each figure on the page is that of the profile, and each figure of the profile is there."""
    expected = dict(leaves(profile))
    shown = page.js("[...document.querySelectorAll('[data-field]')].map(node =>"
                    " [node.dataset.field, node.dataset.value, node.tagName, node.textContent,"
                    " node.title ?? ''])")
    seen = set()
    for path, value, tag, text, title in shown:
        seen.add(path)
        if path not in expected or json.loads(value) != expected[path]:
            yield f'{path} is shown as {value}, and the profile has {expected.get(path)!r}'
        elif isinstance(expected[path], str) and text not in (expected[path] or '(no name)',
                                                              expected[path].replace('_', ' ')):
            yield f'{path} reads as {text!r} instead of {expected[path]!r}'
        elif type(expected[path]) in (int, float) and tag == 'SPAN' and not title and \
                not reads_as(text, expected[path]) and not path.endswith('.speedup'):
            yield f'{path} reads as {text!r} instead of {expected[path]!r}'
    # An instruction that was timed has its name and program from `ops`.
    elsewhere = re.compile(r'stages\.\d+\.liveness\.\d+\.(instruction|backward)$')
    missing = [path for path in expected if path not in seen and not elsewhere.match(path)]
    if missing:
        yield f'{len(missing)} values of the profile are not on the page, such as {missing[:5]}'


def check_text(page):
    text = page.js('document.body.innerText')
    for word in ('undefined', 'NaN', '[object', 'Infinity', 'null'):
        if word in text:
            at = text.index(word)
            yield f'the page says {word!r}: {text[max(0, at - 60):at + 40]!r}'
    if page.js("[...document.querySelectorAll('section')].map(node => node.id)") != SECTIONS:
        yield 'the sections are not all there in their order'
    if page.js("[...document.querySelectorAll('section')].some(node => node.children.length < 2)"):
        yield 'a section is empty'
    if page.js("document.querySelector('table:not(:has(caption))') !== null"):
        yield 'a table has no caption'
    if page.js("document.querySelectorAll('script').length !== 2 || document.images.length > 0"):
        yield 'a name was read as HTML'
    if page.js("[...document.querySelectorAll('canvas, [role=img], nav, button:not(:has(*))')]"
               ".some(node => !node.ariaLabel && !node.textContent.trim())"):
        yield 'an element has no label'


def check_width(page):
    page.size(PHONE, 740)
    page.settle()
    wide = page.js('document.documentElement.scrollWidth')
    if wide > PHONE:
        culprits = page.js("[...document.querySelectorAll('main *')].filter(node =>"
                           " !node.closest('.scroll') &&"
                           f" node.getBoundingClientRect().right > {PHONE} + 1)"
                           ".map(node => node.tagName + '.' + node.className).slice(0, 5)")
        yield f'at a width of {PHONE} the page is {wide} wide: {culprits}'
    page.size(1200)
    page.settle()


STATE = '({...window.penstockReport.highlighted, zoom: window.penstockReport.zoom,' \
        ' count: window.penstockReport.visibleEvents().length})'
CANVAS = "document.getElementById('timeline').toDataURL()"


def check_trace(page, trace):
    """Zooming and highlighting change the state, and what is drawn."""
    events = trace['events']
    if not events:
        if page.js('window.penstockReport.visibleEvents().length') or not \
                page.js("document.getElementById('trace').innerText.includes('no event')"):
            yield 'a trace without events is not said to have none'
        return
    page.js("document.getElementById('timeline').scrollIntoView({block: 'center'})")
    time.sleep(.3)
    page.settle()
    state, picture = page.js(STATE), page.js(CANVAS)
    if (state['replica'], state['micro_batch']) not in {(event[1], event[5]) for event in events}:
        yield f'the highlighted micro-batch is not in the trace: {state}'
    page.js("document.getElementById('show-all').click()")
    page.settle()
    whole = page.js(STATE)
    if whole['zoom'] != 1 or whole['count'] != len(events):
        yield f'the whole trace does not show all of the {len(events)} events: {whole}'
    for button in ('zoom-in', 'zoom-out') * 2:
        page.js(f"document.getElementById('{button}').click()")
        page.settle()
        seconds = page.js('window.penstockReport.drawSeconds')
        page.most_seconds = max(page.most_seconds, seconds)
    page.js("document.getElementById('show-iteration').click()")
    page.settle()
    if page.js(CANVAS) != picture or page.js(STATE) != state:
        yield 'the first view does not come back'
    yield from check_controls(page, state)
    yield from check_clicks(page, trace)
    yield from check_first_spans(page, trace)


def check_first_spans(page, trace):
    """A row begins with its call if the trace has all of it, and otherwise with its first event."""
    events, whole, begin = trace['events'], trace['whole'], trace['calls'][0][0]
    for row in page.js('window.penstockReport.rows'):
        begins = begin if whole else next(event[7] for event in events if event[0] == row['ipu'])
        if row['begin'] is None or abs(row['begin'] - begins) > 1e-3:
            yield f'the row of IPU {row["ipu"]} begins at {row["begin"]} and not at {begins}'


def check_controls(page, state):
    box = page.js("(({left, top, width, height}) => [left, top, width, height])"
                  "(document.getElementById('timeline').getBoundingClientRect())")
    x, y = box[0] + box[2] / 2, box[1] + 70
    actions = {
        'the wheel': lambda: page.mouse('mouseWheel', x, y, deltaX=0, deltaY=-300),
        'the button': lambda: page.js("document.getElementById('zoom-in').click()"),
        'the + key': lambda: page.key('+', 187),
    }
    page.js("document.getElementById('timeline').focus({preventScroll: true})")
    picture = page.js(CANVAS)
    for name, action in actions.items():
        action()
        page.settle()
        now, drawn = page.js(STATE), page.js(CANVAS)
        zooms = now['zoom'] > state['zoom'] * 1.1 and now['count'] <= state['count']
        if not zooms or drawn == picture:
            yield f'{name} does not zoom in: {state} became {now}'
        state, picture = now, drawn
    page.do('Emulation.setTouchEmulationEnabled', enabled=True, maxTouchPoints=2)
    for kind, apart in (('touchStart', 40), ('touchMove', 60), ('touchMove', 90), ('touchEnd', 0)):
        points = [{'x': x - apart, 'y': y, 'id': 0}, {'x': x + apart, 'y': y, 'id': 1}]
        page.do('Input.dispatchTouchEvent', type=kind, touchPoints=points if apart else [])
    page.do('Emulation.setTouchEmulationEnabled', enabled=False)
    page.settle()
    if not page.js('window.penstockReport.zoom') > state['zoom'] * 1.5:
        yield 'two fingers do not zoom in'
    begin = page.js('window.penstockReport.view.begin')
    page.key('ArrowRight', 39)
    page.settle()
    moved = page.js('window.penstockReport.view.begin')
    page.mouse('mousePressed', x, y, button='left', clickCount=1)
    page.mouse('mouseMoved', x + 200, y, button='left')
    page.mouse('mouseReleased', x + 200, y, button='left', clickCount=1)
    page.settle()
    if not begin < moved or not page.js('window.penstockReport.view.begin') < moved:
        yield 'the arrow key or dragging does not move the view'
    page.key('Home', 36)
    page.settle()
    if page.js('window.penstockReport.zoom') != 1:
        yield 'the Home key does not show the whole trace'


def check_clicks(page, trace):
    """A click highlights the micro-batch of a block: here of the longest block in view."""
    page.js("document.getElementById('show-iteration').click()")
    page.settle()
    state, picture = page.js(STATE), page.js(CANVAS)
    place = page.js("""(() => {
      const {view, highlighted, visibleEvents} = window.penstockReport;
      const {left, top, width} = document.getElementById('timeline').getBoundingClientRect();
      const gutter = 80;
      const event = visibleEvents().filter(event => event.activity < 2 &&
        event.begin >= view.begin && event.end <= view.end &&
        event.microBatch !== highlighted.micro_batch)
        .sort((a, b) => (b.end - b.begin) - (a.end - a.begin))[0];
      if (!event) return null;
      const share = ((event.begin + event.end) / 2 - view.begin) / (view.end - view.begin);
      return [left + gutter + share * (width - gutter), top, event.ipu, event.replica,
              event.microBatch];
    })()""")
    if place is None:
        if len({(event[1], event[5]) for event in trace['events'] if event[3] < 2}) > 1:
            yield 'no other micro-batch is in view'
        return
    x, top, ipu, replica, micro_batch = place
    rows = sorted({event[0] for event in trace['events']})
    y = top + 50 + (rows.index(ipu) + .4) * (26 if len(rows) > 8 else 38)
    page.mouse('mouseMoved', x, y)
    page.settle()
    tip = page.js("document.getElementById('tip').innerText")
    if f'micro-batch {micro_batch}' not in tip:
        yield f'the tip of micro-batch {micro_batch} of replica {replica} says {tip!r}'
    for kind in ('mousePressed', 'mouseReleased'):
        page.mouse(kind, x, y, button='left', clickCount=1)
    page.mouse('mouseMoved', 5, 5)
    page.settle()
    now = page.js(STATE)
    if (now['replica'], now['micro_batch']) != (replica, micro_batch) or page.js(CANVAS) == picture:
        yield f'a click on micro-batch {micro_batch} of replica {replica} highlights {now}'
    if f'micro-batch {micro_batch}' not in page.js("document.getElementById('journey').innerText"):
        yield 'the table does not follow the highlighted micro-batch'


def check_sorting(page, profile):
    if not profile['ops']:
        return
    button = "[...document.querySelectorAll('#operations th button')].find(node =>" \
             " node.textContent === 'Mean')"
    means = "[...document.querySelectorAll('#operations tbody [data-field$=mean_seconds]')]" \
            ".map(node => Number(node.dataset.value))"
    page.js(button + '.click()')
    falling = page.js(means)
    page.js(button + '.click()')
    if falling != sorted(falling, reverse=True) or page.js(means) != sorted(falling):
        yield 'the table of operations is not sorted by a click'


def check_colours(page):
    """The page and its chart follow dark mode, and are light again on paper."""
    paper = "[...getComputedStyle(document.body).backgroundColor.matchAll(/\\d+/g)].map(Number)"
    light, drawn = page.js(paper), page.js(CANVAS)
    page.colours('dark')
    if not sum(page.js(paper)) < 150 < 600 < sum(light) or page.js(CANVAS) == drawn:
        yield 'dark mode changes nothing'
    page.js("addEventListener('beforeprint', () => { window.printed = "
            f"[{paper}, document.querySelectorAll('details:not([open])').length]; }})")
    if not page.paper().startswith(b'%PDF'):
        yield 'the page cannot be printed'
    background, closed = page.js('window.printed')
    if background != light or closed or page.js("document.documentElement.className"):
        yield f'on paper the background is {background}, and {closed} details are closed'
    page.colours('light')
    if page.js(CANVAS) != drawn:
        yield 'light mode does not come back'


def check(browser, name, path, profile, trace, pictures=None):
    begin = time.monotonic()
    page = Page(browser, path)
    trace = trace or page.js('trace')
    failures = [] if page.js('profile') == profile else ['the page has another profile']
    failures += [*check_figures(page, profile), *check_text(page), *check_width(page),
                *check_trace(page, trace), *check_sorting(page, profile)]
    if len(trace['events']) > 1000:
        failures += check_colours(page)
    if pictures:
        take_pictures(page, name, pictures)
    failures += page.complaints()
    page.close()
    print(f'{name}: {len(trace["events"])} events, drawn in {page.most_seconds * 1000:.0f} ms at '
          f'most, {len(failures)} failures, {time.monotonic() - begin:.1f} s', flush=True)
    return [f'{name}: {failure}' for failure in failures]


def take_pictures(page, name, folder):
    page.js("document.getElementById('show-iteration')?.click()")
    page.settle()
    page.picture(folder / f'{name}.png')
    (folder / f'{name}.pdf').write_bytes(page.paper())
    page.colours('dark')
    page.picture(folder / f'{name}-dark.png')
    page.colours('light')
    page.size(PHONE, 740)
    page.settle()
    page.picture(folder / f'{name}-phone.png')
    page.size(1200)


def written(folder):
    """Returns the page and the profile that write_profile() has written. The page has the trace."""
    return folder / 'report.html', json.loads((folder / 'profile.json').read_text()), None


def run_trainer(trainer, home):
    """Returns the folders of the profiles that short runs write: a pipeline in two replicas, and
    one whose stages take turns."""
    common = [trainer, '--dataset', 'synthetic', '--batch-size', '8', '--device-iterations', '5',
              '--gradient-accumulation', '4', '--max-updates', '40', '--no-progress', '--profile']
    for name, options in {'pipelined': ['--replication-factor', '2'],
                          'phased': ['--strategy', 'serial_phased']}.items():
        subprocess.run([*common, *options, '--profile-dir', str(home / name)], check=True,
                       capture_output=True)
        yield home / name / 'training'
        yield home / name / 'inference'


def samples():
    return {
        'training': sample(calls=60, dropped=401),
        'inference': sample(micro_batches=40, windows=1, calls=3, training=False),
        'hostile': hostile(),
        'one_ipu': sample(stages=1, micro_batches=3, calls=2, advice=False, budget=0),
        'many_ipus': sample(stages=4, replicas=4, micro_batches=16, windows=1, loads=True),
        'empty': empty(),
        'nothing': nearly_nothing(),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n', 1)[1])
    parser.add_argument('chromium')
    parser.add_argument('--template', type=pathlib.Path)
    parser.add_argument('--profile-dir', type=pathlib.Path, action='append', default=[])
    parser.add_argument('--trainer')
    parser.add_argument('--screenshots', type=pathlib.Path)
    arguments = parser.parse_args()
    home = pathlib.Path(tempfile.mkdtemp(prefix='penstock-report-'))
    pages, failures = {}, []
    if arguments.template:
        for name, (profile, trace) in samples().items():
            path = home / f'{name}.html'
            path.write_text(fill(arguments.template.read_text(), profile, trace))
            pages[name] = path, profile, trace
    if arguments.trainer:
        arguments.profile_dir += run_trainer(arguments.trainer, home)
    for folder in arguments.profile_dir:
        pages['-'.join(folder.resolve().parts[-2:])] = written(folder.resolve())
    if arguments.screenshots:
        arguments.screenshots.mkdir(parents=True, exist_ok=True)
    browser = Browser(arguments.chromium, home)
    try:
        for name, (path, profile, trace) in pages.items():
            failures += check(browser, name, path, profile, trace, arguments.screenshots)
    finally:
        browser.close()
        shutil.rmtree(home, ignore_errors=True)
    print('\n'.join(failures) if failures else 'all is well')
    sys.exit(bool(failures) or not pages)


if __name__ == '__main__':
    main()
