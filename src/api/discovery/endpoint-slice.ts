import {
  checkDns1123Label,
  checkDns1123Subdomain,
  type FieldError,
  fieldError,
  ipFamily,
  type KubeObject,
  nonSpecialIpProblems,
  type Resource,
  type ResourceDefinition,
  validateImmutable,
} from '../../machinery/index.ts';
import { setDefault } from '../common/defaults.ts';
import { defineBuiltin, resourceOf } from '../common/define.ts';
import { age, ageColumn, column, firstOf, nameColumn } from '../common/printing.ts';
import { invalid, validateRequiredEnum } from '../common/validation.ts';
import type { ObjectReference } from '../core/event.ts';

export interface Endpoint {
  addresses: string[];
  conditions?: { ready?: boolean; serving?: boolean; terminating?: boolean };
  hostname?: string;
  targetRef?: ObjectReference;
  nodeName?: string;
  zone?: string;
  hints?: { forZones?: { name: string }[]; forNodes?: { name: string }[] };
}

export interface EndpointPort {
  name?: string;
  protocol?: string;
  port?: number;
  appProtocol?: string;
}

export interface EndpointSlice extends KubeObject {
  addressType?: string;
  endpoints?: Endpoint[];
  ports?: EndpointPort[];
}

function validateAddress(address: string, type: string | undefined, list: string, index: number): FieldError[] {
  const path = `${list}[${index}]`;
  if (type === 'FQDN') return invalid(path, address, checkDns1123Subdomain(address));
  if (type !== 'IPv4' && type !== 'IPv6') return [];
  const family = ipFamily(address);
  if (family === undefined) {
    return [fieldError.invalid(path, address, 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)')];
  }
  const errors = invalid(path, address, nonSpecialIpProblems(address));
  if (family !== type) errors.push(fieldError.invalid(list, address, `must be an ${type} address`));
  return errors;
}

function validateEndpoint(endpoint: Endpoint, type: string | undefined, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const addresses = endpoint.addresses ?? [];
  if (addresses.length === 0) {
    errors.push(fieldError.required(`${path}.addresses`, 'must contain at least 1 address'));
  } else if (addresses.length > 100) errors.push(fieldError.tooMany(`${path}.addresses`, addresses.length, 100));
  for (const [index, address] of addresses.entries()) {
    errors.push(...validateAddress(address, type, `${path}.addresses`, index));
  }
  if (endpoint.nodeName !== undefined) {
    errors.push(...invalid(`${path}.nodeName`, endpoint.nodeName, checkDns1123Subdomain(endpoint.nodeName)));
  }
  if (endpoint.hostname !== undefined) {
    errors.push(...invalid(`${path}.hostname`, endpoint.hostname, checkDns1123Label(endpoint.hostname)));
  }
  return errors;
}

function validate(slice: EndpointSlice): FieldError[] {
  const errors = validateRequiredEnum(slice.addressType, ['FQDN', 'IPv4', 'IPv6'], 'addressType');
  const endpoints = slice.endpoints ?? [];
  if (endpoints.length > 1000) errors.push(fieldError.tooMany('endpoints', endpoints.length, 1000));
  else {
    for (const [index, endpoint] of endpoints.entries()) {
      errors.push(...validateEndpoint(endpoint, slice.addressType, `endpoints[${index}]`));
    }
  }
  const ports = slice.ports ?? [];
  if (ports.length > 20000) errors.push(fieldError.tooMany('ports', ports.length, 20000));
  const names = new Set<string>();
  for (const [index, port] of ports.entries()) {
    const path = `ports[${index}]`;
    const name = port.name ?? '';
    if (name !== '') errors.push(...invalid(`${path}.name`, name, checkDns1123Label(name)));
    if (names.has(name)) errors.push(fieldError.duplicate(`${path}.name`, name));
    names.add(name);
    errors.push(...validateRequiredEnum(port.protocol, ['SCTP', 'TCP', 'UDP'], `${path}.protocol`));
  }
  return errors;
}

export const endpointSliceDefinition: ResourceDefinition = defineBuiltin<EndpointSlice>({
  group: 'discovery.k8s.io',
  version: 'v1',
  kind: 'EndpointSlice',
  plural: 'endpointslices',
  namespaced: true,
  component: 'io.k8s.api.discovery.v1.EndpointSlice',
  columns: [nameColumn, column('AddressType'), column('Ports'), column('Endpoints'), ageColumn],
  row(slice, nowMs) {
    const ports = (slice.ports ?? []).map((port) => String(port.port ?? port.name ?? '*'));
    const addresses = (slice.endpoints ?? []).flatMap((endpoint) => endpoint.addresses ?? []);
    return [
      slice.metadata.name ?? '',
      slice.addressType ?? '',
      firstOf(ports, 3, '<unset>'),
      firstOf(addresses, 3, '<unset>'),
      age(slice, nowMs),
    ];
  },
  applyDefaults(slice) {
    setDefault(slice, 'endpoints', []);
    for (const endpoint of slice.endpoints ?? []) setDefault(endpoint, 'conditions', {});
    for (const port of slice.ports ?? []) {
      setDefault(port, 'name', '');
      setDefault(port, 'protocol', 'TCP');
    }
  },
  validateCreate: validate,
  validateUpdate: (slice, old) => [
    ...validate(slice),
    ...validateImmutable(slice.addressType, old.addressType, 'addressType'),
  ],
});

export const EndpointSlices: Resource<EndpointSlice> = resourceOf<EndpointSlice>(endpointSliceDefinition);
