import type { JsonObject } from '../../machinery/index.ts';
import type { ServiceClient } from '../http/service-client.ts';
import { type Collection, collection } from '../resource/collection.ts';
import { objects, text, textOrEmpty } from '../resource/read.ts';
import { type CommonFilter, type NetworkResource, networkQuery, parseCommon, type Tags, tagsOf } from './common.ts';
import { parseRule, type SecurityGroupRule } from './security-group-rules.ts';

export interface SecurityGroup extends NetworkResource {
  readonly rules: readonly SecurityGroupRule[];
}

export interface SecurityGroupChanges {
  readonly name?: string | undefined;
  readonly description?: string | undefined;
}

export interface SecurityGroupSpec extends SecurityGroupChanges {
  readonly name: string;
}

export interface SecurityGroups
  extends Collection<SecurityGroup, SecurityGroupSpec, SecurityGroupChanges, CommonFilter>,
    Tags {}

const path = '/security-groups';

export function securityGroups(service: ServiceClient): SecurityGroups {
  return {
    ...collection<SecurityGroup, SecurityGroupSpec, SecurityGroupChanges, CommonFilter>(service, {
      path,
      one: 'security_group',
      many: 'security_groups',
      parse: parseGroup,
      desired: body,
      changes: body,
      query: networkQuery,
    }),
    ...tagsOf(service, path),
  };
}

export function parseGroup(value: JsonObject): SecurityGroup {
  return {
    id: text(value, 'id'),
    name: textOrEmpty(value, 'name'),
    ...parseCommon(value),
    rules: objects(value, 'security_group_rules', parseRule),
  };
}

function body(desired: SecurityGroupChanges): object {
  return { name: desired.name, description: desired.description };
}
