// Real control planes: a Kubernetes with kubelet and containerd in namespaces on this machine, with hosted control planes
// as real Pods, from images built of Go modules.
//
//   npm run reality                     builds what is missing, starts, runs all stories, removes everything
//   npm run reality -- --story hosted   only one of them: hosted, kamaji, installed, chart
//   npm run reality -- --serve          only starts the Kubernetes and the controllers, until Ctrl-C

import { spawn } from 'node:child_process';
import { mkdtemp, readdir, rm, rmdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { findOrBuildGoProgram, MissingPrerequisite } from '../conformance/go-build.ts';
import { helmProgram } from '../conformance/helm/helm-program.ts';
import { missingPrerequisites, packages } from './prerequisites.ts';
import { command } from './processes.ts';
import { findOrBuildAll } from './programs.ts';
import { needsOf } from './stories/index.ts';
import { imageArchive } from './stories/installation.ts';

const say = (line: string): void => void process.stderr.write(`reality: ${line}\n`);

async function main(): Promise<number> {
  const missing = await missingPrerequisites();
  if (missing.length > 0) {
    say(`skipped, this machine lacks: ${missing.join(', ')}`);
    say(`Debian has them in ${packages}`);
    return 0;
  }
  const { values } = parseArgs({ options: { serve: { type: 'boolean', default: false }, story: { type: 'string' } } });
  const needs = needsOf({ story: values.story, serve: values.serve });
  await findOrBuildAll(process.env, say, needs.versions);
  if (needs.helm) await findOrBuildGoProgram(helmProgram, process.env, say);
  const directory = await mkdtemp(join(tmpdir(), 'reality-'));
  try {
    // Built outside, because the namespaces have no network to download packages.
    if (needs.image) await command('npm', 'run', 'image', '--', '--output', imageArchive(directory));
    return await runInside(directory);
  } finally {
    await removeControlGroups();
    await rm(directory, { recursive: true, force: true });
  }
}

/**
 * Runs everything in namespaces that end with their first process, so that no process, container, mount, bridge or
 * firewall rule remains.
 */
function runInside(directory: string): Promise<number> {
  const script = fileURLToPath(new URL('inside.ts', import.meta.url));
  const child = spawn(
    'unshare',
    [
      ...['--net', '--mount', '--pid', '--ipc', '--fork', '--kill-child', '--mount-proc'],
      ...[process.execPath, '--import', 'tsx', script, directory, ...process.argv.slice(2)],
    ],
    // It ends with the pipe, even if this process is killed.
    { stdio: ['pipe', 'inherit', 'inherit'], env: { ...process.env, TMPDIR: directory } },
  );
  // The terminal sends Ctrl-C to the child as well.
  process.on('SIGINT', () => {});
  process.once('SIGTERM', () => child.kill('SIGKILL'));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve(code ?? 1));
  });
}

/** Removes containerd's cgroups, which are not in namespaces. Only empty ones can be removed. */
async function removeControlGroups(): Promise<void> {
  const root = '/sys/fs/cgroup';
  const hierarchies = await readdir(root).catch(() => []);
  for (const parent of [root, ...hierarchies.map((name) => join(root, name))]) {
    const group = join(parent, 'k8s.io');
    for (const name of await readdir(group).catch(() => [])) await rmdir(join(group, name)).catch(() => {});
    await rmdir(group).catch(() => {});
  }
}

try {
  process.exitCode = await main();
} catch (error) {
  say(error instanceof MissingPrerequisite ? error.message : String(error instanceof Error ? error.stack : error));
  process.exitCode = 1;
}
