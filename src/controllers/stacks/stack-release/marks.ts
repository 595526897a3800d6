import type { UnstructuredObject } from '../../../machinery/index.ts';
import { instanceLabel, ownedInstance, releaseAnnotation } from '../names.ts';

/** Only objects created by a release and not taken over by others are deleted with it. */
export const isOfRelease =
  (name: string) =>
  ({ metadata }: UnstructuredObject): boolean =>
    metadata.labels?.[instanceLabel] === ownedInstance && metadata.annotations?.[releaseAnnotation] === name;
