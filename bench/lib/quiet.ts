import { discover, type HttpClient, restMapper } from '../../src/client/index.ts';
import type { KubeObject, Resource } from '../../src/machinery/index.ts';

/** Every write of an API server moves its revision by one, and every list tells it. */
export async function revisionOf(client: HttpClient): Promise<number> {
  const namespaces = (await restMapper(client).forKind({ kind: 'Namespace', group: '' })) as Resource<KubeObject>;
  const { metadata } = await client.list(namespaces, { limit: 1 });
  return Number(metadata.resourceVersion);
}

/** Waits until nothing was written for a while. */
export async function untilQuiet(
  client: HttpClient,
  { quietMs, patienceMs }: { quietMs: number; patienceMs: number },
): Promise<void> {
  const deadline = performance.now() + patienceMs;
  let known = await revisionOf(client);
  for (let since = performance.now(); performance.now() - since < quietMs; ) {
    await new Promise((resolve) => setTimeout(resolve, 500));
    const now = await revisionOf(client);
    if (now === known) continue;
    if (performance.now() > deadline) throw new Error(`the management API did not come to rest in ${patienceMs} ms`);
    known = now;
    since = performance.now();
  }
}

/** Objects written after a revision, with who wrote them last: says where to look when it was not quiet. */
export async function writtenSince(client: HttpClient, revision: number): Promise<string[]> {
  const { resources } = await discover(client);
  const found = new Map<string, string>();
  for (const resource of resources) {
    if (!resource.verbs.includes('list') || !resource.verbs.includes('watch')) continue;
    const { items } = await client.list(resource as Resource<KubeObject>);
    for (const { metadata } of items) {
      if (Number(metadata.resourceVersion) <= revision) continue;
      const managers = (metadata.managedFields ?? []).toSorted((a, b) => ((a.time ?? '') < (b.time ?? '') ? 1 : -1));
      const name = `${resource.kind} ${metadata.namespace ?? ''}/${metadata.name ?? ''}`;
      // kinds are served in several versions; the object is one
      found.set(metadata.uid ?? name, `${name} by ${managers[0]?.manager ?? 'nobody known'}`);
    }
  }
  return [...found.values()].sort();
}
