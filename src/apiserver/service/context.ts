import type { Clock, Random, StrategyContext } from '../../machinery/index.ts';
import type { Store } from '../../store/index.ts';
import type { AdmissionChain } from '../admission/index.ts';
import type { UserInfo } from '../auth/index.ts';
import type { Registry } from '../registry/index.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import type { Caller, NamedTarget, WriteSettings } from './types.ts';

/** What every verb works with. */
export interface ServiceContext {
  store: Store<StoredObject>;
  registry: Registry;
  admission: AdmissionChain;
  clock: Clock;
  random: Random;
  /** throws 403 when the user may not create the object: asked where another verb turns out to create one */
  checkMayCreate(user: UserInfo, target: NamedTarget): void;
}

/** What the strategy of a kind may know of the request. */
export function strategyContextFor(
  { random }: ServiceContext,
  { user }: Caller,
  { dryRun }: WriteSettings,
  nowMs: number,
  subresource?: string,
): StrategyContext {
  // Filled in the same order every time: objects of one shape are what makes reading them cheap.
  const strategyContext: StrategyContext = { nowMs, random, dryRun, user: user.name, groups: user.groups };
  if (subresource !== undefined) strategyContext.subresource = subresource;
  if (user.uid !== undefined) strategyContext.userUid = user.uid;
  if (user.extra) strategyContext.extra = user.extra;
  return strategyContext;
}
