"""Usage: house_test.py ROOT. Checks the tree at ROOT, and that each rule can fail."""

import re
import sys
import unittest
from pathlib import Path

import draw_includes
import rules
import tree

ROOT = Path(sys.argv.pop())
# Meson does not build these sources, which stand for a project of somebody else's.
HOSTS = ('tests/install/catches_errors.cpp',)

FILES = tree.files_of(ROOT)
SOURCES = tree.read(ROOT, filter(rules.is_code, FILES))
BUILD_FILES = tree.read(ROOT, (path for path in FILES if path.endswith('meson.build')
                               and not path.startswith('subprojects/')))
WRITTEN = {**SOURCES, **BUILD_FILES, **tree.read(
    ROOT, (path for path in FILES if path.endswith(('.py', '.sh', '.md', 'CMakeLists.txt'))
           or path.startswith(('scripts/', '.ci/'))))}

DOCUMENTS = {path: text for path, text in WRITTEN.items() if path.endswith('.md')}


class House(unittest.TestCase):
    def expect_none(self, files, rule):
        complaints = [f'{path}: {text}' for path, content in files.items()
                      for text in rule(path, content)]
        self.assertEqual(complaints, [], "\n".join(complaints))

    def test_sources_were_found(self):
        for folder, _, _ in rules.FLOORS:
            self.assertTrue([path for path in SOURCES if path.startswith(folder)], folder)

    def test_files_lie_where_rules_look(self):
        self.expect_none(dict.fromkeys(FILES), lambda path, _: rules.place_rule(path))

    def test_includes_can_be_read(self):
        self.expect_none(SOURCES, lambda path, text: rules.spelling_rule(text, SOURCES))

    def test_includes_go_down_only(self):
        self.expect_none(SOURCES, rules.floor_rule)

    def test_passes_do_not_include_each_other(self):
        self.expect_none(SOURCES, lambda path, text: rules.pass_rule(path, text, SOURCES))

    def test_no_two_folders_include_each_other(self):
        self.assertGreater(len(rules.folder_includes(SOURCES)), 30)
        self.assertEqual(list(rules.circle_rule(SOURCES)), [])

    def test_includes_are_drawn_as_a_house(self):
        edges = rules.folder_includes(SOURCES)
        floors = draw_includes.floors_of(edges)
        level = {folder: number for number, floor in enumerate(floors) for folder in floor}
        for folder, others in edges.items():
            for other in others:
                self.assertGreater(level[folder], level[other], f'{folder} includes {other}')
        drawn = list(draw_includes.drawing(edges))
        self.assertEqual(len(drawn), len(floors) + len(level))
        self.assertIn('  graph/kernels/lanes includes ' + ', '.join(
            sorted(edges['graph/kernels/lanes'])), drawn)

    def test_caf_stays_in_its_rooms(self):
        self.expect_none(SOURCES, rules.caf_rule)

    def test_sources_include_their_own_header_first(self):
        self.expect_none(SOURCES, lambda path, text:
                         rules.first_include_rule(path, text, SOURCES))

    def test_headers_may_be_included_twice(self):
        self.expect_none(SOURCES, rules.guard_rule)

    def test_variables_of_threads_are_there_when_these_begin(self):
        self.expect_none(SOURCES, rules.thread_local_rule)
        for folder in rules.THREAD_STORAGE:
            self.assertIn('cpp_args: thread_storage_args', BUILD_FILES[f'{folder}meson.build'])

    def test_clang_14_compiles_the_ranges(self):
        self.expect_none(SOURCES, lambda path, text: rules.clang_rule(text))

    def test_no_word_that_must_not_stay(self):
        self.expect_none(WRITTEN, lambda path, text: rules.word_rule(text))

    def test_comments_name_files_that_exist(self):
        known = rules.known_paths(FILES)
        files = {path: text for path, text in WRITTEN.items()
                 if not path.endswith('.md') and not path.startswith('tests/house/')}
        self.expect_none(files, lambda path, text: rules.path_rule(text, known))

    def test_comments_are_sentences(self):
        self.expect_none(SOURCES, rules.sentence_rule)

    def test_comments_refer_by_name(self):
        self.expect_none(SOURCES, rules.place_phrase_rule)

    def test_lines_fit(self):
        self.expect_none(WRITTEN, rules.width_rule)

    def test_every_source_is_built(self):
        files = {path: text for path, text in SOURCES.items() if path not in HOSTS}
        self.expect_none(files, lambda path, text: rules.built_rule(path, SOURCES, BUILD_FILES))

    def test_proofs_exist(self):
        document = (ROOT / 'docs' / 'reference.md').read_text()
        self.assertGreater(len(rules.PROOF.findall(document)), 100)
        self.assertEqual(list(rules.proof_rule(document, SOURCES)), [])

    def test_cells_are_short_enough_to_read(self):
        for path, text in DOCUMENTS.items():
            with self.subTest(path=path):
                self.assertEqual(list(rules.cell_rule(text)), [])

    def test_proofs_carry_the_ids_of_their_rows(self):
        document = (ROOT / 'docs' / 'reference.md').read_text()
        self.assertGreater(len(rules.proving_files(document)), 90)
        self.assertEqual(list(rules.row_rule(document, WRITTEN)), [])


