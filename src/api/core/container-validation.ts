import {
  checkConfigMapKey,
  checkDns1123Label,
  checkDns1123Subdomain,
  checkEnvVarName,
  checkHttpHeaderName,
  checkPort,
  checkPortName,
  checkQualifiedName,
  compareQuantities,
  type FieldError,
  fieldError,
  parseQuantity,
  quantityFormatText,
  rangeText,
  validateDescendingPath,
  validateNonNegative,
  validatePortNumberOrName,
} from '../../machinery/index.ts';
import {
  invalid,
  notSupported,
  validateEnum,
  validateRequiredEnum,
  validateRequiredText,
} from '../common/validation.ts';
import type {
  Container,
  ContainerPort,
  EnvVar,
  FieldRef,
  Handler,
  KeyRef,
  PodSpec,
  Probe,
  ResourceFieldRef,
  ResourceRequirements,
  SecurityContext,
  VolumeMount,
} from './pod-types.ts';

const protocols = ['SCTP', 'TCP', 'UDP'];
const pullPolicies = ['Always', 'IfNotPresent', 'Never'];
const messagePolicies = ['File', 'FallbackToLogsOnError'];
const envFieldPaths = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
];
const resourceFields = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
];
const standardContainerResources = new Set(['cpu', 'memory', 'ephemeral-storage']);
const standardResources = new Set([
  ...standardContainerResources,
  'storage',
  'requests.cpu',
  'requests.memory',
  'requests.ephemeral-storage',
  'requests.storage',
  'limits.cpu',
  'limits.memory',
  'limits.ephemeral-storage',
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
]);

export interface ContainerContext {
  volumes: ReadonlySet<string>;
  spec: PodSpec;
}

/** Validates the regular containers. Names must be unique among all containers of the pod. */
export function validateContainers(spec: PodSpec, volumes: ReadonlySet<string>, path: string): FieldError[] {
  const containers = spec.containers ?? [];
  const listPath = `${path}.containers`;
  if (containers.length === 0) return [fieldError.required(listPath)];
  const context: ContainerContext = { volumes, spec };
  const errors: FieldError[] = [];
  const names = new Set<string>();
  const hostPorts = new Set<string>();
  for (const [index, container] of containers.entries()) {
    const at = `${listPath}[${index}]`;
    errors.push(...validateContainer(container, context, at));
    if (names.has(container.name)) errors.push(fieldError.duplicate(`${at}.name`, container.name));
    else names.add(container.name);
    if (container.lifecycle) {
      for (const hook of ['postStart', 'preStop'] as const) {
        const handler = container.lifecycle[hook];
        if (handler) errors.push(...validateHandler(handler, `${at}.lifecycle.${hook}`));
      }
    }
    errors.push(...validateProbes(container, at));
    errors.push(...collectHostPorts(container, hostPorts, at));
  }
  errors.push(...validateInitContainers(spec, context, names, path));
  return errors;
}

function validateInitContainers(
  spec: PodSpec,
  context: ContainerContext,
  names: Set<string>,
  path: string,
): FieldError[] {
  const errors: FieldError[] = [];
  for (const [index, container] of (spec.initContainers ?? []).entries()) {
    const at = `${path}.initContainers[${index}]`;
    errors.push(...validateContainer(container, context, at));
    const restarts = container.restartPolicy === 'Always';
    if (names.has(container.name)) errors.push(fieldError.duplicate(`${at}.name`, container.name));
    else if (container.name) names.add(container.name);
    if (restarts) errors.push(...validateProbes(container, at));
    else {
      for (const field of ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const) {
        if (container[field] !== undefined) {
          errors.push(
            fieldError.forbidden(`${at}.${field}`, 'may not be set for init containers without restartPolicy=Always'),
          );
        }
      }
    }
  }
  return errors;
}

