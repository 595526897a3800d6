import { conflict } from '../core/wrapped-refusals.ts';
import type { Compute } from './compute.ts';
import { switchOff, switchOn } from './machines.ts';
import type { Server, VmState } from './tables.ts';

/** A server action that only moves the server between states, described as data. */
export interface Transition {
  /** name in refusals and in the list of actions */
  readonly verb: string;
  readonly from: readonly VmState[];
  readonly taskState: string;
  readonly to: VmState;
  readonly powerState: number;
  /** name of the operation in the timings */
  readonly timing: string;
  /** task states that the action may interrupt */
  readonly during?: readonly string[];
}

const running: readonly VmState[] = ['active'];

/** Transitions by action name in the request. */
export const transitions: Readonly<Record<string, Transition>> = {
  'os-stop': {
    verb: 'stop',
    from: ['active', 'error'],
    taskState: 'powering-off',
    to: 'stopped',
    powerState: 4,
    timing: 'server.stop',
  },
  'os-start': {
    verb: 'start',
    from: ['stopped'],
    taskState: 'powering-on',
    to: 'active',
    powerState: 1,
    timing: 'server.start',
  },
  pause: { verb: 'pause', from: running, taskState: 'pausing', to: 'paused', powerState: 3, timing: 'server.pause' },
  unpause: {
    verb: 'unpause',
    from: ['paused'],
    taskState: 'unpausing',
    to: 'active',
    powerState: 1,
    timing: 'server.pause',
  },
  suspend: {
    verb: 'suspend',
    from: running,
    taskState: 'suspending',
    to: 'suspended',
    powerState: 4,
    timing: 'server.suspend',
  },
  resume: {
    verb: 'resume',
    from: ['suspended'],
    taskState: 'resuming',
    to: 'active',
    powerState: 1,
    timing: 'server.suspend',
  },
  rescue: {
    verb: 'rescue',
    from: ['active', 'stopped', 'error'],
    taskState: 'rescuing',
    to: 'rescued',
    powerState: 1,
    timing: 'server.rescue',
  },
  unrescue: {
    verb: 'unrescue',
    from: ['rescued'],
    taskState: 'unrescuing',
    to: 'active',
    powerState: 1,
    timing: 'server.rescue',
  },
  shelve: {
    verb: 'shelve',
    from: ['active', 'stopped', 'paused', 'suspended'],
    taskState: 'shelving',
    to: 'shelved_offloaded',
    powerState: 4,
    timing: 'server.shelve',
  },
  shelveOffload: {
    verb: 'shelve_offload',
    from: ['shelved'],
    taskState: 'shelving_offloading',
    to: 'shelved_offloaded',
    powerState: 4,
    timing: 'server.shelve',
  },
  unshelve: {
    verb: 'unshelve',
    from: ['shelved', 'shelved_offloaded'],
    taskState: 'unshelving',
    to: 'active',
    powerState: 1,
    timing: 'server.shelve',
  },
};

const reboots: Readonly<Record<'SOFT' | 'HARD', Transition>> = {
  SOFT: {
    verb: 'reboot',
    from: running,
    taskState: 'rebooting',
    to: 'active',
    powerState: 1,
    timing: 'server.reboot',
  },
  HARD: {
    verb: 'reboot',
    from: ['active', 'stopped', 'paused', 'suspended', 'error'],
    taskState: 'rebooting_hard',
    to: 'active',
    powerState: 1,
    timing: 'server.reboot',
    during: ['rebooting', 'rebooting_hard', 'resuming', 'unpausing', 'suspending'],
  },
};

export function rebootTransition(type: 'SOFT' | 'HARD'): Transition {
  return reboots[type];
}

const job = 'compute.transition';

export function defineTransitions(compute: Compute): void {
  const { jobs, timings } = compute.core;
  timings.declare({
    'server.stop': [500, 1000],
    'server.start': [500, 1000],
    'server.reboot': [1000, 2000],
    'server.pause': [200, 400],
    'server.suspend': [500, 1000],
    'server.rescue': [1000, 2000],
    'server.shelve': [1000, 2000],
  });
  jobs.define<Transition>(job, (id, transition) => {
    const server = compute.servers.get(id);
    if (server?.taskState === transition.taskState) finish(compute, server, transition);
  });
}

/** Refuses an action that the state of the server does not allow. */
export function mustBeIn(
  server: Readonly<Server>,
  verb: string,
  from: readonly VmState[],
  during: readonly string[] = [],
): void {
  if (!from.includes(server.vmState)) {
    throw conflict(`Cannot '${verb}' instance ${server.id} while it is in vm_state ${server.vmState}`);
  }
  if (server.taskState !== null && !during.includes(server.taskState)) {
    throw conflict(`Cannot '${verb}' instance ${server.id} while it is in task_state ${server.taskState}`);
  }
}

export function beginTransition(compute: Compute, server: Readonly<Server>, transition: Transition): void {
  mustBeIn(server, transition.verb, transition.from, transition.during);
  compute.core.jobs.cancel(job, server.id);
  compute.change(server.id, { taskState: transition.taskState });
  // The machine stops immediately. The server's state follows once nova has noticed.
  if (server.powerState === 1) switchOff(compute, server.id, offReason(transition));
  compute.core.jobs.schedule(compute.core.timings.sample(transition.timing), job, server.id, transition);
}

/** Returns why the machine stops. A rescued server runs from another disk, so leaving rescue counts as a reboot. */
function offReason({ verb }: Transition): 'stop' | 'reboot' | 'suspend' {
  if (verb === 'reboot' || verb === 'unrescue') return 'reboot';
  return verb === 'pause' || verb === 'suspend' ? 'suspend' : 'stop';
}

function finish(compute: Compute, server: Readonly<Server>, { to, powerState, verb }: Transition): void {
  const isOffloaded = to === 'shelved_offloaded';
  compute.change(server.id, {
    vmState: to,
    taskState: null,
    powerState,
    ...(to === 'active' && { fault: undefined }),
    ...(isOffloaded && { host: '', hostId: '' }),
  });
  if (verb === 'unshelve') {
    const host = [...compute.hosts.all()].find(({ zone, enabled }) => zone === server.zone && enabled);
    if (host) compute.change(server.id, { host: host.id, hostId: compute.hostIdOf(server.projectId, host.id) });
  }
  if (verb === 'shelve' && server.imageId !== '') shelveImage(compute, server);
  if (verb === 'unshelve' && server.shelvedImageId) {
    compute.core.services.image.deleteImage(server.shelvedImageId);
    compute.change(server.id, { shelvedImageId: '' });
  }
  compute.finishAction(server.id, null);
  if (to === 'active') switchOn(compute, server.id);
}

/** Creates the image for unshelving. The owner sees it among the images. */
function shelveImage(compute: Compute, server: Readonly<Server>): void {
  const { image: images } = compute.core.services;
  const shelvedImageId = images.createSnapshot({
    name: `${server.name}-shelved`,
    projectId: server.projectId,
    userId: server.userId,
    serverId: server.id,
    baseImageId: server.imageId,
    properties: {},
  });
  compute.change(server.id, { shelvedImageId });
}
