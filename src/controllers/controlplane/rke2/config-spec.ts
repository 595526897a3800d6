import type { Machine, RKE2Config, RKE2ConfigSpec, RKE2ControlPlane, RKE2ServerConfig } from '../../../api/index.ts';
import { asJson, deepEqual, type JsonObject, type JsonValue } from '../../../machinery/index.ts';

/** annotation of a Machine with the server configuration it was created with, which its RKE2Config does not contain */
export const serverConfigurationAnnotation = 'controlplane.cluster.x-k8s.io/rke2-server-configuration';

/** Builds the RKE2Config spec of a machine from the fields of the control plane. */
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

/** Tells whether a machine has the current configuration. */
export function isConfigUpToDate(controlPlane: RKE2ControlPlane, config: RKE2Config, machine: Machine): boolean {
  if (!deepEqual(comparable(config.spec), comparable(desiredConfigSpec(controlPlane)))) return false;
  const text = machine.metadata.annotations?.[serverConfigurationAnnotation];
  // adopted machines lack the annotation and are not compared
  if (text === undefined) return true;
  return deepEqual(parsed(text), controlPlane.spec.serverConfig ?? {});
}

/** Drops node annotations, which are changed in place. */
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