export function validateContainer(container: Container, context: ContainerContext, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (!container.name) errors.push(fieldError.required(`${path}.name`));
  else errors.push(...invalid(`${path}.name`, container.name, checkDns1123Label(container.name)));
  const image = container.image ?? '';
  if (image === '') errors.push(fieldError.required(`${path}.image`));
  else if (image.trim() !== image) {
    errors.push(fieldError.invalid(`${path}.image`, image, 'must not have leading or trailing whitespace'));
  }
  const messagePath = `${path}.terminationMessagePolicy`;
  errors.push(...validateRequiredEnum(container.terminationMessagePolicy, messagePolicies, messagePath));
  if (container.ports) errors.push(...validateContainerPorts(container.ports, `${path}.ports`));
  if (container.env) errors.push(...validateEnv(container.env, `${path}.env`));
  if (container.envFrom) errors.push(...validateEnvFrom(container, `${path}.envFrom`));
  if (container.volumeMounts || container.volumeDevices) errors.push(...validateMounts(container, context, path));
  errors.push(...validateRequiredEnum(container.imagePullPolicy, pullPolicies, `${path}.imagePullPolicy`));
  if (container.resources) errors.push(...validateResources(container.resources, `${path}.resources`));
  if (container.securityContext) {
    errors.push(...validateSecurityContext(container.securityContext, `${path}.securityContext`));
  }
  return errors;
}

function validateContainerPorts(ports: readonly ContainerPort[], path: string): FieldError[] {
  const errors: FieldError[] = [];
  const names = new Set<string>();
  for (const [index, port] of ports.entries()) {
    const at = `${path}[${index}]`;
    if (port.name) {
      const problems = checkPortName(port.name);
      if (problems.length > 0) errors.push(...invalid(`${at}.name`, port.name, problems));
      else if (names.has(port.name)) errors.push(fieldError.duplicate(`${at}.name`, port.name));
      else names.add(port.name);
    }
    if (!port.containerPort) errors.push(fieldError.required(`${at}.containerPort`));
    else errors.push(...invalid(`${at}.containerPort`, port.containerPort, checkPort(port.containerPort)));
    if (port.hostPort) errors.push(...invalid(`${at}.hostPort`, port.hostPort, checkPort(port.hostPort)));
    errors.push(...validateRequiredEnum(port.protocol, protocols, `${at}.protocol`));
  }
  return errors;
}

function collectHostPorts(container: Container, taken: Set<string>, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const [index, port] of (container.ports ?? []).entries()) {
    if (!port.hostPort) continue;
    const key = `${port.protocol}/${port.hostIP ?? ''}/${port.hostPort}`;
    if (taken.has(key)) errors.push(fieldError.duplicate(`${path}.ports[${index}].hostPort`, key));
    else taken.add(key);
  }
  return errors;
}

function validateEnv(variables: readonly EnvVar[], path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const [index, variable] of variables.entries()) {
    const at = `${path}[${index}]`;
    if (!variable.name) errors.push(fieldError.required(`${at}.name`));
    else errors.push(...invalid(`${at}.name`, variable.name, checkEnvVarName(variable.name)));
    if (variable.valueFrom) errors.push(...validateEnvSource(variable, `${at}.valueFrom`));
  }
  return errors;
}

function validateEnvSource(variable: EnvVar, path: string): FieldError[] {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef, fileKeyRef } = variable.valueFrom ?? {};
  const errors: FieldError[] = [];
  let sources = fileKeyRef ? 1 : 0;
  if (fieldRef) {
    sources++;
    errors.push(...validateFieldRef(fieldRef, envFieldPaths, `${path}.fieldRef`));
  }
  if (resourceFieldRef) {
    sources++;
    errors.push(
      ...validateResourceFieldRef(resourceFieldRef, `${path}.resourceFieldRef`, { containerRequired: false }),
    );
  }
  if (configMapKeyRef) {
    sources++;
    errors.push(...validateKeyRef(configMapKeyRef, `${path}.configMapKeyRef`));
  }
  if (secretKeyRef) {
    sources++;
    errors.push(...validateKeyRef(secretKeyRef, `${path}.secretKeyRef`));
  }
  if (sources === 0) {
    const text = 'must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`';
    errors.push(fieldError.invalid(path, '', text));
  } else if (variable.value) {
    errors.push(fieldError.invalid(path, '', 'may not be specified when `value` is not empty'));
  } else if (sources > 1) {
    errors.push(fieldError.invalid(path, '', 'may not have more than one field specified at a time'));
  }
  return errors;
}

