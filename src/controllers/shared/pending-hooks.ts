import type { BlockingHook } from '../../api/index.ts';
import type { KubeObject } from '../../machinery/index.ts';

/** comma-separated names of hooks to call once the started action is done */
export const pendingHooksAnnotation = 'runtime.cluster.x-k8s.io/pending-hooks';
/** all BeforeClusterDelete handlers agreed to the deletion */
export const okToDeleteAnnotation = 'runtime.cluster.x-k8s.io/ok-to-delete';

type Annotated = { readonly metadata: Pick<KubeObject['metadata'], 'annotations'> };

function pendingOf({ metadata }: Annotated): Set<string> {
  const names = metadata.annotations?.[pendingHooksAnnotation]?.split(',') ?? [];
  return new Set(names.filter((name) => name !== ''));
}

export const isHookPending = (object: Annotated, hook: BlockingHook): boolean => pendingOf(object).has(hook);

/** Records on a draft that hooks are pending. Must be written before the action starts. */
export function markHooksPending(draft: Pick<KubeObject, 'metadata'>, ...hooks: readonly BlockingHook[]): void {
  setPending(draft, new Set([...pendingOf(draft), ...hooks]));
}

/** Records on a draft that a hook completed. */
export function markHookDone(draft: Pick<KubeObject, 'metadata'>, hook: BlockingHook): void {
  const names = pendingOf(draft);
  if (names.delete(hook)) setPending(draft, names);
}

function setPending({ metadata }: Pick<KubeObject, 'metadata'>, names: ReadonlySet<string>): void {
  const { [pendingHooksAnnotation]: _, ...others } = metadata.annotations ?? {};
  metadata.annotations =
    names.size === 0 ? others : { ...others, [pendingHooksAnnotation]: [...names].sort().join(',') };
}

export const isOkToDelete = ({ metadata }: Annotated): boolean =>
  metadata.annotations?.[okToDeleteAnnotation] !== undefined;

export function markOkToDelete({ metadata }: Pick<KubeObject, 'metadata'>): void {
  metadata.annotations = { ...metadata.annotations, [okToDeleteAnnotation]: '' };
}
