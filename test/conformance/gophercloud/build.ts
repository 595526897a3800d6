import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describeOutcome, isInstalled, runProcess } from '../../support/process.ts';
import { cacheDirectory, exists, MissingPrerequisite } from '../go-build.ts';
import type { Say } from '../upstream/command.ts';
import { gophercloudModule, gophercloudVersion } from './suites.ts';

async function go(cwd: string, ...args: string[]): Promise<string> {
  const env = { ...(process.env as Record<string, string>), GOFLAGS: '-buildvcs=false', CGO_ENABLED: '0' };
  const outcome = await runProcess('go', args, { cwd, env });
  if (outcome.code !== 0) throw new Error(describeOutcome(outcome));
  return outcome.stdout;
}

/** Paths of the test programs by package, from the cache directory if they were built before. */
export async function buildPrograms(packages: readonly string[], say: Say): Promise<ReadonlyMap<string, string>> {
  const directory = join(cacheDirectory(process.env), `gophercloud-${gophercloudVersion}`);
  await mkdir(directory, { recursive: true });
  const programs = new Map<string, string>();
  let source: string | undefined;
  for (const name of packages) {
    const program = join(directory, `${name.replaceAll('/', '_')}.test`);
    programs.set(name, program);
    if (await exists(program)) continue;
    source ??= await fetchModule(directory, say);
    say(`building the tests of ${name}`);
    await go(
      source,
      ...['test', '-c', '-tags', 'acceptance', '-ldflags', '-s -w', '-o', program],
      `./internal/acceptance/openstack/${name}`,
    );
  }
  return programs;
}

async function fetchModule(cwd: string, say: Say): Promise<string> {
  if (!(await isInstalled('go', 'version'))) {
    throw new MissingPrerequisite(`go is not installed, and the tests of gophercloud must be built first`);
  }
  const module = `${gophercloudModule}@v${gophercloudVersion}`;
  say(`fetching ${module}`);
  return (JSON.parse(await go(cwd, 'mod', 'download', '-json', module)) as { Dir: string }).Dir;
}
