import { checkDns1035Label, type Resource, type ResourceDefinition } from '../../machinery/index.ts';
import { setDefault } from '../common/defaults.ts';
import { defineBuiltin, resourceOf } from '../common/define.ts';
import { age, ageColumn, column, formatLabels, nameColumn, wideColumn } from '../common/printing.ts';
import {
  isExternallyAccessible,
  needsHealthCheckPort,
  type Service,
  type ServicePort,
  type ServiceSpec,
} from './service-types.ts';
import { validateService, validateServiceUpdate } from './service-validation.ts';

function applyDefaults(service: Service): void {
  setDefault(service, 'spec', {} as ServiceSpec);
  const spec = service.spec;
  setDefault(spec, 'sessionAffinity', 'None');
  if (spec.sessionAffinity === 'None') delete spec.sessionAffinityConfig;
  if (spec.sessionAffinity === 'ClientIP' && spec.sessionAffinityConfig?.clientIP?.timeoutSeconds === undefined) {
    spec.sessionAffinityConfig = { clientIP: { timeoutSeconds: 10800 } };
  }
  setDefault(spec, 'type', 'ClusterIP');
  for (const port of spec.ports ?? []) {
    setDefault(port, 'protocol', 'TCP');
    if (port.targetPort === undefined || port.targetPort === 0 || port.targetPort === '') port.targetPort = port.port;
  }
  if (isExternallyAccessible(spec)) setDefault(spec, 'externalTrafficPolicy', 'Cluster');
  if (spec.type !== 'ExternalName') setDefault(spec, 'internalTrafficPolicy', 'Cluster');
  if (spec.type === 'LoadBalancer') setDefault(spec, 'allocateLoadBalancerNodePorts', true);
  const status = setDefault(service, 'status', {});
  setDefault(status, 'loadBalancer', {});
  for (const ingress of status.loadBalancer?.ingress ?? []) {
    if (ingress.ip) setDefault(ingress, 'ipMode', 'VIP');
  }
}

/** clusterIP is the legacy form of clusterIPs[0], so setting one sets both. */
function alignClusterIps(spec: ServiceSpec, old?: ServiceSpec): void {
  if (!old) {
    if (spec.clusterIP && (spec.clusterIPs ?? []).length === 0) spec.clusterIPs = [spec.clusterIP];
    return;
  }
  if (spec.clusterIP === old.clusterIP) return;
  const sameList = (spec.clusterIPs ?? []).join() === (old.clusterIPs ?? []).join();
  if (!spec.clusterIP && sameList) delete spec.clusterIPs;
  else if (spec.clusterIP && (sameList || (spec.clusterIPs ?? []).length === 0)) spec.clusterIPs = [spec.clusterIP];
}

/** Keeps allocated values when a client writes the Service back without them. */
function keepAllocated(spec: ServiceSpec, old: ServiceSpec): void {
  const hasClusterIp = (type: string | undefined): boolean => type !== 'ExternalName';
  if (hasClusterIp(spec.type) && hasClusterIp(old.type)) {
    if (!spec.clusterIP && (spec.clusterIPs ?? []).length === 0) {
      if (old.clusterIP) spec.clusterIP = old.clusterIP;
      if (old.clusterIPs) spec.clusterIPs = old.clusterIPs;
    }
    if (spec.ipFamilies === undefined && old.ipFamilies) spec.ipFamilies = old.ipFamilies;
    if (spec.ipFamilyPolicy === undefined && old.ipFamilyPolicy) spec.ipFamilyPolicy = old.ipFamilyPolicy;
  }
  const hasNodePorts = (type: string | undefined): boolean => type === 'NodePort' || type === 'LoadBalancer';
  if (hasNodePorts(spec.type) && hasNodePorts(old.type)) {
    const used = new Set((spec.ports ?? []).map((port) => port.nodePort).filter(Boolean));
    const known = new Map((old.ports ?? []).map((port) => [`${port.protocol}/${port.port}`, port.nodePort]));
    for (const port of spec.ports ?? []) {
      const before = known.get(`${port.protocol}/${port.port}`);
      if (!port.nodePort && before && !used.has(before)) {
        port.nodePort = before;
        used.add(before);
      }
    }
  }
  if (needsHealthCheckPort(spec) && needsHealthCheckPort(old) && !spec.healthCheckNodePort && old.healthCheckNodePort) {
    spec.healthCheckNodePort = old.healthCheckNodePort;
  }
}

