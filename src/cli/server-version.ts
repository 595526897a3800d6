import type { ConnectionConfig, RawReader } from '../client/index.ts';
import {
  CapstanError,
  isForbidden,
  isJsonObject,
  isNotFound,
  parseJson,
  parseKubernetesVersion,
} from '../machinery/index.ts';

/** Oldest minor release whose API has everything that the installed objects and the controllers need. */
const oldestMinor = 28;

/** An API, and its name in messages. */
interface Asked {
  readonly where: string;
  serverVersion(signal: AbortSignal): Promise<string>;
}

/** Returns the version that the API reports, e.g. `v1.34.0`; empty if it reports none. */
export async function readServerVersion(client: RawReader, signal: AbortSignal): Promise<string> {
  const answer = parseJson((await client.raw('/version', { signal })).body);
  const { gitVersion } = isJsonObject(answer) ? answer : {};
  return typeof gitVersion === 'string' ? gitVersion : '';
}

/**
 * Refuses a Kubernetes that is too old. Without this check an older API server would refuse or silently drop parts of the
 * installed objects. A server that hides its version, or a development build without numbers, is not refused.
 */
export async function requireSupportedKubernetes({ serverVersion, where }: Asked, signal: AbortSignal): Promise<void> {
  const version = await serverVersion(signal).catch((error: unknown) => {
    if (isForbidden(error) || isNotFound(error)) return '';
    throw error;
  });
  const parsed = parseKubernetesVersion(version);
  if (!parsed || parsed.major > 1 || parsed.minor >= oldestMinor) return;
  throw new CapstanError('CAP_KUBERNETES_TOO_OLD', `${where} is Kubernetes ${version}`, {
    hint: `nothing was changed; Capstan needs Kubernetes 1.${oldestMinor} or newer: upgrade it, or use \`capstan up\``,
  });
}

/** The API behind a connection without the rest of a verb. */
export function versioned(client: RawReader, { server }: Pick<ConnectionConfig, 'server'>): Asked {
  return { where: server, serverVersion: (signal) => readServerVersion(client, signal) };
}
