import { type FieldError, fieldError, type ResourceStrategy } from '../../../machinery/index.ts';
import {
  validateAddresses,
  validateCidrs,
  validateHost,
  validateNotNegative,
  validatePlaneVersionChange,
  validateSans,
} from '../../common/plane-validation.ts';
import { parseLenientVersion, validateKubernetesVersion } from '../../kamaji/admission.ts';
import { validateChangedSpec } from '../../kind/strategy.ts';
import type { KamajiControlPlane, KamajiControlPlaneFields, KamajiControlPlaneTemplate } from './types.ts';

export const kamajiControlPlaneStrategy: ResourceStrategy<KamajiControlPlane> = {
  applyDefaults(draft) {
    const { spec } = draft;
    // OpenStack's guide writes an endpoint without a value, which means no endpoint.
    if (spec?.controlPlaneEndpoint !== undefined && isEmptyEndpoint(spec.controlPlaneEndpoint)) {
      delete spec.controlPlaneEndpoint;
    }
  },
  ...validateChangedSpec<KamajiControlPlane>((object, before) => {
    const { spec } = object;
    if (spec === undefined) return [];
    return [
      ...validateKubernetesVersion(spec.version, 'spec.version'),
      ...(before === undefined ? [] : validateChange(spec, before)),
      ...validateNotNegative(spec.replicas, 'spec.replicas'),
      ...validateFields(spec, 'spec'),
    ];
  }),
};

const isEmptyEndpoint = ({ host = '', port = 0 }: { host?: string; port?: number }): boolean =>
  host === '' && port === 0;

function validateChange(spec: KamajiControlPlane['spec'], before: KamajiControlPlane): FieldError[] {
  const change = {
    wanted: parseLenientVersion(spec.version),
    before: parseLenientVersion(before.spec?.version),
    running: parseLenientVersion(before.status?.version),
  };
  return validatePlaneVersionChange(change, 'spec.version');
}

export const kamajiControlPlaneTemplateStrategy: ResourceStrategy<KamajiControlPlaneTemplate> = {
  ...validateChangedSpec<KamajiControlPlaneTemplate>((object) => {
    const { spec } = object;
    return validateFields(spec?.template?.spec ?? {}, 'spec.template.spec');
  }),
};

function validateFields({ network, addons }: KamajiControlPlaneFields, path: string): FieldError[] {
  const networkPath = `${path}.network`;
  const errors = [
    ...validateSans(network?.certSANs, `${networkPath}.certSANs`),
    ...validateHost(network?.serviceAddress, `${networkPath}.serviceAddress`),
    ...validateAddresses(network?.dnsServiceIPs, `${networkPath}.dnsServiceIPs`),
    ...validateAddresses(addons?.coreDNS?.dnsServiceIPs, `${path}.addons.coreDNS.dnsServiceIPs`),
    ...validateCidrs(
      network?.loadBalancerConfig?.loadBalancerSourceRanges,
      `${networkPath}.loadBalancerConfig.loadBalancerSourceRanges`,
    ),
  ];
  if (network?.ingress !== undefined && network.gateway !== undefined) {
    errors.push(fieldError.forbidden(`${networkPath}.gateway`, 'cannot be used together with ingress'));
  }
  for (const name of ['ingress', 'gateway'] as const) {
    const host = network?.[name]?.hostname;
    errors.push(...validateHost(host?.replace(/:[0-9]+$/, ''), `${networkPath}.${name}.hostname`));
  }
  return errors;
}
