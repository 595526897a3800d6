import { CustomResourceDefinitions } from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import {
  asUnstructured,
  CapstanError,
  type Clock,
  compareVersionPriority,
  isJsonObject,
  isNotFound,
  type JsonObject,
  type Resource,
  type UnstructuredObject,
} from '../../machinery/index.ts';
import type { ContractVersion } from './contract.ts';
import { definitionName } from './contract-names.ts';

/** A provider kind in the version to use, with its contract version. */
export interface ContractKind {
  resource: Resource<UnstructuredObject>;
  contract: ContractVersion;
  /** contract of every version in the definition, for objects handled in an older one */
  contracts?: Readonly<Record<string, ContractVersion>>;
}

/** The referenced kind is not installed, or its definition has no contract label. */
export class ContractError extends CapstanError {
  /** no definition exists, and therefore no objects */
  readonly notInstalled: boolean;

  constructor(message: string, hint: string, options: { notInstalled: boolean; cause?: unknown }) {
    super('CAP_CONTRACT', message, { hint, cause: options.cause });
    this.name = 'ContractError';
    this.notInstalled = options.notInstalled;
  }
}

/** Finds the version of provider kinds at run time, because references contain only group and kind. */
export interface ContractResolver {
  resolve(group: string, kind: string, signal?: AbortSignal): Promise<ContractKind>;
}

const contractLabels: readonly (readonly [ContractVersion, string])[] = [
  ['v1beta2', 'cluster.x-k8s.io/v1beta2'],
  ['v1beta1', 'cluster.x-k8s.io/v1beta1'],
];

/** Cache lifetime; a provider upgrade changes the labels. */
const rememberMs = 60_000;

export function createContractResolver(options: { client: Client; clock: Clock }): ContractResolver {
  const { client, clock } = options;
  const known = new Map<string, { kind: ContractKind; until: number }>();
  /** shares concurrent lookups, because definitions are large and many reconciles need the same one */
  const underWay = new Map<string, Promise<ContractKind>>();

  const lookUp = async (name: string, group: string, kind: string): Promise<ContractKind> => {
    try {
      const definition = await client.get(CustomResourceDefinitions, { name });
      const found = contractOf(asUnstructured(definition), group, kind);
      known.set(name, { kind: found, until: clock.now() + rememberMs });
      return found;
    } catch (error) {
      if (!isNotFound(error)) throw error;
      known.delete(name);
      throw new ContractError(
        `${kind} of group ${group} is not installed: there is no CustomResourceDefinition ${name}`,
        'install the provider, or correct the reference',
        { notInstalled: true, cause: error },
      );
    }
  };

  return {
    async resolve(group, kind, signal) {
      signal?.throwIfAborted();
      const name = definitionName(group, kind);
      const remembered = known.get(name);
      if (remembered && remembered.until > clock.now()) return remembered.kind;
      const asked = underWay.get(name);
      if (asked) return asked;
      // Not tied to one caller's signal, because others may wait for it, too.
      const asking = lookUp(name, group, kind).finally(() => underWay.delete(name));
      underWay.set(name, asking);
      return asking;
    },
  };
}

const coreGroup = 'cluster.x-k8s.io';

function servedVersions({ versions }: JsonObject): string[] {
  if (!Array.isArray(versions)) return [];
  return versions
    .filter(isJsonObject)
    .flatMap(({ name, served }) => (served === true && typeof name === 'string' ? [name] : []));
}

function contractOf(definition: UnstructuredObject, group: string, kind: string): ContractKind {
  const labels = definition.metadata.labels ?? {};
  const spec = isJsonObject(definition.spec) ? definition.spec : {};
  const served = group === coreGroup ? servedVersions(spec) : [];
  const versionsOf = (label: string): string[] => {
    const named = (labels[label] ?? '').split('_').filter((version) => version !== '');
    // upstream's core definitions have no label; their version is the contract
    return named.length > 0 ? named : served.filter((version) => label === `${coreGroup}/${version}`);
  };
  const contracts: Record<string, ContractVersion> = {};
  for (const [contract, label] of contractLabels)
    for (const version of versionsOf(label)) contracts[version] ??= contract;
  for (const [contract, label] of contractLabels) {
    const versions = versionsOf(label);
    const version = versions.sort(compareVersionPriority)[0];
    if (version === undefined) continue;
    return {
      contract,
      contracts,
      resource: {
        group,
        kind,
        version,
        plural: definition.metadata.name?.slice(0, -group.length - 1) ?? '',
        namespaced: spec['scope'] !== 'Cluster',
      },
    };
  }
  throw new ContractError(
    `CustomResourceDefinition ${definition.metadata.name} follows no contract known here: it has none of the labels ${contractLabels.map(([, label]) => label).join(', ')}`,
    'use a version of the provider made for Cluster API v1beta1 or v1beta2',
    { notInstalled: false },
  );
}
