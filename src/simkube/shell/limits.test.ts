// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are variables of another language
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ManualClock } from '../../machinery/index.ts';
import { createProgramLab, type ProgramLab } from '../programs/testing/lab.ts';

const image = 'busybox:1.36';
let lab: ProgramLab;

beforeEach(() => {
  lab = createProgramLab();
});

afterEach(() => lab.close());

/** Runs a script to its end, however long that takes on its clock. */
async function run(script: string): Promise<{ code: number | undefined; said: string }> {
  const pod = lab.pod('shell');
  const container = pod.start(image, ['sh', '-c', script]);
  await lab.until(() => container.exitCode() !== undefined, 600_000);
  return { code: container.exitCode(), said: pod.lines.join('\n') };
}

describe('a hostile script', () => {
  it.each<[string, string, string]>([
    ['a function that calls itself', 'f() { f; }; f', 'maximum nesting level exceeded'],
    ['a function that calls itself in a substitution', 'f() { echo $(f); }; f', 'maximum nesting level exceeded'],
    ['a script that evaluates itself', 'x=\'eval "$x"\'; eval "$x"', 'maximum nesting level exceeded'],
    ['a shell that starts itself', "echo 'sh /tmp/a' > /tmp/a; sh /tmp/a", 'maximum nesting level exceeded'],
    ['commands that double in the background', 'f() { f & f & }; f; wait', ''],
    ['a variable that doubles', 'x=a; while true; do x=$x$x; done', 'cannot allocate memory'],
    [
      'a word that doubles',
      'x=aaaaaaaaaaaaaaaa; for i in 1 2 3 4 5 6 7 8; do x=$x$x$x$x; done',
      'cannot allocate memory',
    ],
    ['many variables', 'x=$(seq 1 3000); while true; do i=$((i+1)); eval "v$i=\\$x"; done', 'cannot allocate memory'],
    ['braces that multiply', `echo ${'{a,b}'.repeat(24)}`, 'Argument list too long'],
    ['arguments that double', 'set -- a b; while true; do set -- "$@" "$@"; done', 'Argument list too long'],
    [
      'output that another command keeps',
      'x=$(seq 1 3000); while true; do echo $x; done | cat',
      'cannot allocate memory',
    ],
    ['endless brackets', `echo ${'$('.repeat(5000)}`, 'nested too deep'],
    ['endless subshells', '( '.repeat(5000), 'nested too deep'],
    ['an expression that never ends', `echo $((${'('.repeat(5000)}1`, 'unexpected EOF'],
    ['a sum of many brackets', `echo $((${'('.repeat(5000)}1${')'.repeat(5000)}))`, 'recursion level exceeded'],
    ['a test of many brackets', `[ ${'"(" '.repeat(5000)} ]`, 'too many arguments'],
    ['a repetition of repetitions', 'echo a | grep -E "((a{900}){900}){900}"', 'regular expression too big'],
    ['a format that takes nothing', 'printf a b c', 'a'],
    ['a width that never ends', 'printf "%999999999s" a | wc -c', '10000'],
  ])('ends: %s', async (_name, script, expected) => {
    const { said } = await run(script);
    expect(said).toContain(expected);
  });

  it.each<[string, string, number]>([
    ['of grep', 'x=$(printf a%.0s $(seq 1 2000)); echo "${x}!" | grep -qE "^(a+)+$"', 1],
    ['of sed', 'x=$(printf a%.0s $(seq 1 2000)); echo "${x}!" | sed -E "s/^(a|a)*b//" | grep -q "!"', 0],
    ['of a test', 'x=$(printf a%.0s $(seq 1 2000)); [[ "${x}!" =~ ^(a+)+$ ]]', 1],
    ['of a case', `x=$(printf a%.0s $(seq 1 2000)); case $x in ${'*a'.repeat(25)}b) exit 1;; esac`, 0],
    ['of a substitution', `x=$(printf a%.0s $(seq 1 2000)); [ "\${x##${'*a'.repeat(25)}b}" = "$x" ]`, 0],
  ])('has its patterns matched in linear time: %s', async (_name, script, status) => {
    const { code, said } = await run(script);
    expect({ code, said }).toEqual({ code: status, said: '' });
  });

  it('waits for its turn when it never stops, and ends when told to', async () => {
    const container = lab.pod('busy').start(image, ['sh', '-c', 'while :; do :; done']);
    const clock = lab.clock as ManualClock;
    const start = clock.now();
    // The script only advances with the clock, so other work runs between two steps.
    await lab.until(() => clock.now() - start > 10_000);
    expect(container.exitCode()).toBeUndefined();
    // SIGTERM must not count as success, because the Job of the Pod has to retry.
    expect(await container.stop()).toBe(143);
  });

  it('may run for as long as it sleeps in between', async () => {
    const pod = lab.pod('patient');
    const container = pod.start(image, ['sh', '-c', 'while true; do i=$((i+1)); echo $i; sleep 1; done']);
    await lab.until(() => pod.lines.includes('10050'), 13_000_000);
    expect(container.exitCode()).toBeUndefined();
    expect(await container.stop()).toBe(143);
  });

  it('has an endless line logged in parts', async () => {
    const { said } = await run('for i in $(seq 1 3000); do printf 0123456789; done');
    expect(said.replaceAll('\n', '')).toHaveLength(30_000);
    expect(Math.max(...said.split('\n').map((line) => line.length))).toBeLessThan(20_000);
  });
});
