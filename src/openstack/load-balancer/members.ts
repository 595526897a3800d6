import type { JsonObject } from '../../machinery/index.ts';
import { segment } from '../http/query.ts';
import type { CallOptions, ServiceClient } from '../http/service-client.ts';
import { type Collection, collection } from '../resource/collection.ts';
import { flag, numberOr, text, textIf, textOrEmpty } from '../resource/read.ts';
import { type CommonFilter, commonQuery, type LoadBalancerResource, parseCommon } from './common.ts';

/** Where a pool sends connections. */
export interface Member extends LoadBalancerResource {
  readonly address: string;
  readonly protocolPort: number;
  readonly subnetId: string | undefined;
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

export interface MemberWish extends MemberChanges {
  readonly address: string;
  readonly protocolPort: number;
  /** when it is not on the network of the load balancer */
  readonly subnetId?: string | undefined;
}

export interface MemberFilter extends CommonFilter {
  readonly address?: string | undefined;
  readonly protocolPort?: number | undefined;
}

export interface Members extends Collection<Member, MemberWish, MemberChanges, MemberFilter> {
  /** makes these the whole set, in one change of the load balancer */
  replaceAll(wishes: readonly MemberWish[], options?: CallOptions): Promise<void>;
}

/** The members of one pool. */
export function members(service: ServiceClient, poolId: string): Members {
  const path = `/lbaas/pools/${segment(poolId)}/members`;
  return {
    ...collection<Member, MemberWish, MemberChanges, MemberFilter>(service, {
      path,
      one: 'member',
      many: 'members',
      parse: parseMember,
      wish: wishBody,
      changes: body,
      query: commonQuery,
    }),
    async replaceAll(wishes, options = {}) {
      await service.request({ method: 'PUT', path, json: { members: wishes.map(wishBody) }, ...options });
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
    weight: numberOr(value, 'weight', 1),
    backup: flag(value, 'backup'),
  };
}

function wishBody(wish: MemberWish): object {
  return { address: wish.address, protocol_port: wish.protocolPort, subnet_id: wish.subnetId, ...body(wish) };
}

function body(wish: MemberChanges): object {
  return {
    name: wish.name,
    admin_state_up: wish.adminStateUp,
    weight: wish.weight,
    backup: wish.backup,
    tags: wish.tags,
  };
}
