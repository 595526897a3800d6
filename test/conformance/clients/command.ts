// Tests third-party clients against `capstan up`: helm, clusterctl, the Python client of Kubernetes and kopf.
//
//   npm run conformance:clients                      all of them; builds or installs missing ones first
//   npm run conformance:clients -- --client helm     only some (may be repeated)
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type CapstanProcess, startCapstan } from '../../support/capstan.ts';
import { kubectlOn, missingKubectl } from '../../support/kubectl.ts';
import { MissingPrerequisite } from '../go-build.ts';
import { type Client, formatScenarios, runScenarios, type ScenarioResult, type Stage } from './client.ts';
import { clusterctl } from './clusterctl.ts';
import { helm } from './helm.ts';
import { kopf, pythonClient } from './python.ts';

const clients: readonly Client[] = [helm, clusterctl, pythonClient, kopf];
const say = (line: string): void => void process.stderr.write(`clients: ${line}\n`);

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { client: { type: 'string', multiple: true } } });
  const unknown = values.client?.find((name) => !clients.some((client) => client.name === name));
  if (unknown !== undefined) {
    throw new MissingPrerequisite(`"${unknown}" is none of: ${clients.map(({ name }) => name).join(', ')}`);
  }
  const missing = await missingKubectl();
  if (missing !== undefined) throw new MissingPrerequisite(missing);
  const results: ScenarioResult[] = [];
  for (const client of clients) {
    if (values.client && !values.client.includes(client.name)) continue;
    results.push(...(await tryClient(client)));
  }
  process.stdout.write(formatScenarios(results));
  return results.some(({ state }) => state === 'failed') ? 1 : 0;
}

async function tryClient(client: Client): Promise<ScenarioResult[]> {
  let scenariosOn: Awaited<ReturnType<Client['prepare']>>;
  try {
    scenariosOn = await client.prepare(say);
  } catch (error) {
    if (!(error instanceof MissingPrerequisite)) throw error;
    return [{ client: client.name, scenario: 'all', state: 'skipped', message: error.message }];
  }
  const started: CapstanProcess[] = [];
  const directory = await mkdtemp(join(tmpdir(), 'capstan-clients-'));
  const start = async (args: readonly string[]): Promise<Pick<Stage, 'capstan' | 'kubectl'>> => {
    const what = client.needs === 'pods' ? { pods: 'simulated' as const } : { controllers: 'all', args };
    const capstan = await startCapstan(what);
    started.push(capstan);
    return { capstan, kubectl: kubectlOn(capstan.kubeconfig, capstan.directory) };
  };
  try {
    const first = await start(['--simulated-cloud']);
    let second: Promise<Pick<Stage, 'capstan' | 'kubectl'>> | undefined;
    const another = (): Promise<Pick<Stage, 'capstan' | 'kubectl'>> => {
      second ??= start([]);
      return second;
    };
    say(`${client.name} on ${first.capstan.url}`);
    return await runScenarios(client.name, scenariosOn({ ...first, directory, another }));
  } finally {
    for (const capstan of started.reverse()) await capstan.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

try {
  process.exitCode = await main();
} catch (error) {
  say(error instanceof MissingPrerequisite ? error.message : String(error instanceof Error ? error.stack : error));
  process.exitCode = 2;
}
