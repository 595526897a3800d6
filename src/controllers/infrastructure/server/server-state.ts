import type { Server } from '../../../openstack/index.ts';
import type { Verdict } from '../../shared/index.ts';
import { notReady, readyVerdict, unknown } from '../common/conditions.ts';
import { instanceDeletedReason, instanceNotReadyReason, instanceStateErrorReason } from './conditions.ts';

/** What a status of nova's means for those who wait for the server. */
export interface ServerState {
  readonly ready: boolean;
  readonly verdict: Verdict;
}

/** Judges a server by its status in nova. */
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
  const words = fault?.message.replace(/[.\s]+$/, '') ?? '';
  return `${words === '' ? '' : `: ${words}`}; delete the machine to have it replaced, or mend the server in nova`;
}
