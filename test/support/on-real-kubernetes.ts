import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { publishCloudCredentials } from '../../src/cli/cloud-credentials.ts';
import { httpClient, loadKubeconfig } from '../../src/client/index.ts';
import { findOrBuildPrograms, findOrBuildScheduler } from '../conformance/go-build.ts';
import { startRealKubernetes } from '../conformance/real-kubernetes.ts';
import type { CapstanOptions, CapstanProcess } from './capstan.ts';
import { startController } from './controller-process.ts';
import { startSimulatedNode } from './node-process.ts';
import { freePorts } from './ports.ts';
import { type RunningProcess, startProcess } from './process.ts';
import { capstanEnvironment, capstanProgram, withGatewayNames } from './program.ts';

/** Target of guide suites: `real-kubernetes`, or else the embedded API. */
export const managementVariable = 'CAPSTAN_E2E_MANAGEMENT';

export function isOnRealKubernetes(): boolean {
  return process.env[managementVariable] === 'real-kubernetes';
}

/** Names a step that waits for upstream's providers. Only the embedded API has Pods in their place. */
export function preparing(name: string): string {
  return isOnRealKubernetes() ? `${name} (a step of the embedded API, whose Pods stand for upstream's managers)` : name;
}

const startPatienceMs = 60_000;

/**
 * Starts the equivalent of `capstan up` with these options on a new real Kubernetes: controllers, simulated cloud and
 * simulated node are separate processes, and their files are where `capstan up` has them.
 */
export async function startOnRealKubernetes(options: CapstanOptions): Promise<CapstanProcess> {
  const directory = options.directory ?? (await mkdtemp(join(tmpdir(), 'capstan-e2e-')));
  const data = join(directory, 'data');
  const { cloud, pods, rest } = partsOf(options);
  const programs = await findOrBuildPrograms(process.env, () => {});
  const scheduler = await findOrBuildScheduler(process.env, () => {});
  const kubernetes = await startRealKubernetes(programs, { scheduler, context: 'capstan' });
  const { kubeconfig, url } = kubernetes;
  const names = withGatewayNames(kubeconfig);
  const running: RunningProcess[] = [];
  const start = async (...args: string[]): Promise<void> => {
    const child = startProcess(process.execPath, [...capstanProgram(), ...args], capstanEnvironment(names));
    running.push(child);
    await child.until((stdout) => /^ready$/m.test(stdout), 'the line "ready"', startPatienceMs);
  };
  const end = async (signal?: NodeJS.Signals): Promise<void> => {
    for (const child of running.splice(0).reverse()) await child.stop(signal);
  };
  const stop = async (): Promise<void> => {
    await end();
    await kubernetes.stop();
    await rm(directory, { recursive: true, force: true });
  };
  try {
    if (cloud) await start('cloud', '--data-dir', data, '--listen', '127.0.0.1:0');
    const [port = 0] = await freePorts(2);
    const controller = await startController({
      kubeconfig,
      port,
      variables: names,
      args: ['--controllers', options.controllers ?? 'none', '--backup-directory', join(data, 'backups'), ...rest],
    });
    running.push(controller.process);
    if (cloud) await publishCredentials(kubeconfig, join(data, 'clouds.yaml'));
    if (pods)
      running.push(await startSimulatedNode({ kubeconfig, directory: join(data, 'node'), args: ['--gateways'] }));
    return {
      url,
      port: Number(new URL(url).port),
      kubeconfig,
      directory,
      pid: controller.process.pid,
      logs: () => running.map((child) => child.stderr()).join(''),
      end,
      restart: () => Promise.reject(new Error('what is on a real Kubernetes is not restarted as a whole')),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Creates the objects that `capstan up` creates for its own cloud. */
async function publishCredentials(kubeconfig: string, cloudsYaml: string): Promise<void> {
  const client = httpClient(await loadKubeconfig({ path: kubeconfig, env: {} }));
  try {
    const { signal } = new AbortController();
    await publishCloudCredentials(client, { cloudsYaml: await readFile(cloudsYaml, 'utf8'), signal });
  } finally {
    await client.close();
  }
}

/** Maps the arguments of `capstan up` to processes. The others are for the controllers. */
function partsOf({ args = [], pods }: CapstanOptions): { cloud: boolean; pods: boolean; rest: string[] } {
  const rest: string[] = [];
  let cloud = false;
  let runsPods = pods === 'simulated';
  for (let index = 0; index < args.length; index++) {
    const argument = args[index] ?? '';
    if (argument === '--simulated-cloud') cloud = true;
    else if (argument === '--pods') runsPods = args[++index] === 'simulated';
    else rest.push(argument);
  }
  return { cloud, pods: runsPods, rest };
}
