import { parseAllDocuments } from 'yaml';
import { type Node, Nodes } from '../../../../api/index.ts';
import type { Client } from '../../../../client/index.ts';
import { errorMessage, isJsonObject, isNotFound, type KubeObject } from '../../../../machinery/index.ts';
import type { RunningMachine } from '../../types.ts';
import { ensureObjects } from '../kubeadm/ensure-object.ts';
import type { Rke2Config } from './config.ts';
import type { Say } from './node.ts';

const fieldManager = 'rke2';
const nodePollMs = 500;

/** Builds the objects of a server that accepts other machines. */
export function servingObjects(serverAuthority: string): KubeObject[] {
  const secret: KubeObject & { type: string; stringData: Record<string, string> } = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'rke2-serving', namespace: 'kube-system' },
    type: 'kubernetes.io/tls',
    stringData: { 'tls.crt': serverAuthority, 'tls.key': '-' },
  };
  return [secret];
}

/** Applies the manifests on the disk of a server, like rke2. */
export async function applyManifests(
  { disk }: RunningMachine,
  { dataDirectory }: Rke2Config,
  client: Client,
  say: Say,
): Promise<void> {
  for (const path of disk.list(`${dataDirectory}/server/manifests/`)) {
    if (!/\.(ya?ml|json)$/.test(path)) continue;
    try {
      const documents = parseAllDocuments(disk.read(path) ?? '').map((document) => document.toJS() as unknown);
      const objects = documents.filter((value) => isJsonObject(value) && typeof value['kind'] === 'string');
      await ensureObjects(client, objects as KubeObject[], fieldManager);
    } catch (error) {
      say('error', `Failed to process config: failed to process ${path}: ${errorMessage(error)}`);
    }
  }
}

/** rke2 sets role labels with the value true on its servers, and no taints. */
export async function markServer(machine: RunningMachine, config: Rke2Config, client: Client): Promise<void> {
  const roles = ['control-plane', ...(config.datastore === undefined ? ['etcd'] : [])];
  const labels = Object.fromEntries(roles.map((role) => [`node-role.kubernetes.io/${role}`, 'true']));
  for (;;) {
    const node: Node | undefined = await client.get(Nodes, { name: config.nodeName }).catch((error: unknown) => {
      if (isNotFound(error)) return undefined;
      throw error;
    });
    if (node) {
      await client.patch(Nodes, { name: config.nodeName }, 'merge', { metadata: { labels } }, { fieldManager });
      return;
    }
    await machine.pass(nodePollMs);
  }
}
