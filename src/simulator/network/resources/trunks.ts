import { must } from '../../../machinery/index.ts';
import type { Caller } from '../../core/caller.ts';
import { pythonText } from '../../core/checks/python.ts';
import type { RequestContext } from '../../core/http/context.ts';
import type { Answer, Route } from '../../core/service.ts';
import type { Attributes } from '../attributes/attribute.ts';
import { readObject } from '../attributes/body.ts';
import * as checks from '../attributes/checks.ts';
import * as common from '../attributes/common.ts';
import { ownRow, visibleRow } from '../controller.ts';
import { type Neutron, standardView } from '../neutron.ts';
import { badBody, invalidInput, portNotFound, refuse, trunkNotFound } from '../refusals.ts';
import type { Resource } from '../resource.ts';
import type { PortRow, SubPort, TrunkRow } from '../rows.ts';

/** Checks for a list of distinct ports. Segmentation details are checked later, with other messages. */
const subPorts: checks.Check = (value) => {
  if (!Array.isArray(value)) return `Invalid data format for subports: '${pythonText(value)}' is not a list`;
  const ports = new Set<unknown>();
  const segments = new Set<string>();
  for (const item of value) {
    if (!checks.isDictionary(item)) return `Invalid data format for subport: '${pythonText(item)}' is not a dict`;
    const { port_id: id, segmentation_id: segment, segmentation_type: type } = item;
    if (id === undefined) return 'A valid port UUID must be specified';
    if (!checks.isUuid(id)) return `Invalid UUID for subport: '${pythonText(id)}'`;
    if (ports.has(id)) return `Non unique UUID for subport: '${id}'`;
    ports.add(id);
    if (segment === undefined && type === undefined) continue;
    const key = `${type} ${segment}`;
    if (segments.has(key)) return `Segmentation ID '${pythonText(segment)}' for '${id}' is not unique`;
    segments.add(key);
  }
  return undefined;
};

const attributes: Attributes = {
  ...common.tagAttributes,
  ...common.standardAttributes,
  admin_state_up: common.adminStateUp,
  id: common.id,
  name: common.name,
  tenant_id: common.owner,
  port_id: { create: true, required: true, check: checks.uuid, filter: true, sort: true },
  status: { sort: true },
  sub_ports: { create: true, default: [], check: subPorts, ruled: true },
  description: common.description,
};

export function trunkResource(neutron: Neutron): Resource<TrunkRow> {
  const { trunks } = neutron;
  return {
    name: 'trunk',
    collection: 'trunks',
    path: 'trunks',
    quota: 'trunk',
    attributes,
    rules: {},
    table: trunks,
    notFound: trunkNotFound,
    isVisibleTo: (row, caller) => row.tenant_id === caller.projectId,
    isOwnedBy: (row, caller) => row.tenant_id === caller.projectId,
    candidates(filters, { isAdmin, projectId }) {
      const ports = filters.get('port_id');
      if (ports?.length === 1) return trunks.by('parent', ports[0] as string);
      return isAdmin || projectId === undefined ? undefined : trunks.by('project', projectId);
    },
    view: trunkView,
    create(values, caller) {
      const parent = visiblePort(neutron, values['port_id'] as string, caller);
      if (trunks.first('child', parent.id)) throw inAnotherTrunk(parent.id);
      if (trunks.first('parent', parent.id) || parent['binding:host_id'] !== '') throw notEligible(parent.id);
      const wanted = values['sub_ports'] as SubPort[];
      const made = wanted.map((sub) => readSubPort(neutron, sub, parent.id, caller));
      return trunks.insert({
        ...neutron.standard(values),
        revision_number: 1,
        name: values['name'] as string,
        port_id: parent.id,
        admin_state_up: values['admin_state_up'] as boolean,
        status: 'DOWN',
        sub_ports: made,
      });
    },
    update: (row, values) =>
      Object.keys(values).length === 0 ? row : neutron.change(trunks, row, values as Partial<TrunkRow>),
    delete(row) {
      const parent = neutron.ports.get(row.port_id);
      if (parent && parent.device_id !== '') {
        throw refuse(409, 'TrunkInUse', `Trunk ${row.id} is currently in use.`);
      }
      release(neutron, row.sub_ports);
      trunks.delete(row.id);
    },
  };
}

