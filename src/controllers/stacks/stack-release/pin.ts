import type { ClusterStackRelease } from '../../../api/index.ts';
import { digestAnnotation } from '../names.ts';
import type { StackRelease } from '../release/release.ts';

/** Explains why the files of a release may not be used: they differ from those of its first use. */
export function pinProblem(
  { metadata }: Pick<ClusterStackRelease, 'metadata'>,
  { digest }: Pick<StackRelease, 'digest'>,
): string | undefined {
  const known = metadata.annotations?.[digestAnnotation];
  if (known === undefined || digest === undefined || known === digest) return undefined;
  return (
    `the release changed since it was used first: it was ${known} and is now ${digest}; ` +
    `publish changes as a new version, or remove the annotation ${digestAnnotation} to take it as it is now`
  );
}
