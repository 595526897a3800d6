import { type ConfigMap, ConfigMaps } from '../../../api/index.ts';
import type { Client } from '../../../client/index.ts';
import { ignoreNotFound } from '../../../machinery/index.ts';
import { latticeFieldManager } from '../names.ts';
import { cellKey } from './names.ts';
import type { CellEndpoint } from './parent-config.ts';

/** Publishes the endpoints at the parent, for users and `capstan lattice token`. */
export async function publishPlace(client: Client, endpoint: CellEndpoint, signal: AbortSignal): Promise<void> {
  const { host, bootstrapPort, agentPort, authority } = endpoint;
  const data = {
    host,
    bootstrapPort: String(bootstrapPort),
    grpcPort: String(agentPort),
    'ca.crt': authority,
  };
  const live = await client.get(ConfigMaps, cellKey, { signal }).catch(ignoreNotFound);
  if (live && Object.entries(data).every(([name, text]) => live.data?.[name] === text)) return;
  const map: ConfigMap = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...cellKey }, data };
  await client.apply(ConfigMaps, map, { fieldManager: latticeFieldManager, force: true, signal });
}

export async function withdrawPlace(client: Client, signal: AbortSignal): Promise<void> {
  if (!(await client.get(ConfigMaps, cellKey, { signal }).catch(ignoreNotFound))) return;
  await client.delete(ConfigMaps, cellKey, { signal }).catch(ignoreNotFound);
}
