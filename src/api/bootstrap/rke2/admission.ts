import { type FieldError, fieldError, type ResourceStrategy, validateAnnotations } from '../../../machinery/index.ts';
import { validateTemplateMetadata } from '../../cluster/validation.ts';
import { validateChangedSpec } from '../../kind/strategy.ts';
import type { RKE2AgentConfig, RKE2Config, RKE2ConfigSpec, RKE2ConfigTemplate } from './types.ts';

export const rke2ConfigStrategy: ResourceStrategy<RKE2Config> = validateChangedSpec<RKE2Config>(({ metadata, spec }) =>
  validateRKE2ConfigSpec(spec, 'spec', metadata.namespace),
);

export const rke2ConfigTemplateStrategy: ResourceStrategy<RKE2ConfigTemplate> = validateChangedSpec<RKE2ConfigTemplate>(
  ({ metadata, spec }) => {
    const { metadata: made, spec: config } = spec?.template ?? {};
    return [
      ...validateRKE2ConfigSpec(config, 'spec.template.spec', metadata.namespace),
      ...validateTemplateMetadata(made, 'spec.template.metadata'),
    ];
  },
);

/** Checks what upstream's webhook refuses beyond the schema, and what rke2 would refuse on the machine. */
export function validateRKE2ConfigSpec(
  spec: RKE2ConfigSpec | undefined,
  path: string,
  namespace: string | undefined,
): FieldError[] {
  if (spec === undefined) return [];
  return [
    ...validateFiles(spec, path),
    ...validateRegistries(spec, path),
    ...validateAgent(spec.agentConfig ?? {}, `${path}.agentConfig`),
    ...validateOwnNamespace(spec, path, namespace),
  ];
}

const notWithIgnition = 'not supported when spec.format is set to "ignition"';

function validateFiles({ files, agentConfig }: RKE2ConfigSpec, path: string): FieldError[] {
  const known = new Set<string>();
  return (files ?? []).flatMap((file, i) => {
    const at = `${path}.files[${i}]`;
    const errors: FieldError[] = [];
    if (!file.path.startsWith('/'))
      errors.push(fieldError.invalid(`${at}.path`, file.path, 'must be an absolute path'));
    if (known.has(file.path)) errors.push(fieldError.duplicate(`${at}.path`, file.path));
    known.add(file.path);
    if (file.content !== undefined && file.contentFrom !== undefined) {
      errors.push(fieldError.forbidden(`${at}.contentFrom`, 'cannot be used together with content'));
    }
    if (agentConfig?.format === 'ignition' && (file.encoding === 'gzip' || file.encoding === 'gzip+base64')) {
      errors.push(fieldError.forbidden(`${at}.encoding`, notWithIgnition));
    }
    return errors;
  });
}

function validateRegistries({ privateRegistriesConfig }: RKE2ConfigSpec, path: string): FieldError[] {
  return Object.entries(privateRegistriesConfig?.configs ?? {}).flatMap(([name, config]) =>
    config.authSecret === undefined && config.tls === undefined
      ? [
          fieldError.invalid(
            `${path}.privateRegistriesConfig.configs[${name}]`,
            config,
            `need either credentials, tls settings or both for registry: ${name}`,
          ),
        ]
      : [],
  );
}

const settingPattern = /^[^=\s]+=.*$/s;
const taintPattern = /^[^=:\s]+(=[^:\s]*)?:(NoSchedule|PreferNoSchedule|NoExecute)$/;

function validateAgent(agent: RKE2AgentConfig, path: string): FieldError[] {
  const errors: FieldError[] = [];
  agent.nodeLabels?.forEach((label, i) => {
    if (settingPattern.test(label)) return;
    errors.push(fieldError.invalid(`${path}.nodeLabels[${i}]`, label, 'must be a label as name=value'));
  });
  agent.nodeTaints?.forEach((taint, i) => {
    if (taintPattern.test(taint)) return;
    errors.push(fieldError.invalid(`${path}.nodeTaints[${i}]`, taint, 'must be a taint as key=value:effect'));
  });
  errors.push(...validateAnnotations(agent.nodeAnnotations, `${path}.nodeAnnotations`));
  if (agent.airGappedChecksum !== undefined && agent.airGappedChecksum !== '' && agent.airGapped !== true) {
    errors.push(fieldError.forbidden(`${path}.airGappedChecksum`, 'can only be set together with airGapped'));
  }
  if (agent.dataDir !== undefined && agent.dataDir !== '' && !agent.dataDir.startsWith('/')) {
    errors.push(fieldError.invalid(`${path}.dataDir`, agent.dataDir, 'must be an absolute path'));
  }
  return errors;
}

/**
 * Upstream reads Secrets and ConfigMaps of any namespace. Capstan treats a namespace as a security boundary and refuses
 * references to other namespaces.
 */
function validateOwnNamespace(spec: RKE2ConfigSpec, path: string, namespace: string | undefined): FieldError[] {
  const found: (readonly [string, { namespace?: string } | undefined])[] = [];
  spec.files?.forEach(({ contentFrom }, i) => {
    found.push([`${path}.files[${i}].contentFrom.secret`, contentFrom?.secret]);
    found.push([`${path}.files[${i}].contentFrom.configMap`, contentFrom?.configMap]);
  });
  for (const [name, { authSecret, tls }] of Object.entries(spec.privateRegistriesConfig?.configs ?? {})) {
    const at = `${path}.privateRegistriesConfig.configs[${name}]`;
    found.push([`${at}.authSecret`, authSecret], [`${at}.tls.tlsConfigSecret`, tls?.tlsConfigSecret]);
  }
  const { imageCredentialProviderConfigMap, resolvConf } = spec.agentConfig ?? {};
  found.push([`${path}.agentConfig.imageCredentialProviderConfigMap`, imageCredentialProviderConfigMap]);
  found.push([`${path}.agentConfig.resolvConf`, resolvConf]);
  return refuseOtherNamespaces(found, namespace);
}

export function refuseOtherNamespaces(
  references: readonly (readonly [path: string, reference: { namespace?: string } | undefined])[],
  namespace: string | undefined,
): FieldError[] {
  return references.flatMap(([path, reference]) => {
    const named = reference?.namespace;
    if (named === undefined || named === '' || named === namespace) return [];
    return [fieldError.invalid(`${path}.namespace`, named, 'must be the namespace of the object itself, or left out')];
  });
}
