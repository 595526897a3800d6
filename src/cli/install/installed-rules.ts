import { type AdmissionRequest, type AdmissionStep, RegisteredResource } from '../../apiserver/index.ts';
import type { Client } from '../../client/index.ts';
import { type Clock, type ResourceDefinition, systemClock } from '../../machinery/index.ts';
import type { Rule, RuleRequest } from '../../webhooks/index.ts';
import { ownAdmission } from '../own-admission.ts';
import { firstFinalizers } from './first-finalizers.ts';

/**
 * Validation of our kinds that reads other objects: the admission steps of the embedded API as webhook rules. If this
 * instance reconciles every object, new ones also get their first finalizer.
 */
export function installedRules(
  client: () => Client,
  clock: Clock,
  { reconcilesAll = false }: { reconcilesAll?: boolean } = {},
): Rule[] {
  return [...(reconcilesAll ? [firstFinalizers()] : []), ...ownAdmission(client, clock)].map(asRule);
}

const writes = ['CREATE', 'UPDATE', 'DELETE'] as const;

function asRule(step: AdmissionStep): Rule {
  const take =
    (name: 'mutate' | 'validate') =>
    async (request: RuleRequest): Promise<void> => {
      const seen = asSeenByServer(request);
      if (step.appliesTo?.(seen) === false) return;
      await step[name]?.(seen);
    };
  return {
    concerns: (definition) => step.concerns?.(definition) ?? true,
    operations: writes.filter((operation) => step.operations?.includes(operation) ?? true),
    ...(step.mutate && { mutate: take('mutate') }),
    ...(step.validate && { validate: take('validate') }),
  };
}

/** Cached, because deriving data from a schema costs more than a rule. */
const registrations = new WeakMap<ResourceDefinition, RegisteredResource>();

function registered(definition: ResourceDefinition): RegisteredResource {
  const known = registrations.get(definition) ?? new RegisteredResource(definition);
  registrations.set(definition, known);
  return known;
}

function asSeenByServer(request: RuleRequest): AdmissionRequest {
  const { operation, definition, namespace, name, user, dryRun, object, oldObject, warn } = request;
  const resource = registered(definition);
  return {
    operation,
    target: { resource, version: resource.storageVersion, apiVersion: resource.storageApiVersion, namespace, name },
    subresource: undefined,
    caller: {
      user: { name: user.name, groups: [...user.groups] },
      userAgent: 'webhook',
      signal: new AbortController().signal,
      warn,
    },
    object,
    oldObject,
    dryRun,
    options: {},
  };
}

/** The rules without a client, to describe the webhooks only. */
export const describedRules: readonly Pick<Rule, 'concerns' | 'operations'>[] = installedRules(() => {
  throw new TypeError('these rules are only described');
}, systemClock);
