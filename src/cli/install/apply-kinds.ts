import { type CustomResourceDefinition, CustomResourceDefinitions, Images } from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import { CapstanError, type Clock, inParallel, sleep } from '../../machinery/index.ts';
import { machinePoolKind } from '../machine-pool-kind.ts';
import { isInstalledByUs } from './labels.ts';
import { type Outcome, outcomeOf } from './outcome.ts';

const by = { fieldManager: 'capstan', force: true };
/** an API server works on each definition for a while; more at once only wait there */
export const definitionsAtOnce = 4;
const patienceMs = 120_000;

/** Kinds whoever has brought them may keep: no controller of ours acts on the first, and the second is looked at as it is. */
const keepable: ReadonlySet<string | undefined> = new Set([
  machinePoolKind.metadata.name,
  `${Images.plural}.${Images.group}`,
]);

/** A definition that another program brought and that does for us, too. */
export function isKeptKind(present: CustomResourceDefinition): boolean {
  return keepable.has(present.metadata.name) && !isInstalledByUs(present);
}

/** Applies definitions of kinds and waits until objects of them can be written. */
export async function applyKinds(
  client: Client,
  crds: readonly CustomResourceDefinition[],
  {
    clock,
    signal,
    onApplied,
  }: {
    clock: Clock;
    signal: AbortSignal;
    onApplied?(name: string, outcome: Outcome): void;
  },
): Promise<void> {
  const present = await client.list(CustomResourceDefinitions, { signal });
  refuseForeign(crds, present.items);
  const before = new Map(present.items.map((crd) => [crd.metadata.name ?? '', crd]));
  const kept = new Set(present.items.filter(isKeptKind).map(({ metadata }) => metadata.name));
  const queue = crds.filter(({ metadata }) => !kept.has(metadata.name));
  await inParallel(
    queue,
    async (crd) => {
      const { name = '' } = crd.metadata;
      const applied = await client.apply(CustomResourceDefinitions, crd, { ...by, signal });
      onApplied?.(name, outcomeOf(before.get(name), applied));
    },
    { atOnce: definitionsAtOnce },
  );
  await established(client, new Set(crds.map(({ metadata }) => metadata.name ?? '')), { clock, signal });
}

/**
 * Definitions that another program brought are its own: taken over in passing, its objects would be converted and
 * checked by us while its controllers still work on them.
 */
function refuseForeign(crds: readonly CustomResourceDefinition[], present: readonly CustomResourceDefinition[]): void {
  const ours = new Set(crds.map(({ metadata }) => metadata.name));
  const foreign = present.filter((crd) => ours.has(crd.metadata.name) && !isKeptKind(crd) && !isInstalledByUs(crd));
  if (foreign.length === 0) return;
  const [first] = foreign as [CustomResourceDefinition];
  const provider = first.metadata.labels?.['cluster.x-k8s.io/provider'];
  const others = foreign.length === 1 ? '' : ` and ${foreign.length - 1} more`;
  throw new CapstanError(
    'CAP_KIND_TAKEN',
    `${first.metadata.name}${others} ${foreign.length === 1 ? 'is' : 'are'} already defined here by ${provider === undefined ? 'another program' : `the provider ${provider}`}`,
    { hint: 'nothing was changed; `capstan adopt` takes over from that provider, or use another Kubernetes' },
  );
}

/** Refuses where another program has defined one of the kinds; nothing is changed. */
export async function refuseForeignKinds(
  client: Client,
  crds: readonly CustomResourceDefinition[],
  signal: AbortSignal,
): Promise<void> {
  refuseForeign(crds, (await client.list(CustomResourceDefinitions, { signal })).items);
}

/** An API server serves a new kind a moment after it took its definition. */
async function established(
  client: Client,
  names: ReadonlySet<string>,
  { clock, signal }: { clock: Clock; signal: AbortSignal },
): Promise<void> {
  let deadline = clock.now() + patienceMs;
  let left = names.size;
  for (;;) {
    const { items } = await client.list(CustomResourceDefinitions, { signal });
    const waiting = items.filter(
      (crd) => names.has(crd.metadata.name ?? '') && !hasCondition(crd, 'Established') && !refusalOf(crd),
    );
    const refused = items.find((crd) => names.has(crd.metadata.name ?? '') && refusalOf(crd));
    if (refused) {
      throw new CapstanError('CAP_KIND_NOT_SERVED', `${refused.metadata.name} is not served: ${refusalOf(refused)}`, {
        hint: 'another definition has the same names; take one of the two away',
      });
    }
    if (waiting.length === 0) return;
    // a busy API server takes its time for each; only one that gets no further is given up
    if (waiting.length < left) deadline = clock.now() + patienceMs;
    left = waiting.length;
    if (clock.now() > deadline) {
      throw new CapstanError(
        'CAP_KIND_NOT_SERVED',
        `${waiting[0]?.metadata.name} is defined and not served, and nothing has moved for two minutes`,
        {
          hint: 'look at the conditions of that CustomResourceDefinition',
        },
      );
    }
    await sleep(clock, 200, signal);
  }
}

function hasCondition({ status }: CustomResourceDefinition, type: string): boolean {
  return status?.conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false;
}

function refusalOf({ status }: CustomResourceDefinition): string | undefined {
  const condition = status?.conditions?.find(({ type, status: is }) => type === 'NamesAccepted' && is === 'False');
  return condition && (condition.message ?? condition.reason ?? 'its names are taken');
}
