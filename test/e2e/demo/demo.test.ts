import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import { capstan } from '../../support/command.ts';

const leftovers = async (): Promise<string[]> =>
  (await readdir(tmpdir())).filter((name) => name.startsWith('capstan-demo-')).sort();

it('demo shows a hosted cluster from nothing to Ready nodes and leaves nothing behind', async () => {
  const before = await leftovers();
  const { code, stdout, stderr } = await capstan(['demo', '--exit', '--timeout', '100s']);
  expect(stderr).toBe('');
  expect(code).toBe(0);
  const told = stdout.split('\n').flatMap((line) => /✓ (.*?)(?: {2}|$)/.exec(line)?.[1] ?? []);
  expect(told.slice(0, 3)).toEqual(['management API', 'simulated OpenStack', 'applied examples/hosted-k0smotron']);
  expect(told).toEqual(expect.arrayContaining(['control plane answers', 'nodes are Ready', 'all is available']));
  expect(stdout).toMatch(/Cluster\/hosted-k0smotron +True/);
  expect(stdout).toMatch(/ControlPlane - K0smotronControlPlane\/hosted-k0smotron +True/);
  const after = await leftovers();
  expect(after.filter((name) => !before.includes(name))).toEqual([]);
}, 120_000);

it('demo lists the flavors it accepts', async () => {
  const { code, stderr } = await capstan(['demo', '--flavor', 'other']);
  expect(code).toBe(2);
  expect(stderr).toContain('k0smotron, kamaji, hosted');
});
