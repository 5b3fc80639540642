"""These are the rules of the house that a reader of text can check. Each rule is a function that
yields complaints about a file, and its docstring says what has to hold."""

import re
from pathlib import PurePosixPath

# These public headers hold plain values; graph/ and actors/ see these and no others. graph/values/
# defines their functions.
VALUE_HEADERS = [f'penstock/{name}.hpp'
                 for name in ('call_size', 'custom_op', 'error', 'initializer', 'ipu_order',
                              'learning_rate_schedule', 'optimizer_settings', 'options', 'report',
                              'shape', 'standard', 'tensor', 'trace')]
# Only the headers of the standard library have names with neither a slash nor a suffix.
STANDARD = r'[a-z_0-9]+'
POSIX = (r'dirent\.h|fcntl\.h|netinet/in\.h|pthread\.h|pwd\.h|sched\.h|signal\.h|unistd\.h|'
         r'sys/[a-z]+\.h')

# For each floor, from the ground up, this lists the quoted includes that the floor may use besides
# its own, by prefix, and the other includes, by pattern.
FLOORS = [
    *((f'include/{header}', VALUE_HEADERS, STANDARD) for header in VALUE_HEADERS),
    # Only hosts that have Eigen include this header.
    ('include/penstock/eigen.hpp', ['penstock/'], rf'{STANDARD}|Eigen/Core'),
    ('include/penstock/', ['penstock/'], STANDARD),
    # Tensor memory is mapped.
    ('graph/values/', VALUE_HEADERS, rf'{STANDARD}|sys/mman\.h'),
    ('graph/kernels/', ['graph/values/', *VALUE_HEADERS], STANDARD),
    ('graph/ir/', ['graph/values/', *VALUE_HEADERS], STANDARD),
    ('graph/ops/', ['graph/values/', 'graph/kernels/', 'graph/ir/', *VALUE_HEADERS], STANDARD),
    ('graph/plan/', ['graph/values/', 'graph/kernels/', 'graph/ir/', 'graph/ops/',
                     *VALUE_HEADERS], STANDARD),
    ('graph/passes/', ['graph/values/', 'graph/kernels/', 'graph/ir/', 'graph/ops/',
                       'graph/plan/', *VALUE_HEADERS], STANDARD),
    ('graph/compile/', ['graph/values/', 'graph/kernels/', 'graph/ir/', 'graph/ops/',
                        'graph/plan/', 'graph/passes/', *VALUE_HEADERS], STANDARD),
    ('graph/codec/', ['graph/', *VALUE_HEADERS], STANDARD),
    # Actors execute plans, and know nothing of the models that the plans were made from.
    ('actors/', ['graph/values/', 'graph/kernels/kernel_table.hpp', 'graph/ir/random.hpp',
                 'graph/plan/', *VALUE_HEADERS], rf'{STANDARD}|caf/.+|{POSIX}'),
    ('engine/', ['actors/', 'graph/', 'penstock/'],
     rf'{STANDARD}|zlib\.h|png\.h|jpeglib\.h|jerror\.h|{POSIX}'),
    ('apps/', ['penstock/'],
     rf'{STANDARD}|penstock/\w+\.hpp|boost/program_options\.hpp|curl/curl\.h|zlib\.h|{POSIX}'),
]
FLOOR_ROOTS = tuple(sorted({folder.split('/')[0] + '/' for folder, _, _ in FLOORS}))

# The tree has these folders beside the floors, and files with these suffixes may lie in all of
# them.
OTHER_FOLDERS = ('tests/', 'benchmarks/', 'docs/', 'scripts/', 'subprojects/', '.ci/')
CODE_SUFFIXES = ('.hpp', '.cpp')
OTHER_SUFFIXES = ('.build', '.py', '.sh', '.txt', '.md', '.in', '.map', '.svg', '.html', '.wrap',
                  '.gz', '.onnx', '.safetensors')
# In this folder there is a host in C, which knows the library that it loads by a header in C.
C_FOLDER = 'tests/engine/plugin/'
C_SUFFIXES = ('.h', '.c')

COLUMNS = 100

# The comments of these folders are sentences. A literal may contain what looks like a comment.
SENTENCE_FOLDERS = ('include/', *(f'{root}/' for root in ('graph', 'actors', 'engine', 'apps')),
                    'benchmarks/')