class Rules(unittest.TestCase):
    """Each rule finds what was planted for it."""

    def refuses(self, complaints):
        self.assertEqual(len(list(complaints)), 1)

    def accepts(self, complaints):
        self.assertEqual(list(complaints), [])

    def test_places(self):
        for path in ('graph/ir/op.hpp', 'graph/codec/source_hash.py', 'benchmarks/run', 'README.md',
                     'tests/engine/plugin/plugin.h', 'scripts/test', '.ci/run',
                     'subprojects/packagefiles/caf_core/a.h'):
            with self.subTest(path=path):
                self.accepts(rules.place_rule(path))
        for path in ('library/ir/op.hpp', 'graph/ir/op.h', 'graph/ir/op.inc', 'graph/ir/op.cc',
                     'tests/engine/plugin.h', 'engine/model/ops.def', 'benchmarks/ops/op.ipp'):
            with self.subTest(path=path):
                self.refuses(rules.place_rule(path))

    def test_sentences(self):
        for comment in ('/// Returns the value.', '// `most` is a bound.',
                        'int a;  ///< Counts them.', '// run() waits. @throws Error closed',
                        '// ---- messages ----',
                        'f("// no comment");', '// One line\n// and the next.', '}  // namespace'):
            with self.subTest(comment=comment):
                self.accepts(rules.sentence_rule('graph/ir/op.hpp', f'{comment}\n'))
                self.accepts(rules.sentence_rule('tests/a.cpp', '// the rest\n'))
        for comment in ('/// of the value', 'int a;  ///< in bytes', '// The rest',
                        'f();  // twice', '// Returns the\n// value'):
            with self.subTest(comment=comment):
                self.refuses(rules.sentence_rule('graph/ir/op.hpp', f'{comment}\n'))

    def test_spellings_of_includes(self):
        sources = ('graph/ir/graph.hpp', 'include/penstock/shape.hpp')
        for line in ('#include "graph/ir/graph.hpp"', '#include "penstock/shape.hpp"',
                     '#include <penstock/shape.hpp>', '#include <sys/stat.h>',
                     '#include "graph/codec/source_hash.hpp"', '// It includes a header.'):
            with self.subTest(line=line):
                self.accepts(rules.spelling_rule(f'int a;\n{line}\n', sources))
        for line in ('#include GRAPH', '#import "graph/ir/graph.hpp"',
                     '#include_next <vector>', '#include/**/"graph/ir/graph.hpp"',
                     '/**/ #include "graph/ir/graph.hpp"', '# include <vector>',
                     '%:include "graph/ir/graph.hpp"', '#\\\ninclude "graph/ir/graph.hpp"',
                     '#include "graph/ops/../ir/graph.hpp"', '#include <caf/../penstock/a>',
                     '#include "./graph/ir/graph.hpp"', '#include "/graph/ir/graph.hpp"',
                     '#include "graph//ir/graph.hpp"', '#include "graph.hpp"',
                     '#include "include/penstock/shape.hpp"', '#include "zlib.h"'):
            with self.subTest(line=line):
                self.refuses(rules.spelling_rule(f'int a;\n{line}\n', sources))

    def test_floors(self):
        for path, include in (
                ('include/penstock/model.hpp', '"graph/ir/graph.hpp"'),
                ('include/penstock/model.hpp', '<unistd.h>'),
                ('include/penstock/report.hpp', '"penstock/model.hpp"'),
                ('include/penstock/report.hpp', '"penstock/report_text.hpp"'),
                ('graph/values/shape.cpp', '"penstock/model.hpp"'),
                ('graph/values/shape.cpp', '"graph/ir/graph.hpp"'),
                ('graph/ir/op.hpp', '"graph/kernels/isa.hpp"'),
                ('graph/kernels/isa.hpp', '"graph/ir/op.hpp"'),
                ('graph/ops/list.cpp', '"graph/plan/plan.hpp"'),
                ('graph/plan/plan.hpp', '"graph/passes/results/lower.hpp"'),
                ('graph/passes/results/lower.hpp', '"graph/compile/compile.hpp"'),
                ('graph/compile/compile.cpp', '"penstock/model.hpp"'),
                ('graph/ir/op.hpp', '"engine/model/model_state.hpp"'),
                ('graph/ir/op.hpp', '"actors/system/errors.hpp"'),
                ('graph/ir/op.hpp', '<caf/all.hpp>'),
                ('graph/ir/op.hpp', '<Eigen/Core>'),
                ('actors/system/errors.hpp', '"graph/ir/graph.hpp"'),
                ('actors/system/errors.hpp', '"graph/passes/network/fuse.hpp"'),
                ('actors/system/errors.hpp', '"engine/model/model_state.hpp"'),
                ('engine/model.cpp', '"apps/trainer/options/options.hpp"'),
                ('engine/model.cpp', '<caf/actor.hpp>'),
                ('engine/json/json_reader.cpp', '<nlohmann/json.hpp>'),
                ('apps/trainer/main.cpp', '"engine/model/model_state.hpp"'),
                ('apps/trainer/main.cpp', '"graph/ir/graph.hpp"'),
                ('apps/trainer/main.cpp', '<nlohmann/json.hpp>')):
            with self.subTest(path=path, include=include):
                self.refuses(rules.floor_rule(path, f'#include <vector>\n#include {include}\n'))
        self.accepts(rules.floor_rule('engine/model/model.cpp',
                                      '#include "graph/ir/graph.hpp"\n'))
        self.accepts(rules.floor_rule('include/penstock/report.hpp',
                                      '#include "penstock/call_size.hpp"\n'))
        self.refuses(rules.floor_rule('graph/plan.hpp', '#include <vector>\n'))

    def test_circles(self):
        sources = {'graph/plan/plan.hpp': '#include "graph/ir/graph.hpp"\n',
                   'graph/ir/graph.hpp': '#include "penstock/shape.hpp"\n',
                   'include/penstock/shape.hpp': '#include <vector>\n'}
        self.accepts(rules.circle_rule(sources))
        sources['include/penstock/shape.hpp'] = '#include "graph/plan/plan.hpp"\n'
        self.assertEqual(len(list(rules.circle_rule(sources))), 3)
        with self.assertRaisesRegex(ValueError, 'graph/ir, graph/plan, include/penstock'):
            draw_includes.floors_of(rules.folder_includes(sources))
        sources = {'tests/engine/fit/scaling.hpp': '#include "tests/engine/rows.hpp"\n',
                   'tests/engine/rows.hpp': '#include "tests/engine/fit/fit.hpp"\n',
                   'tests/engine/fit/fit.hpp': ''}
        self.assertEqual(len(list(rules.circle_rule(sources))), 2)

    def test_passes(self):
        sources = {f'graph/passes/{path}': '' for path in (
            'memory/liveness.hpp', 'memory/liveness.cpp', 'memory/memory_plan.cpp',
            'memory/buffer.hpp')}
        text = '#include "graph/passes/memory/liveness.hpp"\n'
        self.refuses(rules.pass_rule('graph/passes/memory/memory_plan.cpp', text, sources))
        self.accepts(rules.pass_rule('graph/passes/memory/liveness.cpp', text, sources))
        self.accepts(rules.pass_rule('graph/compile/compile.cpp', text, sources))
        self.accepts(rules.pass_rule('graph/passes/memory/memory_plan.cpp',
                                     '#include "graph/passes/memory/buffer.hpp"\n', sources))

        for comparison in ('node.op == &scale', '&graph::scale != node->op', 'a.op !=&b',
                           'node.op->name == "scale"'):
            with self.subTest(comparison=comparison):
                self.refuses(rules.pass_rule('graph/passes/memory/liveness.cpp',
                                             f'if ({comparison}) return;\n', sources))
        for fine in ('node.op->is_relu', '// node.op == &scale', '&op == &other', 'op = &scale'):
            with self.subTest(fine=fine):
                self.accepts(rules.pass_rule('graph/passes/memory/liveness.cpp', fine, sources))

        data = 'struct Buffer {\n  int first = 0;\n  int second() const { return first; }\n};\n'
        self.accepts(rules.pass_rule('graph/passes/memory/buffer.hpp', data, sources))
        for function in ('inline int f(int a) {\n  int b = a;\n  return b;\n}\n',
                         'template <class T>\nauto f(T a) -> int {\n  if (a) {}\n}\n',
                         'struct A {\n  int f() const noexcept { return g([] { ++a; }); }\n};\n'):
            with self.subTest(function=function):
                self.refuses(rules.pass_rule('graph/passes/memory/buffer.hpp', data + function,
                                             sources))
                self.accepts(rules.pass_rule('graph/passes/memory/liveness.hpp', function, sources))

    def test_caf(self):
        self.refuses(rules.caf_rule('engine/model.cpp', 'caf::actor device;'))
        for path in ('actors/execution/arena.hpp', 'actors/host/failure.hpp',
                     'actors/update/rounds.hpp'):
            with self.subTest(path=path):
                self.refuses(rules.caf_rule(path, '#include <caf/actor.hpp>'))
        self.accepts(rules.caf_rule('actors/pipeline/stage_actor.cpp', 'caf::actor device;'))

    def test_first_include(self):
        sources = ('graph/plan/plan.hpp',)
        text = '#include <vector>\n#include "graph/plan/plan.hpp"\n'
        self.refuses(rules.first_include_rule('graph/plan/plan.cpp', text, sources))
        self.accepts(rules.first_include_rule('graph/main.cpp', text, sources))

    def test_guard(self):
        self.refuses(rules.guard_rule('graph/plan/plan.hpp', '// The plan.\n'))
        self.accepts(rules.guard_rule('graph/plan/plan.hpp', '// The plan.\n#pragma once\n'))
        self.accepts(rules.guard_rule('tests/precompiled/tests.hpp', '// Tests.\n'))
        self.refuses(rules.guard_rule('tests/precompiled/tests.hpp', '#pragma once\n'))

    def test_variables_of_threads(self):
        path = 'graph/values/memory.cpp'

        def function(variable, attribute='[[gnu::noipa]] ', kind='int', more=''):
            return f'{attribute}{kind}& a() noexcept {{\n  {variable}\n{more}  return b;\n}}\n'

        good = 'static constinit thread_local int b = 0;'
        self.accepts(rules.thread_local_rule(path, function(good)))
        self.accepts(rules.thread_local_rule(path, function(
            'static constinit thread_local A::B* b = nullptr;', kind='A::B*')))
        self.accepts(rules.thread_local_rule(path, '// It is not thread_local.\nint a = 0;'))
        self.accepts(rules.thread_local_rule('tests/support/tape.cpp', 'thread_local int a = 0;'))
        self.refuses(rules.thread_local_rule('graph/kernels/isa.cpp', function(good)))
        for text in (good, function(good, attribute=''), function(good, more='  ++b;\n'),
                     function('static thread_local int b = 0;'),
                     function('static constinit thread_local int b[4096] = {};'),
                     function('static __thread int b = 0;'),
                     function('static constinit thread_local A b = {};', kind='A'),
                     function(good) + 'constinit thread_local int c = 0;'):
            with self.subTest(text=text):
                self.refuses(rules.thread_local_rule(path, text))
        for text in ('#include <future>\n', 'std::call_once(flag, [] {});\n'):
            with self.subTest(text=text):
                self.refuses(rules.thread_local_rule(path, text))
                self.accepts(rules.thread_local_rule('tests/support/tape.cpp', text))
                self.accepts(rules.thread_local_rule(rules.THREAD_PREPARATION, text))

    def test_ranges(self):
        self.accepts(rules.clang_rule('// std::views::reverse\nstd::ranges::sort(a);\n'))
        self.accepts(rules.clang_rule('std::rotate(a.begin(), b, a.end());\n'))
        for text in ('#include <ranges>\n', 'a | std::views::reverse', 'std::ranges::unique(a)'):
            with self.subTest(text=text):
                self.refuses(rules.clang_rule(text))

    def test_words(self):
        for text in ('// see /ho' + 'me/me/notes', '// TO' + 'DO: more', 'GTEST_SK' + 'IP();',
                     'TEST(Plan, DISABLED' + '_Holds)'):
            with self.subTest(text=text):
                self.refuses(rules.word_rule(text))
        self.accepts(rules.word_rule('https://example.org/home/page, build/root/x'))

    def test_paths_in_comments(self):
        known = rules.known_paths(['graph/ir/op.hpp', 'include/penstock/shape.hpp',
                                   'graph/plan/optimizers/norm.hpp', 'docs/phases.md'])
        for text in ('// See graph/ir/op.hpp.', '# graph/ir/op, graph/ir and graph/plan/optimizers',
                     '// penstock/shape.hpp; <sys/stat.h>; 1/2', '#include "graph/ir/gone.hpp"',
                     '#include "graph/codec/source_hash.hpp"'):
            with self.subTest(text=text):
                self.accepts(rules.path_rule(text, known))
        for text in ('int a;  // See graph/ir/gone.hpp.', '/// optimizers/norm.hpp explains it.',
                     '# graph/kernels/conv2d', '// (penstock/gone.hpp)'):
            with self.subTest(text=text):
                self.refuses(rules.path_rule(text, known))

    def test_width(self):
        self.refuses(rules.width_rule('tests/house/rules.py', 'x' * 101 + '\n'))
        self.accepts(rules.width_rule('tests/house/rules.py', 'x' * 100 + '\n'))
        self.accepts(rules.width_rule('README.md', 'x' * 101))

    def test_built(self):
        build_files = {'graph/meson.build': "files('ops/relu.cpp')"}
        sources = {'graph/ops/list.cpp': '#include "graph/ops/gelu.hpp"\n'}
        self.accepts(rules.built_rule('graph/ops/relu.cpp', sources, build_files))
        self.accepts(rules.built_rule('graph/ops/gelu.cpp', sources, build_files))
        self.refuses(rules.built_rule('graph/ops/tanh.cpp', sources, build_files))
        self.refuses(rules.built_rule('graph/ops/gelu.cpp', {}, build_files))

    def test_proofs(self):
        sources = {'tests/graph/plan_test.cpp': 'TEST(Plan, Holds) {}\nTEST_P(Plan,\n  Fits) {}'}
        for text in ('`graph/plan`: `Plan.Holds`, `Plan.Fits`', '`Plan.*`', '`Suite.Name`',
                     '`model.block()`'):
            self.accepts(rules.proof_rule(text, sources))
        for text in ('`Plan.Breaks`', '`Other.*`', '`graph/plans`: `Plan.Holds`'):
            with self.subTest(text=text):
                self.refuses(rules.proof_rule(text, sources))

    def test_row_ids(self):
        def table(proof, row='2.1'):
            return f'| {row} | What | 2.1 |\n\nProofs:\n\n- **{row}**: {proof}\n\n'
        proof = table('`graph/plan`: `Plan.Holds`')
        program = table('`tests/examples/plan.cpp` runs as a test')
        for text in ('// 2.1: it holds.', '// A8, 2.1.', 'TEST(Plan, R2_1_Holds) {}'):
            self.accepts(rules.row_rule(proof, {'tests/graph/plan_test.cpp': text}))
            self.accepts(rules.row_rule(program, {'tests/examples/plan.cpp': text}))
        for text in ('TEST(Plan, Holds) {}', '// 2.11, 12.1, 2.1.3', 'const float x = 2.1;',
                     'TEST(Plan, R2_11_Holds) {}'):
            with self.subTest(text=text):
                self.refuses(rules.row_rule(proof, {'tests/graph/plan_test.cpp': text}))
        sources = {'tests/graph/plan_test.cpp': '// 2.1, A8: it holds.'}
        self.accepts(rules.row_rule(proof + table('as 2.1', 'A8'), sources))
        self.refuses(rules.row_rule(proof + table('as 2.1', 'A9'), sources))
        self.refuses(rules.row_rule(table('it is plain to see'), sources))
        self.accepts(rules.row_rule('| 2.1 | What | |\n\nDetails:\n\n- **2.1**: It is so.\n', {}))
        two_lines = 'Proofs:\n\n- **2.1**: `graph/plan`:\n  `Plan.Holds`\n'
        self.accepts(rules.row_rule(two_lines, sources))
        self.refuses(rules.row_rule(two_lines.replace('2.1', '2.3'), sources))
        named = two_lines.replace('**:', '**, the sizes\n  of plans:')
        self.accepts(rules.row_rule(named, sources))
        self.refuses(rules.row_rule(named.replace('2.1', '2.3'), sources))

    def test_cells(self):
        self.accepts(rules.cell_rule(f'| A1 | {"a" * 300} | {"b" * 300} |\n'))
        self.refuses(rules.cell_rule(f'| A1 | {"a" * 301} | b |\n'))
        self.refuses(rules.cell_rule('| A1 | ' + 'a\\|' * 101 + ' | b |\n'))

    def test_phrases_of_place(self):
        for comment in ('/// Returns it as above.', '// As before, in pieces.',
                        '/// The host may use the next two.', '/// Runs as the function above.',
                        'f();  // Undoes that.', "// The host's call, as before, is the model's."):
            with self.subTest(comment=comment):
                self.refuses(rules.place_phrase_rule('graph/ir/op.hpp', f'{comment}\n'))
                self.accepts(rules.place_phrase_rule('tests/a.cpp', f'{comment}\n'))
        for comment in ('/// Returns as many rows as before_read() does.', '// It is above 0.'):
            with self.subTest(comment=comment):
                self.accepts(rules.place_phrase_rule('graph/ir/op.hpp', f'{comment}\n'))


if __name__ == '__main__':
    unittest.main()
