import { type Namespace, Namespaces } from '../../api/index.ts';
import type { Client, InformerFactory } from '../../client/index.ts';
import { clone, isConflict, isNotFound, must, withCondition } from '../../machinery/index.ts';
import {
  after,
  type ControllerDefinition,
  defineController,
  done,
  objectMatches,
  patchStatus,
  type ReconcileContext,
  type Result,
  watchObjects,
} from '../../runtime/index.ts';
import { followAllKinds, isEventKind, type ServedResources } from '../served-resources.ts';
import { type ContentReport, namespaceConditions } from './conditions.ts';
import { deleteContent } from './delete-content.ts';

export interface NamespaceControllerOptions {
  served: ServedResources;
  concurrency?: number;
}

const contentFinalizer = 'kubernetes';
const fieldManager = 'namespace-controller';
/** Deletions of remaining objects enqueue the namespace. The periodic recheck covers kinds that cannot be watched. */
const recheckMs = 15_000;

/** Empties terminating namespaces, reports in their conditions what remains and why, and removes their finalizer. */
export function namespaceController(options: NamespaceControllerOptions): ControllerDefinition {
  const { served } = options;
  let factory: InformerFactory | undefined;
  /** namespaces with remaining content; only deletes in these are of interest */
  const waiting = new Set<string>();

  return defineController({
    name: 'namespace',
    for: Namespaces,
    watches: [
      watchObjects(Namespaces, {
        predicates: [objectMatches(({ metadata }) => metadata.deletionTimestamp !== undefined)],
      }),
    ],
    concurrency: options.concurrency ?? 10,
    groupOf: (key) => key.name,
    setup(cache) {
      factory = cache;
    },
    sources: [
      {
        start({ enqueue, signal }) {
          const informers = followAllKinds({
            served,
            factory: must(factory, 'factory'),
            skip: (resource) => !resource.namespaced || isEventKind(resource),
            handlerFor: () => ({
              onDelete({ metadata }) {
                if (metadata.namespace !== undefined && waiting.has(metadata.namespace))
                  enqueue({ name: metadata.namespace });
              },
            }),
            onRemoved: () => {},
            onChange() {
              for (const name of waiting) enqueue({ name });
            },
          });
          signal.addEventListener('abort', () => informers.stop(), { once: true });
        },
      },
    ],
    async reconcile(context, { name }): Promise<Result> {
      const namespace = await context.client
        .get(Namespaces, { name }, { signal: context.signal })
        .catch((error: unknown) => {
          if (!isNotFound(error)) throw error;
          return undefined;
        });
      if (
        !namespace ||
        namespace.metadata.deletionTimestamp === undefined ||
        !namespace.spec?.finalizers?.includes(contentFinalizer)
      ) {
        waiting.delete(name);
        return done();
      }
      // Added before the content is read, so that no deletion in between is missed.
      waiting.add(name);
      const report = await deleteContent(name, { client: context.client, served, signal: context.signal });
      const reported = await writeConditions(namespace, report, context);
      if (report.failures.length > 0)
        throw new Error(`namespace ${name} cannot be emptied: ${report.failures.join('; ')}`);
      if (report.undiscovered.length > 0) {
        throw new Error(
          `namespace ${name} may hold kinds that cannot be listed now: ${report.undiscovered.join(', ')}`,
        );
      }
      if (report.remaining.size > 0) return after(recheckMs, 'content with finalizers remains');
      await finalize(context.client, reported, context.signal);
      waiting.delete(name);
      context.log.info('Emptied a namespace');
      return done();
    },
  });
}

async function writeConditions(
  namespace: Namespace,
  report: ContentReport,
  context: ReconcileContext,
): Promise<Namespace> {
  const draft = clone(namespace);
  const now = context.clock.now();
  let conditions = draft.status?.conditions ?? [];
  for (const condition of namespaceConditions(report)) conditions = [...withCondition(conditions, condition, now)];
  draft.status = { ...draft.status, phase: 'Terminating', conditions };
  return await patchStatus(context.client, Namespaces, namespace, draft, {
    fieldManager,
    clock: context.clock,
    signal: context.signal,
  });
}

async function finalize(client: Client, namespace: Namespace, signal: AbortSignal): Promise<void> {
  let latest = namespace;
  for (let tries = 0; ; tries++) {
    const finalizers = (latest.spec?.finalizers ?? []).filter((name) => name !== contentFinalizer);
    try {
      await client.update(
        Namespaces,
        { ...latest, spec: { ...latest.spec, finalizers } },
        { fieldManager, subresource: 'finalize', signal },
      );
      return;
    } catch (error) {
      if (isNotFound(error)) return;
      if (!isConflict(error) || tries >= 5) throw error;
      latest = await client.get(Namespaces, { name: namespace.metadata.name ?? '' }, { signal });
      if (latest.metadata.uid !== namespace.metadata.uid) return;
    }
  }
}
