import type { UnstructuredObject } from '../../../machinery/index.ts';

/** Names, labels, annotations and spec: the state is the extension's to find out. */
export function slimObject({ apiVersion, kind, metadata, spec }: UnstructuredObject): UnstructuredObject {
  const { name, namespace, labels, annotations } = metadata;
  return {
    apiVersion,
    kind,
    metadata: {
      ...(name !== undefined && { name }),
      ...(namespace !== undefined && { namespace }),
      ...(labels && { labels }),
      ...(annotations && { annotations }),
    },
    ...(spec !== undefined && { spec }),
  };
}
