import { Refusal } from '../core/refusal.ts';

/** What octavia calls its things in messages. */
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

/** A thing of another service that a body names: not there is the fault of the body. */
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

/** Faults found before octavia's own code runs are answered with a page instead of a fault. */
export function asPage(status: number, message: string): Refusal {
  return new Refusal(status, message, { type: 'page' });
}
