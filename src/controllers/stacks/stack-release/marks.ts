import type { UnstructuredObject } from '../../../machinery/index.ts';
import { instanceLabel, ownedInstance, releaseAnnotation } from '../names.ts';

/** Only what a release brought and nobody else took over is deleted with it. */
export const isOfRelease =
  (name: string) =>
  ({ metadata }: UnstructuredObject): boolean =>
    metadata.labels?.[instanceLabel] === ownedInstance && metadata.annotations?.[releaseAnnotation] === name;