function validateKeyRef(reference: KeyRef, path: string): FieldError[] {
  const name = reference.name ?? '';
  const errors = invalid(`${path}.name`, name, checkDns1123Subdomain(name));
  if (!reference.key) errors.push(fieldError.required(`${path}.key`));
  else errors.push(...invalid(`${path}.key`, reference.key, checkConfigMapKey(reference.key)));
  return errors;
}

const subscripted = /^(metadata\.(?:annotations|labels)|[^[]*)\['(.*)'\]$/;

/** Validates a reference to a field of the pod; `metadata.labels['key']` selects one entry of a map. */
export function validateFieldRef(reference: FieldRef, allowed: readonly string[], path: string): FieldError[] {
  if (!reference.apiVersion) return [fieldError.required(`${path}.apiVersion`)];
  const fieldPath = reference.fieldPath;
  if (!fieldPath) return [fieldError.required(`${path}.fieldPath`)];
  const match = subscripted.exec(fieldPath);
  if (match) {
    const key = match[2] ?? '';
    if (match[1] === 'metadata.annotations')
      return invalid(path, key.toLowerCase(), checkQualifiedName(key.toLowerCase()));
    if (match[1] === 'metadata.labels') return invalid(path, key, checkQualifiedName(key));
    return [
      fieldError.invalid(
        `${path}.fieldPath`,
        fieldPath,
        `error converting fieldPath: field label does not support subscript: ${fieldPath}`,
      ),
    ];
  }
  if (allowed.includes(fieldPath)) return [];
  const known = ['metadata.annotations', 'metadata.labels', 'spec.restartPolicy', 'spec.schedulerName', 'status.phase'];
  if (!known.includes(fieldPath) && !envFieldPaths.includes(fieldPath)) {
    const text = `error converting fieldPath: field label not supported: ${fieldPath}`;
    return [fieldError.invalid(`${path}.fieldPath`, fieldPath, text)];
  }
  return [notSupported(`${path}.fieldPath`, fieldPath, allowed as string[])];
}

/** Validates a reference to a resource amount. References in files must name the container. */
export function validateResourceFieldRef(
  reference: ResourceFieldRef,
  path: string,
  { containerRequired }: { containerRequired: boolean },
): FieldError[] {
  const errors: FieldError[] = [];
  if (containerRequired && !reference.containerName) errors.push(fieldError.required(`${path}.containerName`));
  else if (!reference.resource) errors.push(fieldError.required(`${path}.resource`));
  else if (!resourceFields.includes(reference.resource) && !/^(limits|requests)\.hugepages-/.test(reference.resource)) {
    errors.push(notSupported(`${path}.resource`, reference.resource, resourceFields));
  }
  return errors;
}

function validateEnvFrom(container: Container, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const [index, source] of (container.envFrom ?? []).entries()) {
    const at = `${path}[${index}]`;
    if (source.prefix) errors.push(...invalid(`${at}.prefix`, source.prefix, checkEnvVarName(source.prefix)));
    let sources = 0;
    for (const field of ['configMapRef', 'secretRef'] as const) {
      const reference = source[field];
      if (!reference) continue;
      sources++;
      if (!reference.name) errors.push(fieldError.required(`${at}.${field}.name`));
      else errors.push(...invalid(`${at}.${field}.name`, reference.name, checkDns1123Subdomain(reference.name)));
    }
    if (sources === 0) {
      errors.push(fieldError.invalid(path, '', 'must specify one of: `configMapRef` or `secretRef`'));
    } else if (sources > 1) {
      errors.push(fieldError.invalid(path, '', 'may not have more than one field specified at a time'));
    }
  }
  return errors;
}

