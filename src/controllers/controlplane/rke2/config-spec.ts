import type { Machine, RKE2Config, RKE2ConfigSpec, RKE2ControlPlane, RKE2ServerConfig } from '../../../api/index.ts';
import { asJson, deepEqual, type JsonObject, type JsonValue } from '../../../machinery/index.ts';

/** on a Machine: the configuration of the server it was made with, which is not in its RKE2Config */
export const serverConfigurationAnnotation = 'controlplane.cluster.x-k8s.io/rke2-server-configuration';

/** The configuration of a machine: that of the control plane, which has it beside its own fields. */
export function desiredConfigSpec({ spec }: RKE2ControlPlane): RKE2ConfigSpec {
  const { agentConfig, files, gzipUserData, postRKE2Commands, preRKE2Commands, privateRegistriesConfig } = spec;
  return {
    ...(agentConfig && { agentConfig }),
    ...(files && { files }),
    ...(gzipUserData !== undefined && { gzipUserData }),
    ...(postRKE2Commands && { postRKE2Commands }),
    ...(preRKE2Commands && { preRKE2Commands }),
    ...(privateRegistriesConfig && { privateRegistriesConfig }),
  };
}

export const serverConfigurationText = ({ spec }: RKE2ControlPlane): string => JSON.stringify(spec.serverConfig ?? {});

/** Whether a machine was made with the configuration the control plane has now. */
export function isConfigUpToDate(controlPlane: RKE2ControlPlane, config: RKE2Config, machine: Machine): boolean {
  if (!deepEqual(comparable(config.spec), comparable(desiredConfigSpec(controlPlane)))) return false;
  const text = machine.metadata.annotations?.[serverConfigurationAnnotation];
  // machines that were adopted do not say it, and are not judged by it
  if (text === undefined) return true;
  return deepEqual(parsed(text), controlPlane.spec.serverConfig ?? {});
}

/** Annotations of a Node are put there without a new machine. */
function comparable({ agentConfig, ...rest }: RKE2ConfigSpec): unknown {
  const { nodeAnnotations: _, format = 'cloud-config', ...agent } = agentConfig ?? {};
  return { ...rest, agentConfig: { ...agent, format } };
}

function parsed(text: string): RKE2ServerConfig | undefined {
  try {
    return JSON.parse(text) as RKE2ServerConfig;
  } catch {
    return undefined;
  }
}

export function configsToCompare(
  controlPlane: RKE2ControlPlane,
  config: RKE2Config,
): { current: JsonValue; desired: JsonValue } {
  const json = (spec: RKE2ConfigSpec): JsonObject => asJson(spec) as JsonObject;
  return { current: json(config.spec), desired: json(desiredConfigSpec(controlPlane)) };
}
