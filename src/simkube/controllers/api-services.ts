import { type ApiService, ApiServices } from '../../api/index.ts';
import type { Aggregation } from '../../apiserver/index.ts';
import { asJson, type Condition, formatTime } from '../../machinery/index.ts';
import { after, type ControllerDefinition, defineController, done } from '../../runtime/index.ts';

const fieldManager = 'kube-aggregator';
const lookMs = 10_000;
const restMs = 60_000;

/** Sets the Available condition of APIServices. */
export function apiServiceController(aggregation: Aggregation): ControllerDefinition {
  return defineController({
    name: 'apiservice-availability',
    for: ApiServices,
    async reconcile({ client, cache, clock }, key) {
      const api = cache.lister(ApiServices).get(key);
      if (!api?.spec.service) return done();
      const { group, version } = api.spec;
      const isUp = (await aggregation.available()).some((each) => each.group === group && each.version === version);
      const before = conditionOf(api);
      const status = isUp ? 'True' : 'False';
      if (before?.status !== status) {
        const condition: Condition = {
          type: 'Available',
          status,
          reason: isUp ? 'Passed' : 'FailedDiscoveryCheck',
          message: isUp ? 'all checks passed' : `failing or missing response from the server of ${group}/${version}`,
          lastTransitionTime: formatTime(clock.now()),
        };
        const patch = { status: { conditions: [asJson(condition)] } };
        await client.patch(ApiServices, key, 'merge', patch, { fieldManager, subresource: 'status' });
      }
      return after(isUp ? restMs : lookMs, 'the server of an APIService may come or go');
    },
  });
}

function conditionOf({ status }: ApiService): Condition | undefined {
  return status?.conditions?.find(({ type }) => type === 'Available');
}