function validateMounts(container: Container, context: ContainerContext, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const paths = new Set<string>();
  const devices = container.volumeDevices ?? [];
  for (const [index, mount] of (container.volumeMounts ?? []).entries()) {
    const at = `${path}.volumeMounts[${index}]`;
    if (!mount.name) errors.push(fieldError.required(`${at}.name`));
    if (!context.volumes.has(mount.name)) errors.push(fieldError.notFound(`${at}.name`, mount.name ?? ''));
    if (!mount.mountPath) errors.push(fieldError.required(`${at}.mountPath`));
    if (paths.has(mount.mountPath))
      errors.push(fieldError.invalid(`${at}.mountPath`, mount.mountPath, 'must be unique'));
    paths.add(mount.mountPath);
    if (devices.some((device) => device.name === mount.name)) {
      errors.push(fieldError.invalid(`${at}.name`, mount.name, 'must not already exist in volumeDevices'));
    }
    errors.push(...validateSubPaths(mount, `${path}.volumeMounts`, at));
  }
  for (const [index, device] of devices.entries()) {
    const at = `${path}.volumeDevices[${index}]`;
    if (!device.name) errors.push(fieldError.required(`${at}.name`));
    else if (!context.volumes.has(device.name)) errors.push(fieldError.notFound(`${at}.name`, device.name));
    if (!device.devicePath) errors.push(fieldError.required(`${at}.devicePath`));
  }
  return errors;
}

function validateSubPaths(mount: VolumeMount, listPath: string, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (mount.subPath) errors.push(...validateDescendingPath(mount.subPath, `${listPath}.subPath`));
  if (mount.subPathExpr) {
    if (mount.subPath) {
      const text = 'subPathExpr and subPath are mutually exclusive';
      errors.push(fieldError.invalid(`${path}.subPathExpr`, mount.subPathExpr, text));
    }
    errors.push(...validateDescendingPath(mount.subPathExpr, `${listPath}.subPathExpr`));
  }
  errors.push(
    ...validateEnum(
      mount.mountPropagation,
      ['Bidirectional', 'HostToContainer', 'None'],
      `${listPath}.mountPropagation`,
    ),
  );
  return errors;
}

function validateProbes(container: Container, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const name of ['livenessProbe', 'readinessProbe', 'startupProbe'] as const) {
    const probe = container[name];
    if (!probe) continue;
    const at = `${path}.${name}`;
    errors.push(...validateProbe(probe, at));
    if (name === 'readinessProbe') {
      if (probe.terminationGracePeriodSeconds !== undefined) {
        const text = 'must not be set for readinessProbes';
        errors.push(
          fieldError.invalid(`${at}.terminationGracePeriodSeconds`, probe.terminationGracePeriodSeconds, text),
        );
      }
    } else if ((probe.successThreshold ?? 1) !== 1) {
      errors.push(fieldError.invalid(`${at}.successThreshold`, probe.successThreshold, 'must be 1'));
    }
  }
  return errors;
}

function validateProbe(probe: Probe, path: string): FieldError[] {
  const errors = validateHandler(probe, path);
  const counts = [
    'initialDelaySeconds',
    'timeoutSeconds',
    'periodSeconds',
    'successThreshold',
    'failureThreshold',
  ] as const;
  for (const field of counts) errors.push(...validateNonNegative(probe[field], `${path}.${field}`));
  const grace = probe.terminationGracePeriodSeconds;
  if (grace !== undefined && grace <= 0) {
    errors.push(fieldError.invalid(`${path}.terminationGracePeriodSeconds`, grace, 'must be greater than 0'));
  }
  return errors;
}

function validateHandler(handler: Handler, path: string): FieldError[] {
  const errors: FieldError[] = [];
  let found = 0;
  for (const type of ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep'] as const) {
    if (handler[type] === undefined) continue;
    if (found++ > 0) errors.push(fieldError.forbidden(`${path}.${type}`, 'may not specify more than 1 handler type'));
    else errors.push(...validateHandlerType(handler, type, `${path}.${type}`));
  }
  if (found === 0) errors.push(fieldError.required(path, 'must specify a handler type'));
  return errors;
}

