import { condition } from '../cluster/common-schema.ts';
import type { StatusCondition } from '../cluster/types.ts';
import {
  boolean,
  type Constraints,
  type Field,
  fieldOf,
  int32,
  integer,
  list,
  listKeyedBy,
  object,
  once,
  oneOf,
  setOf,
  string,
} from '../kind/schema.ts';
import type {
  AddressPair,
  IdentityReference,
  NetworkFilter,
  NetworkParam,
  NeutronTags,
  SubnetParam,
  ValueSpec,
} from './types.ts';

/** v1beta2 has stricter constraints for the same fields than v1beta1. */
export type Era = 'v1beta1' | 'v1beta2';

export const int = (era: Era, description: string, constraints: Constraints = {}): Field<number> =>
  era === 'v1beta2' ? int32(description, constraints) : integer(description, constraints);

/** Conditions, also those that the OpenStack provider before 0.15 wrote: with severity, without reason and message. */
export const formerConditions: () => Field<StatusCondition[]> = once(() => {
  const { properties, ...entry } = condition().schema;
  const severity = string('How bad it is when not True: Error, Warning or Info.').schema;
  return fieldOf<StatusCondition[]>({
    type: 'array',
    description: 'Conditions of the object.',
    items: { ...entry, properties: { ...properties, severity }, required: ['type', 'status', 'lastTransitionTime'] },
  });
});

/** a required string, which v1beta2 refuses when it is empty */
export const needed = (era: Era, description: string, constraints: Constraints = {}): Field<string, true> =>
  string(description, era === 'v1beta2' ? { ...constraints, minLength: 1 } : constraints).required();

export const plainList = <T>(era: Era, item: Field<T, boolean>, description: string): Field<T[]> =>
  list(item, description, era === 'v1beta2' ? { 'x-kubernetes-list-type': 'atomic' } : {});

export const plainSet = <T>(era: Era, item: Field<T, boolean>, description: string): Field<T[]> =>
  list(item, description, era === 'v1beta2' ? { 'x-kubernetes-list-type': 'set' } : {});

const tag = string('', { minLength: 1, pattern: '^[^,]+$' });
const tagFields: Record<keyof NeutronTags, Field<string[]>> = {
  tags: setOf(tag, 'Tags it must all have.'),
  tagsAny: setOf(tag, 'Tags it must have one of.'),
  notTags: setOf(tag, 'Tags it must not all have.'),
  notTagsAny: setOf(tag, 'Tags it must have none of.'),
};
const oneProperty: Constraints = { minProperties: 1, maxProperties: 1 };
const uuid = (what: string): Field<string> => string(`Id of the ${what}.`, { format: 'uuid' });

const nameFilterFields = (what: string): Record<'name' | 'description' | 'projectID', Field<string>> => ({
  name: string(`Name of the ${what}.`),
  description: string(`Description of the ${what}.`),
  projectID: string(`Project the ${what} belongs to.`),
});

/** Networks, routers and security groups have the same filter fields. */
export function networkParam(what: string, description: string): Field<NetworkParam> {
  const filter: Field<NetworkFilter> = object(
    { ...nameFilterFields(what), ...tagFields },
    `Fields the ${what} must have.`,
    { minProperties: 1 },
  );
  return object({ id: uuid(what), filter }, description, oneProperty);
}

export function subnetParam(era: Era, description: string): Field<SubnetParam> {
  return object(
    {
      id: uuid('subnet'),
      filter: object(
        {
          ...nameFilterFields('subnet'),
          ipVersion: int(era, '4 or 6.'),
          gatewayIP: string('Address of the gateway.'),
          cidr: string('Address range.'),
          ipv6AddressMode: string('How IPv6 addresses are given out.'),
          ipv6RAMode: string('How IPv6 routers are announced.'),
          ...tagFields,
        },
        'Fields the subnet must have.',
        { minProperties: 1 },
      ),
    },
    description,
    oneProperty,
  );
}

export function identityReference(era: Era, description: string): Field<IdentityReference> {
  const type = oneOf(['Secret', 'ClusterIdentity'], 'Kind of the object with the credentials.').default('Secret');
  const fields = {
    type,
    name: string('Name of the Secret or of the cluster identity.', { minLength: 1 }).required(),
    cloudName: string('Name of the cloud in clouds.yaml.', { minLength: 1 }).required(),
    region: string('Region to use instead of the one in clouds.yaml; cannot change once something was created there.'),
  };
  const shaped: Field<IdentityReference> = object(fields, description);
  // The schema has a default, so users may omit the field, but v1beta1 publishes it as required.
  return era === 'v1beta1' ? shaped.with({ required: ['type', 'name', 'cloudName'] }) : shaped;
}

export const addressPairs = (era: Era): Field<AddressPair[]> =>
  plainList(
    era,
    object({ ipAddress: needed(era, 'Address or range.'), macAddress: string('MAC address.') }),
    'Additional addresses the port may send from.',
  );

export const valueSpecs = (era: Era): Field<ValueSpec[]> =>
  listKeyedBy(
    ['name'],
    object({
      name: needed(era, 'Name of this entry; not sent.'),
      key: needed(era, 'Key in the request.'),
      value: needed(era, 'Value in the request.'),
    }),
    'Additional keys and values for the request that creates the port.',
  );

export const portProfile = (): Field<{ ovsHWOffload?: boolean; trustedVF?: boolean }> =>
  object(
    {
      ovsHWOffload: boolean('Offload switching to the hardware.'),
      trustedVF: boolean('Trust the virtual function.'),
    },
    'Binding profile of the port.',
  );
