import type { BodySchema } from '../core/checks/schema.ts';
import type { RequestContext } from '../core/http/context.ts';
import type { Answer, Route } from '../core/service.ts';
import { badRequest, checkBody, conflict, forbidden, notFound } from '../core/wrapped-refusals.ts';
import type { Compute } from './compute.ts';
import { consoleText } from './console.ts';
import { findFlavor } from './flavors.ts';
import { beginRebuild, beginResize, confirmResize, revertResize, snapshotServer } from './server-changes.ts';
import { serverFlavorOf } from './server-create.ts';
import { beginDelete } from './server-delete.ts';
import type { Server, VmState } from './tables.ts';
import { beginTransition, mustBeIn, rebootTransition, transitions } from './transitions.ts';

type Fields = Readonly<Record<string, unknown>>;

interface Action {
  /** name of the policy rule */
  readonly policy: string;
  readonly adminOnly?: boolean;
  /** name in the list of actions; not listed if absent */
  readonly recordAs?: string;
  /** allowed on locked servers */
  readonly evenIfLocked?: boolean;
  readonly since?: number;
  readonly until?: number;
  run(compute: Compute, context: RequestContext, server: Readonly<Server>, fields: Fields): Answer | undefined;
}

/** Route of POST /servers/{id}/action. The only key of the body names the action. */
export function serverActionRoute(compute: Compute): Route {
  return {
    method: 'POST',
    path: '/v2.1/servers/{id}/action',
    handle(context) {
      const body = context.json;
      if (typeof body !== 'object' || body === null || Array.isArray(body)) throw badRequest('Malformed request body');
      const [name, ...more] = Object.keys(body);
      if (name === undefined || more.length > 0) throw badRequest('Malformed request body');
      const action = actionOf(name);
      if (!action || (action.since ?? 0) > context.minor || context.minor > (action.until ?? 1000)) {
        throw badRequest(`There is no such action: ${name}`);
      }
      const { caller } = context;
      if (!(action.adminOnly ? caller.isAdmin : caller.canWrite || action.policy.endsWith('console-output'))) {
        throw forbidden(`Policy doesn't allow ${action.policy} to be performed.`);
      }
      const server = compute.server(context);
      if (server.isLocked && !action.evenIfLocked && !caller.isAdmin) {
        throw conflict(`Instance ${server.id} is locked`);
      }
      const value = (body as Fields)[name];
      const fields = typeof value === 'object' && value !== null ? (value as Fields) : {};
      const answer = action.run(compute, context, server, fields) ?? { status: 202 };
      if (action.recordAs !== undefined) compute.record(server, action.recordAs, context);
      return answer;
    },
  };
}

function actionOf(name: string): Action | undefined {
  const transition = transitions[name];
  if (transition) {
    const file = policyOf[name] ?? `os-${name}`;
    return {
      policy: `os_compute_api:${file}`,
      recordAs: transition.verb,
      run: (compute, _context, server) => {
        beginTransition(compute, server, transition);
        return name === 'rescue' ? { status: 200, body: { adminPass: compute.core.ids.secret(12) } } : undefined;
      },
    };
  }
  return Object.hasOwn(actions, name) ? actions[name] : undefined;
}

const policyOf: Readonly<Record<string, string>> = {
  'os-start': 'servers:start',
  'os-stop': 'servers:stop',
  pause: 'os-pause-server:pause',
  unpause: 'os-pause-server:unpause',
  suspend: 'os-suspend-server:suspend',
  resume: 'os-suspend-server:resume',
  rescue: 'os-rescue',
  unrescue: 'os-unrescue',
  shelve: 'os-shelve:shelve',
  unshelve: 'os-shelve:unshelve',
  shelveOffload: 'os-shelve:shelve_offload',
};

const states: Readonly<Record<string, VmState>> = { active: 'active', error: 'error' };

const consoleSchema: BodySchema = {
  type: 'object',
  properties: {
    'os-getConsoleOutput': {
      type: 'object',
      properties: { length: { type: ['integer', 'string', 'null'], pattern: '^-?[0-9]+$', minimum: -1 } },
    },
  },
};

const resizeSchema: BodySchema = {
  type: 'object',
  properties: {
    resize: {
      type: 'object',
      properties: {
        flavorRef: { type: ['string', 'integer'], minLength: 1 },
        'OS-DCF:diskConfig': { type: 'string', enum: ['AUTO', 'MANUAL'] },
      },
      required: ['flavorRef'],
    },
  },
};

