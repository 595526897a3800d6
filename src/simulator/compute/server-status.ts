import { must } from '../../machinery/index.ts';
import type { Server, VmState } from './tables.ts';

/** Status shown to users, by the state of the machine and the task under way. */
const statuses: Readonly<Record<VmState, Readonly<Record<string, string>>>> = {
  building: { '': 'BUILD' },
  active: {
    '': 'ACTIVE',
    rebooting: 'REBOOT',
    reboot_pending: 'REBOOT',
    reboot_started: 'REBOOT',
    rebooting_hard: 'HARD_REBOOT',
    updating_password: 'PASSWORD',
    rebuilding: 'REBUILD',
    migrating: 'MIGRATING',
    resize_prep: 'RESIZE',
    resize_migrating: 'RESIZE',
    resize_finish: 'RESIZE',
  },
  stopped: {
    '': 'SHUTOFF',
    resize_prep: 'RESIZE',
    resize_migrating: 'RESIZE',
    resize_finish: 'RESIZE',
    rebuilding: 'REBUILD',
  },
  paused: { '': 'PAUSED' },
  suspended: { '': 'SUSPENDED' },
  rescued: { '': 'RESCUE' },
  resized: { '': 'VERIFY_RESIZE', resize_reverting: 'REVERT_RESIZE' },
  shelved: { '': 'SHELVED' },
  shelved_offloaded: { '': 'SHELVED_OFFLOADED' },
  'soft-delete': { '': 'SOFT_DELETED' },
  error: { '': 'ERROR', rebuilding: 'REBUILD' },
  deleted: { '': 'DELETED' },
};

export function serverStatus({ vmState, taskState }: Pick<Server, 'vmState' | 'taskState'>): string {
  const byTask = statuses[vmState];
  return byTask[taskState ?? ''] ?? must(byTask[''], 'byTask');
}

const known: ReadonlySet<string> = new Set(Object.values(statuses).flatMap((byTask) => Object.values(byTask)));

/** Reports whether lists can filter by this status. */
export function isServerStatus(text: string): boolean {
  return known.has(text);
}
