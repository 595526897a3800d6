import { describe, expect, it } from 'vitest';
import { runOn, type Tree } from './testing/made-up-tree.ts';

/** The least tree without a problem: it has the files that may take real time, and uses what its rooms may use. */
const sound: Tree = {
  'src/machinery/index.ts': "export { now } from './time/clock.ts';\n",
  'src/machinery/time/clock.ts': 'export const now = () => Date.now();\n',
  'src/store/index.ts': "export { stamp } from './directory-lock.ts';\n",
  'src/store/directory-lock.ts': "import '../machinery/index.ts';\nexport const stamp = () => new Date();\n",
  'src/client/http/port-forward.ts': "import '../../machinery/index.ts';\nsetTimeout(() => {}, 1);\n",
  'src/cli/context.ts': "import '../store/index.ts';\nsetInterval(() => {}, 1);\n",
};

const check = (changes: Tree) => runOn({ ...sound, ...changes }, 'check-imports.mjs');

describe('the check of imports', () => {
  it('passes a sound tree', () => {
    expect(check({})).toEqual({ status: 0, lines: [] });
  });

  it.each<[string, Tree, string]>([
    [
      'a room that is not in the table',
      { 'src/attic/index.ts': '' },
      'src/attic/index.ts: "attic" is not a room of the plan',
    ],
    [
      'an import against the order of rooms',
      { 'src/machinery/up.ts': "import { stamp } from '../store/index.ts';\n" },
      'src/machinery/up.ts: room "machinery" must not import from "store"',
    ],
    [
      'a dynamic import against the order of rooms',
      { 'src/machinery/up.ts': "const store = await import('../store/index.ts');\n" },
      'src/machinery/up.ts: room "machinery" must not import from "store"',
    ],
    [
      'an import past the door of a room',
      { 'src/store/past.ts': "import { now } from '../machinery/time/clock.ts';\n" },
      'src/store/past.ts: enter "machinery" through its index.ts, not ../machinery/time/clock.ts',
    ],
    [
      'a test that imports past the door of a room',
      { 'src/store/past.test.ts': "import { now } from '../machinery/time/clock.ts';\n" },
      'src/store/past.test.ts: enter "machinery" through its index.ts, not ../machinery/time/clock.ts',
    ],
    [
      'a right to import that nobody uses',
      { 'src/template/index.ts': '' },
      'scripts/check-imports.mjs: room "template" does not import from "machinery": take it off the table',
    ],
    [
      'a right to import that only tests use',
      { 'src/template/index.ts': '', 'src/template/a.test.ts': "import '../machinery/index.ts';\n" },
      'scripts/check-imports.mjs: room "template" does not import from "machinery": take it off the table',
    ],
    [
      'a door that exports a test kit',
      { 'src/store/index.ts': "export { fake } from './testing/fake.ts';\n" },
      'src/store/index.ts: a door must not export a test kit',
    ],
    [
      'an inner door that exports a test kit',
      { 'src/store/log/index.ts': "export { fake } from '../testkit/fake.ts';\n" },
      'src/store/log/index.ts: a door must not export a test kit',
    ],
    [
      'a question for the environment',
      { 'src/store/mode.ts': "export const isTest = process.env['NODE_ENV'] === 'test';\n" },
      'src/store/mode.ts: must not ask which environment it runs in',
    ],
    ...['Date.now()', 'new Date()', 'setTimeout(() => {}, 1)', 'setInterval(() => {}, 1)'].map(
      (call): [string, Tree, string] => [
        `real time by ${call}`,
        { 'src/store/time.ts': `// times\nexport const time = ${call};\n` },
        'src/store/time.ts:2: takes real time where a Clock is to be used',
      ],
    ),
    [
      'a right to real time that is not used',
      { 'src/store/directory-lock.ts': "import '../machinery/index.ts';\nexport const stamp = 1;\n" },
      'scripts/check-imports.mjs: store/directory-lock.ts takes no real time: take it off the list',
    ],
  ])('fails on %s', (_, changes, problem) => {
    expect(check(changes)).toEqual({ status: 1, lines: [problem] });
  });

  it('fails on areas of the controllers that meet past what they share', () => {
    const { status, lines } = check({ 'src/controllers/cluster/a.ts': "import '../infrastructure/b.ts';\n" });
    expect(status).toBe(1);
    expect(lines).toContain(
      'src/controllers/cluster/a.ts: controllers share through controllers/shared/index.ts only, not ../infrastructure/b.ts',
    );
  });

  it.each<[string, Tree]>([
    [
      'the real time and the environment of tests',
      { 'src/store/a.test.ts': "setTimeout(() => {}, 1);\nDate.now();\nprocess.env['NODE_ENV'];\n" },
    ],
    [
      'tests that enter a room by its door for tests',
      { 'src/machinery/testkit/index.ts': '', 'src/store/a.test.ts': "import '../machinery/testkit/index.ts';\n" },
    ],
    ['timers of a Clock', { 'src/store/a.ts': 'clock.setTimeout(() => {}, 1);\nnew Date(clock.now());\n' }],
  ])('passes %s', (_, changes) => {
    expect(check(changes)).toEqual({ status: 0, lines: [] });
  });
});
