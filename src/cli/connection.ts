import {
  type Client,
  type ConnectionConfig,
  httpClient,
  isUnreachable,
  type RestMapper,
  restMapper,
} from '../client/index.ts';
import { ApiStatusError, CapstanError } from '../machinery/index.ts';
import type { CommandContext } from './context.ts';
import { located } from './no-such-cluster.ts';
import { readServerVersion } from './server-version.ts';
import { ownContext, type TargetOptions, targetApi } from './target-api.ts';
import { version } from './version.ts';

/** Flags of all verbs that use a management API. */
export interface ConnectionOptions extends TargetOptions {
  namespace?: string;
}

export interface Connection {
  readonly client: Client;
  readonly mapper: RestMapper;
  /** `--namespace`, otherwise the namespace of the context */
  readonly namespace: string;
  /** whether the flag was given; objects with another namespace are then refused */
  readonly namespaceGiven: boolean;
  /** address and context of the API for messages */
  readonly where: string;
  /** Kubernetes version reported by the API: `v1.34.0` */
  serverVersion(signal: AbortSignal): Promise<string>;
}

/**
 * Connects to the local management API or to the one of the flags, runs the work, and always closes the connections.
 */
export async function withConnection<T>(
  options: ConnectionOptions,
  context: CommandContext,
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const config = await targetApi(options, context.env, { interactive: true });
  const warned = new Set<string>();
  const client = httpClient(config, {
    userAgent: `capstan/${version}`,
    // Users wait for the result, so an unreachable server is not retried for long.
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
      serverVersion: (signal) => readServerVersion(client, signal),
      where: `${config.server} (${config.context === '' ? "the Pod's service account" : `context ${config.context}`})`,
    });
  } catch (error) {
    throw explained(await located(error, client, context.signal), config);
  } finally {
    await client.close();
  }
}

/** Adds a hint for users to a connection error. */
export function explained(error: unknown, config: ConnectionConfig): unknown {
  const isOwn = config.context === ownContext;
  if (isUnreachable(error)) {
    return (
      distrust(error, config) ??
      new CapstanError('CAP_API_UNREACHABLE', `the management API at ${config.server} does not answer`, {
        hint: isOwn
          ? 'is `capstan up` running? `--context` and `--kubeconfig` choose another API'
          : 'check that it runs and that the address is right; `--context` and `--kubeconfig` choose another',
        cause: error,
      })
    );
  }
  if (error instanceof ApiStatusError && error.code === 401) {
    return new CapstanError('CAP_UNAUTHORIZED', `${config.server} does not accept the credentials of the kubeconfig`, {
      hint: isOwn
        ? 'start `capstan up` again to write fresh ones, or choose another context'
        : 'sign in again, or choose another context',
      cause: error,
    });
  }
  return error;
}

const foreignAuthority = new Set([
  'CERT_SIGNATURE_FAILURE',
  'CERT_UNTRUSTED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]);

/** Explains TLS errors: a server responds, but cannot prove to be the API of the kubeconfig. */
function distrust(error: unknown, { server, context }: ConnectionConfig): CapstanError | undefined {
  const code = systemCode(error) ?? '';
  const wrong = (what: string, hint: string): CapstanError =>
    new CapstanError('CAP_API_NOT_TRUSTED', `${server} answers, but ${what}`, { hint, cause: error });
  if (foreignAuthority.has(code)) {
    return wrong(
      'its certificate is not from the authority of the kubeconfig: another server has this address, or it was set up again',
      `${
        context === ownContext
          ? 'start `capstan up` with the data directory you mean: it writes its context again'
          : 'get a new kubeconfig of that server'
      }; --context and --kubeconfig choose another API`,
    );
  }
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return wrong(
      `its certificate is not for this name: ${innermost(error)}`,
      'use a name or address of the certificate; `capstan up --tls-san NAME` adds one',
    );
  }
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID') {
    return wrong(
      `its certificate ${code === 'CERT_HAS_EXPIRED' ? 'has expired' : 'is not valid yet'}`,
      'check the clocks of both computers; `capstan up` renews its own certificate',
    );
  }
  return undefined;
}

function systemCode(error: unknown): string | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code !== undefined && !code.startsWith('CAP_')) return code;
  }
  return undefined;
}

function innermost(error: unknown): string {
  let cause = error;
  while (cause instanceof Error && cause.cause instanceof Error) cause = cause.cause;
  return cause instanceof Error ? cause.message : String(cause);
}
