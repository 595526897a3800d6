import type { UnstructuredObject } from '../../../machinery/index.ts';

/** Reduces an object to name, labels, annotations and spec; extensions must find out the state themselves. */
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