LITERAL = re.compile(r'R"\((?:.|\n)*?\)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.[^\'\n]*|[^\'\\\n])\'')
SENTENCE = re.compile(r'(?:[A-Z0-9`"(\[~]|\w+\(|\w+(?:_\w+)+\b|clang-format ).*[.:?!"`)}\]]', re.S)

# Clang 14 cannot compile what libstdc++ 12 has in <ranges>, nor the algorithms that return a
# subrange.
SUBRANGES = re.compile(r'^#include\s*<ranges>|\bstd::(?:views|ranges::(?:subrange|rotate|unique'
                       r'|remove|remove_if|partition|stable_partition|search|search_n|find_end'
                       r'|equal_range))\b', re.M)

# These phrases refer to other lines, and become wrong when lines move.
PLACE_PHRASES = re.compile(
    r'\b(?:as (?:above|before)|as the (?:functions?|constructors?) (?:above|below)'
    r'|the next (?:two|three|four)|the functions? (?:above|below)|undoes that)\b', re.IGNORECASE)

# An access to a thread-local variable may call the C library. The compiler relies on that call to
# keep vector registers, and glibc 2.36 does not keep them: no other code may be compiled into the
# function of the access.
THREAD_VARIABLE = re.compile(
    r'\[\[gnu::noipa\]\] [\w:*]+& [\w:]+\(\) noexcept \{\s*static constinit thread_local '
    r'(?:bool|int|std::(?:size_t|u?int\d+_t)|[\w:]+\*) (\w+) = [^;]+;\s*return \1;\s*\}')
THREAD_WORD = re.compile(r'\b(?:thread_local|__thread)\b')
THREAD_LIBRARY = re.compile(r'^#include\s*<future>|^(?!\s*//).*\bcall_once\b', re.M)
# This file makes the loader find room for what std::call_once() uses.
THREAD_PREPARATION = 'graph/values/thread_variables.cpp'
# Targets of these folders have thread_storage_args, which the root's meson.build explains.
THREAD_STORAGE = ('graph/values/', 'actors/', 'engine/')
# The files of these folders are built from the lists that are named here; the meson.build of each
# folder reads them.
BUILT_LISTS = {'graph/ops/': ['graph/ops/list.cpp'],
               'graph/passes/': ['graph/compile/build_plan.cpp', 'graph/compile/staged_graph.cpp']}
CAF_ROOMS = ('actors/', 'tests/actors/', 'tests/support/')
# These folders have rules of the runtime that are worth testing without actors.
CAF_FREE_ROOMS = ('actors/execution/', 'actors/host/', 'actors/update/')

INCLUDE = re.compile(r'^#include (["<])([^">]+)[">]$', re.MULTILINE)
# This matches whatever the preprocessor may take for an include, however it is spelled.
ANY_INCLUDE = re.compile(r'^.*(?:#|%:|\?\?=)(?:[^\w\n]|/\*.*?\*/|\\\n)*(?:include|import).*$',
                         re.MULTILINE)
FILE_NAME = re.compile(r'(?:[\w-]+/)*[\w-]+(?:\.[\w-]+)*')
# The build writes these files; the meson.build of the folder says from what.
GENERATED = ('graph/codec/source_hash.hpp',)
TEST = re.compile(r'\bTEST(?:_P|_F)?\(\s*(\w+),\s*(\w+)\)')
PROOF = re.compile(r'`(?!Suite\.Name`)([A-Z]\w+)\.(\w+|\*)`')
PROOF_FILE = re.compile(r'`([a-z0-9_/]+)`:\s+`[A-Z]\w+\.')
ROW_ID = r'[A-I]\d+|\d+\.\d+'
# This list stands below a table and names the proofs of its rows.
PROOFS = re.compile(r'^Proofs:\n\n((?:(?:-|  ).*\n)+)', re.MULTILINE)
ROW = re.compile(rf'^- \*\*({ROW_ID})\*\*(?:, [^:]*)?: (.*(?:\n  .*)*)', re.MULTILINE)
TABLE_ROW = re.compile(r'^\| (.*) \|$', re.MULTILINE)
CELL_END = re.compile(r' (?<!\\)\| ?')
CELL_LENGTH = 300
PROGRAM = re.compile(r'`(tests/[a-z0-9_/.]+)`')
OTHER_ROWS = re.compile(rf'\b(?:as|see) ((?:{ROW_ID})(?:, (?:{ROW_ID}))*)')
FUNCTION_BODY = re.compile(r'\)(?:\s|const\b|noexcept\b|->[\w:<>&* ]+)*\{([^{}]*.)', re.DOTALL)
ACCESSOR = re.compile(r'\s*return [^;{}]*;\s*\}')
COMMENT = re.compile(r'(?://|#).*')
OP_COMPARISON = re.compile(r'(?:\.|->)op(?:->name\s*[!=]=|\s*[!=]=\s*&)'
                           r'|&\s*[\w:]+\s*[!=]=\s*[\w.>()-]*(?:\.|->)op\b')
