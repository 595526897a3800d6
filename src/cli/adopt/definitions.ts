import { type CustomResourceDefinition, CustomResourceDefinitions } from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import { asJson } from '../../machinery/index.ts';
import { isInstalledByUs } from '../install/labels.ts';
import { findNamed } from './find-named.ts';
import { adoptionManager, restoreOwners } from './owners.ts';

const by = { fieldManager: adoptionManager };
/** By annotations of this prefix cert-manager writes its authority into an object, and would do so into ours. */
const injectionPrefix = 'cert-manager.io/inject-';
/** Owners of fields that stay: the manifests, the authorities of the webhooks, and the server's own. */
const ownManagers: ReadonlySet<string | undefined> = new Set(['capstan', 'capstan-webhooks', 'kube-apiserver']);

/**
 * Puts our definition in the place of another program's, in one write: at no moment objects are converted by nobody's rules, or by the
 * address of one and the authority of the other.
 */
export async function replaceDefinition(
  client: Client,
  wanted: CustomResourceDefinition,
  signal: AbortSignal,
): Promise<void> {
  const present = await findNamed(client, CustomResourceDefinitions, wanted.metadata.name ?? '', signal);
  if (!present || isInstalledByUs(present)) return;
  const { labels, annotations } = present.metadata;
  const metadata = {
    ...present.metadata,
    labels: { ...labels, ...wanted.metadata.labels },
    annotations: { ...withoutInjection(annotations), ...wanted.metadata.annotations },
  };
  await client.update(CustomResourceDefinitions, { ...present, metadata, spec: wanted.spec }, { ...by, signal });
}

/** Fields have one owner from now on: what a later version of ours leaves out goes away. Whose they were is saved. */
export async function disownDefinition(client: Client, name: string, signal: AbortSignal): Promise<void> {
  const present = await findNamed(client, CustomResourceDefinitions, name, signal);
  const entries = present?.metadata.managedFields ?? [];
  const own = entries.filter(({ manager }) => ownManagers.has(manager));
  if (own.length === entries.length || own.length === 0) return;
  const patch = { metadata: { managedFields: asJson(own) } };
  await client.patch(CustomResourceDefinitions, { name }, 'merge', patch, { ...by, signal });
}

/** The definition as it was, owners of fields included. */
export async function restoreDefinition(
  client: Client,
  saved: CustomResourceDefinition,
  signal: AbortSignal,
): Promise<void> {
  const { name = '', labels, annotations, managedFields } = saved.metadata;
  const described = { ...(labels && { labels }), ...(annotations && { annotations }) };
  let present = await findNamed(client, CustomResourceDefinitions, name, signal);
  if (!present) {
    const { apiVersion, kind } = CustomResourceDefinitionType;
    const again = { apiVersion, kind, metadata: { name, ...described }, spec: saved.spec };
    await client.create(CustomResourceDefinitions, again, { ...by, signal });
    return;
  }
  if (isInstalledByUs(present)) {
    const { labels: _, annotations: __, ...metadata } = present.metadata;
    const again = { ...present, metadata: { ...metadata, ...described }, spec: saved.spec };
    present = await client.update(CustomResourceDefinitions, again, { ...by, signal });
  }
  await restoreOwners(client, CustomResourceDefinitions, present, { managedFields, signal });
}

const CustomResourceDefinitionType = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
} as const;

export function withoutInjection(annotations: Readonly<Record<string, string>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(annotations).filter(([name]) => !name.startsWith(injectionPrefix)));
}
