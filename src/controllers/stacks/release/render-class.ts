import { familyName } from '../../../api/index.ts';
import type { UnstructuredObject } from '../../../machinery/index.ts';
import { renderChart } from '../../../template/index.ts';
import { instanceLabel, ownedInstance, releaseAnnotation } from '../names.ts';
import type { StackRelease } from './release.ts';
import { StackReleaseError } from './release-error.ts';

/** Renders the ClusterClass and templates of a release with ownership labels, in the release's namespace. */
export function renderClass(release: StackRelease, name: string, namespace: string): UnstructuredObject[] {
  const rendered = renderChart({ chart: release.classChart, release: { name: familyName(release.id), namespace } });
  if (!rendered.ok) throw new StackReleaseError(`chart of the ClusterClass: ${rendered.error.message}`);
  return rendered.value.objects.map(({ object, source }) => {
    const { metadata } = object;
    if (metadata.namespace !== undefined && metadata.namespace !== namespace) {
      throw new StackReleaseError(
        `${source}: ${object.kind} ${metadata.name} is for the namespace ${metadata.namespace}; a release stays in its own`,
      );
    }
    return {
      ...object,
      metadata: {
        ...metadata,
        namespace,
        labels: { ...metadata.labels, [instanceLabel]: ownedInstance },
        annotations: { ...metadata.annotations, [releaseAnnotation]: name },
      },
    };
  });
}
