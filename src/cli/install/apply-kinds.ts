import { type CustomResourceDefinition, CustomResourceDefinitions, Images } from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import { CapstanError, type Clock, inParallel, sleep } from '../../machinery/index.ts';
import { machinePoolKind } from '../machine-pool-kind.ts';
import { isInstalledByUs } from './labels.ts';
import { type Outcome, outcomeOf } from './outcome.ts';

const by = { fieldManager: 'capstan', force: true };
/** API servers process definitions one after the other, so more parallel requests would only wait. */
export const definitionsAtOnce = 4;
const patienceMs = 120_000;

/** Kinds that other programs may own: we have no controller for the first, and use the second as it is. */
const keepable: ReadonlySet<string | undefined> = new Set([
  machinePoolKind.metadata.name,
  `${Images.plural}.${Images.group}`,
]);

/** Tells whether a definition of another program can be used unchanged. */
export function isKeptKind(present: CustomResourceDefinition): boolean {
  return keepable.has(present.metadata.name) && !isInstalledByUs(present);
}

/** Applies definitions and waits until their objects can be written. */
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
 * Refuses definitions of other programs. Taking them over would convert and validate their objects here while their own
 * controllers still reconcile them.
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

/** Throws if another program has defined one of the kinds. Changes nothing. */
export async function refuseForeignKinds(
  client: Client,
  crds: readonly CustomResourceDefinition[],
  signal: AbortSignal,
): Promise<void> {
  refuseForeign(crds, (await client.list(CustomResourceDefinitions, { signal })).items);
}

/** An API server serves a new kind shortly after its definition was accepted. */
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
        hint: 'another definition has the same names; remove one of the two',
      });
    }
    if (waiting.length === 0) return;
    // A busy API server is slow, so the timeout restarts with every progress.
    if (waiting.length < left) deadline = clock.now() + patienceMs;
    left = waiting.length;
    if (clock.now() > deadline) {
      throw new CapstanError(
        'CAP_KIND_NOT_SERVED',
        `${waiting[0]?.metadata.name} is defined but not served, without any progress for two minutes`,
        {
          hint: 'check the conditions of that CustomResourceDefinition',
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
