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

/** What a ClusterStack is to have, and why. */
export interface StackPlan {
  /** oldest first */
  readonly wanted: readonly StackId[];
  /** names of owned ClusterStackReleases nobody needs */
  readonly unneeded: readonly string[];
}

export interface StackFacts {
  /** ids that the sources have; undefined: nobody asked, or nobody answered */
  readonly offered: readonly StackId[] | undefined;
  /** releases that belong to the stack */
  readonly owned: readonly { readonly id: StackId; readonly ready: boolean }[];
  /** releases that Clusters are made from, by name */
  readonly used: ReadonlySet<string>;
}

/**
 * Kept are: what the spec names, what Clusters use, the newest that the sources offer (with autoSubscribe) and, so that there is
 * always one to use, the newest that is ready.
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
