import {
  type ClusterStack,
  classNameOf,
  compareStackVersions,
  inChannel,
  newestPerChannel,
  parseStackVersion,
  releaseNameOf,
  type StackId,
  sameFamily,
} from '../../../api/index.ts';

/** Desired releases of a ClusterStack, with reasons. */
export interface StackPlan {
  /** oldest first */
  readonly wanted: readonly StackId[];
  /** names of owned ClusterStackReleases that are not needed */
  readonly unneeded: readonly string[];
}

export interface StackFacts {
  /** ids available from the sources; undefined if unknown */
  readonly offered: readonly StackId[] | undefined;
  /** releases owned by the stack */
  readonly owned: readonly { readonly id: StackId; readonly ready: boolean }[];
  /** names of releases used by Clusters */
  readonly used: ReadonlySet<string>;
}

/**
 * Keeps releases that the spec names, that Clusters use, the newest available (with autoSubscribe), and the newest
 * ready one, so that one is always usable.
 */
export function planStack(stack: Pick<ClusterStack, 'spec'>, { offered, owned, used }: StackFacts): StackPlan {
  const { spec } = stack;
  const channel = spec.channel ?? 'stable';
  const isOurs = (id: StackId): boolean => sameFamily(id, spec) && inChannel(id.version, channel);
  const wanted = new Map<string, StackId>();
  const want = (ids: readonly StackId[]): void => {
    for (const id of ids) wanted.set(releaseNameOf(id), id);
  };
  want(
    (spec.versions ?? []).flatMap((text) => {
      const version = parseStackVersion(text);
      const { provider, name, kubernetesVersion } = spec;
      return version === undefined ? [] : [{ provider, name, kubernetesVersion, version }];
    }),
  );
  if (spec.autoSubscribe ?? true) want(newestPerChannel((offered ?? []).filter(isOurs)));
  want(newestPerChannel(owned.filter(({ id, ready }) => ready && isOurs(id)).map(({ id }) => id)));
  want(owned.map(({ id }) => id).filter((id) => used.has(releaseNameOf(id))));
  return {
    wanted: [...wanted.values()].sort(
      (a, b) => compareStackVersions(a.version, b.version) || (classNameOf(a) < classNameOf(b) ? -1 : 1),
    ),
    unneeded: owned.map(({ id }) => releaseNameOf(id)).filter((name) => !wanted.has(name)),
  };
}
