import { stringify } from 'yaml';
import type {
  KubeadmClusterConfiguration,
  KubeadmComponent,
  KubeadmInitConfiguration,
  KubeadmJoinConfiguration,
  KubeadmLocalEtcd,
} from '../../api/index.ts';
import type { JsonObject } from '../../machinery/index.ts';
import { isRetired } from '../objects/retired-flags.ts';
import { type KubeadmApiVersion, kubeadmApiVersionFor, kubeadmGroup } from './api-version.ts';
import {
  argumentsOf,
  asJson,
  bootstrapTokens,
  compact,
  type Drafting,
  days,
  isBefore,
  nodeRegistration,
  seconds,
  since,
  timeouts,
} from './shapes.ts';

/** A kubeadm configuration document. */
export interface KubeadmDocument {
  format: KubeadmApiVersion;
  value: JsonObject;
  /** YAML, ends with a newline */
  text: string;
  /** paths of settings that this kubeadm version does not support */
  ignored: readonly string[];
}

/** ClusterConfiguration fields whose values come from the Cluster, the Machine or other documents. */
export interface KubeadmClusterFacts {
  clusterName: string;
  kubernetesVersion: string;
  /** host:port */
  controlPlaneEndpoint?: string;
  dnsDomain?: string;
  /** comma-separated */
  serviceSubnet?: string;
  podSubnet?: string;
  /** `initConfiguration.timeouts`; versions before v1beta4 keep it in the ClusterConfiguration */
  controlPlaneTimeoutSeconds?: number;
}

export function clusterConfigurationDocument(
  configuration: KubeadmClusterConfiguration | undefined,
  facts: KubeadmClusterFacts,
): KubeadmDocument {
  const drafting = draftingFor(facts.kubernetesVersion);
  const { apiServer, etcd, dns } = configuration ?? {};
  const at = 'clusterConfiguration';
  const timeoutForControlPlane = isBefore(drafting.format, 'v1beta4')
    ? seconds(facts.controlPlaneTimeoutSeconds)
    : undefined;
  return finish(drafting, 'ClusterConfiguration', {
    clusterName: facts.clusterName,
    kubernetesVersion: facts.kubernetesVersion,
    controlPlaneEndpoint: configuration?.controlPlaneEndpoint ?? facts.controlPlaneEndpoint,
    networking: compact({
      dnsDomain: facts.dnsDomain,
      podSubnet: facts.podSubnet,
      serviceSubnet: facts.serviceSubnet,
    }),
    certificatesDir: configuration?.certificatesDir,
    imageRepository: configuration?.imageRepository,
    featureGates: asJson(configuration?.featureGates),
    apiServer: compact({
      ...component(drafting, withoutRetiredFlags(drafting, facts.kubernetesVersion, apiServer), `${at}.apiServer`),
      certSANs: apiServer?.certSANs,
      timeoutForControlPlane,
    }),
    controllerManager: component(drafting, configuration?.controllerManager, `${at}.controllerManager`),
    scheduler: component(drafting, configuration?.scheduler, `${at}.scheduler`),
    etcd: compact({ local: localEtcd(drafting, etcd?.local, `${at}.etcd.local`), external: asJson(etcd?.external) }),
    dns: dns && compact({ imageRepository: dns.imageRepository, imageTag: dns.imageTag }),
    certificateValidityPeriod: days(
      since(drafting, 'v1beta4', `${at}.certificateValidityPeriodDays`, configuration?.certificateValidityPeriodDays),
    ),
    caCertificateValidityPeriod: days(
      since(
        drafting,
        'v1beta4',
        `${at}.caCertificateValidityPeriodDays`,
        configuration?.caCertificateValidityPeriodDays,
      ),
    ),
    encryptionAlgorithm: since(drafting, 'v1beta4', `${at}.encryptionAlgorithm`, configuration?.encryptionAlgorithm),
  });
}

/** Drops flags removed from the Kubernetes version, with which the API server would not start. */
function withoutRetiredFlags(
  drafting: Drafting,
  version: string,
  apiServer: KubeadmComponent | undefined,
): KubeadmComponent | undefined {
  const given = apiServer?.extraArgs ?? [];
  const retired = given.filter(({ name }) => isRetired(version, name));
  if (retired.length === 0) return apiServer;
  for (const { name } of retired) drafting.ignored.push(`clusterConfiguration.apiServer.extraArgs[${name}]`);
  return { ...apiServer, extraArgs: given.filter((argument) => !retired.includes(argument)) };
}

