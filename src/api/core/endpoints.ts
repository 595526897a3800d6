import {
  checkDns1123Label,
  checkIp,
  checkPort,
  type FieldError,
  fieldError,
  type KubeObject,
  nonSpecialIpProblems,
  type Resource,
  type ResourceDefinition,
} from '../../machinery/index.ts';
import { setDefault } from '../common/defaults.ts';
import { defineBuiltin, resourceOf } from '../common/define.ts';
import { age, ageColumn, column, nameColumn } from '../common/printing.ts';
import { invalid, validateRequiredEnum } from '../common/validation.ts';
import type { ObjectReference } from './event.ts';

export interface EndpointAddress {
  ip: string;
  hostname?: string;
  nodeName?: string;
  targetRef?: ObjectReference;
}

export interface EndpointSubset {
  addresses?: EndpointAddress[];
  notReadyAddresses?: EndpointAddress[];
  ports?: { name?: string; port: number; protocol?: string; appProtocol?: string }[];
}

export interface Endpoints extends KubeObject {
  subsets?: EndpointSubset[];
}

function validate(endpoints: Endpoints): FieldError[] {
  const errors: FieldError[] = [];
  for (const [index, subset] of (endpoints.subsets ?? []).entries()) {
    const path = `subsets[${index}]`;
    const { addresses = [], notReadyAddresses = [], ports = [] } = subset;
    if (addresses.length + notReadyAddresses.length === 0) {
      errors.push(fieldError.required(path, 'must specify `addresses` or `notReadyAddresses`'));
    }
    const listed = [
      ...addresses.map((address, at) => [address, `${path}.addresses[${at}]`] as const),
      ...notReadyAddresses.map((address, at) => [address, `${path}.notReadyAddresses[${at}]`] as const),
    ];
    for (const [address, at] of listed) {
      const problems = checkIp(address.ip ?? '');
      if (problems.length > 0) problems.push('must be a valid IP address');
      else problems.push(...nonSpecialIpProblems(address.ip));
      errors.push(...invalid(`${at}.ip`, address.ip ?? '', problems));
      if (address.hostname)
        errors.push(...invalid(`${at}.hostname`, address.hostname, checkDns1123Label(address.hostname)));
    }
    for (const [at, port] of ports.entries()) {
      const portPath = `${path}.ports[${at}]`;
      if (port.name) errors.push(...invalid(`${portPath}.name`, port.name, checkDns1123Label(port.name)));
      else if (ports.length > 1) errors.push(fieldError.required(`${portPath}.name`));
      errors.push(...invalid(`${portPath}.port`, port.port ?? 0, checkPort(port.port)));
      errors.push(...validateRequiredEnum(port.protocol, ['SCTP', 'TCP', 'UDP'], `${portPath}.protocol`));
    }
  }
  return errors;
}

function joinHostPort(ip = '', port = 0): string {
  return ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`;
}

function summary(endpoints: Endpoints): string {
  const subsets = endpoints.subsets ?? [];
  if (subsets.length === 0) return '<none>';
  const all: string[] = [];
  for (const { addresses = [], ports = [] } of subsets) {
    if (ports.length === 0) all.push(...addresses.map((address) => address.ip));
    for (const port of ports) all.push(...addresses.map((address) => joinHostPort(address.ip, port.port)));
  }
  const shown = all.slice(0, 3).join(',');
  return all.length > 3 ? `${shown} + ${all.length - 3} more...` : shown;
}

export const endpointsDefinition: ResourceDefinition = defineBuiltin<Endpoints>({
  group: '',
  version: 'v1',
  kind: 'Endpoints',
  plural: 'endpoints',
  shortNames: ['ep'],
  namespaced: true,
  component: 'io.k8s.api.core.v1.Endpoints',
  deprecationWarning: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
  noGeneration: true,
  allowCreateOnUpdate: true,
  columns: [nameColumn, column('Endpoints'), ageColumn],
  row: (endpoints, nowMs) => [endpoints.metadata.name ?? '', summary(endpoints), age(endpoints, nowMs)],
  applyDefaults(endpoints) {
    for (const subset of endpoints.subsets ?? []) {
      for (const port of subset.ports ?? []) setDefault(port, 'protocol', 'TCP');
    }
  },
  validateCreate: validate,
  validateUpdate: validate,
});

export const EndpointsResource: Resource<Endpoints> = resourceOf<Endpoints>(endpointsDefinition);
