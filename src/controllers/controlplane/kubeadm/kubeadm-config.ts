import {
  type KubeadmConfig,
  type KubeadmConfigSpec,
  type KubeadmControlPlane,
  parseKubernetesVersion,
  withFormerDefaults,
} from '../../../api/index.ts';
import { asJson, deepEqual, type JsonValue } from '../../../machinery/index.ts';

/**
 * Feature gate that makes control plane kubelets use the local API server. Capstan sets it for versions in which
 * kubeadm does not enable it by default.
 */
const localModeGate = 'ControlPlaneKubeletLocalMode';
const localModeFirstMinor = 31;
const localModeLastMinor = 35;

/** Builds the kubeadm configuration of a new machine: init for the first one, join for all others. */
export function desiredConfigSpec(controlPlane: KubeadmControlPlane, role: 'init' | 'join'): KubeadmConfigSpec {
  const { initConfiguration, joinConfiguration, ...rest } = controlPlane.spec.kubeadmConfigSpec ?? {};
  const spec = withLocalMode(rest, controlPlane.spec.version);
  if (role === 'init') return { ...spec, ...(initConfiguration && { initConfiguration }) };
  // the presence of `controlPlane` distinguishes control plane machines from workers, and join from init
  return { ...spec, joinConfiguration: { ...joinConfiguration, controlPlane: joinConfiguration?.controlPlane ?? {} } };
}

/** Returns the feature gates for a version, including those Capstan sets. */
export function featureGatesFor(
  gates: Readonly<Record<string, boolean>> | undefined,
  version: string,
): Record<string, boolean> | undefined {
  const minor = parseKubernetesVersion(version)?.minor ?? 0;
  const wanted = minor >= localModeFirstMinor && minor <= localModeLastMinor;
  return wanted ? { [localModeGate]: true, ...gates } : gates;
}

function withLocalMode(spec: KubeadmConfigSpec, version: string): KubeadmConfigSpec {
  const before = spec.clusterConfiguration?.featureGates;
  const featureGates = featureGatesFor(before, version);
  if (featureGates === before || featureGates === undefined) return spec;
  return { ...spec, clusterConfiguration: { ...spec.clusterConfiguration, featureGates } };
}

export const isInitConfig = ({ spec }: KubeadmConfig): boolean => spec.joinConfiguration?.controlPlane === undefined;

/**
 * Tells whether a machine has the current configuration. Fields used only during join, fields that change in place and
 * fields set by other controllers are ignored.
 */
export function isConfigUpToDate(controlPlane: KubeadmControlPlane, config: KubeadmConfig): boolean {
  const wanted = comparable(desiredConfigSpec(controlPlane, 'join'));
  const init = isInitConfig(config);
  const current = init ? joinOf(config.spec, controlPlane) : config.spec;
  if (deepEqual(comparable(current), wanted)) return true;
  // init and join configurations may differ, so the first machine is compared with both
  return init && deepEqual(comparable(config.spec), comparable(desiredConfigSpec(controlPlane, 'init')));
}

/** Returns the machine's configuration and the desired one in comparable form. */
export function configsToCompare(
  controlPlane: KubeadmControlPlane,
  config: KubeadmConfig,
): { current: JsonValue; desired: JsonValue } {
  const current = isInitConfig(config) ? joinOf(config.spec, controlPlane) : config.spec;
  const json = (spec: KubeadmConfigSpec): JsonValue => asJson(Object(comparable(spec)));
  return { current: json(current), desired: json(desiredConfigSpec(controlPlane, 'join')) };
}

/** Converts the first machine's init configuration to the equivalent join configuration. */
function joinOf(spec: KubeadmConfigSpec, controlPlane: KubeadmControlPlane): KubeadmConfigSpec {
  const { initConfiguration: init, joinConfiguration: _, ...rest } = spec;
  const caCertPath = controlPlane.spec.kubeadmConfigSpec?.joinConfiguration?.caCertPath;
  return {
    ...rest,
    joinConfiguration: {
      ...(init?.nodeRegistration && { nodeRegistration: init.nodeRegistration }),
      ...(init?.patches && { patches: init.patches }),
      ...(init?.skipPhases && { skipPhases: init.skipPhases }),
      ...(init?.timeouts && { timeouts: init.timeouts }),
      ...(caCertPath !== undefined && { caCertPath }),
      controlPlane: init?.localAPIEndpoint ? { localAPIEndpoint: init.localAPIEndpoint } : {},
    },
  };
}

function comparable(spec: KubeadmConfigSpec): unknown {
  const { clusterConfiguration, initConfiguration, joinConfiguration, ...rest } = withFormerDefaults(spec);
  const { controlPlaneEndpoint: _endpoint, dns: _dns, ...cluster } = clusterConfiguration ?? {};
  const { discovery: _discovery, ...join } = joinConfiguration ?? {};
  return (
    withoutEmptyParts({
      ...rest,
      clusterConfiguration: cluster,
      initConfiguration: { ...initConfiguration, timeouts: withoutHealthTimeout(initConfiguration?.timeouts) },
      joinConfiguration: { ...join, timeouts: withoutHealthTimeout(join.timeouts) },
    }) ?? {}
  );
}

/** v1beta1 has one timeout for init and join, so a conversion round trip may add it. */
function withoutHealthTimeout(timeouts: object | undefined): object | undefined {
  if (!timeouts) return undefined;
  const { controlPlaneComponentHealthCheckSeconds: _, ...rest } = timeouts as Record<string, unknown>;
  return rest;
}

/** Drops empty lists and maps, which equal absent ones. An empty taints list is kept: it means no taints at all. */
function withoutEmptyParts(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) {
    if (value.length === 0) return key === 'taints' ? value : undefined;
    return value.map((entry) => withoutEmptyParts(entry) ?? entry);
  }
  if (typeof value !== 'object' || value === null) return value;
  const result: Record<string, unknown> = {};
  let empty = true;
  for (const [name, part] of Object.entries(value)) {
    const kept = withoutEmptyParts(part, name);
    if (kept === undefined) continue;
    result[name] = kept;
    empty = false;
  }
  return empty ? undefined : result;
}