/** Actions to add, remove and list child ports of a trunk. */
export function trunkActions(neutron: Neutron, trunks: Resource<TrunkRow>): Route[] {
  const path = (name: string): string => `/v2.0/trunks/{id}/${name}`;
  const own = (context: RequestContext, name: string): Readonly<TrunkRow> =>
    ownRow(trunks, context.param('id'), context.caller, name);
  return [
    {
      method: 'GET',
      path: path('get_subports'),
      handle: (context): Answer => {
        const trunk = visibleRow(trunks, context.param('id'), context.caller);
        return { status: 200, body: { sub_ports: trunk.sub_ports } };
      },
    },
    {
      method: 'PUT',
      path: path('add_subports'),
      handle(context): Answer {
        const trunk = own(context, 'add_subports');
        refuseDisabled(trunk);
        const wanted = readSubPorts(context);
        const made = wanted.map((sub) => readSubPort(neutron, sub, trunk.port_id, context.caller));
        for (const { segmentation_id, segmentation_type } of made) {
          const isTaken = trunk.sub_ports.some(
            (each) => each.segmentation_id === segmentation_id && each.segmentation_type === segmentation_type,
          );
          if (!isTaken) continue;
          const message = `segmentation_type ${segmentation_type} and segmentation_id ${segmentation_id} already in use on trunk ${trunk.id}.`;
          throw refuse(409, 'DuplicateSubPort', message);
        }
        const changed = neutron.change(neutron.trunks, trunk, {
          sub_ports: [...trunk.sub_ports, ...made],
        });
        return { status: 200, body: trunkView(changed) };
      },
    },
    {
      method: 'PUT',
      path: path('remove_subports'),
      handle(context): Answer {
        const trunk = own(context, 'remove_subports');
        refuseDisabled(trunk);
        const removed = new Set<string>();
        for (const { port_id } of readSubPorts(context)) {
          if (!trunk.sub_ports.some((sub) => sub.port_id === port_id)) {
            const message = `SubPort ${port_id} on trunk ${trunk.id} could not be found.`;
            throw refuse(404, 'SubPortNotFound', message);
          }
          removed.add(port_id);
        }
        const [gone, left] = [
          trunk.sub_ports.filter(({ port_id }) => removed.has(port_id)),
          trunk.sub_ports.filter(({ port_id }) => !removed.has(port_id)),
        ];
        release(neutron, gone);
        return { status: 200, body: trunkView(neutron.change(neutron.trunks, trunk, { sub_ports: left })) };
      },
    },
  ];
}

function trunkView(row: Readonly<TrunkRow>): Record<string, unknown> {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    port_id: row.port_id,
    admin_state_up: row.admin_state_up,
    status: row.status,
    sub_ports: row.sub_ports,
    tenant_id: row.tenant_id,
    tags: row.tags,
    ...standardView(row),
    project_id: row.tenant_id,
  };
}

function readSubPorts(context: RequestContext): SubPort[] {
  const body = readObject(context);
  if (!('sub_ports' in body)) throw badBody("Invalid input for sub_ports. Reason: 'sub_ports' is missing.");
  const given = body['sub_ports'];
  const reason = subPorts(given);
  if (reason !== undefined) throw invalidInput(reason);
  return given as SubPort[];
}

function readSubPort(neutron: Neutron, desired: Partial<SubPort>, parentId: string, caller: Caller): SubPort {
  const { segmentation_id: segment, segmentation_type: type } = desired;
  if (segment === undefined || type === undefined) {
    throw invalidInput(
      `Invalid subport details '${pythonText(desired)}': missing segmentation information. Must specify both segmentation_id and segmentation_type`,
    );
  }
  if (type !== 'vlan') throw invalidInput(`Unknown segmentation_type '${pythonText(type)}'`);
  const number = Number(segment);
  if (!Number.isInteger(number)) {
    throw invalidInput(`Invalid subport details: segmentation_id '${pythonText(segment)}' is not an integer`);
  }
  if (number < 1 || number > 4094) throw invalidInput(`Segmentation ID '${number}' is not in range`);
  const port = visiblePort(neutron, must(desired.port_id, 'desired.port_id'), caller);
  if (port.id === parentId || neutron.trunks.first('parent', port.id)) throw notEligible(port.id);
  if (neutron.trunks.first('child', port.id)) throw inAnotherTrunk(port.id);
  if (port.device_id !== '') {
    const message = `Unable to complete operation on port ${port.id} for network ${port.network_id}. Port already has an attached device ${port.device_id}.`;
    throw refuse(409, 'PortInUse', message);
  }
  return { segmentation_id: number, segmentation_type: 'vlan', port_id: port.id };
}

function notEligible(portId: string): Error {
  const message = `Port ${portId} is currently in use and is not eligible for use as a parent port.`;
  return refuse(409, 'ParentPortInUse', message);
}

function inAnotherTrunk(portId: string): Error {
  return refuse(409, 'TrunkPortInUse', `Port ${portId} is in use by another trunk.`);
}

function visiblePort(neutron: Neutron, id: string, caller: Caller): Readonly<PortRow> {
  const port = neutron.ports.get(id);
  if (!port || !(caller.isAdmin || port.tenant_id === caller.projectId)) throw portNotFound(id);
  return port;
}

/** Turns child ports back into ordinary ports. */
function release(neutron: Neutron, subs: readonly SubPort[]): void {
  for (const { port_id } of subs) {
    const port = neutron.ports.get(port_id);
    if (port && port['binding:host_id'] !== '') {
      neutron.change(neutron.ports, port, { device_owner: '', 'binding:host_id': '', status: 'DOWN' });
    }
  }
}

function refuseDisabled(trunk: Readonly<TrunkRow>): void {
  if (!trunk.admin_state_up) throw refuse(409, 'TrunkDisabled', `Trunk ${trunk.id} is currently disabled.`);
}

/** Handles a forced deletion of a port: its trunk is deleted, or loses a child. */
export function releaseTrunks(neutron: Neutron, portId: string): void {
  const asParent = neutron.trunks.first('parent', portId);
  if (asParent) {
    release(neutron, asParent.sub_ports);
    neutron.trunks.delete(asParent.id);
  }
  const asChild = neutron.trunks.first('child', portId);
  if (asChild) {
    neutron.change(neutron.trunks, asChild, {
      sub_ports: asChild.sub_ports.filter(({ port_id }) => port_id !== portId),
    });
  }
}