function validateHandlerType(handler: Handler, type: keyof Handler, path: string): FieldError[] {
  switch (type) {
    case 'exec':
      return handler.exec?.command?.length ? [] : [fieldError.required(`${path}.command`)];
    case 'httpGet': {
      const action: Partial<NonNullable<Handler['httpGet']>> = handler.httpGet ?? {};
      const errors = validateRequiredText(action.path, `${path}.path`);
      errors.push(...validatePortNumberOrName(action.port, `${path}.port`));
      errors.push(...validateEnum(action.scheme ?? '', ['HTTP', 'HTTPS'], `${path}.scheme`));
      for (const header of action.httpHeaders ?? []) {
        errors.push(...invalid(`${path}.httpHeaders`, header.name, checkHttpHeaderName(header.name ?? '')));
      }
      return errors;
    }
    case 'tcpSocket':
      return validatePortNumberOrName(handler.tcpSocket?.port, `${path}.port`);
    case 'grpc':
      return validatePortNumberOrName(handler.grpc?.port, `${path}.port`);
    case 'sleep':
      return validateNonNegative(handler.sleep?.seconds, `${path}.seconds`);
  }
}

/** Validates limits and requests: known names, valid amounts, and requests within limits. */
export function validateResources(requirements: ResourceRequirements, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const { limits = {}, requests = {} } = requirements;
  for (const name in limits) errors.push(...validateAmount(name, limits[name], `${path}.limits[${name}]`));
  for (const name in requests) {
    errors.push(...validateAmount(name, requests[name], `${path}.requests[${name}]`));
    const limit = limits[name];
    const overcommit = !name.includes('/') && !name.startsWith('hugepages-');
    if (limit === undefined) {
      if (!overcommit) {
        errors.push(fieldError.required(`${path}.limits`, 'Limit must be set for non overcommitable resources'));
      }
      continue;
    }
    const order = compareQuantities(requests[name], limit);
    if (order !== 0 && !overcommit) {
      errors.push(fieldError.invalid(`${path}.requests`, requests[name], `must be equal to ${name} limit of ${limit}`));
    } else if (order > 0) {
      const text = `must be less than or equal to ${name} limit of ${limit}`;
      errors.push(fieldError.invalid(`${path}.requests`, requests[name], text));
    }
  }
  return errors;
}

function validateAmount(name: string, amount: unknown, path: string): FieldError[] {
  const errors = invalid(path, name, checkQualifiedName(name));
  const hugePages = name.startsWith('hugepages-');
  if (errors.length === 0 && !name.includes('/') && !hugePages) {
    if (!standardResources.has(name)) {
      errors.push(fieldError.invalid(path, name, 'must be a standard resource type or fully qualified'));
    }
    if (!standardContainerResources.has(name)) {
      errors.push(fieldError.invalid(path, name, 'must be a standard resource for containers'));
    }
  }
  const quantity = parseQuantity(amount);
  if (!quantity) errors.push(fieldError.invalid(path, amount, quantityFormatText));
  else if (quantity.nanos < 0n) {
    errors.push(fieldError.invalid(path, amount, 'must be greater than or equal to 0'));
  } else if (name.includes('/') && quantity.nanos % 1_000_000_000n !== 0n) {
    errors.push(fieldError.invalid(path, amount, 'must be an integer'));
  }
  return errors;
}

const maxId = 2147483647;

export function validateIds(
  context: { runAsUser?: number; runAsGroup?: number; fsGroup?: number },
  path: string,
): FieldError[] {
  const errors: FieldError[] = [];
  for (const field of ['runAsUser', 'runAsGroup', 'fsGroup'] as const) {
    const id = context[field];
    if (id !== undefined && (id < 0 || id > maxId)) {
      errors.push(fieldError.invalid(`${path}.${field}`, id, rangeText(0, maxId)));
    }
  }
  return errors;
}

function validateSecurityContext(context: SecurityContext, path: string): FieldError[] {
  const errors = validateIds(context, path);
  errors.push(...validateEnum(context.procMount, ['Default', 'Unmasked'], `${path}.procMount`));
  if (context.allowPrivilegeEscalation === false) {
    const at = `${path}.allowPrivilegeEscalation`;
    if (context.privileged) {
      errors.push(
        fieldError.invalid(path, context, 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true'),
      );
    } else if (context.capabilities?.add?.includes('CAP_SYS_ADMIN')) {
      const text = 'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN';
      errors.push(fieldError.invalid(at, false, text));
    }
  }
  return errors;
}
