import { pythonRepr, pythonText } from '../core/checks/python.ts';
import { Refusal } from '../core/refusal.ts';

/** Builds a refusal in neutron's format: an error type that clients check, and a message. */
export function refuse(status: number, type: string, message: string): Refusal {
  return new Refusal(status, message, { type });
}

/** Refusal of a body by the web framework, before neutron validates it. */
export function badBody(message: string): Refusal {
  return refuse(400, 'HTTPBadRequest', message);
}

/** `InvalidInput`: the message follows `Invalid input for operation: `. */
export function invalidInput(message: string, type = 'InvalidInput'): Refusal {
  return refuse(400, type, type === 'InvalidInput' ? `Invalid input for operation: ${message}.` : message);
}

/** `BadRequest`: names the resource and the error. */
export function badRequest(resource: string, message: string): Refusal {
  return refuse(400, 'BadRequest', `Bad ${resource} request: ${message}.`);
}

export function hiddenOrUnknown(): Refusal {
  return refuse(404, 'HTTPNotFound', 'The resource could not be found.');
}

export function disallowed(rule: string): Refusal {
  return refuse(403, 'PolicyNotAuthorized', `${rule} is disallowed by policy`);
}

export function overQuota(resources: readonly string[]): Refusal {
  return refuse(409, 'OverQuota', `Quota exceeded for resources: ${pythonRepr(resources)}.`);
}

export function networkNotFound(id: string): Refusal {
  return refuse(404, 'NetworkNotFound', `Network ${id} could not be found.`);
}

export function subnetNotFound(id: string): Refusal {
  return refuse(404, 'SubnetNotFound', `Subnet ${id} could not be found.`);
}

export function portNotFound(id: string): Refusal {
  return refuse(404, 'PortNotFound', `Port ${id} could not be found.`);
}

export function routerNotFound(id: string): Refusal {
  return refuse(404, 'RouterNotFound', `Router ${id} could not be found`);
}

export function floatingIpNotFound(id: string): Refusal {
  return refuse(404, 'FloatingIPNotFound', `Floating IP ${id} could not be found`);
}

export function securityGroupNotFound(id: string): Refusal {
  return refuse(404, 'SecurityGroupNotFound', `Security group ${id} does not exist`);
}

export function securityGroupRuleNotFound(id: string): Refusal {
  return refuse(404, 'SecurityGroupRuleNotFound', `Security group rule ${id} does not exist`);
}

export function trunkNotFound(id: string): Refusal {
  return refuse(404, 'TrunkNotFound', `Trunk ${id} could not be found.`);
}

export function subnetPoolNotFound(id: string): Refusal {
  return refuse(404, 'SubnetPoolNotFound', `Subnet pool ${id} could not be found.`);
}

export function addressScopeNotFound(id: string): Refusal {
  return refuse(404, 'AddressScopeNotFound', `Address scope ${id} could not be found.`);
}

export function addressGroupNotFound(id: string): Refusal {
  return refuse(404, 'AddressGroupNotFound', `Address group ${id} could not be found.`);
}

export function qosPolicyNotFound(id: unknown): Refusal {
  return refuse(404, 'QosPolicyNotFound', `QoS policy ${pythonText(id)} could not be found.`);
}

export function availabilityZoneNotFound(name: unknown): Refusal {
  return refuse(404, 'AvailabilityZoneNotFound', `AvailabilityZone ${pythonText(name)} could not be found.`);
}
