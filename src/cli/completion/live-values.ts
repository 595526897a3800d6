import { homedir } from 'node:os';
import { readKubeconfigs } from '../../client/index.ts';
import type { KubeObject, Resource } from '../../machinery/index.ts';
import { loadClouds } from '../../openstack/index.ts';
import { type Connection, type ConnectionOptions, withConnection } from '../connection.ts';
import type { CommandContext } from '../context.ts';
import type { LiveValues } from './candidates.ts';
import type { CompletionPoint } from './parse-line.ts';

/** Timeout for one completion. */
const patienceMs = 2000;

const namespaces: Resource<KubeObject> = {
  group: '',
  version: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  namespaced: false,
};

/** Looks up values in the API, the kubeconfig and clouds.yaml. Failures and timeouts give no candidates. */
export function liveValues(context: CommandContext): LiveValues {
  const quiet: CommandContext = {
    ...context,
    stderr: () => {},
    signal: AbortSignal.any([context.signal, AbortSignal.timeout(patienceMs)]),
  };
  const ask = (point: CompletionPoint, work: (connection: Connection) => Promise<string[]>): Promise<string[]> =>
    withConnection(connectionOptions(point), quiet, work).catch(() => []);
  const namesOf = (items: readonly KubeObject[]): string[] => items.map(({ metadata }) => metadata.name ?? '');
  return {
    clusters: (point) =>
      ask(point, async ({ client, mapper, namespace }) => {
        const clusters = await mapper.resolve('clusters.cluster.x-k8s.io', { signal: quiet.signal });
        return namesOf((await client.list(clusters, { namespace, signal: quiet.signal })).items);
      }),
    namespaces: (point) =>
      ask(point, async ({ client }) => namesOf((await client.list(namespaces, { signal: quiet.signal })).items)),
    contexts: async (point) => {
      const path = point.given.get('--kubeconfig');
      const { contexts } = await readKubeconfigs({ env: context.env, ...(path !== undefined && { path }) }).catch(
        () => ({
          contexts: new Map<string, unknown>(),
        }),
      );
      return [...contexts.keys()];
    },
    clouds: async () => {
      try {
        return (await loadClouds({ env: context.env, cwd: process.cwd(), home: homedir() })).names;
      } catch {
        return [];
      }
    },
  };
}

function connectionOptions({ given }: CompletionPoint): ConnectionOptions {
  const [kubeconfig, context, namespace] = ['--kubeconfig', '--context', '--namespace'].map((name) => given.get(name));
  return {
    ...(kubeconfig !== undefined && { kubeconfig }),
    ...(context !== undefined && { context }),
    ...(namespace !== undefined && { namespace }),
  };
}
