// Runs a real OpenStack on loopback, and the contract tests against it.
//
//   npm run conformance:openstack                 starts it if needed, then runs the contract tests against it
//   npm run conformance:openstack -- -t TEXT      only expectations whose full name matches TEXT
//   npm run conformance:openstack -- --clouds-yaml FILE    against a running cloud (its entry `admin`)
//   npm run conformance:openstack -- infrastructure    tests clusters of `capstan up` on it with the openstack command (-t, --clouds-yaml too)
//   npm run conformance:openstack -- install      installs the Debian packages (root)
//   npm run conformance:openstack -- up           starts it and leaves it running; prints its clouds.yaml
//   npm run conformance:openstack -- down         stops it and keeps its state
//   npm run conformance:openstack -- status       prints the running daemons and their memory
//   npm run conformance:openstack -- wipe         stops it and deletes its state
import { rm } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { MissingPrerequisite } from '../go-build.ts';
import { bringUp, takeDown } from './bring-up.ts';
import { runContract } from './contract.ts';
import { apiAnswers, daemonMemory, listDaemons, logFile } from './daemons.ts';
import { runInfrastructure } from './infrastructure/run.ts';
import { baseUrl, type Layout, type Listener, prepareLayout, readLayout } from './layout.ts';
import { installPackages } from './packages.ts';

const say = (line: string): void => void process.stderr.write(`real OpenStack: ${line}\n`);
const apis: readonly Listener[] = ['identity', 'placement', 'image', 'network', 'compute', 'volume', 'loadBalancer'];

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      testNamePattern: { type: 'string', short: 't' },
      'clouds-yaml': { type: 'string' },
    },
  });
  const [verb = 'test', ...rest] = positionals;
  if (rest.length > 0) throw new MissingPrerequisite(`one verb at a time, not: ${positionals.join(' ')}`);
  switch (verb) {
    case 'install':
      await installPackages(say);
      return 0;
    case 'up':
      process.stdout.write(`${(await up()).cloudsYaml}\n`);
      return 0;
    case 'test': {
      const cloudsYaml = values['clouds-yaml'] ?? (await up()).cloudsYaml;
      return runContract(cloudsYaml, values.testNamePattern);
    }
    case 'infrastructure':
      return runInfrastructure(values['clouds-yaml'] ?? (await up()).cloudsYaml, values.testNamePattern);
    case 'status':
      return status();
    case 'down':
    case 'wipe': {
      const layout = await readLayout(process.env);
      if (layout) {
        await takeDown(layout);
        if (verb === 'wipe') await rm(layout.directory, { recursive: true, force: true });
      }
      say(verb === 'wipe' ? 'gone' : 'stopped');
      return 0;
    }
    default:
      throw new MissingPrerequisite(`"${verb}" is none of: test, infrastructure, install, up, down, status, wipe`);
  }
}

async function up(): Promise<Layout> {
  const started = performance.now();
  const layout = await prepareLayout(process.env);
  await bringUp(layout, say);
  say(`up after ${Math.round((performance.now() - started) / 1000)} s`);
  return layout;
}

async function status(): Promise<number> {
  const layout = await readLayout(process.env);
  const daemons = layout ? await listDaemons(layout) : [];
  if (!layout || daemons.length === 0) {
    say('not running');
    return 1;
  }
  let total = 0;
  for (const { name, pid, alive } of daemons) {
    const memory = alive ? await daemonMemory(pid) : 0;
    total += memory;
    process.stdout.write(
      `${name.padEnd(22)} ${alive ? `pid ${pid}, ${memory} MiB` : `DOWN, see ${logFile(layout, name)}`}\n`,
    );
  }
  const silent: string[] = [];
  for (const name of apis) if (!(await apiAnswers(`${baseUrl(layout, name)}/`))) silent.push(name);
  process.stdout.write(`memory ${total} MiB; clouds.yaml: ${layout.cloudsYaml}\n`);
  if (silent.length > 0) process.stdout.write(`no answer from: ${silent.join(', ')}\n`);
  return silent.length > 0 || daemons.some(({ alive }) => !alive) ? 1 : 0;
}

try {
  process.exitCode = await main();
} catch (error) {
  say(error instanceof MissingPrerequisite ? error.message : String(error instanceof Error ? error.stack : error));
  process.exitCode = 1;
}
