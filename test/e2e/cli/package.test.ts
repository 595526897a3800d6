import { readFile } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { capstan } from '../../support/command.ts';
import { runProcess } from '../../support/process.ts';
import { capstanShellCommand } from '../../support/program.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** Returns the relative links of a page, without their fragments. */
function links(text: string): string[] {
  // Patterns in code may look like links.
  const prose = text.replaceAll(/`[^`\n]*`/g, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target.split('#')[0] ?? '')
    .filter((target) => target !== '' && !/^[a-z]+:/.test(target));
}

describe('the published package', () => {
  it('contains everything its pages link to', async () => {
    const outcome = await runProcess('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], { cwd: root });
    const [{ files }] = JSON.parse(outcome.stdout) as [{ files: { path: string }[] }];
    const packed = new Set(files.map(({ path }) => path));
    const has = (path: string): boolean =>
      packed.has(path) || [...packed].some((file) => file.startsWith(`${path.replace(/\/$/, '')}/`));
    const broken: string[] = [];
    for (const page of [...packed].filter((path) => path.endsWith('.md'))) {
      for (const link of links(await readFile(join(root, page), 'utf8'))) {
        const target = posix.normalize(posix.join(dirname(page), link));
        if (!has(target)) broken.push(`${page}: ${link}`);
      }
    }
    expect(broken).toEqual([]);
    expect(packed).toContain('docs/cli.md');
  });

  it('names itself as it was called', async () => {
    const env = { npm_command: 'exec', npm_lifecycle_event: 'npx', KUBECONFIG: '/nonexistent', HOME: '/nonexistent' };
    const outcome = await capstan(['get', 'clusters'], { env });
    expect(outcome.stderr).toContain('start one with `npx capstan up`');
    const help = await capstan(['backup', '--help'], { env });
    expect(help.stdout).toContain('Usage: npx capstan backup');
    expect(help.stdout).toContain('\n  npx capstan backup --passphrase-file');
  });

  it('offers completion in bash', async () => {
    const script = (await capstan(['completion', 'bash'])).stdout;
    const press = async (...line: string[]): Promise<string[]> => {
      const typed = line.map((word) => `'${word}'`).join(' ');
      const text = `capstan() { ${capstanShellCommand()} "$@"; }\n${script}\nCOMP_WORDS=(capstan ${typed}); COMP_CWORD=${line.length}; _capstan; printf '%s\\n' "\${COMPREPLY[@]}"`;
      const { stdout } = await runProcess('bash', ['-c', text], { cwd: root });
      return stdout.split('\n').filter((word) => word !== '');
    };
    expect(await press('desc')).toEqual(['describe']);
    expect(await press('demo', '--flavor', 'k')).toEqual(['k0smotron', 'kamaji']);
    expect(await press('demo', '--flavor', '=', 'h')).toEqual(['hosted']);
    expect(await press('apply', '-f', 'package.j')).toEqual(['package.json']);
  });

  it('refuses at once a data directory that is not writable and says what to do', async () => {
    const outcome = await capstan(['up', '--data-dir', '/dev/null/data', '--listen', '127.0.0.1:0']);
    expect(outcome).toMatchObject({ code: 1, stdout: '' });
    expect(outcome.stderr).toContain('the data directory /dev/null/data cannot be written to');
    expect(outcome.stderr).toContain('hint: a part of the path is a file');
  });
});
