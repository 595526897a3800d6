import type { FailureDomain, Machine } from '../../../../api/index.ts';
import { deleteMachineAnnotation, isDeleting, isTrue } from '../../../shared/index.ts';

const nameOf = ({ metadata }: Machine): string => metadata.name ?? '';
const createdOf = ({ metadata }: Machine): string => metadata.creationTimestamp ?? '';
const domainOf = ({ spec }: Machine): string => spec.failureDomain ?? '';
const isMarked = ({ metadata }: Machine): boolean => metadata.annotations?.[deleteMachineAnnotation] !== undefined;

/** Oldest first; among machines of the same second, by name. */
export function byAge(a: Machine, b: Machine): number {
  const ages = createdOf(a) < createdOf(b) ? -1 : createdOf(a) > createdOf(b) ? 1 : 0;
  return ages !== 0 ? ages : nameOf(a) < nameOf(b) ? -1 : 1;
}

/** Where machines of the control plane may be. */
export function controlPlaneDomains(domains: readonly FailureDomain[] | undefined): string[] {
  return (domains ?? []).filter(({ controlPlane }) => controlPlane === true).map(({ name }) => name);
}

export interface RemovalChoice {
  machines: readonly Machine[];
  /** names of those that are to be replaced */
  outdated: ReadonlySet<string>;
  /** names of those whose components are not all well */
  unhealthy: ReadonlySet<string>;
  /** where machines should be */
  domains: readonly string[];
}

/**
 * The machine to take away next. A user's mark wins, then what is outdated and ill, then what is outdated; among these the
 * oldest one of the fullest failure domain, and before all others one in a domain that is no longer offered.
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

/** The failure domain for a new machine: fewest machines that are there to stay, then fewest of all. */
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

/** Who could lead etcd instead of a machine that goes: those that stay, the well, the newest; most promising first. */
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
