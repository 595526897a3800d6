import { causeOfCluster } from '../../../src/cli/why/first-cause.ts';
import { readCluster } from '../../../src/cli/describe/cluster-objects.ts';
import { registryMapper } from '../../../src/cli/testing/memory-api.ts';
import { Clusters, Secrets } from '../../../src/api/index.ts';
import { connectInProcess } from '../../../src/simulator/index.ts';
import { manifestsOf, namespace } from '../cluster-manifests.ts';
import { by, createSystem } from '../system.ts';
import { disagreements } from './fault.ts';
import { wrongClouds } from './wrong-cloud.ts';

const system = await createSystem({ seed: 1 });
const connection = { client: system.client, mapper: registryMapper(system.server), namespace, namespaceGiven: false, where: 'x', serverVersion: async () => 'v1.34.0' };
const causeNow = async (name: string) => {
  const found = await readCluster(connection as never, name, { resourceSets: false, signal: new AbortController().signal }).catch(() => undefined);
  return { there: found !== undefined, cause: found && causeOfCluster(found) };
};
const only = process.env.ONLY ? new RegExp(process.env.ONLY) : /./;
for (const [index, fault] of wrongClouds.entries()) {
  if (!only.test(fault.what)) continue;
  const t0 = Date.now();
  const name = `f${index}x`;
  await fault.before?.(system, name);
  const desired = { name, index, endpoint: 'floating-ip' as const, controlPlanes: 1, workers: 0, version: 'v1.33.6', flavor: 'm1.medium', bootFromVolume: false, healthCheck: false, ...fault.cluster };
  const all = manifestsOf(desired);
  for (const { resource, object } of fault.manifests?.(all, name) ?? all) await system.client.create(resource, object, by).catch((e) => console.log(fault.what, 'refused', e.message));
  if (fault.strike) {
    let n = 0;
    const whole = await system.until(async () => n++ % 10 === 0 && (await system.client.get(Clusters, { namespace, name })).status?.conditions?.find(({ type }) => type === 'Available')?.status === 'True', 3_600_000);
    if (!whole) console.log('never whole', (await causeNow(name)).cause);
    const workload = async () => {
      const { data } = await system.client.get(Secrets, { namespace, name: `${name}-kubeconfig` });
      return (await connectInProcess(system.cloud.network)(Buffer.from(data?.['value'] ?? '', 'base64').toString())).client;
    };
    try { await fault.strike({ system, name, workload }); } catch (e) { console.log('strike failed', e); }
  }
  await system.pass(20 * 60_000);
  const { cause } = await causeNow(name);
  const wrong = disagreements(cause, fault.says, name);
  console.log(`${wrong.length === 0 ? 'ok  ' : 'BAD '} ${fault.what} [${Date.now() - t0}]: ${cause?.object} (${cause?.reason}) ${cause?.message?.slice(0, 400)}\n        next: ${cause?.next}`);
  for (const line of wrong) console.log(`        !! ${line.slice(0, 300)}`);
  if (wrong.length > 0 && process.env.DUMP) {
    const found = await readCluster(connection as never, name, { resourceSets: false, signal: new AbortController().signal }).catch(() => undefined);
    for (const o of found ? [found.cluster, ...found.objects] : []) console.log('   ', o.kind, o.metadata.name, JSON.stringify(((o as any).status?.conditions ?? []).map((c: any) => [c.type, c.status, c.reason, c.message])));
  }
  try { await fault.after?.(system, name); } catch (e) { console.log('after failed', e); }
  await system.client.patch(Clusters, { namespace, name }, 'merge', { spec: { paused: null } }, by).catch(() => {});
  await system.client.delete(Clusters, { namespace, name }).catch(() => {});
  await system.pass(60_000);
}
await system.stop();
