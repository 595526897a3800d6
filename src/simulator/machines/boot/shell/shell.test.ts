// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are variables of another language
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runScript } from '../../../../simkube/index.ts';
import { testSoftware } from '../../testing/booting-cloud.ts';
import { type LoneMachine, loneMachine } from '../../testing/lone-machine.ts';
import { machineShell } from './machine-shell.ts';

interface Outcome {
  readonly status: number;
  readonly out: string;
  readonly error: string;
  readonly machine: LoneMachine;
}

async function run(script: string, files: Readonly<Record<string, string>> = {}): Promise<Outcome> {
  const machine = loneMachine();
  for (const [path, content] of Object.entries(files)) machine.disk.write(path, content, 0o755);
  const out: string[] = [];
  const error: string[] = [];
  const state = machineShell(machine, testSoftware(), 'script');
  const work = runScript(state, script, {
    input: { text: '' },
    out: (text) => void out.push(text),
    error: (text) => void error.push(text),
  });
  let isDone = false;
  void work.finally(() => {
    isDone = true;
  });
  // Advances the clock for commands that sleep.
  for (let i = 0; i < 200 && !isDone; i++) await machine.clock.advance(machine.clock.untilNext() ?? 0);
  return { status: await work, out: out.join(''), error: error.join(''), machine };
}

