import { must, statusError } from '../../machinery/index.ts';
import type { AdmissionRequest, AdmissionStep } from '../admission/types.ts';
import type { RegisteredResource } from '../registry/index.ts';
import { objectKey } from '../storage/keys.ts';
import { evaluatorFor, type QuotaEvaluator } from './evaluators.ts';
import type { Demand } from './ledger.ts';
import type { QuotaBook } from './quota-book.ts';

/** Refuses writes beyond the quotas of a namespace (kube-apiserver: ResourceQuota). Must be the last step. */
export function resourceQuotas(book: QuotaBook, exists: (key: string) => boolean): AdmissionStep {
  const evaluators = new WeakMap<RegisteredResource, QuotaEvaluator>();
  const evaluatorOf = (resource: RegisteredResource): QuotaEvaluator => {
    let evaluator = evaluators.get(resource);
    if (!evaluator) {
      evaluator = must(evaluatorFor(resource.keySpace), 'evaluatorFor(resource.keySpace)');
      evaluators.set(resource, evaluator);
    }
    return evaluator;
  };
  return {
    name: 'ResourceQuota',
    concerns: ({ group, plural, namespaced, verbs }) =>
      namespaced && verbs.includes('get') && evaluatorFor({ group, plural }) !== undefined,
    operations: ['CREATE', 'UPDATE'],
    validate(request) {
      const { target, operation } = request;
      const ledgers = book.ledgersOf(target.namespace ?? '');
      if (ledgers.length === 0) return;
      const evaluator = evaluatorOf(target.resource);
      const { subresource, oldObject } = request;
      const object = must(request.object, 'request.object');
      if (!evaluator.handles({ operation, subresource, object, oldObject })) return;
      const key = objectKey(target.resource.keySpace, target.namespace, target.name);
      const demand: Demand = { key, evaluator, object, oldObject };
      const concerned = ledgers.filter((ledger) => ledger.concerns(evaluator));
      for (const ledger of concerned) {
        const objection = ledger.objection(demand);
        if (objection !== undefined) throw refusal(request, objection);
      }
      // A create of an existing object will fail, so nothing is reserved.
      if (request.dryRun || (operation === 'CREATE' && exists(key))) return;
      for (const ledger of concerned) ledger.reserve(demand);
    },
  };
}

function refusal({ target }: AdmissionRequest, text: string): Error {
  const { group, plural } = target.resource.definition;
  return statusError.forbidden({ group, resource: plural, name: target.name }, text);
}