const actions: Readonly<Record<string, Action>> = {
  reboot: {
    policy: 'os_compute_api:servers:reboot',
    recordAs: 'reboot',
    run(compute, context, server) {
      checkBody(
        {
          type: 'object',
          properties: {
            reboot: {
              type: 'object',
              properties: { type: { type: 'string', enum: ['HARD', 'Hard', 'hard', 'SOFT', 'Soft', 'soft'] } },
              required: ['type'],
              additionalProperties: false,
            },
          },
        },
        context.json,
      );
      const type = (context.json as { reboot: { type: string } }).reboot.type.toUpperCase() as 'HARD' | 'SOFT';
      beginTransition(compute, server, rebootTransition(type));
      return undefined;
    },
  },
  'os-getConsoleOutput': {
    policy: 'os_compute_api:os-console-output',
    evenIfLocked: true,
    run(compute, context, server, { length }) {
      checkBody(consoleSchema, context.json);
      const lines = length === undefined || length === null ? undefined : Number(length);
      if (server.host === '') throw conflict(`Instance ${server.id} is not ready`);
      return { status: 200, body: { output: consoleText(compute, server, lines) } };
    },
  },
  'os-getVNCConsole': remoteConsole('novnc'),
  'os-getSPICEConsole': remoteConsole('spice-html5'),
  lock: {
    policy: 'os_compute_api:os-lock-server:lock',
    recordAs: 'lock',
    evenIfLocked: true,
    run(compute, context, server, { locked_reason: reason }) {
      const lockedReason = typeof reason === 'string' && context.minor >= 73 ? reason : null;
      compute.change(server.id, { isLocked: true, lockedReason });
      return undefined;
    },
  },
  unlock: {
    policy: 'os_compute_api:os-lock-server:unlock',
    recordAs: 'unlock',
    evenIfLocked: true,
    run(compute, _context, server) {
      compute.change(server.id, { isLocked: false, lockedReason: null });
      return undefined;
    },
  },
  changePassword: {
    policy: 'os_compute_api:os-admin-password',
    recordAs: 'change_password',
    run(_compute, _context, server, { adminPass }) {
      if (typeof adminPass !== 'string') {
        throw badRequest(
          "Invalid input for field/attribute changePassword. Value: {}. 'adminPass' is a required property",
        );
      }
      mustBeIn(server, 'set_admin_password', ['active']);
      return undefined;
    },
  },
  createImage: {
    policy: 'os_compute_api:servers:create_image',
    recordAs: 'createImage',
    run: (compute, context, server, fields) => snapshotServer(compute, context, server, fields),
  },
  rebuild: {
    policy: 'os_compute_api:servers:rebuild',
    recordAs: 'rebuild',
    run: (compute, context, server, fields) => beginRebuild(compute, context, server, fields),
  },
  resize: {
    policy: 'os_compute_api:servers:resize',
    recordAs: 'resize',
    run(compute, context, server, { flavorRef, 'OS-DCF:diskConfig': diskConfig }) {
      checkBody(resizeSchema, context.json);
      const flavor = findFlavor(compute, context, String(flavorRef));
      if (!flavor) throw badRequest(`Flavor ${String(flavorRef)} could not be found.`);
      if (flavor.id === server.flavor.id) throw badRequest('When resizing, instances must change flavor!');
      beginResize(compute, server, serverFlavorOf(flavor));
      if (typeof diskConfig === 'string') compute.change(server.id, { diskConfig });
      return undefined;
    },
  },
  confirmResize: {
    policy: 'os_compute_api:servers:confirm_resize',
    recordAs: 'confirmResize',
    run: (compute, _context, server) => confirmResize(compute, server),
  },
  revertResize: {
    policy: 'os_compute_api:servers:revert_resize',
    recordAs: 'revertResize',
    run: (compute, _context, server) => revertResize(compute, server),
  },
  addSecurityGroup: {
    policy: 'os_compute_api:os-security-groups:add',
    run: (compute, _context, server, fields) => changeGroups(compute, server, String(fields['name'] ?? ''), 'add'),
  },
  removeSecurityGroup: {
    policy: 'os_compute_api:os-security-groups:remove',
    run: (compute, _context, server, fields) => changeGroups(compute, server, String(fields['name'] ?? ''), 'remove'),
  },
  forceDelete: {
    policy: 'os_compute_api:os-deferred-delete:force',
    run(compute, _context, server) {
      beginDelete(compute, server);
      return undefined;
    },
  },
  'os-resetState': {
    policy: 'os_compute_api:os-admin-actions:reset_state',
    adminOnly: true,
    run(compute, _context, server, { state }) {
      const vmState = states[String(state)];
      if (!vmState) {
        throw badRequest(
          `Invalid input for field/attribute state. Value: ${String(state)}. '${String(state)}' is not one of ['active', 'error']`,
        );
      }
      compute.change(server.id, { vmState, taskState: null, ...(vmState === 'active' && { fault: undefined }) });
      return undefined;
    },
  },
  migrate: {
    policy: 'os_compute_api:os-migrate-server:migrate',
    adminOnly: true,
    recordAs: 'migrate',
    run(compute, _context, server) {
      beginResize(compute, server, server.flavor);
      return undefined;
    },
  },
};

function remoteConsole(type: string): Action {
  return {
    policy: 'os_compute_api:os-remote-consoles',
    until: 5,
    evenIfLocked: true,
    run: (compute, context) => {
      const url = `${context.origin}/console?token=${compute.core.ids.uuid()}`;
      return { status: 200, body: { console: { type, url } } };
    },
  };
}

/** Adds a security group to all ports of a server, or removes it. */
function changeGroups(
  compute: Compute,
  server: Readonly<Server>,
  nameOrId: string,
  change: 'add' | 'remove',
): undefined {
  const { network } = compute.core.services;
  const group = network.securityGroup(server.projectId, nameOrId);
  if (group === 'ambiguous') {
    throw conflict(`Multiple security groups found matching '${nameOrId}'. Use an ID to be more specific.`);
  }
  if (!group) throw notFound(`Security group ${nameOrId} not found.`);
  for (const { id } of server.ports) {
    const port = network.port(id);
    if (!port) continue;
    const ids = port.securityGroupIds.filter((each) => each !== group.id);
    if (change !== 'add' && ids.length === port.securityGroupIds.length) {
      throw notFound(`Security group ${nameOrId} not associated with the instance ${server.id}`);
    }
    network.setPortSecurityGroups(id, change === 'add' ? [...ids, group.id] : ids);
  }
  compute.change(server.id, {});
  return undefined;
}
