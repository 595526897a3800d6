import {
  checkDns1123Subdomain,
  type FieldError,
  fieldError,
  percentOf,
  validateAnnotations,
  validateLabels,
  validateNonNegative,
} from '../../machinery/index.ts';
import type {
  MachineDeploymentRemediation,
  MachineTaint,
  RolloutStrategy,
  TemplateMetadata,
  TopologyHealthCheck,
} from './types.ts';

// Validates the labels and annotations of a template.

export function validateTemplateMetadata(metadata: TemplateMetadata | undefined, path: string): FieldError[] {
  return [
    ...validateLabels(metadata?.labels, `${path}.labels`),
    ...validateAnnotations(metadata?.annotations, `${path}.annotations`),
  ];
}

export function validateIntOrPercent(value: number | string | undefined, path: string): FieldError[] {
  if (typeof value === 'number') return validateNonNegative(value, path);
  if (value === undefined || percentOf(value) !== undefined) return [];
  const cause = value.endsWith('%')
    ? `invalid value for IntOrString: invalid value ${JSON.stringify(value)}: strconv.Atoi: parsing ${JSON.stringify(value.slice(0, -1))}: invalid syntax`
    : 'invalid value for IntOrString: invalid type: string is not a percentage';
  return [fieldError.invalid(path, value, `must be either an int or a percentage: ${cause}`)];
}

const action = /\{\{([^{}]*)\}\}/g;

const fieldAccess = /^(\.\w+)+$/;

/**
 * Checks that the names a template produces are unique and valid object names. `variables` holds the allowed fields
 * with sample values. A template with more than plain fields is checked only when it is rendered.
 */
export function validateNamingTemplate(
  template: string | undefined,
  path: string,
  variables: Readonly<Record<string, string>>,
): FieldError[] {
  if (template === undefined) return [];
  const errors: FieldError[] = [];
  if (!template.includes('{{ .random }}')) {
    errors.push(fieldError.invalid(path, template, 'invalid template, {{ .random }} is missing'));
  }
  const others: string[] = [];
  const name = template.replace(action, (_, inside: string) => {
    const expression = inside.replace(/^-/, '').replace(/-$/, '').trim();
    const value = expression === '.random' ? '2abcd' : variables[expression];
    if (value === undefined) others.push(expression);
    return value ?? '';
  });
  for (const unknown of others.filter((expression) => fieldAccess.test(expression))) {
    errors.push(fieldError.invalid(path, template, `invalid template: there is no ${unknown}`));
  }
  if (others.length > 0) return errors;
  for (const problem of checkDns1123Subdomain(name)) {
    const cause = `invalid template, generated names would not be valid Kubernetes object names: ${problem}`;
    errors.push(fieldError.invalid(path, template, cause));
  }
  return errors;
}

const reservedTaints: readonly string[] = [
  'node.cluster.x-k8s.io/uninitialized',
  'node.cluster.x-k8s.io/outdated-revision',
];

/** Refuses taints that kubelet, kubeadm, a cloud controller or Cluster API manages on Nodes. */
export function validateMachineTaints(
  taints: readonly MachineTaint[] | undefined,
  path: string,
  role: 'control plane' | 'worker',
): FieldError[] {
  return (taints ?? []).flatMap(({ key }, i) => {
    const problem = taintKeyProblem(key ?? '', role);
    return problem === undefined ? [] : [fieldError.invalid(`${path}[${i}].key`, key, problem)];
  });
}

function taintKeyProblem(key: string, role: 'control plane' | 'worker'): string | undefined {
  if (reservedTaints.includes(key)) return 'taint key is not allowed';
  if (key.startsWith('node.kubernetes.io/') && key !== 'node.kubernetes.io/out-of-service') {
    return 'taint key must not have the prefix node.kubernetes.io/, except for node.kubernetes.io/out-of-service';
  }
  if (key.startsWith('node.cloudprovider.kubernetes.io/')) {
    return 'taint key must not have the prefix node.cloudprovider.kubernetes.io/';
  }
  if (key === 'node-role.kubernetes.io/master') return 'taint is deprecated since 1.24 and should not be used anymore';
  if (role === 'worker' && key === 'node-role.kubernetes.io/control-plane') {
    return 'taint is not allowed for worker Machines';
  }
  return undefined;
}

/** Validates the rollout strategy of a MachineDeployment or of a topology. */
export function validateRolloutStrategy(strategy: RolloutStrategy | undefined, path: string): FieldError[] {
  const rolling = strategy?.rollingUpdate;
  const at = `${path}.rollingUpdate`;
  const errors = [
    ...validateIntOrPercent(rolling?.maxSurge, `${at}.maxSurge`),
    ...validateIntOrPercent(rolling?.maxUnavailable, `${at}.maxUnavailable`),
  ];
  if (rolling?.maxSurge === 0 && rolling.maxUnavailable === 0) {
    errors.push(fieldError.invalid(at, '0', 'maxUnavailable and maxSurge cannot both be 0'));
  }
  return errors;
}

const leastNodeStartupTimeoutSeconds = 30;

/** Validates health checks and remediation limits of a MachineHealthCheck or of a topology. */
export function validateHealthChecks(
  { checks, remediation }: Pick<TopologyHealthCheck<MachineDeploymentRemediation>, 'checks' | 'remediation'>,
  path: string,
): FieldError[] {
  const errors: FieldError[] = [];
  const startup = checks?.nodeStartupTimeoutSeconds;
  if (startup !== undefined && startup !== 0 && startup < leastNodeStartupTimeoutSeconds) {
    const detail = `must be at least ${leastNodeStartupTimeoutSeconds}s`;
    errors.push(fieldError.invalid(`${path}.checks.nodeStartupTimeoutSeconds`, startup, detail));
  }
  const at = `${path}.remediation`;
  const most = remediation?.triggerIf?.unhealthyLessThanOrEqualTo;
  errors.push(
    ...validateIntOrPercent(most, `${at}.triggerIf.unhealthyLessThanOrEqualTo`),
    ...validateIntOrPercent(remediation?.maxInFlight, `${at}.maxInFlight`),
  );
  return errors;
}