# This matches a path from the root, with or without a suffix, and any other path that ends as a
# header does.
PATH = re.compile(
    r'(?<![\w./<-])(?:(?:include|graph|actors|engine|apps|tests|benchmarks)/[\w./-]*\w'
    r'|(?:[\w-]+/)+[\w-]+\.[hc]pp\b)')
FORBIDDEN = [
    (re.compile(r'(?<![\w.])/(?:home|root|tmp|work|Users)/'), "a path of somebody's machine"),
    (re.compile(r'\b(?:TO' r'DO|FIX' r'ME|XX' r'X)\b'), 'a note of unfinished work'),
    (re.compile(r'\b(?:GTEST_SK' r'IP|DISABLED' r'_\w+)'), 'a test that does not run'),
]


def includes(text):
    """Returns [(is_quoted, name), ...] of the includes, in the order of the text."""
    return [(quote == '"', name) for quote, name in INCLUDE.findall(text)]


def is_code(path):
    """Returns whether a file is in C++, or in C in the folder that may have sources in C."""
    suffixes = CODE_SUFFIXES + (C_SUFFIXES if path.startswith(C_FOLDER) else ())
    return PurePosixPath(path).suffix in suffixes and not path.startswith('subprojects/')


def place_rule(path):
    """A file lies where the other rules look, and they know whether it is code."""
    if '/' in path and not path.startswith((*FLOOR_ROOTS, *OTHER_FOLDERS)):
        yield 'lies in a folder that no rule knows'
    elif '/' in path and not is_code(path):
        suffix = PurePosixPath(path).suffix
        if suffix and suffix not in OTHER_SUFFIXES and not path.startswith('subprojects/'):
            yield f'has the suffix {suffix}, of which no rule knows whether that is code'


def spelling_rule(text, sources):
    """The other rules can read every include, and know the file that it names."""
    for line in ANY_INCLUDE.findall(text):
        if not INCLUDE.fullmatch(line):
            yield f'includes by a line that is neither #include "name" nor <name>: {line.strip()}'
    for is_quoted, name in includes(text):
        if not FILE_NAME.fullmatch(name):
            yield f'includes {name}, which leads through another folder'
        elif is_quoted and (name.startswith('include/') or not (
                folder_of(name, sources) or name in GENERATED)):
            yield f'includes "{name}", which names no file from the root or from include/'


def floor_rule(path, text):
    """Every source is on a floor, and includes go down only."""
    if not path.startswith(FLOOR_ROOTS):
        return
    for folder, quoted, others in FLOORS:
        if path.startswith(folder):
            for is_quoted, name in includes(text):
                if is_quoted and not name.startswith((folder, *quoted)):
                    yield f'{folder} may not include "{name}"'
                if not is_quoted and not re.fullmatch(others, name):
                    yield f'{folder} may not include <{name}>'
            return
    yield f'lies on no floor, but beside those of {PurePosixPath(path).parts[0]}/'


def folder_of(include, sources):
    """Returns the folder of an included file of the tree, or None."""
    for path in (include, f'include/{include}'):
        if path in sources:
            return str(PurePosixPath(path).parent)
    return None


def folder_includes(sources):
    """Returns {folder: {folder that it includes: a file that does so}}."""
    found = {}
    for path, text in sources.items():
        own = str(PurePosixPath(path).parent)
        for _, name in includes(text):
            other = folder_of(name, sources)
            if other and other != own:
                found.setdefault(own, {}).setdefault(other, path)
    return found


def circle_rule(sources):
    """No folder includes, by whatever way, one that includes it."""
    edges = folder_includes(sources)

    def reachable(start):
        seen, waiting = set(), [start]
        while waiting:
            for other in edges.get(waiting.pop(), ()):
                if other not in seen:
                    seen.add(other)
                    waiting.append(other)
        return seen

    below = {folder: reachable(folder) for folder in edges}
    for folder, others in sorted(edges.items()):
        for other, path in sorted(others.items()):
            if folder in below.get(other, ()):
                yield f'{path} includes {other}/, which includes {folder}/ in turn'


