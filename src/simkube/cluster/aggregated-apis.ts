import { type ApiService, ApiServices, type Service } from '../../api/index.ts';
import {
  type AggregatedAnswer,
  type AggregatedApi,
  type Aggregation,
  keyPrefix,
  type StoredObject,
} from '../../apiserver/index.ts';
import { asTyped, errorMessage, isJsonObject, type JsonObject, type JsonValue } from '../../machinery/index.ts';
import type { Store } from '../../store/index.ts';
import type { ClusterServices } from '../network/cluster-services.ts';
import type { PortService } from '../types.ts';

export interface AggregatedApisOptions {
  store(): Store<StoredObject> | undefined;
  readonly services: ClusterServices;
  /** finds the service at a port of a Pod */
  podService(address: string, port: number): PortService | undefined;
}

/** Routes requests for aggregated API groups to the Pods behind the Services of their APIServices. */
export function aggregatedApis({ store, services, podService }: AggregatedApisOptions): Aggregation {
  const all = (): ApiService[] =>
    (store()?.list(keyPrefix(ApiServices)).records ?? [])
      .map(({ value }) => asTyped<ApiService>(value.object))
      .filter(({ spec }) => spec.service !== undefined);
  const find = (group: string, version: string): ApiService | undefined =>
    all().find(({ spec }) => spec.group === group && spec.version === version);

  const ask = async (api: ApiService, path: string): Promise<AggregatedAnswer> => {
    const { namespace = '', name = '', port = 443 } = api.spec.service ?? {};
    const service: Service | undefined = services.get(namespace, name);
    const servicePort = service?.spec.ports?.find((candidate) => candidate.port === port);
    const [target] = service && servicePort ? services.targets(service, servicePort) : [];
    const behind = target && podService(target.address, target.port);
    if (!behind?.get)
      throw new Error(`endpoints for service/${name} in "${namespace}" have no addresses with port name "https"`);
    return await behind.get(path);
  };
  const describe = async (api: ApiService): Promise<AggregatedApi | undefined> => {
    const { group = '', version = '' } = api.spec;
    try {
      const { status, body } = await ask(api, `/apis/${group}/${version}`);
      const parsed = JSON.parse(body) as JsonValue;
      const resources = isJsonObject(parsed) ? parsed['resources'] : undefined;
      if (status !== 200 || !Array.isArray(resources)) return undefined;
      return { group, version, resources: resources.filter(isJsonObject).map(resourceOf) };
    } catch {
      return undefined;
    }
  };
  return {
    claims: (group, version) => find(group, version) !== undefined,
    available: async () =>
      (await Promise.all(all().map(describe))).filter((api): api is AggregatedApi => api !== undefined),
    async get(group, version, path) {
      const api = find(group, version);
      try {
        if (!api) throw new Error(`no APIService ${version}.${group}`);
        return await ask(api, path);
      } catch (error) {
        return { status: 503, body: unavailable(errorMessage(error)) };
      }
    },
  };
}

function resourceOf(value: JsonObject): AggregatedApi['resources'][number] {
  const { name, singularName, namespaced, kind, verbs } = value;
  return {
    name: String(name ?? ''),
    singularName: String(singularName ?? ''),
    namespaced: namespaced === true,
    kind: String(kind ?? ''),
    verbs: Array.isArray(verbs) ? verbs.map(String) : [],
  };
}

function unavailable(reason: string): string {
  return JSON.stringify({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: `the server is currently unable to handle the request: ${reason}`,
    reason: 'ServiceUnavailable',
    code: 503,
  });
}
