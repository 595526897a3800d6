import type { JsonObject } from '../../machinery/index.ts';
import { segment } from '../http/query.ts';
import type { CallOptions, ServiceClient } from '../http/service-client.ts';
import { type Collection, collection } from '../resource/collection.ts';
import { flag, numberOr, objects, text, textOrEmpty } from '../resource/read.ts';
import { type CommonFilter, type NetworkResource, networkQuery, parseCommon, type Tags, tagsOf } from './common.ts';

export interface Subport {
  readonly portId: string;
  readonly segmentationType: string;
  readonly segmentationId: number;
}

/** A parent port with subports. */
export interface Trunk extends NetworkResource {
  /** the parent port */
  readonly portId: string;
  readonly status: string;
  readonly adminStateUp: boolean;
  readonly subports: readonly Subport[];
}

export interface TrunkChanges {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
  readonly adminStateUp?: boolean | undefined;
}

export interface TrunkSpec extends TrunkChanges {
  readonly portId: string;
  readonly subports?: readonly Subport[] | undefined;
}

export interface TrunkFilter extends CommonFilter {
  readonly portId?: string | undefined;
  readonly status?: string | undefined;
}

export interface Trunks extends Collection<Trunk, TrunkSpec, TrunkChanges, TrunkFilter>, Tags {
  addSubports(id: string, subports: readonly Subport[], options?: CallOptions): Promise<Trunk>;
  removeSubports(id: string, portIds: readonly string[], options?: CallOptions): Promise<Trunk>;
}

const path = '/trunks';

export function trunks(service: ServiceClient): Trunks {
  const change = async (id: string, verb: string, subports: object[], options: CallOptions): Promise<Trunk> => {
    const answer = await service.request({
      method: 'PUT',
      path: `${path}/${segment(id)}/${verb}`,
      json: { sub_ports: subports },
      repeatable: false,
      ...options,
    });
    return answer.whole(parseTrunk);
  };
  return {
    ...collection<Trunk, TrunkSpec, TrunkChanges, TrunkFilter>(service, {
      path,
      one: 'trunk',
      many: 'trunks',
      parse: parseTrunk,
      desired: (desired) => ({
        port_id: desired.portId,
        sub_ports: desired.subports?.map(subportBody),
        ...body(desired),
      }),
      changes: body,
      query: networkQuery,
    }),
    ...tagsOf(service, path),
    addSubports: (id, subports, options = {}) => change(id, 'add_subports', subports.map(subportBody), options),
    removeSubports: (id, portIds, options = {}) =>
      change(
        id,
        'remove_subports',
        portIds.map((portId) => ({ port_id: portId })),
        options,
      ),
  };
}

function parseTrunk(value: JsonObject): Trunk {
  return {
    id: text(value, 'id'),
    name: textOrEmpty(value, 'name'),
    ...parseCommon(value),
    portId: text(value, 'port_id'),
    status: textOrEmpty(value, 'status'),
    adminStateUp: flag(value, 'admin_state_up', { fallback: true }),
    subports: objects(value, 'sub_ports', (subport) => ({
      portId: text(subport, 'port_id'),
      segmentationType: textOrEmpty(subport, 'segmentation_type'),
      segmentationId: numberOr(subport, 'segmentation_id', 0),
    })),
  };
}

function body(desired: TrunkChanges): object {
  return { name: desired.name, description: desired.description, admin_state_up: desired.adminStateUp };
}

function subportBody(subport: Subport): object {
  return {
    port_id: subport.portId,
    segmentation_type: subport.segmentationType,
    segmentation_id: subport.segmentationId,
  };
}