describe('a script', () => {
  it.each<[string, string, string]>([
    ['words and quotes', `echo a  "b  c" 'd $x' e\\ f`, 'a b  c d $x e f\n'],
    ['variables', 'x=1; y="$x-2"; echo $y "${y}" ${z:-none} ${#y} ${z-unset}', '1-2 1-2 none 3 unset\n'],
    [
      'variables that are cut',
      'v=v1.33.1-rc; echo ${v#v} ${v%%-*} ${v%.*} ${v//./_}',
      '1.33.1-rc v1.33.1 v1.33 v1_33_1-rc\n',
    ],
    ['what a command wrote', 'echo "<$(echo a; echo b)>" `echo c`', '<a\nb> c\n'],
    ['nested substitution', 'echo $(basename $(dirname /a/b/c))', 'b\n'],
    ['arithmetic', 'i=3; i=$((i * 2 + 1)); echo $i $((7 / 2)) $((i > 5 ? 1 : 0))', '7 3 1\n'],
    ['and, or, not', 'true && echo a || echo b; false && echo c || echo d; ! false && echo e', 'a\nd\ne\n'],
    ['sequences on one line', 'echo a; echo b;echo c', 'a\nb\nc\n'],
    ['comments and continued lines', '# no\necho a \\\n  b # yes\n', 'a b\n'],
    [
      'if with tests of files',
      'if [ -f /etc/x ]; then echo yes; elif [ -d /etc ]; then echo dir; else echo no; fi',
      'dir\n',
    ],
    ['tests of numbers and text', '[ 2 -gt 1 ] && [ "a" = a -a -n b ] && [ ! -e /x ] && echo ok', 'ok\n'],
    ['double brackets', 'v=v1.33.1; [[ $v == v1.* && ! $v =~ ^2 ]] && echo ok', 'ok\n'],
    ['for loops', 'for i in a "b c" d; do echo "<$i>"; done', '<a>\n<b c>\n<d>\n'],
    ['for over braces', 'for i in {a,b}.txt; do echo $i; done', 'a.txt\nb.txt\n'],
    ['while loops with break', 'i=0; while true; do i=$((i+1)); [ $i -ge 3 ] && break; done; echo $i', '3\n'],
    ['until loops that wait', 'n=0; until [ $n -eq 3 ]; do sleep 5; n=$((n+1)); done; echo $n', '3\n'],
    ['case', 'case v1.33 in v1.2*) echo old;; v1.3?|v2*) echo new;; *) echo no;; esac', 'new\n'],
    ['functions', 'greet() { local n=$1; echo "hi $n"; return 3; }; greet bob; echo $?', 'hi bob\n3\n'],
    [
      'arguments',
      'set -- a "b c"; echo $# "$1"; for x in "$@"; do echo "<$x>"; done; shift; echo $1',
      '2 a\n<a>\n<b c>\nb c\n',
    ],
    ['groups and subshells', 'x=1; (x=2; echo $x); { x=3; }; echo $x', '2\n3\n'],
    ['here-documents', "x=5\ncat <<EOF\na $x\n  b\nEOF\ncat <<'EOF'\n$x\nEOF\n", 'a 5\n  b\n$x\n'],
    ['pipes', 'printf "b\\na\\nb\\n" | sort -u | tr a-z A-Z', 'A\nB\n'],
    ['reading lines', 'printf "a 1\\nb 2\\n" | while read k v; do echo $v$k; done', '1a\n2b\n'],
    ['an environment for one command', 'X=1 sh -c \'echo $X\'; echo "<$X>"', '1\n<>\n'],
    ['what was exported', 'export A=1; B=2; sh -c \'echo "$A$B"\'', '1\n'],
    [
      'eval and command -v',
      'eval "echo a"; command -v kubeadm; command -v nosuch || echo none',
      'a\n/usr/bin/kubeadm\nnone\n',
    ],
    [
      'text tools',
      'echo "a:b:c" | cut -d: -f2,3; echo hello | sed "s/l\\+/L/"; echo "x y z" | awk \'{print $2}\'',
      'b:c\nheLo\ny\n',
    ],
    ['base64', 'echo -n hi | base64; echo aGk= | base64 -d', 'aGk=\nhi'],
    ['the host name', 'hostname; hostnamectl set-hostname other; hostname', 'node-1\nother\n'],
  ])('understands %s', async (_name, script, expected) => {
    const { out, error } = await run(script);
    expect({ out, error }).toEqual({ out: expected, error: '' });
  });

  it.each<[string, number]>([
    ['true', 0],
    ['false', 1],
    ['exit 3; echo no', 3],
    ['nosuch', 127],
    ['/no/such/file', 127],
    ['set -e; false; exit 0', 1],
    ['set -e; if false; then :; fi; false || true; exit 0', 0],
    ['set -o pipefail; false | true', 1],
    ['false | true', 0],
    ['set -u; echo $nothing', 1],
    ['if true; then echo', 2],
    ['echo "unfinished', 2],
    ['f() { return 4; }; f', 4],
    ['(exit 5)', 5],
    ['bash -c "exit 6"', 6],
    ['x=$(false)', 1],
    ['echo ${x:?is needed}', 1],
    ['grep -q needle /etc/haystack', 2],
    ['systemctl start nosuch', 5],
    ['systemctl enable --now kubelet containerd', 0],
    ['modprobe br_netfilter && sysctl --system && swapoff -a', 0],
    ['curl -s http://example.com/', 7],
  ])('%s exits with %i', async (script, expected) => {
    expect((await run(script)).status).toBe(expected);
  });

  it('reports errors with their line', async () => {
    expect((await run('echo a\n\nnosuch x\n')).error).toBe('script: line 3: nosuch: command not found\n');
    expect((await run('echo a\nif true; then\n')).error).toContain('syntax error: unexpected end of file');
  });

  it('reads and writes files', async () => {
    const { machine, out } = await run(`
mkdir -p /etc/x/y && cd /etc/x
echo one > f; echo two >> f
cat f | tee y/g >/dev/null
sed -i -e 's/one/1/' f
cp f y/; mv y/f y/h; chmod 600 y/h
ls y; cat < y/h
rm -rf /etc/x/y/g
nosuch 2> err; echo done 2>&1 > quiet
{ echo a; echo b; } > both
`);
    expect(out).toBe('g\nh\n1\ntwo\n');
    expect(machine.disk.list('/etc/x')).toEqual([
      '/etc/x/both',
      '/etc/x/err',
      '/etc/x/f',
      '/etc/x/quiet',
      '/etc/x/y/h',
    ]);
    expect(machine.disk.read('/etc/x/both')).toBe('a\nb\n');
    expect(machine.disk.read('/etc/x/err')).toContain('command not found');
    expect(machine.disk.mode('/etc/x/y/h')).toBe(0o600);
  });

  it.each<[string, string, string]>([
    ['s/a/b/', 'aa\n', 'ba\n'],
    ['s/a/b/g', 'aa\n', 'bb\n'],
    ['/^#/d', '# c\nx\n', 'x\n'],
    ['/swap/ s/^/#/', 'a\nswap x\n', 'a\n#swap x\n'],
    ['s|/old/path|/new|', 'p=/old/path\n', 'p=/new\n'],
    ['s/\\(a\\)\\(b\\)/\\2\\1/', 'ab\n', 'ba\n'],
    ['s/SystemdCgroup = false/SystemdCgroup = true/', '  SystemdCgroup = false\n', '  SystemdCgroup = true\n'],
    ['/x/a added', 'x\ny\n', 'x\nadded\ny\n'],
    ['2,3d', '1\n2\n3\n4\n', '1\n4\n'],
    ['$d', '1\n2\n', '1\n'],
    ['s/x/[&]/', 'axb', 'a[x]b'],
  ])('edits with sed %s', async (edit, before, after) => {
    const { machine } = await run(`sed -i '${edit}' /f`, { '/f': before });
    expect(machine.disk.read('/f')).toBe(after);
  });

  it('runs programs of the image and scripts from the disk', async () => {
    const script = 'PATH=$PATH:/opt/bin\n/opt/bin/hello x && hello y\nkubeadm init | grep -c here';
    const { out } = await run(script, { '/opt/bin/hello': '#!/bin/bash\nset -e\necho "hello $1 from $0"\n' });
    expect(out).toBe('hello x from /opt/bin/hello\nhello y from hello\n1\n');
  });

  it('does not run files that are not executable or not for a shell', async () => {
    const { status, error, machine } = await run('/x/py; chmod 644 /x/sh; /x/sh', {
      '/x/py': '#!/usr/bin/python3\nprint(1)\n',
      '/x/sh': 'echo no\n',
    });
    expect(error).toContain('bad interpreter');
    expect(error).toContain('Permission denied');
    expect(status).toBe(126);
    expect(machine.disk.mode('/x/sh')).toBe(0o644);
  });

  it('waits on the machine clock', async () => {
    const machine = loneMachine();
    const state = machineShell(machine, testSoftware(), 'script');
    const start = machine.clock.now();
    const work = runScript(state, 'sleep 90; sleep 1m', { input: { text: '' }, out: () => {}, error: () => {} });
    while (machine.clock.untilNext() === undefined) await Promise.resolve();
    await machine.clock.advance(149_000);
    expect(machine.clock.untilNext()).toBe(1_000);
    await machine.clock.advance(1_000);
    expect([await work, machine.clock.now() - start]).toEqual([0, 150_000]);
  });

  it('ends when the power is cut', async () => {
    const machine = loneMachine();
    const state = machineShell(machine, testSoftware(), 'script');
    const work = runScript(state, 'while true; do sleep 1; done', {
      input: { text: '' },
      out: () => {},
      error: () => {},
    });
    machine.switchOff('power cut');
    await expect(work).rejects.toThrow('power cut');
  });

  it('queries the metadata service', async () => {
    const { out } = await run(
      'curl -s http://169.254.169.254/latest/meta-data/local-ipv4; echo; curl -sf http://169.254.169.254/x || echo none',
    );
    expect(out).toBe('10.0.0.5\nnone\n');
  });

  it('never fails in any other way, whatever it is given', async () => {
    const scrap = fc.constantFrom(
      ...[
        'echo',
        'a',
        '$x',
        '"',
        "'",
        '$(',
        ')',
        '`',
        '{',
        '}',
        'if',
        'then',
        'fi',
        ';',
        '&&',
        '||',
        '|',
        '>',
        '<<E',
        '\n',
      ],
      ...[
        'for',
        'in',
        'do',
        'done',
        'case',
        'esac',
        '[',
        ']',
        '[[',
        '${',
        '$((',
        '!',
        '#',
        '\\',
        '&',
        '=',
        'x=1',
        '*',
        'E',
      ],
    );
    await fc.assert(
      fc.asyncProperty(fc.array(scrap, { maxLength: 14 }), async (words) => {
        const { status } = await run(words.join(' '));
        expect(Number.isInteger(status)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it('returns any quoted text unchanged', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ maxLength: 20 }), async (text) => {
        const { out } = await run(`printf %s '${text.replaceAll("'", `'\\''`)}'`);
        // The shell does not distinguish CRLF from LF.
        expect(out).toBe(text.replaceAll('\r\n', '\n'));
      }),
      { numRuns: 100 },
    );
  });
});
