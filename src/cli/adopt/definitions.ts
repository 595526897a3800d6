import { type CustomResourceDefinition, CustomResourceDefinitions } from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import { asJson } from '../../machinery/index.ts';
import { isInstalledByUs } from '../install/labels.ts';
import { findNamed } from './find-named.ts';
import { adoptionManager, restoreOwners } from './owners.ts';

const by = { fieldManager: adoptionManager };
/** With annotations of this prefix, cert-manager would inject its CA into our definitions. */
const injectionPrefix = 'cert-manager.io/inject-';
/** Field managers to keep: the manifests, the webhook CA, and the server itself. */
const ownManagers: ReadonlySet<string | undefined> = new Set(['capstan', 'capstan-webhooks', 'kube-apiserver']);

/**
 * Replaces the definition of another program in a single write. Otherwise, objects could be converted with the old
 * address and the new CA, or by no webhook at all.
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

/**
 * Removes other field managers, so that fields a later version of ours drops disappear. The original managers are
 * saved.
 */
export async function disownDefinition(client: Client, name: string, signal: AbortSignal): Promise<void> {
  const present = await findNamed(client, CustomResourceDefinitions, name, signal);
  const entries = present?.metadata.managedFields ?? [];
  const own = entries.filter(({ manager }) => ownManagers.has(manager));
  if (own.length === entries.length || own.length === 0) return;
  const patch = { metadata: { managedFields: asJson(own) } };
  await client.patch(CustomResourceDefinitions, { name }, 'merge', patch, { ...by, signal });
}

/** Restores the original definition including its field managers. */
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
