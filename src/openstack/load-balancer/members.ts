import type { JsonObject } from '../../machinery/index.ts';
import { segment } from '../http/query.ts';
import type { CallOptions, ServiceClient } from '../http/service-client.ts';
import { type Collection, collection } from '../resource/collection.ts';
import { flag, numberOr, text, textIf, textOrEmpty } from '../resource/read.ts';
import { type CommonFilter, commonQuery, type LoadBalancerResource, parseCommon } from './common.ts';

/** A backend of a pool. */
export interface Member extends LoadBalancerResource {
  readonly address: string;
  readonly protocolPort: number;
  readonly subnetId: string | undefined;
  /** port of the health check; undefined for the member's own port */
  readonly monitorPort: number | undefined;
  readonly weight: number;
  readonly backup: boolean;
}

export interface MemberChanges {
  readonly name?: string | undefined;
  readonly adminStateUp?: boolean | undefined;
  readonly weight?: number | undefined;
  readonly backup?: boolean | undefined;
  readonly tags?: readonly string[] | undefined;
}

export interface MemberSpec extends MemberChanges {
  readonly address: string;
  readonly protocolPort: number;
  /** required if the member is not on the load balancer's network */
  readonly subnetId?: string | undefined;
  /** port of the health check, if it differs from the member's port */
  readonly monitorPort?: number | undefined;
}

export interface MemberFilter extends CommonFilter {
  readonly address?: string | undefined;
  readonly protocolPort?: number | undefined;
}

export interface Members extends Collection<Member, MemberSpec, MemberChanges, MemberFilter> {
  /** replaces the whole set in one change of the load balancer */
  replaceAll(specs: readonly MemberSpec[], options?: CallOptions): Promise<void>;
}

/** Client for the members of one pool. */
export function members(service: ServiceClient, poolId: string): Members {
  const path = `/lbaas/pools/${segment(poolId)}/members`;
  return {
    ...collection<Member, MemberSpec, MemberChanges, MemberFilter>(service, {
      path,
      one: 'member',
      many: 'members',
      parse: parseMember,
      desired: createBody,
      changes: body,
      query: commonQuery,
    }),
    async replaceAll(specs, options = {}) {
      await service.request({ method: 'PUT', path, json: { members: specs.map(createBody) }, ...options });
    },
  };
}

function parseMember(value: JsonObject): Member {
  return {
    id: text(value, 'id'),
    name: textOrEmpty(value, 'name'),
    ...parseCommon(value),
    address: text(value, 'address'),
    protocolPort: numberOr(value, 'protocol_port', 0),
    subnetId: textIf(value, 'subnet_id'),
    monitorPort: numberOr(value, 'monitor_port', 0) || undefined,
    weight: numberOr(value, 'weight', 1),
    backup: flag(value, 'backup'),
  };
}

function createBody(desired: MemberSpec): object {
  return {
    address: desired.address,
    protocol_port: desired.protocolPort,
    subnet_id: desired.subnetId,
    monitor_port: desired.monitorPort,
    ...body(desired),
  };
}

function body(desired: MemberChanges): object {
  return {
    name: desired.name,
    admin_state_up: desired.adminStateUp,
    weight: desired.weight,
    backup: desired.backup,
    tags: desired.tags,
  };
}
