import type { Cause } from '../../../src/cli/why/first-cause.ts';
import type { Client } from '../../../src/client/index.ts';
import { applyMergePatch, type JsonObject, type KubeObject, type Resource } from '../../../src/machinery/index.ts';
import type { ClusterSpec, Manifest } from '../cluster-manifests.ts';
import type { System } from '../system.ts';

/** What `why` must say. */
export interface Answer {
  /** kind and name of who is at fault; the name of the cluster is `*` */
  readonly object: RegExp;
  readonly message: RegExp;
  readonly next: RegExp;
}

/** Something that goes wrong with a cluster, and what `why` must say of it. */
export interface CausedFault {
  readonly what: string;
  readonly cluster?: Partial<ClusterSpec>;
  /** what the user wrote wrong */
  readonly manifests?: (manifests: readonly Manifest[], name: string) => Manifest[];
  /** what is wrong before anything is created */
  readonly before?: (system: System, name: string) => Promise<void> | void;
  /** what goes wrong with a cluster that is there */
  readonly strike?: (struck: Struck) => Promise<void> | void;
  /** takes it back, for those that come later in the same world */
  readonly after?: (system: System, name: string) => Promise<void> | void;
  readonly says: Answer;
}

export interface Struck {
  readonly system: System;
  readonly name: string;
  /** of the API of the cluster */
  readonly workload: () => Promise<Client>;
}

/** Changes what some manifests say, by a merge patch of their spec. */
export function wrongSpec(
  resource: Resource<KubeObject>,
  spec: JsonObject,
  only: (object: KubeObject) => boolean = () => true,
): (manifests: readonly Manifest[]) => Manifest[] {
  return (manifests) =>
    manifests.map(({ resource: kind, object }) => {
      if (kind !== resource || !only(object)) return { resource: kind, object };
      const was = (object as unknown as { spec: JsonObject }).spec;
      return { resource: kind, object: { ...object, spec: applyMergePatch(was, spec) } as KubeObject };
    });
}

export const ofControlPlane = ({ metadata }: KubeObject): boolean => metadata.name?.includes('-control-plane') === true;
export const ofWorkers = (object: KubeObject): boolean => !ofControlPlane(object);

/** What does not agree; empty: all of it does. */
export function disagreements(cause: Cause | undefined, { object, message, next }: Answer, name: string): string[] {
  if (!cause) return ['nothing is said to hold it up'];
  const said = { ...cause, object: cause.object.replaceAll(name, '*'), message: cause.message.replaceAll(name, '*') };
  return (
    [
      ['object', object],
      ['message', message],
      ['next', next],
    ] as const
  )
    .filter(([field, pattern]) => !pattern.test(said[field]))
    .map(([field, pattern]) => `${field}: ${JSON.stringify(said[field])} is not ${pattern}`);
}
