import { homedir } from 'node:os';
import { join } from 'node:path';
import { type ConnectionConfig, loadKubeconfig, readKubeconfigs } from '../client/index.ts';
import { CapstanError } from '../machinery/index.ts';

/** Name of the context that `capstan up` writes. */
export const ownContext = 'capstan';

export interface TargetOptions {
  kubeconfig?: string;
  context?: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The API a verb acts on: the one `capstan up` runs on this computer unless a flag says otherwise. The current context
 * is never taken by chance: people switch it for kubectl, and a verb must not delete clusters of wherever it points at.
 *
 * 1. `--kubeconfig` and `--context`, or CAPSTAN_KUBECONFIG and CAPSTAN_CONTEXT;
 * 2. a file that was named and has no context `capstan`: its current context, the file itself is the choice;
 * 3. the context `capstan` of $KUBECONFIG, then of ~/.kube/config: a $KUBECONFIG of a workload cluster does not hide it;
 * 4. in a Pod without any kubeconfig: the Pod's service account.
 */
export async function targetApi(
  options: TargetOptions,
  env: Environment,
  { interactive = false }: { interactive?: boolean } = {},
): Promise<ConnectionConfig> {
  const path = options.kubeconfig ?? (env['CAPSTAN_KUBECONFIG'] || undefined);
  const context = options.context ?? (env['CAPSTAN_CONTEXT'] || undefined);
  const load = (chosen: { path?: string; context?: string }): Promise<ConnectionConfig> =>
    loadKubeconfig({ env, interactive, ...chosen });
  if (path !== undefined) {
    if (context !== undefined) return await load({ path, context });
    const { contexts } = await readKubeconfigs({ path, env });
    return await load({ path, ...(contexts.has(ownContext) && { context: ownContext }) });
  }
  if (context !== undefined) return await load({ context });
  const usual = await readKubeconfigs({ env });
  if (usual.contexts.has(ownContext)) return await load({ context: ownContext });
  // `capstan up` writes to ~/.kube/config if KUBECONFIG is not set there.
  const home = join(env['HOME'] ?? homedir(), '.kube', 'config');
  const { contexts: atHome } = await readKubeconfigs({ env: { ...env, KUBECONFIG: home } });
  if (atHome.has(ownContext)) return await load({ path: home, context: ownContext });
  if (usual.contexts.size === 0 && env['KUBERNETES_SERVICE_HOST']) return await load({});
  throw noManagementApi([...usual.contexts.keys()]);
}

function noManagementApi(contexts: readonly string[]): CapstanError {
  return new CapstanError(
    'CAP_NO_MANAGEMENT_API',
    `no management API found on this computer: no kubeconfig has a context "${ownContext}"`,
    {
      hint: `start one with \`capstan up\`, or choose another with --context${
        contexts.length > 0 ? ` (${contexts.join(', ')})` : ''
      } or --kubeconfig FILE`,
    },
  );
}
