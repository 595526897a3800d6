import type { OpenStackServer } from '../../../api/index.ts';
import { sentenceEnd, trimTrailing } from '../../../machinery/index.ts';
import type { Server } from '../../../openstack/index.ts';
import { conditionOf, type Verdict } from '../../shared/index.ts';
import { notReady, readyVerdict, unknown } from '../common/conditions.ts';
import {
  instanceCutOffReason,
  instanceDeletedReason,
  instanceNotReadyReason,
  instanceReadyCondition,
  instanceStateErrorReason,
} from './conditions.ts';

/** Meaning of a Nova status. */
export interface ServerState {
  readonly ready: boolean;
  readonly verdict: Verdict;
}

/** Judges a server by its status in Nova. */
export function stateOf(server: Pick<Server, 'id' | 'name' | 'status' | 'taskState' | 'fault'>): ServerState {
  const who = `Server ${server.name} (${server.id})`;
  switch (server.status) {
    case 'ACTIVE':
      return { ready: true, verdict: readyVerdict };
    case 'BUILD':
    case '': {
      const step = server.taskState === undefined ? '' : ` (${server.taskState})`;
      return { ready: false, verdict: notReady(instanceNotReadyReason, `${who} is being built${step}`) };
    }
    case 'ERROR':
      return { ready: false, verdict: notReady(instanceStateErrorReason, `${who} is in ERROR${faultText(server)}`) };
    case 'DELETED':
    case 'SOFT_DELETED':
      return { ready: false, verdict: notReady(instanceDeletedReason, `${who} was deleted in nova`) };
    default:
      return {
        ready: false,
        verdict: unknown(
          instanceNotReadyReason,
          `${who} is in state ${server.status}; bring it back to ACTIVE in nova, or delete the machine to have it replaced`,
        ),
      };
  }
}

function faultText({ fault }: Pick<Server, 'fault'>): string {
  const words = trimTrailing(fault?.message ?? '', sentenceEnd);
  return `${words === '' ? '' : `: ${words}`}; delete the machine to have it replaced, or repair the server in nova`;
}

/** Tells whether a running server has lost all its addresses, so that nobody can reach it. */
export function isCutOff(server: OpenStackServer, seen: Pick<Server, 'status' | 'addresses'>): boolean {
  if (seen.status !== 'ACTIVE' || Object.values(seen.addresses).some((all) => all.length > 0)) return false;
  const had = server.status?.addresses?.some(({ type }) => type === 'InternalIP') === true;
  return had || conditionOf(server, instanceReadyCondition)?.reason === instanceCutOffReason;
}

export function cutOffState({ name, id }: Pick<Server, 'id' | 'name'>): ServerState {
  const message = `Server ${name} (${id}) has no address any more: its ports were deleted or detached outside of this program; delete the machine to have it replaced`;
  return { ready: false, verdict: notReady(instanceCutOffReason, message) };
}
