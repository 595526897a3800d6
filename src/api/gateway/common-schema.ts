import { conditions, dnsLabelPattern, dnsSubdomainPattern } from '../cluster/common-schema.ts';
import type { StatusCondition } from '../cluster/types.ts';
import { type Field, int32, object, once, string } from '../kind/schema.ts';
import type { GatewayObjectReference, ParentReference, RouteParentStatus } from './types.ts';

export const gatewayGroup = 'gateway.networking.k8s.io';

const groupPattern = `^$|${dnsSubdomainPattern}`;
const kindPattern = '^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$';
const domainPrefixed =
  "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\\/[A-Za-z0-9\\/\\-._~%!$&'()*+,;=:]+$";
export const hostnamePattern = '^(\\*\\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$';

export const groupName = (): Field<string> =>
  string('API group of the object; empty means the core group.', { maxLength: 253, pattern: groupPattern });
export const kindName = (): Field<string> =>
  string('Kind of the object.', { minLength: 1, maxLength: 63, pattern: kindPattern });
export const objectName = (): Field<string> => string('Name of the object.', { minLength: 1, maxLength: 253 });
export const namespaceName = (): Field<string> =>
  string('Namespace of the object; the same when empty.', { minLength: 1, maxLength: 63, pattern: dnsLabelPattern });
export const sectionName = (description: string): Field<string> =>
  string(description, { minLength: 1, maxLength: 253, pattern: dnsSubdomainPattern });
export const hostname = (description: string): Field<string> =>
  string(description, { minLength: 1, maxLength: 253, pattern: hostnamePattern });
export const port = (description: string): Field<number> => int32(description, { minimum: 1, maximum: 65535 });
export const controllerName = (): Field<string> =>
  string('Controller, as domain/path.', { minLength: 1, maxLength: 253, pattern: domainPrefixed });

/** Fields of a reference with the given default group and kind. */
export const referenceFields = (
  group: string,
  kind: string,
): {
  group: Field<string>;
  kind: Field<string>;
  name: Field<string, true>;
  namespace: Field<string>;
} => ({
  group: groupName().default(group),
  kind: kindName().default(kind),
  name: objectName().required(),
  namespace: namespaceName(),
});

export const objectReference = (group: string, kind: string, description = ''): Field<GatewayObjectReference> =>
  object(referenceFields(group, kind), description);

export const addressType = (): Field<string> =>
  string('IPAddress, Hostname or a type of the implementation.', {
    minLength: 1,
    maxLength: 253,
    pattern: `^Hostname|IPAddress|NamedAddress|${domainPrefixed.slice(1)}`,
  });

export const parentReference: () => Field<ParentReference> = once(() =>
  object({
    ...referenceFields(gatewayGroup, 'Gateway'),
    port: port('Port of the listener.'),
    sectionName: sectionName('Name of the listener.'),
  }),
);

/** The Gateway API allows at most eight conditions. */
export const gatewayConditions = (minItems?: number): Field<StatusCondition[]> => {
  const limited = conditions(8);
  return minItems === undefined ? limited : limited.with({ minItems });
};

export const routeParentStatus: () => Field<RouteParentStatus> = once(() =>
  object({
    conditions: gatewayConditions(1).required(),
    controllerName: controllerName().required(),
    parentRef: parentReference().describe('The Gateway that this describes.').required(),
  }),
);
