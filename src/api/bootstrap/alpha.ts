import type { Schema } from '../../machinery/index.ts';
import type { OldVersionSource } from '../kind/define.ts';
import { type LenientChanges, lenient } from '../kind/lenient.ts';
import { once } from '../kind/schema.ts';
import {
  kubeadmConfigSpecV1beta1,
  kubeadmConfigStatusV1beta1,
  kubeadmConfigTemplateSpecV1beta1,
} from './kubeadm-config-schema.ts';
import { kubeadmConfigTemplateV1beta1, kubeadmConfigV1beta1 } from './v1beta1.ts';

// The alpha versions have the shapes of v1beta1 with fewer fields; see the note in the cluster group.

export type Alpha = 'v1alpha4' | 'v1alpha3';
export const alphas: readonly Alpha[] = ['v1alpha4', 'v1alpha3'];

type AlphaSource = Pick<OldVersionSource, 'name' | 'deprecated' | 'spec' | 'status' | 'mapping' | 'hasStatus'>;

const news: readonly string[] = [
  'clusterConfiguration.apiServer.extraEnvs',
  'clusterConfiguration.controllerManager.extraEnvs',
  'clusterConfiguration.scheduler.extraEnvs',
  'clusterConfiguration.etcd.local.extraEnvs',
  'clusterConfiguration.certificateValidityPeriodDays',
  'clusterConfiguration.caCertificateValidityPeriodDays',
  'clusterConfiguration.encryptionAlgorithm',
  ...['initConfiguration', 'joinConfiguration'].flatMap((part) => [
    `${part}.skipPhases`,
    `${part}.patches`,
    `${part}.nodeRegistration.imagePullPolicy`,
    `${part}.nodeRegistration.imagePullSerial`,
  ]),
  'joinConfiguration.discovery.file.kubeConfig',
  'files.append',
  'files.contentFormat',
  'diskSetup.partitions.diskLayout',
  'users.passwdFrom',
  'bootCommands',
  'ignition',
];
const newsSinceV1alpha3: readonly string[] = [
  ...news,
  'initConfiguration.nodeRegistration.ignorePreflightErrors',
  'joinConfiguration.nodeRegistration.ignorePreflightErrors',
];
const goneSinceV1alpha3: Readonly<Record<string, Schema>> = {
  'clusterConfiguration.useHyperKubeImage': { type: 'boolean', description: 'No longer used.' },
  'clusterConfiguration.dns.type': { type: 'string', description: 'No longer used: always CoreDNS.' },
};

/**
 * Returns the differences of an alpha KubeadmConfigSpec. `prefix` is the path of the spec: empty, or ending in a dot.
 */
export function kubeadmConfigSpecChanges(alpha: Alpha, prefix: string): Required<LenientChanges> {
  const isOldest = alpha === 'v1alpha3';
  return {
    without: (isOldest ? newsSinceV1alpha3 : news).map((path) => prefix + path),
    adding: isOldest
      ? Object.fromEntries(Object.entries(goneSinceV1alpha3).map(([path, schema]) => [prefix + path, schema]))
      : {},
  };
}

const inlineData: Readonly<Record<string, Schema>> = {
  bootstrapData: { type: 'string', format: 'byte', description: 'User data, inline; it is in a Secret now.' },
};

export const kubeadmConfigAlphas: readonly AlphaSource[] = alphas.map((name) => ({
  name,
  deprecated: true,
  spec: once(() => lenient(kubeadmConfigSpecV1beta1(), kubeadmConfigSpecChanges(name, ''))),
  status: once(() =>
    lenient(kubeadmConfigStatusV1beta1(), {
      without: ['v1beta2'],
      adding: name === 'v1alpha3' ? inlineData : {},
    }),
  ),
  mapping: kubeadmConfigV1beta1,
}));

export const kubeadmConfigTemplateAlphas: readonly AlphaSource[] = alphas.map((name) => ({
  name,
  deprecated: true,
  hasStatus: false,
  spec: once(() => {
    const { without, adding } = kubeadmConfigSpecChanges(name, 'template.spec.');
    return lenient(kubeadmConfigTemplateSpecV1beta1(), { without: [...without, 'template.metadata'], adding });
  }),
  mapping: kubeadmConfigTemplateV1beta1,
}));
