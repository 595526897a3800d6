import { readFileSync } from 'node:fs';
import { type HttpClient, restMapper } from '../../src/client/index.ts';
import type { KubeObject, Resource } from '../../src/machinery/index.ts';
import type { CloudProcess } from './cloud-process.ts';

/** Creates the Secret of the examples, for a cloud in another process. */
export async function createCloudSecret(client: HttpClient, cloud: CloudProcess): Promise<void> {
  const secrets = (await restMapper(client).forKind({ kind: 'Secret', group: '' })) as Resource<KubeObject>;
  const cloudsYaml = readFileSync(cloud.cloudsYaml).toString('base64');
  const secret = { metadata: { name: 'simulated-cloud', namespace: 'default' }, data: { 'clouds.yaml': cloudsYaml } };
  const typed = { apiVersion: 'v1', kind: 'Secret', ...secret } as unknown as KubeObject;
  await client.apply(secrets, typed, { fieldManager: 'bench', force: true });
}

/** Quotas would limit the benchmark. */
export async function liftQuotas({ operate, cloudsYaml }: CloudProcess): Promise<void> {
  const project = /project_id: (\S+)/.exec(readFileSync(cloudsYaml, 'utf8'))?.[1];
  const unlimited = (...names: string[]): Record<string, number> => Object.fromEntries(names.map((name) => [name, -1]));
  await operate('PATCH', `/quotas/compute/${project}`, unlimited('instances', 'cores', 'ram'));
  await operate(
    'PATCH',
    `/quotas/network/${project}`,
    unlimited('network', 'subnet', 'router', 'port', 'floatingip', 'security_group', 'security_group_rule'),
  );
}
