import type { Client, ObjectKey } from '../../../client/index.ts';
import type { KubeObject } from '../../../machinery/index.ts';

/** Installs the controllers in a cluster, as `capstan install` does. */
export interface ChildInstaller {
  /** Deployment of the controllers */
  readonly deployment: ObjectKey;
  /** Idempotent. `image`: image of the controllers; default that of the parent. */
  install(child: Client, options: { image?: string; signal: AbortSignal }): Promise<void>;
  /** the installed objects, in apply order */
  objects(image: string | undefined, signal: AbortSignal): Promise<readonly KubeObject[]>;
}
