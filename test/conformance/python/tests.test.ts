import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isInstalled } from '../../support/process.ts';
import { reasonOf, runPythonTests, shareOut } from './tests.ts';

describe('the reason of a Python test result', () => {
  it('is the message of the last exception', () => {
    const output = [
      '2026-01-01 [tempest] Request: 404 GET http://cloud',
      'Traceback (most recent call last):',
      '  File "a.py", line 3, in test_a',
      '    self.client.show()',
      'tempest.lib.exceptions.NotFound: Object not found',
      "Details: {'code': 404}",
      '',
    ].join('\n');
    expect(reasonOf(output)).toBe("tempest.lib.exceptions.NotFound: Object not found Details: {'code': 404}");
  });

  it('is the given reason itself for a skipped test', () => {
    expect(reasonOf('no backups here')).toBe('no backups here');
  });
});

describe('tests distributed to several workers', () => {
  it('stay together by class and are spread evenly', () => {
    const names = ['m.A.test_1', 'm.A.test_2', 'm.B.test_1', 'm.C.test_1', 'm.A.test_3'];
    expect(shareOut(names, 2)).toEqual([
      ['m.A.test_1', 'm.A.test_2', 'm.A.test_3'],
      ['m.B.test_1', 'm.C.test_1'],
    ]);
  });

  it('leave no worker without tests', () => {
    expect(shareOut(['m.A.test_1'], 2)).toEqual([['m.A.test_1']]);
  });
});

const tests = `
import unittest

class A(unittest.TestCase):
    def test_bad(self): self.fail('no')
    def test_good(self): pass
    @unittest.skip('why')
    def test_skipped(self): pass

class B(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise RuntimeError('boom')
    def test_never_begun(self): pass

class C(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise unittest.SkipTest('not here')
    def test_left_out(self): pass
`;

it.skipIf(!(await isInstalled('python3', '--version')))(
  'gives every test a verdict, even when its class cannot be set up',
  async () => {
    const cwd = await mkdtemp(join(tmpdir(), 'capstan-python-tests-'));
    try {
      await writeFile(join(cwd, 'test_them.py'), tests);
      const said: string[] = [];
      const results = await runPythonTests({
        services: ['all'],
        pattern: '.',
        timeout: 10,
        options: {},
        say: (line) => void said.push(line),
        python: 'python3',
        suites: [{ service: 'all', packages: ['test_them'] }],
        env: { PATH: process.env['PATH'] ?? '', PYTHONPATH: cwd, PYTHONDONTWRITEBYTECODE: '1' },
        cwd,
        workers: 2,
      });
      expect(results.map(({ name, verdict, reason }) => [name, verdict, reason])).toEqual([
        ['test_them.A.test_bad', 'failed', 'AssertionError: no'],
        ['test_them.A.test_good', 'passed', ''],
        ['test_them.A.test_skipped', 'skipped', 'why'],
        ['test_them.B.test_never_begun', 'failed', 'RuntimeError: boom'],
        ['test_them.C.test_left_out', 'skipped', 'not here'],
      ]);
      expect(said).toHaveLength(5);
    } finally {
      await rm(cwd, { recursive: true, force: true });
    }
  },
);