export function initConfigurationDocument(
  configuration: KubeadmInitConfiguration | undefined,
  kubernetesVersion: string,
): KubeadmDocument {
  const drafting = draftingFor(kubernetesVersion);
  const at = 'initConfiguration';
  return finish(drafting, 'InitConfiguration', {
    bootstrapTokens: bootstrapTokens(configuration?.bootstrapTokens),
    nodeRegistration: nodeRegistration(drafting, configuration?.nodeRegistration, `${at}.nodeRegistration`),
    localAPIEndpoint: asJson(configuration?.localAPIEndpoint),
    skipPhases: since(drafting, 'v1beta3', `${at}.skipPhases`, configuration?.skipPhases),
    patches: asJson(since(drafting, 'v1beta3', `${at}.patches`, configuration?.patches)),
    timeouts: timeouts(drafting, configuration?.timeouts, `${at}.timeouts`, 'controlPlaneComponentHealthCheckSeconds'),
  });
}

export function joinConfigurationDocument(
  configuration: KubeadmJoinConfiguration | undefined,
  kubernetesVersion: string,
): KubeadmDocument {
  const drafting = draftingFor(kubernetesVersion);
  const at = 'joinConfiguration';
  const { discovery, controlPlane } = configuration ?? {};
  const timeout = isBefore(drafting.format, 'v1beta4')
    ? seconds(configuration?.timeouts?.tlsBootstrapSeconds)
    : undefined;
  return finish(drafting, 'JoinConfiguration', {
    caCertPath: configuration?.caCertPath,
    nodeRegistration: nodeRegistration(drafting, configuration?.nodeRegistration, `${at}.nodeRegistration`),
    discovery: compact({
      bootstrapToken: asJson(discovery?.bootstrapToken),
      // the kubeconfig itself is written as a file of the machine
      file: discovery?.file && { kubeConfigPath: discovery.file.kubeConfigPath },
      tlsBootstrapToken: discovery?.tlsBootstrapToken,
      timeout,
    }),
    // even an empty object makes the machine a control plane node
    controlPlane: controlPlane && (compact({ localAPIEndpoint: asJson(controlPlane.localAPIEndpoint) }) ?? {}),
    skipPhases: since(drafting, 'v1beta3', `${at}.skipPhases`, configuration?.skipPhases),
    patches: asJson(since(drafting, 'v1beta3', `${at}.patches`, configuration?.patches)),
    timeouts: timeouts(drafting, configuration?.timeouts, `${at}.timeouts`, 'tlsBootstrapSeconds'),
  });
}

function draftingFor(kubernetesVersion: string): Drafting {
  return { format: kubeadmApiVersionFor(kubernetesVersion), ignored: [] };
}

function component(drafting: Drafting, desired: KubeadmComponent | undefined, path: string): JsonObject | undefined {
  if (!desired) return undefined;
  return compact({
    extraArgs: argumentsOf(drafting, desired.extraArgs),
    extraEnvs: asJson(since(drafting, 'v1beta4', `${path}.extraEnvs`, desired.extraEnvs)),
    extraVolumes: asJson(desired.extraVolumes),
  });
}

function localEtcd(drafting: Drafting, desired: KubeadmLocalEtcd | undefined, path: string): JsonObject | undefined {
  if (!desired) return undefined;
  const { imageRepository, imageTag, dataDir, serverCertSANs, peerCertSANs } = desired;
  return compact({
    imageRepository,
    imageTag,
    dataDir,
    extraArgs: argumentsOf(drafting, desired.extraArgs),
    extraEnvs: asJson(since(drafting, 'v1beta4', `${path}.extraEnvs`, desired.extraEnvs)),
    serverCertSANs,
    peerCertSANs,
  });
}

function finish({ format, ignored }: Drafting, kind: string, fields: Parameters<typeof compact>[0]): KubeadmDocument {
  const value: JsonObject = { apiVersion: `${kubeadmGroup}/${format}`, kind, ...compact(fields) };
  return { format, value, text: toYaml(value), ignored };
}

/** kubeadm parses YAML 1.1, where unquoted `yes`, `0600` or `08:30` is not a string. */
function toYaml(value: JsonObject): string {
  return stringify(value, { version: '1.1', lineWidth: 0, singleQuote: true });
}
