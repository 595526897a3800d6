import type { Client } from '../../client/index.ts';
import {
  CapstanError,
  type Clock,
  isNotFound,
  type KubeObject,
  parseApiVersion,
  type Resource,
} from '../../machinery/index.ts';
import { applyKinds } from './apply-kinds.ts';
import type { Installation } from './installation.ts';
import { type Outcome, outcomeOf } from './outcome.ts';

const by = { fieldManager: 'capstan', force: true };

export interface ApplyInstallationOptions {
  clock: Clock;
  signal: AbortSignal;
  onApplied(name: string, outcome: Outcome): void;
}

/** Looks up how a kind is served. */
export interface KindLookup {
  forKind(
    kind: { group: string; version?: string; kind: string },
    options?: { signal?: AbortSignal },
  ): Promise<Resource<KubeObject> | undefined>;
  /** called after kinds were added */
  invalidate(): void;
}

/** Applies an installation; the same for a new one, an upgrade and a repair. */
export async function applyInstallation(
  client: Client,
  mapper: KindLookup,
  { kinds, others }: Installation,
  { clock, signal, onApplied }: ApplyInstallationOptions,
): Promise<void> {
  await applyKinds(client, kinds, { clock, signal, onApplied: (name, outcome) => onApplied(`crd/${name}`, outcome) });
  mapper.invalidate();
  for (const object of others) {
    const resource = await resourceOf(mapper, object, signal);
    const { name = '', namespace } = object.metadata;
    const key = { name, ...(namespace !== undefined && { namespace }) };
    const before = await find(client, resource, key, signal);
    const after = await client.apply(resource, object, { ...by, signal });
    onApplied(describeObject(object), outcomeOf(before, after));
  }
}

export async function resourceOf(
  mapper: KindLookup,
  { apiVersion, kind }: KubeObject,
  signal: AbortSignal,
): Promise<Resource<KubeObject>> {
  const resource = await mapper.forKind({ ...parseApiVersion(apiVersion), kind }, { signal });
  if (resource) return resource;
  throw new CapstanError('CAP_KIND_NOT_SERVED', `that Kubernetes does not serve ${kind} of ${apiVersion}`, {
    hint: 'Kubernetes 1.28 or newer is needed',
  });
}

export function describeObject({ kind, metadata: { name = '' } }: KubeObject): string {
  return `${kind.toLowerCase()}/${name}`;
}

async function find(
  client: Client,
  resource: Resource<KubeObject>,
  key: { name: string; namespace?: string },
  signal: AbortSignal,
): Promise<KubeObject | undefined> {
  try {
    return await client.get(resource, key, { signal });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