def pass_rule(path, text, sources):
    """A pass, which is a header of graph/passes/ with a source, includes no other pass, and asks of
    an op what a field of Op says, not which op it is. A header without a source holds data, and its
    functions only return something of the data."""
    if not path.startswith('graph/passes/'):
        return
    for comparison in OP_COMPARISON.findall(COMMENT.sub('', text)):
        yield f'compares ops: {comparison}'
    if path.endswith('.hpp') and str(PurePosixPath(path).with_suffix('.cpp')) not in sources:
        for body in FUNCTION_BODY.findall(COMMENT.sub('', text)):
            if not ACCESSOR.fullmatch(body):
                yield f'is no pass, for it has no source, but defines a function: {body.strip()}'
    own = PurePosixPath(path).with_suffix('.hpp')
    for is_quoted, name in includes(text):
        other = PurePosixPath(name)
        is_pass = str(other.with_suffix('.cpp')) in sources
        if is_quoted and name.startswith('graph/passes/') and other != own and is_pass:
            yield f'the pass {own.stem} includes the pass {other.stem}'


def caf_rule(path, text):
    """Every spelling of CAF stays in its rooms."""
    if not re.search(r'\bcaf::|<caf/', text):
        return
    if not path.startswith(CAF_ROOMS):
        yield 'spells CAF outside ' + ', '.join(CAF_ROOMS)
    if path.startswith(CAF_FREE_ROOMS):
        yield f'spells CAF in {PurePosixPath(path).parent}/'


def first_include_rule(path, text, sources):
    """A source includes its own header first, which proves that the header stands alone."""
    header = str(PurePosixPath(path).with_suffix('.hpp'))
    if not path.endswith('.cpp') or header not in sources:
        return
    found = includes(text)
    if not found or found[0] != (True, header):
        yield f'does not include "{header}" first'


def guard_rule(path, text):
    """A header may be included twice, and says so, unless it is precompiled: GCC does not
    precompile a header with `#pragma once`."""
    precompiled = '/precompiled/' in path
    if path.endswith('.hpp') and ('#pragma once' in text) == precompiled:
        yield ('is precompiled and has' if precompiled else 'lacks') + ' #pragma once'


def thread_local_rule(path, text):
    """A thread's first access to a thread-local variable allocates no memory: the variable lies in
    a target with thread_storage_args, needs no constructor, and is a number or a pointer. A
    function returns the variable and does nothing else. What the standard library keeps for each
    thread is used in one place only, which makes room for it."""
    code = COMMENT.sub('', text)
    if not path.startswith(FLOOR_ROOTS):
        return
    if path != THREAD_PREPARATION and THREAD_LIBRARY.search(text):
        yield 'uses std::call_once or <future>, which look at what libstdc++ keeps for each thread'
    if not THREAD_WORD.search(code):
        return
    if not path.startswith(THREAD_STORAGE):
        yield 'has a thread_local variable outside ' + ', '.join(THREAD_STORAGE)
    if THREAD_WORD.search(THREAD_VARIABLE.sub('', code)):
        yield ('has a thread_local variable that is not constinit, or no number or pointer, or '
               'that no [[gnu::noipa]] function of its own returns')


def clang_rule(text):
    """Clang 14 compiles the code."""
    for match in SUBRANGES.finditer(re.sub('//.*', '', text)):
        yield f'has "{match.group()}", which Clang 14 cannot compile'


def comments(text):
    """Returns the comments of C++ code, neighbouring lines as one, without their marks."""
    code = LITERAL.sub('""', text).split('\n')
    found, block = [], []
    for line in [*code, '']:
        alone = re.match(r'\s*//[/!]?<? ?(.*)', line)
        if alone:
            block.append(alone.group(1))
            continue
        if block:
            found.append(' '.join(block).strip())
            block = []
        trailing = re.match(r'\s*[^\s}/].*?\s//[/!]?<? (.*)', line)
        if trailing:
            found.append(trailing.group(1).strip())
    return found


def sentence_rule(path, text):
    """A comment of the product begins as a sentence does, or with code, and ends as one."""
    if not path.startswith(SENTENCE_FOLDERS) or not path.endswith(CODE_SUFFIXES):
        return
    for comment in comments(text):
        said = comment.split('@throws')[0].strip()
        if said and not said.startswith('----') and not SENTENCE.fullmatch(said):
            yield f'has a comment that is no sentence: {comment[:80]}'


