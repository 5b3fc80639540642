"""Usage: house_test.py ROOT. Checks the tree at ROOT, and that each rule can fail."""

import sys
import unittest
from pathlib import Path

import rules

ROOT = Path(sys.argv.pop())
CODE = ('engine', 'graph', 'actors', 'apps', 'tests', 'benchmarks')
# Not built by Meson: stands for a project of somebody else's.
HOSTS = ('tests/install/catches_errors.cpp',)


def read(paths):
    return {str(path.relative_to(ROOT)): path.read_text() for path in sorted(paths)}


def find(*patterns):
    return [path for folder in CODE for pattern in patterns
            for path in (ROOT / folder).rglob(pattern)]


SOURCES = read(find('*.hpp', '*.cpp'))
BUILD_FILES = read([ROOT / 'meson.build', *find('meson.build')])
WRITTEN = {**SOURCES, **BUILD_FILES, **read([
    *find('*.py', '*.sh', 'CMakeLists.txt'), *ROOT.glob('*.md'), *(ROOT / 'docs').rglob('*.md'),
    *(path for folder in ('scripts', '.ci') for path in (ROOT / folder).iterdir()),
])}


class House(unittest.TestCase):
    def expect_none(self, files, rule):
        complaints = [f'{path}: {text}' for path, content in files.items()
                      for text in rule(path, content)]
        self.assertEqual(complaints, [])

    def test_sources_were_found(self):
        for folder in ('engine/include/penstock/', 'engine/values/', 'graph/', 'actors/', 'apps/'):
            self.assertTrue([path for path in SOURCES if path.startswith(folder)], folder)

    def test_includes_go_down_only(self):
        self.expect_none(SOURCES, rules.floor_rule)

    def test_passes_do_not_include_each_other(self):
        self.expect_none(SOURCES, rules.pass_rule)

    def test_every_pass_exists(self):
        self.assertEqual([name for name in sorted(rules.PASSES)
                          if f'graph/passes/{name}.hpp' not in SOURCES], [])

    def test_caf_stays_in_its_rooms(self):
        self.expect_none(SOURCES, rules.caf_rule)

    def test_sources_include_their_own_header_first(self):
        self.expect_none(SOURCES, lambda path, text:
                         rules.first_include_rule(path, text, SOURCES))

    def test_headers_may_be_included_twice(self):
        self.expect_none(SOURCES, rules.guard_rule)

    def test_no_word_that_must_not_stay(self):
        self.expect_none(WRITTEN, lambda path, text: rules.word_rule(text))

    def test_lines_fit(self):
        self.expect_none(WRITTEN, rules.width_rule)

    def test_every_source_is_built(self):
        files = {path: text for path, text in SOURCES.items() if path not in HOSTS}
        self.expect_none(files, lambda path, text: rules.built_rule(path, BUILD_FILES))

    def test_proofs_exist(self):
        document = (ROOT / 'docs' / 'reference.md').read_text()
        self.assertGreater(len(rules.PROOF.findall(document)), 100)
        self.assertEqual(list(rules.proof_rule(document, SOURCES)), [])

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

    def test_floors(self):
        for path, include in (
                ('engine/include/penstock/model.hpp', '"graph/graph.hpp"'),
                ('engine/include/penstock/model.hpp', '<unistd.h>'),
                ('engine/values/shape.cpp', '"penstock/model.hpp"'),
                ('engine/values/shape.cpp', '"graph/graph.hpp"'),
                ('graph/op.hpp', '"penstock/model.hpp"'),
                ('graph/op.hpp', '"engine/model/model_state.hpp"'),
                ('graph/op.hpp', '"actors/system/errors.hpp"'),
                ('graph/op.hpp', '<caf/all.hpp>'),
                ('actors/system/errors.hpp', '"engine/model/model_state.hpp"'),
                ('graph/op.hpp', '<Eigen/Core>'),
                ('engine/model.cpp', '"apps/trainer/options/options.hpp"'),
                ('engine/model.cpp', '<caf/actor.hpp>'),
                ('engine/json/json_reader.cpp', '<nlohmann/json.hpp>'),
                ('apps/trainer/main.cpp', '"engine/model/model_state.hpp"'),
                ('apps/trainer/main.cpp', '"graph/graph.hpp"'),
                ('apps/trainer/main.cpp', '<nlohmann/json.hpp>')):
            with self.subTest(path=path, include=include):
                self.refuses(rules.floor_rule(path, f'#include <vector>\n#include {include}\n'))
        self.accepts(rules.floor_rule('engine/model/model.cpp', '#include "graph/graph.hpp"\n'))

    def test_passes(self):
        text = '#include "graph/passes/liveness.hpp"\n'
        self.refuses(rules.pass_rule('graph/passes/memory_plan.cpp', text))
        self.accepts(rules.pass_rule('graph/passes/liveness.cpp', text))
        self.accepts(rules.pass_rule('graph/compile.cpp', text))

    def test_caf(self):
        self.refuses(rules.caf_rule('engine/model.cpp', 'caf::actor device;'))
        self.refuses(rules.caf_rule('actors/execution/arena.hpp', '#include <caf/actor.hpp>'))
        self.accepts(rules.caf_rule('actors/pipeline/stage_actor.cpp', 'caf::actor device;'))

    def test_first_include(self):
        sources = ('graph/plan.hpp',)
        text = '#include <vector>\n#include "graph/plan.hpp"\n'
        self.refuses(rules.first_include_rule('graph/plan.cpp', text, sources))
        self.accepts(rules.first_include_rule('graph/main.cpp', text, sources))

    def test_guard(self):
        self.refuses(rules.guard_rule('graph/plan.hpp', '// The plan.\n'))
        self.accepts(rules.guard_rule('graph/plan.hpp', '// The plan.\n#pragma once\n'))

    def test_words(self):
        for text in ('// see /ho' + 'me/me/notes', '// TO' + 'DO: more', 'GTEST_SK' + 'IP();',
                     'TEST(Plan, DISABLED' + '_Holds)'):
            with self.subTest(text=text):
                self.refuses(rules.word_rule(text))
        self.accepts(rules.word_rule('https://example.org/home/page, build/root/x'))

    def test_width(self):
        self.refuses(rules.width_rule('tests/house/rules.py', 'x' * 101 + '\n'))
        self.accepts(rules.width_rule('tests/house/rules.py', 'x' * 100 + '\n'))
        self.accepts(rules.width_rule('README.md', 'x' * 101))

    def test_built(self):
        build_files = {'graph/meson.build': "files('ops/relu.cpp')"}
        self.accepts(rules.built_rule('graph/ops/relu.cpp', build_files))
        self.refuses(rules.built_rule('graph/ops/tanh.cpp', build_files))

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
            return f'| {row} | What | `a\\|b` | {proof} | 2.1 |\n'
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
        self.accepts(rules.row_rule(table(''), {}))


if __name__ == '__main__':
    unittest.main()
