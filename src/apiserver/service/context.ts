import type { Clock, Random } from '../../machinery/index.ts';
import type { Store } from '../../store/index.ts';
import type { AdmissionChain } from '../admission/index.ts';
import type { Registry } from '../registry/index.ts';
import type { StoredObject } from '../storage/stored-object.ts';

/** What every verb works with. */
export interface ServiceContext {
  store: Store<StoredObject>;
  registry: Registry;
  admission: AdmissionChain;
  clock: Clock;
  random: Random;
}
