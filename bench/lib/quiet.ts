import { discover, type HttpClient, restMapper } from '../../src/client/index.ts';
import type { KubeObject, Resource } from '../../src/machinery/index.ts';

/** Returns the current revision of an API server from a list. Every write increments it by one. */
export async function revisionOf(client: HttpClient): Promise<number> {
  const namespaces = (await restMapper(client).forKind({ kind: 'Namespace', group: '' })) as Resource<KubeObject>;
  const { metadata } = await client.list(namespaces, { limit: 1 });
  return Number(metadata.resourceVersion);
}

/** Waits until there have been no writes for a while. */
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

/**
 * Returns the objects written after a revision, with their last field manager, to find the cause of unexpected writes.
 */
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
      // The same object appears in several versions of its kind.
      found.set(metadata.uid ?? name, `${name} by ${managers[0]?.manager ?? 'nobody known'}`);
    }
  }
  return [...found.values()].sort();
}
