import type { RequestContext } from '../core/http/context.ts';
import { badRequest, conflict, forbidden } from '../core/wrapped-refusals.ts';
import type { Compute } from './compute.ts';
import type { NetworkSpec } from './tables.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Checks the networks of a create request. Without networks the server gets the project's only network. */
export function parseNetworks(
  compute: Compute,
  context: RequestContext,
  desired: unknown,
  servers: number,
): NetworkSpec[] {
  const { network } = compute.core.services;
  if (desired === 'none') return [];
  if (!Array.isArray(desired) || desired.length === 0) return chosenNetwork(compute, context, desired === 'auto');
  const seen = new Set<string>();
  const specs = desired.map((each: Fields): NetworkSpec => {
    const tag = typeof each['tag'] === 'string' ? each['tag'] : null;
    const fixedIp = typeof each['fixed_ip'] === 'string' ? each['fixed_ip'] : '';
    if (typeof each['port'] === 'string') {
      if (servers > 1) {
        throw badRequest(
          'Unable to launch multiple instances with a single configured port ID. Please launch your instance one by one with different ports.',
        );
      }
      return { networkId: '', portId: usablePort(compute, context, each['port'], seen), fixedIp: '', tag };
    }
    const id = typeof each['uuid'] === 'string' ? each['uuid'] : '';
    if (id === '') throw badRequest("Bad network format: missing 'uuid'");
    const found = network.network(id);
    if (!found || !network.canUse(found, context.caller)) throw badRequest(`Network ${id} could not be found.`);
    if (found.isExternal && !context.caller.isAdmin && !found.isShared) {
      throw forbidden(`It is not allowed to create an interface on external network ${id}`);
    }
    if (found.subnetIds.length === 0) {
      throw badRequest(`Network ${id} requires a subnet in order to boot instances on.`);
    }
    return { networkId: id, portId: '', fixedIp, tag };
  });
  const newPorts = specs.filter(({ portId }) => portId === '').length * servers;
  const left = network.portsLeft(context.project);
  if (left !== undefined && newPorts > left) throw forbidden('Quota exceeded, too many ports');
  return specs;
}

function usablePort(compute: Compute, { caller, project }: RequestContext, id: string, seen: Set<string>): string {
  const port = compute.core.services.network.port(id);
  if (!port || (port.projectId !== project && !caller.isAdmin)) throw badRequest(`Port id ${id} could not be found.`);
  if (port.deviceId !== '' || seen.has(id)) throw conflict(`Port ${id} is still in use.`);
  if (port.fixedIps.length === 0) {
    throw badRequest(`Port ${id} requires a FixedIP in order to be used.`);
  }
  seen.add(id);
  return id;
}

/** Returns the only network the project can use. Having none is an error only if the request asks for `auto`. */
function chosenNetwork(compute: Compute, context: RequestContext, isAuto: boolean): NetworkSpec[] {
  const networks = compute.core.services.network.networksFor(context.project);
  if (networks.length > 1) {
    throw conflict('Multiple possible networks found, use a Network ID to be more specific.');
  }
  const [only] = networks;
  if (only) return [{ networkId: only.id, portId: '', fixedIp: '', tag: null }];
  if (isAuto) throw badRequest(`Unable to automatically allocate a network for project ${context.project}`);
  return [];
}
