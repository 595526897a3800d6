import { isJsonObject, type JsonObject, parseKubernetesVersion, withLeadingV } from '../../machinery/index.ts';

/** Returns the value of a variable; undefined if unknown. */
export type Answers = (variable: string) => string | undefined;

/** Combines sources; the first one that knows a variable wins. */
export function firstOf(sources: readonly Answers[]): Answers {
  return (variable) => {
    for (const answers of sources) {
      const value = answers(variable);
      if (value !== undefined) return value;
    }
    return undefined;
  };
}

/** Reads variables from a clusterctl configuration file: top-level strings and numbers. */
export function configAnswers(config: JsonObject): Answers {
  return (variable) => {
    const value = Object.hasOwn(config, variable) ? config[variable] : undefined;
    return value === undefined || value === null || isJsonObject(value) || Array.isArray(value)
      ? undefined
      : String(value);
  };
}

const uuid = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;

/** Names that YAML cannot interpret as another type. */
const plain = /^[A-Za-z][\w-]{5,}$/;

/** Tells whether a network is given by id instead of name. */
export function isId(text: string): boolean {
  return uuid.test(text);
}

/** Derives variables from others, so that users need not set them. */
export function derivedAnswers(
  others: Answers,
  { cloudControllerVersion }: { cloudControllerVersion(minor: string): string | undefined },
): Answers {
  return (variable) => {
    const { major, minor } = parseKubernetesVersion(others('KUBERNETES_VERSION') ?? '') ?? {};
    const kubernetesMinor = major === undefined ? undefined : `${major}.${minor}`;
    switch (variable) {
      case 'KUBERNETES_MINOR':
        return kubernetesMinor;
      case 'CLOUD_CONTROLLER_MANAGER_VERSION':
        return kubernetesMinor === undefined ? undefined : cloudControllerVersion(kubernetesMinor);
      case 'OPENSTACK_CLOUD_CONFIG_SECRET': {
        const cluster = others('CLUSTER_NAME');
        return cluster === undefined ? undefined : `${cluster}-cloud-config`;
      }
      case 'OPENSTACK_EXTERNAL_NETWORK': {
        const network = others('OPENSTACK_EXTERNAL_NETWORK_ID');
        if (network === undefined) return undefined;
        return isId(network)
          ? `{ id: ${network} }`
          : `{ filter: { name: ${plain.test(network) ? network : JSON.stringify(network)} } }`;
      }
    }
    return undefined;
  };
}

/** Variable to ask for when a derived one is missing. */
export const derivedFrom: Readonly<Record<string, string>> = {
  KUBERNETES_MINOR: 'KUBERNETES_VERSION',
  CLOUD_CONTROLLER_MANAGER_VERSION: 'KUBERNETES_VERSION',
  OPENSTACK_CLOUD_CONFIG_SECRET: 'CLUSTER_NAME',
  OPENSTACK_EXTERNAL_NETWORK: 'OPENSTACK_EXTERNAL_NETWORK_ID',
};

/** Manifests need v1.33.6 for a given 1.33.6. */
export function kubernetesVersion(text: string | undefined): string | undefined {
  return text === undefined || text === '' ? undefined : withLeadingV(text);
}
