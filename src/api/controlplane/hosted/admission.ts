import {
  compareQuantities,
  type FieldError,
  fieldError,
  parseDuration,
  type ResourceStrategy,
} from '../../../machinery/index.ts';
import { validatePlaneVersionChange, validateSans } from '../../common/plane-validation.ts';
import { notSupported } from '../../common/validation.ts';
import { parseLenientVersion, validateKubernetesVersion } from '../../kamaji/admission.ts';
import { validateChangedSpec } from '../../kind/strategy.ts';
import { defaultAuthorityDuration } from './authority-duration.ts';
import type {
  HostedApiServer,
  HostedControlPlane,
  HostedControlPlaneFields,
  HostedControlPlaneTemplate,
  HostedEtcd,
  HostedOidcProvider,
} from './types.ts';

export const hostedControlPlaneStrategy: ResourceStrategy<HostedControlPlane> = {
  ...validateChangedSpec<HostedControlPlane>((object, before) => {
    const { spec } = object;
    if (spec === undefined) return [];
    return [
      ...validateKubernetesVersion(spec.version, 'spec.version'),
      ...validateFields(spec, 'spec'),
      ...(before?.spec === undefined ? [] : validateChange(spec, before)),
    ];
  }),
};

export const hostedControlPlaneTemplateStrategy: ResourceStrategy<HostedControlPlaneTemplate> = {
  ...validateChangedSpec<HostedControlPlaneTemplate>((object) => {
    const spec = object.spec?.template?.spec;
    return spec === undefined ? [] : validateFields(spec, 'spec.template.spec');
  }),
};

function validateChange(spec: HostedControlPlane['spec'], { spec: old, status }: HostedControlPlane): FieldError[] {
  const change = {
    wanted: parseLenientVersion(spec.version),
    before: parseLenientVersion(old.version),
    running: parseLenientVersion(status?.version),
  };
  return [...validatePlaneVersionChange(change, 'spec.version'), ...validateGrowth(spec.etcd, old.etcd)];
}

/** Volumes can grow, but not shrink. */
function validateGrowth(etcd: HostedEtcd | undefined, old: HostedEtcd | undefined): FieldError[] {
  const [size, before] = [etcd?.volumeSize, old?.volumeSize];
  if (size === undefined || before === undefined || compareQuantities(size, before) >= 0) return [];
  return [fieldError.forbidden('spec.etcd.volumeSize', `cannot be less than before (${before})`)];
}

function validateFields(spec: HostedControlPlaneFields, path: string): FieldError[] {
  return [
    ...validateSans(spec.apiServer?.certSANs, `${path}.apiServer.certSANs`),
    ...validateApiServer(spec.deployment?.apiServer, `${path}.deployment.apiServer`),
    ...validateEtcd(spec.etcd, `${path}.etcd`),
    ...validateDurations(spec.certificates, `${path}.certificates`),
    ...Object.entries(spec.oidcProviders ?? {}).flatMap(([issuer, provider]) =>
      validateProvider(issuer, provider, `${path}.oidcProviders[${issuer}]`),
    ),
  ];
}

function validateApiServer(apiServer: HostedApiServer | undefined, path: string): FieldError[] {
  const errors = validateSans(apiServer?.certSANs, `${path}.certSANs`);
  for (const [name, { path: at, configMap, secret }] of Object.entries(apiServer?.mounts ?? {})) {
    const mountPath = `${path}.mounts[${name}]`;
    if (!at.startsWith('/')) errors.push(fieldError.invalid(`${mountPath}.path`, at, 'must be an absolute path'));
    if ((configMap === undefined) === (secret === undefined)) {
      errors.push(fieldError.invalid(mountPath, { path: at }, 'must have either a configMap or a secret'));
    }
  }
  const { policy } = apiServer?.audit ?? {};
  if (policy === undefined) return errors;
  const policyPath = `${path}.audit.policy`;
  if (policy['apiVersion'] !== undefined && policy['apiVersion'] !== 'audit.k8s.io/v1') {
    errors.push(notSupported(`${policyPath}.apiVersion`, policy['apiVersion'], ['audit.k8s.io/v1']));
  }
  if (policy['kind'] !== undefined && policy['kind'] !== 'Policy') {
    errors.push(notSupported(`${policyPath}.kind`, policy['kind'], ['Policy']));
  }
  if (!Array.isArray(policy['rules'])) errors.push(fieldError.required(`${policyPath}.rules`));
  return errors;
}

const fieldLimits = [
  [0, 59],
  [0, 23],
  [1, 31],
  [1, 12],
  [0, 7],
] as const;

function validateEtcd(etcd: HostedEtcd | undefined, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (etcd?.volumeSize !== undefined && etcd.autoGrow === true) {
    errors.push(fieldError.forbidden(`${path}.autoGrow`, 'cannot be used together with volumeSize'));
  }
  const schedule = etcd?.backup?.schedule;
  if (schedule !== undefined && !isSchedule(schedule)) {
    const problem = 'must be five fields of cron, each a single value or *, or @daily';
    errors.push(fieldError.invalid(`${path}.backup.schedule`, schedule, problem));
  }
  return errors;
}

function isSchedule(schedule: string): boolean {
  if (schedule === '@daily') return true;
  const parts = schedule.trim().split(/\s+/);
  return (
    parts.length === fieldLimits.length &&
    fieldLimits.every(([least, most], i) => {
      const part = parts[i] ?? '';
      return part === '*' || (/^[0-9]+$/.test(part) && Number(part) >= least && Number(part) <= most);
    })
  );
}

function validateDurations(certificates: HostedControlPlaneFields['certificates'], path: string): FieldError[] {
  if (certificates === undefined) return [];
  const {
    rootCaCertificateDuration: root = defaultAuthorityDuration,
    caCertificateDuration: authority = defaultAuthorityDuration,
  } = certificates;
  const given = { rootCaCertificateDuration: root, caCertificateDuration: authority };
  const lengthOf = (text: string): number => parseDuration(text) ?? 0;
  const errors = Object.entries(given).flatMap(([name, text]) =>
    lengthOf(text) > 0 ? [] : [fieldError.invalid(`${path}.${name}`, text, 'must be a duration, e.g. 48h or 8760h')],
  );
  if (errors.length > 0 || lengthOf(root) >= lengthOf(authority)) return errors;
  return [
    fieldError.invalid(
      `${path}.rootCaCertificateDuration`,
      root,
      `must not be less than caCertificateDuration (${authority})`,
    ),
  ];
}

/** The cluster itself issues service account tokens under this name. */
const ownIssuer = 'https://kubernetes.default.svc';

function validateProvider(issuer: string, { claimMappings }: HostedOidcProvider, path: string): FieldError[] {
  if (issuer === ownIssuer || issuer.startsWith(`${ownIssuer}.`)) {
    return [fieldError.forbidden(path, 'is the issuer of the cluster itself')];
  }
  if (!/^https:\/\/[^\s/]+/.test(issuer)) {
    return [fieldError.invalid(path, issuer, 'must be a URL that begins with https://')];
  }
  const { claim = '', expression = '' } = claimMappings.username;
  return (claim === '') === (expression === '')
    ? [
        fieldError.invalid(
          `${path}.claimMappings.username`,
          claimMappings.username,
          'must have either a claim or an expression',
        ),
      ]
    : [];
}