/** Removes unchanged fields that only the old type has when the type changes. */
function dropFieldsOfOldType(spec: ServiceSpec, old: ServiceSpec): void {
  if (spec.type === 'ExternalName' && old.type !== 'ExternalName') {
    if (spec.clusterIP === old.clusterIP) {
      delete spec.clusterIP;
      delete spec.clusterIPs;
    }
    delete spec.ipFamilies;
    delete spec.ipFamilyPolicy;
    if (spec.internalTrafficPolicy === old.internalTrafficPolicy) delete spec.internalTrafficPolicy;
  }
  const oldPorts = new Set((old.ports ?? []).map((port) => port.nodePort));
  if (spec.type === 'ClusterIP' && old.type !== 'ClusterIP') {
    for (const port of spec.ports ?? []) if (oldPorts.has(port.nodePort)) delete port.nodePort;
  }
  if (!isExternallyAccessible(spec) && spec.externalTrafficPolicy === old.externalTrafficPolicy) {
    delete spec.externalTrafficPolicy;
  }
  if (!needsHealthCheckPort(spec) && spec.healthCheckNodePort === old.healthCheckNodePort) {
    delete spec.healthCheckNodePort;
  }
  if (spec.type !== 'LoadBalancer' && old.type === 'LoadBalancer') {
    if (spec.allocateLoadBalancerNodePorts === old.allocateLoadBalancerNodePorts) {
      delete spec.allocateLoadBalancerNodePorts;
    }
    if (spec.loadBalancerClass === old.loadBalancerClass) delete spec.loadBalancerClass;
  }
}

function externalIp(service: Service): string {
  const spec = service.spec;
  const external = spec.externalIPs ?? [];
  if (spec.type === 'ExternalName') return spec.externalName ?? '';
  if (spec.type !== 'LoadBalancer') return external.length > 0 ? external.join(',') : '<none>';
  const addresses = new Set<string>();
  for (const ingress of service.status?.loadBalancer?.ingress ?? []) {
    const address = ingress.ip || ingress.hostname;
    if (address) addresses.add(address);
  }
  const all = [...[...addresses].sort(), ...external];
  return all.length > 0 ? all.join(',') : '<pending>';
}

function portList(ports: readonly ServicePort[]): string {
  if (ports.length === 0) return '<none>';
  return ports
    .map(({ port, nodePort, protocol }) => (nodePort ? `${port}:${nodePort}/${protocol}` : `${port}/${protocol}`))
    .join(',');
}

export const serviceDefinition: ResourceDefinition = defineBuiltin<Service>({
  group: '',
  version: 'v1',
  kind: 'Service',
  plural: 'services',
  shortNames: ['svc'],
  categories: ['all'],
  namespaced: true,
  component: 'io.k8s.api.core.v1.Service',
  hasStatus: true,
  noGeneration: true,
  allowCreateOnUpdate: true,
  columns: [
    nameColumn,
    column('Type'),
    column('Cluster-IP'),
    column('External-IP'),
    column('Port(s)'),
    ageColumn,
    wideColumn('Selector'),
  ],
  row: (service, nowMs) => [
    service.metadata.name ?? '',
    service.spec.type ?? '',
    service.spec.clusterIPs?.[0] ?? '<none>',
    externalIp(service),
    portList(service.spec.ports ?? []),
    age(service, nowMs),
    formatLabels(service.spec.selector),
  ],
  selectableFields: {
    'spec.clusterIP': (service) => service.spec.clusterIP ?? '',
    'spec.type': (service) => service.spec.type ?? '',
  },
  applyDefaults,
  prepareForCreate(service) {
    service.status = { loadBalancer: {} };
    alignClusterIps(service.spec);
  },
  prepareForUpdate(service, old) {
    alignClusterIps(service.spec, old.spec);
    keepAllocated(service.spec, old.spec);
    dropFieldsOfOldType(service.spec, old.spec);
  },
  validateName: checkDns1035Label,
  validateCreate: validateService,
  validateUpdate: validateServiceUpdate,
});

export const Services: Resource<Service> = resourceOf<Service>(serviceDefinition);
