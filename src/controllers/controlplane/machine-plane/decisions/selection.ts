import type { FailureDomain, Machine } from '../../../../api/index.ts';
import { deleteMachineAnnotation, isDeleting, isTrue } from '../../../shared/index.ts';

const nameOf = ({ metadata }: Machine): string => metadata.name ?? '';
const createdOf = ({ metadata }: Machine): string => metadata.creationTimestamp ?? '';
const domainOf = ({ spec }: Machine): string => spec.failureDomain ?? '';
const isMarked = ({ metadata }: Machine): boolean => metadata.annotations?.[deleteMachineAnnotation] !== undefined;

/** Orders machines by creation time, then by name. */
export function byAge(a: Machine, b: Machine): number {
  const ages = createdOf(a) < createdOf(b) ? -1 : createdOf(a) > createdOf(b) ? 1 : 0;
  return ages !== 0 ? ages : nameOf(a) < nameOf(b) ? -1 : 1;
}

/** Lists the failure domains for control plane machines. */
export function controlPlaneDomains(domains: readonly FailureDomain[] | undefined): string[] {
  return (domains ?? []).filter(({ controlPlane }) => controlPlane === true).map(({ name }) => name);
}

export interface RemovalChoice {
  machines: readonly Machine[];
  /** names of machines to be replaced */
  outdated: ReadonlySet<string>;
  /** names of machines with unhealthy components */
  unhealthy: ReadonlySet<string>;
  /** failure domains on offer */
  domains: readonly string[];
}

/**
 * Picks the next machine to delete: first one marked by the user, then outdated and unhealthy ones, then outdated ones.
 * Among equals, machines in a domain that is no longer offered go first, then the oldest in the fullest domain.
 */
export function machineToRemove({ machines, outdated, unhealthy, domains }: RemovalChoice): Machine | undefined {
  const candidates = machines.filter((machine) => !isDeleting(machine));
  const isOutdated = (machine: Machine): boolean => outdated.has(nameOf(machine));
  const classes: ((machine: Machine) => boolean)[] = [
    (machine) => isOutdated(machine) && isMarked(machine),
    isMarked,
    (machine) => isOutdated(machine) && unhealthy.has(nameOf(machine)),
    isOutdated,
    () => true,
  ];
  for (const belongs of classes) {
    const eligible = candidates.filter(belongs).sort(byAge);
    if (eligible.length === 0) continue;
    const stray = eligible.find((machine) => !domains.includes(domainOf(machine)));
    if (stray) return stray;
    const load = (machine: Machine): number => machines.filter((other) => domainOf(other) === domainOf(machine)).length;
    const fullest = Math.max(...eligible.map(load));
    return eligible.find((machine) => load(machine) === fullest);
  }
  return undefined;
}

/** Picks the failure domain of a new machine: fewest up-to-date machines, then fewest machines. */
export function domainForNewMachine(
  domains: readonly string[],
  machines: readonly Machine[],
  outdated: ReadonlySet<string>,
): string | undefined {
  const count = (domain: string, which: 'staying' | 'all'): number =>
    machines.filter(
      (machine) =>
        domainOf(machine) === domain &&
        (which !== 'staying' || !(isDeleting(machine) || outdated.has(nameOf(machine)))),
    ).length;
  let best: string | undefined;
  for (const domain of [...domains].sort()) {
    if (best === undefined) best = domain;
    const difference = count(domain, 'staying') - count(best, 'staying') || count(domain, 'all') - count(best, 'all');
    if (difference < 0) best = domain;
  }
  return best;
}

/** Lists candidates for etcd leadership when a machine is deleted: up-to-date, healthy and newer machines first. */
export function leadershipCandidates(
  machines: readonly Machine[],
  leaving: Machine,
  healthyMember: (machine: Machine) => boolean,
): Machine[] {
  const rank = (machine: Machine): number =>
    (isDeleting(machine) ? 8 : 0) +
    (healthyMember(machine) ? 0 : 4) +
    (isTrue(machine, 'HealthCheckSucceeded') ? 0 : 2) +
    (isTrue(machine, 'UpToDate') ? 0 : 1);
  return machines
    .filter((machine) => nameOf(machine) !== nameOf(leaving) && machine.status?.nodeRef)
    .sort((a, b) => rank(a) - rank(b) || byAge(b, a));
}
