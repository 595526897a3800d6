import { isJsonObject, type JsonObject, parseKubernetesVersion, withLeadingV } from '../../machinery/index.ts';

/** Answers for the variables of a template; undefined: this one does not know. */
export type Answers = (variable: string) => string | undefined;

/** The first source that knows a variable answers for it. */
export function firstOf(sources: readonly Answers[]): Answers {
  return (variable) => {
    for (const answers of sources) {
      const value = answers(variable);
      if (value !== undefined) return value;
    }
    return undefined;
  };
}

/** The variables in a file of clusterctl: its top level, texts and numbers. */
export function configAnswers(config: JsonObject): Answers {
  return (variable) => {
    const value = Object.hasOwn(config, variable) ? config[variable] : undefined;
    return value === undefined || value === null || isJsonObject(value) || Array.isArray(value)
      ? undefined
      : String(value);
  };
}

const uuid = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;

/** Names that YAML takes for nothing else. */
const plain = /^[A-Za-z][\w-]{5,}$/;

/** Whether a network is told by its id, not by its name. */
export function isId(text: string): boolean {
  return uuid.test(text);
}

/**
 * Variables that follow from others, and that people therefore need not give: whoever feeds a template to another program sets
 * them by hand.
 */
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

/** Which variable to ask for when a derived one is missing. */
export const derivedFrom: Readonly<Record<string, string>> = {
  KUBERNETES_MINOR: 'KUBERNETES_VERSION',
  CLOUD_CONTROLLER_MANAGER_VERSION: 'KUBERNETES_VERSION',
  OPENSTACK_CLOUD_CONFIG_SECRET: 'CLUSTER_NAME',
  OPENSTACK_EXTERNAL_NETWORK: 'OPENSTACK_EXTERNAL_NETWORK_ID',
};

/** What people write as 1.33.6 is v1.33.6 in manifests. */
export function kubernetesVersion(text: string | undefined): string | undefined {
  return text === undefined || text === '' ? undefined : withLeadingV(text);
}
