import { type Pod, Pods } from '../../../api/index.ts';
import type { InformerFactory, Lister } from '../../../client/index.ts';

/** index of Pods by node name; unscheduled Pods are under the empty name */
export const podsByNode = 'by-node';
const podsByLabel = 'by-label';

/** Indexes Pods by the node they run on. */
export function indexPodsByNode(cache: InformerFactory): Lister<Pod> {
  const informer = cache.informer(Pods);
  informer.addIndexer(podsByNode, (pod) => [pod.spec.nodeName ?? '']);
  return informer.lister;
}

/** Indexes Pods by label, because a namespace may hold thousands of Pods while a selector matches three. */
export function indexPodsByLabel(cache: InformerFactory): Lister<Pod> {
  const informer = cache.informer(Pods);
  informer.addIndexer(podsByLabel, ({ metadata: { namespace, labels } }) => {
    const values: string[] = [];
    for (const [key, value] of Object.entries(labels ?? {})) values.push(labelValue(namespace, key, value));
    return values;
  });
  return informer.lister;
}

function labelValue(namespace: string | undefined, key: string, value: string): string {
  return `${namespace ?? ''}/${key}=${value}`;
}

/** Finds the Pods of a namespace that have all the labels. Scans only the shortest of the label lists. */
export function podsWithLabels(
  lister: Lister<Pod>,
  namespace: string,
  labels: Readonly<Record<string, string>>,
): Pod[] {
  let shortest: { value: string; count: number } | undefined;
  for (const [key, label] of Object.entries(labels)) {
    const value = labelValue(namespace, key, label);
    const count = lister.countByIndex(podsByLabel, value);
    if (count === 0) return [];
    if (!shortest || count < shortest.count) shortest = { value, count };
  }
  if (!shortest) return lister.list({ namespace });
  return lister.byIndex(podsByLabel, shortest.value).filter(({ metadata }) => hasLabels(metadata.labels, labels));
}

export function hasLabels(
  labels: Readonly<Record<string, string>> | undefined,
  desired: Readonly<Record<string, string>>,
): boolean {
  for (const key in desired) if (labels?.[key] !== desired[key]) return false;
  return true;
}
