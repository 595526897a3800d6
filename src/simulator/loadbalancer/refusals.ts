import { Refusal } from '../core/refusal.ts';

/** Names of resources in octavia's messages. */
export type ThingName =
  | 'Load Balancer'
  | 'Listener'
  | 'Pool'
  | 'Member'
  | 'Health Monitor'
  | 'L7 Policy'
  | 'L7 Rule'
  | 'Flavor'
  | 'Flavor Profile'
  | 'Availability Zone'
  | 'Availability Zone Profile';

export function notFound(thing: ThingName, id: string): Refusal {
  return new Refusal(404, `${thing} ${id} not found.`);
}

/** Refusal of a reference in the body to a missing object of another service. */
export function noSuch(thing: 'Subnet' | 'Network' | 'Port' | 'qos_policy', id: string): Refusal {
  return new Refusal(400, `${thing} ${id} not found.`);
}

export function forbidden(): Refusal {
  return new Refusal(403, 'Policy does not allow this request to be performed.');
}

export function invalid(detail: string): Refusal {
  return new Refusal(400, `Validation failure: ${detail}`);
}

export function invalidOption(value: string, option: string): Refusal {
  return new Refusal(400, `${value} is not a valid option for ${option}`);
}

export function immutable(thing: 'Load Balancer' | 'Pool', id: string): Refusal {
  return new Refusal(409, `${thing} ${id} is immutable and cannot be updated.`);
}

export function pendingState(state: string, id: string): Refusal {
  return new Refusal(409, `Invalid state ${state} of loadbalancer resource ${id}`);
}

export function overQuota(thing: ThingName): Refusal {
  return new Refusal(403, `Quota has been met for resources: ${thing}`);
}

export function inUse(thing: ThingName, id: string): Refusal {
  return new Refusal(409, `${thing} ${id} is in use and cannot be modified.`);
}

/** Errors that octavia's web framework detects are answered with an HTML page instead of JSON. */
export function asPage(status: number, message: string): Refusal {
  return new Refusal(status, message, { type: 'page' });
}
