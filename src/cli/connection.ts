import {
  type Client,
  type ConnectionConfig,
  httpClient,
  isUnreachable,
  loadKubeconfig,
  type RestMapper,
  restMapper,
} from '../client/index.ts';
import { ApiStatusError, CapstanError } from '../machinery/index.ts';
import type { CommandContext } from './context.ts';
import { version } from './version.ts';

/** Flags every verb that talks to a management API has. */
export interface ConnectionOptions {
  kubeconfig?: string;
  context?: string;
  namespace?: string;
}

/** A management API a verb talks to. */
export interface Connection {
  readonly client: Client;
  readonly mapper: RestMapper;
  /** `--namespace`, else that of the context */
  readonly namespace: string;
  /** the flag was given: objects that say otherwise are refused */
  readonly namespaceGiven: boolean;
}

/** Connects as kubectl would with these flags, runs the work, and closes the connections however it ends. */
export async function withConnection<T>(
  options: ConnectionOptions,
  context: CommandContext,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const config = await loadKubeconfig({
    env: context.env,
    interactive: true,
    ...(options.kubeconfig !== undefined && { path: options.kubeconfig }),
    ...(options.context !== undefined && { context: options.context }),
  });
  const warned = new Set<string>();
  const client = httpClient(config, {
    userAgent: `capstan/${version}`,
    // People wait for this one: a server that is not there should not be asked for long.
    maxAttempts: 2,
    onWarning: (text) => {
      if (warned.has(text)) return;
      warned.add(text);
      context.stderr(`Warning: ${text}\n`);
    },
  });
  try {
    return await work({
      client,
      mapper: restMapper(client),
      namespace: options.namespace ?? config.namespace,
      namespaceGiven: options.namespace !== undefined,
    });
  } catch (error) {
    throw explained(error, config);
  } finally {
    await client.close();
  }
}

/** What a person at a terminal can do about a failure of the connection itself. */
function explained(error: unknown, config: ConnectionConfig): unknown {
  if (isUnreachable(error)) {
    return new CapstanError('CAP_API_UNREACHABLE', `the management API at ${config.server} does not answer`, {
      hint:
        config.context === 'capstan'
          ? 'is `capstan up` running? `--context` and `--kubeconfig` choose another API'
          : 'check that it runs and that the address is right; `--context` and `--kubeconfig` choose another',
      cause: error,
    });
  }
  if (error instanceof ApiStatusError && error.code === 401) {
    return new CapstanError('CAP_UNAUTHORIZED', `${config.server} does not accept the credentials of the kubeconfig`, {
      hint: 'start `capstan up` again to write fresh ones, or choose another context',
      cause: error,
    });
  }
  return error;
}
