import {
  type KubeadmConfig,
  type KubeadmConfigSpec,
  type KubeadmControlPlane,
  parseKubernetesVersion,
  withFormerDefaults,
} from '../../../api/index.ts';
import { asJson, deepEqual, type JsonValue } from '../../../machinery/index.ts';

/** kubelets of the control plane talk to the API server beside them; asked for by us while kubeadm has to be asked. */
const localModeGate = 'ControlPlaneKubeletLocalMode';
const localModeFirstMinor = 31;
const localModeLastMinor = 35;

/** The kubeadm configuration of a new machine: the first one makes the cluster, all others join it. */
export function desiredConfigSpec(controlPlane: KubeadmControlPlane, role: 'init' | 'join'): KubeadmConfigSpec {
  const { initConfiguration, joinConfiguration, ...rest } = controlPlane.spec.kubeadmConfigSpec ?? {};
  const spec = withLocalMode(rest, controlPlane.spec.version);
  if (role === 'init') return { ...spec, ...(initConfiguration && { initConfiguration }) };
  // its presence tells a machine of the control plane from a worker, and joining from making
  return { ...spec, joinConfiguration: { ...joinConfiguration, controlPlane: joinConfiguration?.controlPlane ?? {} } };
}

/** Feature gates as the configuration of a version has them, ours included. */
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
 * Whether a machine was made with the configuration the control plane has now. What only matters while joining, what can
 * be changed without a new machine, and what other controllers fill in does not count.
 */
export function isConfigUpToDate(controlPlane: KubeadmControlPlane, config: KubeadmConfig): boolean {
  const wanted = comparable(desiredConfigSpec(controlPlane, 'join'));
  const init = isInitConfig(config);
  const current = init ? joinOf(config.spec, controlPlane) : config.spec;
  if (deepEqual(comparable(current), wanted)) return true;
  // users may say different things for the first machine and for the others
  return init && deepEqual(comparable(config.spec), comparable(desiredConfigSpec(controlPlane, 'init')));
}

/** The configuration of a machine and the desired one, in the form in which they are compared. */
export function configsToCompare(
  controlPlane: KubeadmControlPlane,
  config: KubeadmConfig,
): { current: JsonValue; desired: JsonValue } {
  const current = isInitConfig(config) ? joinOf(config.spec, controlPlane) : config.spec;
  const json = (spec: KubeadmConfigSpec): JsonValue => asJson(Object(comparable(spec)));
  return { current: json(current), desired: json(desiredConfigSpec(controlPlane, 'join')) };
}

/** What the first machine would have been given had it joined. */
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

/** v1beta1 keeps it in one place for both ways, so reading and writing back may add it. */
function withoutHealthTimeout(timeouts: object | undefined): object | undefined {
  if (!timeouts) return undefined;
  const { controlPlaneComponentHealthCheckSeconds: _, ...rest } = timeouts as Record<string, unknown>;
  return rest;
}

/** An empty list or map says no more than none, except for taints, where it means "none at all". */
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
