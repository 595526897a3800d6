import { type Cluster, Clusters } from '../../../api/index.ts';
import type { Client } from '../../../client/index.ts';
import {
  asJson,
  asUnstructured,
  errorMessage,
  ignoreNotFound,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type KubeObject,
  parseYaml,
  type UnstructuredObject,
} from '../../../machinery/index.ts';
import { hermeticFunctions, type Limits, parseTemplates, toTemplateValue } from '../../../template/index.ts';
import { type Follower, type ServedKinds, UnservedKindError } from '../../shared/index.ts';
import { StackReleaseError } from '../release/release-error.ts';

/** Objects available to value templates, in the versions that stacks are written for. */
export interface ValueObjects {
  readonly Cluster: UnstructuredObject;
  readonly ControlPlane?: UnstructuredObject;
  readonly InfraCluster?: UnstructuredObject;
}

const limits: Partial<Limits> = { steps: 1_000_000, depth: 100, outputCharacters: 4 * 1024 * 1024 };

export interface ValueReaders {
  readonly client: Client;
  readonly kinds: ServedKinds;
  readonly contracts: Pick<Follower, 'kindOf'>;
  readonly signal: AbortSignal;
}

/** Reads the Cluster and the objects it refers to. Stacks are written for Cluster v1beta1. */
export async function readValueObjects(
  { client, kinds, contracts, signal }: ValueReaders,
  { metadata, spec }: Cluster,
): Promise<ValueObjects> {
  const { namespace = '', name = '' } = metadata;
  const cluster = asUnstructured(
    await client.get<KubeObject>({ ...Clusters, version: 'v1beta1' }, { namespace, name }, { signal }),
  );
  const old = isJsonObject(cluster['spec']) ? cluster['spec'] : {};
  const referred = async (field: 'controlPlaneRef' | 'infrastructureRef'): Promise<UnstructuredObject | undefined> => {
    const reference = spec[field];
    const before = old[field];
    const apiVersion = isJsonObject(before) ? before['apiVersion'] : undefined;
    if (reference === undefined || typeof apiVersion !== 'string') return undefined;
    const resource = await kinds.resourceOf({ apiVersion, kind: reference.kind }, signal).catch(async (error) => {
      // v1beta1 references have an invented version if none was written
      if (!(error instanceof UnservedKindError)) throw error;
      return (await contracts.kindOf(reference, signal)).resource;
    });
    return await client.get(resource, { namespace, name: reference.name }, { signal }).catch(ignoreNotFound);
  };
  const [plane, infrastructure] = [await referred('controlPlaneRef'), await referred('infrastructureRef')];
  return {
    Cluster: cluster,
    ...(plane && { ControlPlane: plane }),
    ...(infrastructure && { InfraCluster: infrastructure }),
  };
}

/** Renders values with a Go template; if the result has a text `values`, that is the document. */
export function renderValues(file: string, template: string, objects: ValueObjects): JsonObject {
  const set = parseTemplates([{ name: file, text: template }], { functions: hermeticFunctions });
  if (!set.ok) throw new StackReleaseError(set.error.message);
  const rendered = set.value.render(file, toTemplateValue(asJson({ ...objects })), { limits });
  if (!rendered.ok) throw new StackReleaseError(rendered.error.message);
  const whole = readValues(file, rendered.value);
  const inner = whole['values'];
  return typeof inner === 'string' ? readValues(`${file}: values`, inner) : whole;
}

function readValues(file: string, text: string): JsonObject {
  let value: JsonValue;
  try {
    value = parseYaml(text).value;
  } catch (error) {
    throw new StackReleaseError(`${file}: rendered to what is no YAML: ${errorMessage(error)}`);
  }
  if (value === null) return {};
  if (!isJsonObject(value)) throw new StackReleaseError(`${file}: rendered to something else than a mapping`);
  return value;
}
