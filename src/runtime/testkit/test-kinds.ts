import type { Condition, KubeObject, Resource } from '../../machinery/index.ts';

/** A kind that exists only in tests. */
export interface Widget extends KubeObject {
  spec?: { size?: number; parts?: string[] };
  status?: { phase?: string; observedGeneration?: number; conditions?: Condition[]; note?: string };
}

export const Widgets: Resource<Widget> = {
  group: 'test.capstan.dev',
  version: 'v1',
  kind: 'Widget',
  plural: 'widgets',
  namespaced: true,
};

export interface Gadget extends KubeObject {
  spec?: { colour?: string };
}

export const Gadgets: Resource<Gadget> = {
  group: 'test.capstan.dev',
  version: 'v1',
  kind: 'Gadget',
  plural: 'gadgets',
  namespaced: true,
};

export function widget(
  name: string,
  more: { spec?: Widget['spec']; labels?: Record<string, string>; finalizers?: string[] } = {},
): Widget {
  return {
    apiVersion: 'test.capstan.dev/v1',
    kind: 'Widget',
    metadata: {
      name,
      namespace: 'default',
      ...(more.labels && { labels: more.labels }),
      ...(more.finalizers && { finalizers: more.finalizers }),
    },
    ...(more.spec && { spec: more.spec }),
  };
}

export function gadget(name: string, owner?: KubeObject): Gadget {
  return {
    apiVersion: 'test.capstan.dev/v1',
    kind: 'Gadget',
    metadata: {
      name,
      namespace: 'default',
      ...(owner && {
        ownerReferences: [
          {
            apiVersion: owner.apiVersion,
            kind: owner.kind,
            name: owner.metadata.name ?? '',
            uid: owner.metadata.uid ?? '',
            controller: true,
          },
        ],
      }),
    },
  };
}
