import { causeOfCluster } from '../../../src/cli/why/first-cause.ts';
import { readCluster } from '../../../src/cli/describe/cluster-objects.ts';
import { registryMapper } from '../../../src/cli/testing/memory-api.ts';
import { manifestsOf, namespace } from '../cluster-manifests.ts';
import { by, createSystem } from '../system.ts';
import { disagreements } from './fault.ts';
import { wrongManifests } from './wrong-manifests.ts';

const system = await createSystem({ seed: 1 });
const t0 = Date.now();
for (const [index, fault] of wrongManifests.entries()) {
  const name = `c${index}`;
  await fault.before?.(system, name);
  const desired = { name, index, endpoint: 'floating-ip' as const, controlPlanes: 1, workers: 0, version: 'v1.33.6', flavor: 'm1.medium', bootFromVolume: false, healthCheck: false, ...fault.cluster };
  const all = manifestsOf(desired);
  for (const { resource, object } of fault.manifests?.(all, name) ?? all) await system.client.create(resource, object, by).catch((e) => console.log(fault.what, 'refused', e.message));
}
await system.pass(20 * 60_000);
console.log('passed', Date.now() - t0);
const connection = { client: system.client, mapper: registryMapper(system.server), namespace, namespaceGiven: false, where: 'x', serverVersion: async () => 'v1.34.0' };
for (const [index, fault] of wrongManifests.entries()) {
  const name = `c${index}`;
  const found = await readCluster(connection as never, name, { resourceSets: false, signal: new AbortController().signal }).catch(() => undefined);
  const cause = found && causeOfCluster(found);
  const wrong = disagreements(cause, fault.says, name);
  console.log(`${wrong.length === 0 ? 'ok  ' : 'BAD '} ${fault.what}: ${cause?.object} (${cause?.reason}) ${cause?.message?.slice(0, 300)}\n        next: ${cause?.next}`);
  for (const line of wrong) console.log(`        !! ${line}`);
}
if (process.env.CONSOLE) {
  const { collect } = await import('../../../src/openstack/index.ts');
  for (const server of await collect(system.admin.compute.servers.list({ allTenants: true }))) if (server.name.startsWith(process.env.CONSOLE + '-')) console.log(server.name, await system.tenant.compute.servers.consoleOutput(server.id, { lines: 60 }));
}
await system.stop();
