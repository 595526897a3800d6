import { type ConfigMap, ConfigMaps, Namespaces } from '../../../api/index.ts';
import type { Client } from '../../../client/index.ts';
import { ignoreNotFound, isNotFound } from '../../../machinery/index.ts';
import { recordName } from './names.ts';

/**
 * Progress of a move. `preparing`: the source still has everything, and the move can be canceled. `handing-over`: the
 * target has everything, and the move can only be completed.
 */
export type Phase = 'preparing' | 'handing-over';

export interface MoveRecord {
  readonly id: string;
  /** uid of the target's kube-system namespace, which identifies a cluster at any address */
  readonly target: string;
  readonly phase: Phase;
}

const by = { fieldManager: 'capstan-move' };

export async function readRecord(
  source: Client,
  namespace: string,
  signal: AbortSignal,
): Promise<MoveRecord | undefined> {
  const found = await source.get(ConfigMaps, { namespace, name: recordName }, { signal }).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
  const { id = '', target = '', phase = '' } = found?.data ?? {};
  if (!found || id === '') return undefined;
  return { id, target, phase: phase === 'handing-over' ? phase : 'preparing' };
}

export async function writeRecord(
  source: Client,
  namespace: string,
  { id, target, phase }: MoveRecord,
  signal: AbortSignal,
): Promise<void> {
  const record: ConfigMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: recordName, namespace },
    data: { id, target, phase },
  };
  await source.apply(ConfigMaps, record, { ...by, force: true, signal });
}

export async function deleteRecord(source: Client, namespace: string, signal: AbortSignal): Promise<void> {
  await source.delete(ConfigMaps, { namespace, name: recordName }, { signal }).catch(ignoreNotFound);
}

/** Identifies a cluster by the uid of its kube-system namespace. */
export async function clusterId(client: Client, signal: AbortSignal): Promise<string> {
  const { metadata } = await client.get(Namespaces, { name: 'kube-system' }, { signal });
  return metadata.uid ?? '';
}
