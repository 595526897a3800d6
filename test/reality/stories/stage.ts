import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { KubeObject } from '../../../src/machinery/index.ts';
import { eventually } from '../../support/eventually.ts';
import { kubectl, kubectlApply, kubectlOn } from '../../support/kubectl.ts';

/** Long timeout, because programs share two cores with nine control planes. */
export const patienceMs = 600_000;

export type Kubectl = (...args: string[]) => Promise<string>;

/** Environment of a story: a real Kubernetes with the controllers. */
export interface Stage {
  readonly kubectl: Kubectl;
  readonly backups: string;
  readonly say: (line: string) => void;
  apply(objects: readonly KubeObject[]): Promise<void>;
  /** value of an object by JSONPath without braces; empty if there is none */
  value(what: string, path: string, namespace?: string): Promise<string>;
  /** names of all objects of these kinds that match a selector */
  names(kinds: string, ...args: string[]): Promise<string[]>;
  /** kubectl with the kubeconfig of a cluster */
  workload(cluster: string): Promise<Kubectl>;
  /** runs a step and prints its name and duration */
  step(what: string, action: () => Promise<void>): Promise<void>;
}

export function openStage(options: {
  directory: string;
  kubeconfig: string;
  backups: string;
  say: (line: string) => void;
}): Stage {
  const { directory, kubeconfig, backups, say } = options;
  const run = kubectlOn(kubeconfig, directory);
  const names = async (kinds: string, ...args: string[]): Promise<string[]> =>
    (await run('get', kinds, '-o', 'name', '--ignore-not-found', ...args)).split('\n').filter((name) => name !== '');
  const overview = async (): Promise<string> => {
    const shown = await kubectl(['get', 'pods,pvc,services,hcp,kcp,tcp', '-A', '-o', 'wide'], {
      kubeconfig,
      directory,
    });
    const events = await kubectl(['get', 'events', '-A', '--sort-by=.lastTimestamp'], { kubeconfig, directory });
    return `${shown.stdout}\n${events.stdout.split('\n').slice(-40).join('\n')}`;
  };
  return {
    kubectl: run,
    backups,
    say,
    apply: async (objects) => void (await kubectlApply(kubeconfig, directory, listOf(objects))),
    value: (what, path, namespace = 'default') => run('get', what, '-n', namespace, '-o', `jsonpath={${path}}`),
    names,
    workload: async (cluster) => {
      const file = join(directory, `${cluster}.kubeconfig`);
      const encoded = await run('get', `secret/${cluster}-kubeconfig`, '-o', 'jsonpath={.data.value}');
      await writeFile(file, Buffer.from(encoded, 'base64'), { mode: 0o600 });
      return kubectlOn(file, directory);
    },
    step: async (what, action) => {
      const begin = performance.now();
      try {
        await action();
      } catch (error) {
        say(`FAILED ${what}\n${await overview()}`);
        throw error;
      }
      say(`${what}: ${((performance.now() - begin) / 1000).toFixed(1)} s`);
    },
  };
}

const listOf = (items: readonly KubeObject[]): string => JSON.stringify({ apiVersion: 'v1', kind: 'List', items });

/**
 * Returns the objects of these kinds in an example. The others are for workers and add-ons, which need booting
 * machines.
 */
export async function exampleObjects(example: string, kinds: readonly string[]): Promise<KubeObject[]> {
  const text = await readFile(new URL(`../../../examples/${example}/cluster.yaml`, import.meta.url), 'utf8');
  return parseAllDocuments(text)
    .map((document) => document.toJSON() as KubeObject)
    .filter(({ kind }) => kinds.includes(kind));
}

export const until = (check: () => Promise<void>): Promise<void> => eventually(check, patienceMs);

/**
 * Checks that objects can be written and read with the cluster's kubeconfig, and that its controllers and scheduler
 * work.
 */
export async function expectWorks(kubectlIn: Kubectl, name: string): Promise<void> {
  await kubectlIn('create', 'configmap', name, '--from-literal=written=yes');
  assert.equal(await kubectlIn('get', `configmap/${name}`, '-o', 'jsonpath={.data.written}'), 'yes');
  await kubectlIn('create', 'deployment', name, '--image=registry.k8s.io/pause:3.10');
  await until(async () => {
    const reasons = await kubectlIn(
      'get',
      'pods',
      '-l',
      `app=${name}`,
      '-o',
      'jsonpath={.items[*].status.conditions[*].reason}',
    );
    // There are no workers: the controller manager creates the Pod, and the scheduler reports why it cannot be placed.
    assert.match(reasons, /Unschedulable/);
  });
}

export async function expectKept(kubectlIn: Kubectl, name: string): Promise<void> {
  await until(async () => {
    assert.equal(await kubectlIn('get', `configmap/${name}`, '-o', 'jsonpath={.data.written}'), 'yes');
  });
}

/** Repeats a question until the end, and collects the errors. */
export function askOn(question: () => Promise<unknown>): { end(): Promise<{ asked: number; failures: string[] }> } {
  let isOver = false;
  const work = (async () => {
    const failures: string[] = [];
    let asked = 0;
    for (; !isOver; asked++) {
      await question().catch((error: unknown) => {
        failures.push(String(error).trim().split('\n').at(-1) ?? '');
      });
    }
    return { asked, failures };
  })();
  return {
    end: () => {
      isOver = true;
      return work;
    },
  };
}
