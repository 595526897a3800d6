import type { Client, ObjectKey } from '../../../client/index.ts';
import type { KubeObject } from '../../../machinery/index.ts';

/** Puts the controllers into a cluster, as `capstan install` does. */
export interface ChildInstaller {
  /** the Deployment of the controllers */
  readonly deployment: ObjectKey;
  /** Ended anywhere it is called again. `image`: which the controllers are run from; that of the parent by default. */
  install(child: Client, options: { image?: string; signal: AbortSignal }): Promise<void>;
  /** what that is, in the order in which it can be applied */
  objects(image: string | undefined, signal: AbortSignal): Promise<readonly KubeObject[]>;
}