def place_phrase_rule(path, text):
    """A comment of the product says what it means by name, not by the place where it stands."""
    if not path.startswith(SENTENCE_FOLDERS) or not path.endswith(CODE_SUFFIXES):
        return
    for comment in comments(text):
        for found in PLACE_PHRASES.finditer(comment):
            yield f'has a comment that says "{found.group()}": name what is meant'


def word_rule(text):
    for pattern, what in FORBIDDEN:
        for found in pattern.finditer(text):
            yield f'{what}: {found.group()}'


def known_paths(files):
    """Returns the paths by which a comment may name files, with and without suffix, and folders."""
    paths = {PurePosixPath(path) for path in (*files, *GENERATED)}
    paths |= {PurePosixPath(*path.parts[1:]) for path in paths if path.parts[0] == 'include'}
    return {str(name) for path in paths for name in (path, path.with_suffix(''), *path.parents)}


def path_rule(text, known):
    """A file that a comment names by its path is there."""
    for comment in COMMENT.findall(text):
        if not INCLUDE.fullmatch(comment):
            for path in PATH.findall(comment):
                if path not in known:
                    yield f'names {path} in a comment, which is no file and no folder of the tree'


def width_rule(path, text):
    """Lines fit into 100 columns. clang-format checks C++, and documents may have longer lines."""
    if path.endswith(('.hpp', '.cpp', '.md')):
        return
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > COLUMNS:
            yield f'line {number} has {len(line)} columns, more than {COLUMNS}'


def built_rule(path, sources, build_files):
    """A source is built: the build file of its folder or of a folder above names it, or a list
    whose includes the build reads includes the source's header."""
    source = PurePosixPath(path)
    if source.suffix != '.cpp':
        return
    for folder, lists in BUILT_LISTS.items():
        own = (True, str(source.with_suffix('.hpp')))
        if path.startswith(folder) and any(own in includes(sources.get(each, ''))
                                           for each in lists):
            return
    for folder in source.parents:
        if f"'{source.relative_to(folder)}'" in build_files.get(str(folder / 'meson.build'), ''):
            return
    yield 'is named in no meson.build'


def proof_rule(text, sources):
    """Tests that a document names as proof exist, in the files that the document names."""
    tests = [path for path in sources if path.startswith('tests/')]
    declared = {(suite, name) for path in tests
                for suite, name in TEST.findall(sources[path])}
    suites = {suite for suite, _ in declared}
    for suite, name in PROOF.findall(text):
        if (suite, name) not in declared and not (name == '*' and suite in suites):
            yield f'there is no test {suite}.{name}'
    for file in PROOF_FILE.findall(text):
        if f'tests/{file}_test.cpp' not in tests:
            yield f'there is no tests/{file}_test.cpp'


def proving_files(document):
    """Returns {row: the files that its proof names, and those of the rows that it refers to}."""
    proofs = {}
    for items in PROOFS.findall(document):
        for row, proof in ROW.findall(items):
            proofs[row] = proofs.get(row, '') + ' '.join(proof.split())
    files = {row: [f'tests/{file}_test.cpp' for file in PROOF_FILE.findall(proof)]
             + PROGRAM.findall(proof) for row, proof in proofs.items()}
    return {row: files[row] + [file for rows in OTHER_ROWS.findall(proof)
                               for other in rows.split(', ') for file in files.get(other, ())]
            for row, proof in proofs.items() if proof.strip()}


def cell_rule(document):
    """A cell of a table is short enough to read. Longer texts belong into a list."""
    for cells in TABLE_ROW.findall(document):
        for cell in CELL_END.split(cells):
            if len(cell) > CELL_LENGTH:
                yield f'has a cell of {len(cell)} characters: {cell[:40]}'


def carries(text, row):
    """Returns whether a comment or the name of a test has the id of `row`."""
    word = re.compile(rf'(?<![\w.]){re.escape(row)}(?!\w|\.\d)')
    prefixes = (f'{row}_', f'R{row.replace(".", "_")}_')
    return (any(word.search(comment) for comment in COMMENT.findall(text))
            or any(name.startswith(prefixes) for _, name in TEST.findall(text)))


def row_rule(document, sources):
    """One of the files that the proof of a row names has the row's id."""
    for row, files in proving_files(document).items():
        if not any(carries(sources.get(file, ''), row) for file in files):
            yield f'no comment and no test of {", ".join(files) or "its proof"} has the id {row}'
