import { canonicalQuantity } from '../../machinery/index.ts';
import {
  addMissing,
  canonicalizeRequirements,
  canonicalizeResources,
  setDefault,
  setDefaultNumber,
} from '../common/defaults.ts';
import type {
  Container,
  FieldRef,
  Handler,
  PodSpec,
  PodTemplateSpec,
  Probe,
  ResourceFieldRef,
  Volume,
} from './pod-types.ts';

const fileMode = 0o644;

/** Returns `Always` for images without a tag or with the tag `latest`, whose content may change. */
export function defaultPullPolicy(image: string): string {
  const digest = image.indexOf('@');
  if (digest >= 0) return 'IfNotPresent';
  const tag = image.slice(image.lastIndexOf('/') + 1).split(':')[1];
  return tag === undefined || tag === 'latest' ? 'Always' : 'IfNotPresent';
}

/** Applies the defaults that kube-apiserver sets in every pod spec, in pods and in templates. */
export function defaultPodSpec(spec: PodSpec): void {
  setDefault(spec, 'dnsPolicy', 'ClusterFirst');
  setDefault(spec, 'restartPolicy', 'Always');
  setDefault(spec, 'securityContext', {});
  setDefault(spec, 'terminationGracePeriodSeconds', 30);
  setDefault(spec, 'schedulerName', 'default-scheduler');
  if (spec.serviceAccountName) spec.serviceAccount = spec.serviceAccountName;
  else if (spec.serviceAccount) spec.serviceAccountName = spec.serviceAccount;
  canonicalizeResources(spec.overhead);
  for (const volume of spec.volumes ?? []) defaultVolume(volume);
  for (const container of spec.containers ?? []) defaultContainer(container);
  for (const container of spec.initContainers ?? []) defaultContainer(container);
  for (const container of spec.ephemeralContainers ?? []) defaultContainer(container);
}

export function defaultPodTemplate(template: PodTemplateSpec): void {
  setDefault(template, 'metadata', {});
  if (template.spec) defaultPodSpec(template.spec);
}

function defaultContainer(container: Container): void {
  setDefault(container, 'imagePullPolicy', defaultPullPolicy(container.image ?? ''));
  setDefault(container, 'resources', {});
  setDefault(container, 'terminationMessagePath', '/dev/termination-log');
  setDefault(container, 'terminationMessagePolicy', 'File');
  canonicalizeRequirements(container.resources);
  for (const port of container.ports ?? []) setDefault(port, 'protocol', 'TCP');
  for (const variable of container.env ?? []) {
    if (variable.valueFrom) defaultReference(variable.valueFrom);
  }
  if (container.livenessProbe) defaultProbe(container.livenessProbe);
  if (container.readinessProbe) defaultProbe(container.readinessProbe);
  if (container.startupProbe) defaultProbe(container.startupProbe);
  if (container.lifecycle?.postStart) defaultHandler(container.lifecycle.postStart);
  if (container.lifecycle?.preStop) defaultHandler(container.lifecycle.preStop);
}

function defaultReference(source: { fieldRef?: FieldRef; resourceFieldRef?: ResourceFieldRef }): void {
  if (source.fieldRef) setDefault(source.fieldRef, 'apiVersion', 'v1');
  const resource = source.resourceFieldRef;
  if (resource) resource.divisor = canonicalQuantity(resource.divisor) ?? resource.divisor ?? '0';
}

function defaultHandler(handler: Handler): void {
  if (handler.httpGet) {
    setDefault(handler.httpGet, 'path', '/');
    setDefault(handler.httpGet, 'scheme', 'HTTP');
  }
}

function defaultProbe(probe: Probe): void {
  defaultHandler(probe);
  setDefaultNumber(probe, 'timeoutSeconds', 1);
  setDefaultNumber(probe, 'periodSeconds', 10);
  setDefaultNumber(probe, 'successThreshold', 1);
  setDefaultNumber(probe, 'failureThreshold', 3);
  if (probe.grpc) setDefault(probe.grpc, 'service', '');
}

function defaultVolume(volume: Volume): void {
  let hasSource = false;
  for (const key in volume) if (key !== 'name' && volume[key] !== undefined) hasSource = true;
  if (!hasSource) volume.emptyDir = {};
  const { emptyDir, secret, configMap, hostPath, downwardAPI, projected, ephemeral, image } = volume;
  if (emptyDir?.sizeLimit !== undefined) {
    emptyDir.sizeLimit = canonicalQuantity(emptyDir.sizeLimit) ?? emptyDir.sizeLimit;
  }
  if (secret) setDefault(secret, 'defaultMode', fileMode);
  if (configMap) setDefault(configMap, 'defaultMode', fileMode);
  if (hostPath) setDefault(hostPath, 'type', '');
  if (downwardAPI) {
    setDefault(downwardAPI, 'defaultMode', fileMode);
    for (const item of downwardAPI.items ?? []) defaultReference(item);
  }
  if (projected) {
    setDefault(projected, 'defaultMode', fileMode);
    for (const source of projected.sources ?? []) {
      if (source.serviceAccountToken) setDefault(source.serviceAccountToken, 'expirationSeconds', 3600);
      for (const item of source.downwardAPI?.items ?? []) defaultReference(item);
    }
  }
  const template = ephemeral?.volumeClaimTemplate;
  if (template) {
    setDefault(template, 'metadata', {});
    if (template.spec) setDefault(template.spec, 'volumeMode', 'Filesystem');
  }
  if (image) setDefault(image, 'pullPolicy', defaultPullPolicy(image.reference ?? ''));
  defaultStorageVolume(volume);
}

/** Applies the defaults of volume sources of old in-tree drivers. */
export function defaultStorageVolume(volume: Pick<Volume, 'iscsi' | 'rbd' | 'azureDisk' | 'scaleIO'>): void {
  const { iscsi, rbd, azureDisk, scaleIO } = volume;
  if (iscsi) setDefault(iscsi, 'iscsiInterface', 'default');
  if (rbd) {
    setDefault(rbd, 'pool', 'rbd');
    setDefault(rbd, 'user', 'admin');
    setDefault(rbd, 'keyring', '/etc/ceph/keyring');
  }
  if (azureDisk) {
    setDefault(azureDisk, 'cachingMode', 'ReadWrite');
    setDefault(azureDisk, 'kind', 'Shared');
    setDefault(azureDisk, 'fsType', 'ext4');
    setDefault(azureDisk, 'readOnly', false);
  }
  if (scaleIO) {
    setDefault(scaleIO, 'storageMode', 'ThinProvisioned');
    setDefault(scaleIO, 'fsType', 'xfs');
  }
}

/** Applies the defaults of pods that templates do not get: requests from limits, host ports from container ports. */
export function defaultPod(spec: PodSpec): void {
  setDefault(spec, 'enableServiceLinks', true);
  for (const containers of [spec.containers, spec.initContainers]) {
    for (const container of containers ?? []) {
      const resources = container.resources;
      if (resources?.limits && Object.keys(resources.limits).length > 0) {
        resources.requests ??= {};
        addMissing(resources.requests, resources.limits);
      }
      if (!spec.hostNetwork) continue;
      for (const port of container.ports ?? []) {
        if (!port.hostPort) port.hostPort = port.containerPort;
      }
    }
  }
}
