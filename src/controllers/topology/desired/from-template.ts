import {
  type Cluster,
  Clusters,
  clusterNameLabel,
  topologyDeploymentNameLabel,
  topologyOwnedLabel,
} from '../../../api/index.ts';
import {
  asUnstructured,
  isJsonObject,
  type JsonObject,
  parseApiVersion,
  type UnstructuredObject,
} from '../../../machinery/index.ts';
import {
  at,
  clonedFromGroupKindAnnotation,
  clonedFromNameAnnotation,
  kindWithoutTemplate,
  lastAppliedAnnotation,
  ownerReference,
} from '../../shared/index.ts';

type Texts = Record<string, string>;

export function textsAt(object: UnstructuredObject, ...path: readonly string[]): Texts {
  const value = at(object, ...path);
  return isJsonObject(value) ? (value as Texts) : {};
}

export interface MadeFrom {
  cluster: Cluster;
  template: UnstructuredObject;
  name: string;
  labels?: Texts;
  annotations?: Texts;
}

function clonedFrom({ apiVersion, kind, metadata }: UnstructuredObject): Texts {
  return {
    [clonedFromNameAnnotation]: metadata.name ?? '',
    [clonedFromGroupKindAnnotation]: `${kind}.${parseApiVersion(apiVersion).group}`,
  };
}

const ownLabels = (cluster: Cluster): Texts => ({
  [clusterNameLabel]: cluster.metadata.name ?? '',
  [topologyOwnedLabel]: '',
});

function withoutLastApplied({ [lastAppliedAnnotation]: _, ...annotations }: Texts): Texts {
  return annotations;
}

/**
 * Builds an object from a template. Includes its owner, because the object is created only after the Cluster refers to
 * it.
 */
export function objectFrom({ cluster, template, name, labels, annotations }: MadeFrom): UnstructuredObject {
  const spec = at(template, 'spec', 'template', 'spec');
  return {
    apiVersion: template.apiVersion,
    kind: kindWithoutTemplate(template.kind),
    metadata: {
      name,
      namespace: cluster.metadata.namespace ?? '',
      labels: { ...textsAt(template, 'spec', 'template', 'metadata', 'labels'), ...labels, ...ownLabels(cluster) },
      annotations: withoutLastApplied({
        ...textsAt(template, 'spec', 'template', 'metadata', 'annotations'),
        ...annotations,
        ...clonedFrom(template),
      }),
      ownerReferences: [ownerReference(cluster, Clusters, { controller: true })],
    },
    spec: isJsonObject(spec) ? spec : {},
  };
}

/** Builds a cluster's template from a class template. */
export function templateFrom({ cluster, template, name, labels, annotations }: MadeFrom): UnstructuredObject {
  return {
    apiVersion: template.apiVersion,
    kind: template.kind,
    metadata: {
      name,
      namespace: cluster.metadata.namespace ?? '',
      labels: { ...template.metadata.labels, ...labels, ...ownLabels(cluster) },
      annotations: withoutLastApplied({ ...template.metadata.annotations, ...annotations, ...clonedFrom(template) }),
      ownerReferences: [ownerReference(cluster, Clusters)],
    },
    ...specOfTemplate(template),
  };
}

/** Omits an empty template spec; kinds that allow it expect the spec absent, not empty. */
function specOfTemplate({ spec }: UnstructuredObject): { spec?: JsonObject } {
  return isJsonObject(spec) && Object.keys(spec).length > 0 ? { spec } : {};
}

/** Builds the patchable template of an object, with the labels and annotations the object will have. */
export function forPatching(template: UnstructuredObject, object: UnstructuredObject): UnstructuredObject {
  const { labels, annotations } = object.metadata;
  const isTemplate = object.kind === template.kind;
  const metadata: JsonObject = { labels: { ...labels }, annotations: { ...annotations } };
  if (isTemplate) {
    return asUnstructured({
      ...(template as JsonObject),
      metadata: { ...(template.metadata as JsonObject), ...metadata },
    });
  }
  const spec = isJsonObject(template['spec']) ? template['spec'] : {};
  const inner = isJsonObject(spec['template']) ? spec['template'] : {};
  const before = isJsonObject(inner['metadata']) ? inner['metadata'] : {};
  return asUnstructured({
    ...(template as JsonObject),
    spec: { ...spec, template: { ...inner, metadata: { ...before, ...metadata } } },
  });
}

/** Keeps labels and annotations that identify an object; patches cannot change them. */
function preserved(wanted: Texts | undefined, patched: Texts, kept: readonly string[]): Texts {
  const result = { ...patched };
  for (const key of kept) {
    if (wanted?.[key] === undefined) delete result[key];
    else result[key] = wanted[key];
  }
  return result;
}

const keptLabels = [clusterNameLabel, topologyOwnedLabel, topologyDeploymentNameLabel];
const keptAnnotations = [clonedFromNameAnnotation, clonedFromGroupKindAnnotation];

/** Copies the result of patching a template to the cluster's object or template. */
export function withPatched(desired: UnstructuredObject, patched: UnstructuredObject): UnstructuredObject {
  const isTemplate = desired.kind === patched.kind;
  const where = isTemplate ? [] : ['spec', 'template'];
  const ofObject = at(patched, 'spec', 'template', 'spec');
  const { spec: _, ...withoutSpec } = desired;
  return {
    ...withoutSpec,
    metadata: {
      ...desired.metadata,
      labels: preserved(desired.metadata.labels, textsAt(patched, ...where, 'metadata', 'labels'), keptLabels),
      annotations: preserved(
        desired.metadata.annotations,
        textsAt(patched, ...where, 'metadata', 'annotations'),
        keptAnnotations,
      ),
    },
    ...(isTemplate ? specOfTemplate(patched) : { spec: isJsonObject(ofObject) ? ofObject : {} }),
  };
}
