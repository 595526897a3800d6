import type { Clock, Random, StrategyContext } from '../../machinery/index.ts';
import type { Store } from '../../store/index.ts';
import type { AdmissionChain } from '../admission/index.ts';
import type { UserInfo } from '../auth/index.ts';
import type { Registry } from '../registry/index.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import type { Caller, NamedTarget, WriteSettings } from './types.ts';

/** Dependencies of all verbs. */
export interface ServiceContext {
  store: Store<StoredObject>;
  registry: Registry;
  admission: AdmissionChain;
  clock: Clock;
  random: Random;
  /** throws 403 if the user may not create the object, for other verbs that create objects */
  checkMayCreate(user: UserInfo, target: NamedTarget): void;
}

export function strategyContextFor(
  { random }: ServiceContext,
  { user }: Caller,
  { dryRun }: WriteSettings,
  nowMs: number,
  subresource?: string,
): StrategyContext {
  // Properties are set in a fixed order, so that all objects share one hidden class.
  const strategyContext: StrategyContext = { nowMs, random, dryRun, user: user.name, groups: user.groups };
  if (subresource !== undefined) strategyContext.subresource = subresource;
  if (user.uid !== undefined) strategyContext.userUid = user.uid;
  if (user.extra) strategyContext.extra = user.extra;
  return strategyContext;
}
