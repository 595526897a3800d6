import type { Condition } from '../../machinery/index.ts';

/** Result of one attempt to empty a namespace. */
export interface ContentReport {
  /** group/versions whose discovery failed */
  undiscovered: readonly string[];
  /** kinds whose group or version cannot be parsed */
  unparsable: readonly string[];
  /** reasons why content could not be deleted, one text per kind */
  failures: readonly string[];
  /** remaining objects by "plural.group"; the core group keeps the trailing dot, as upstream */
  remaining: ReadonlyMap<string, number>;
  /** remaining objects by the finalizer that holds them */
  finalizers: ReadonlyMap<string, number>;
}

/**
 * Builds the conditions of a terminating namespace with the wording of kube-controller-manager, because people search
 * for it.
 */
export function namespaceConditions(report: ContentReport): Condition[] {
  const { undiscovered, unparsable, failures, remaining, finalizers } = report;
  return [
    condition(
      'NamespaceDeletionDiscoveryFailure',
      undiscovered.length > 0 &&
        ([
          'DiscoveryFailed',
          `Discovery failed for some groups, ${undiscovered.length} failing: unable to retrieve the complete list of server APIs: ${undiscovered.join(', ')}`,
        ] as const),
      ['ResourcesDiscovered', 'All resources successfully discovered'],
    ),
    condition(
      'NamespaceDeletionGroupVersionParsingFailure',
      unparsable.length > 0 && (['GroupVersionParsingFailed', unparsable.join(', ')] as const),
      ['ParsedGroupVersions', 'All legacy kube types successfully parsed'],
    ),
    condition(
      'NamespaceDeletionContentFailure',
      failures.length > 0 &&
        ([
          'ContentDeletionFailed',
          `Failed to delete all resource types, ${failures.length} remaining: ${[...failures].sort().join(', ')}`,
        ] as const),
      ['ContentDeleted', 'All content successfully deleted, may be waiting on finalization'],
    ),
    condition(
      'NamespaceContentRemaining',
      remaining.size > 0 &&
        ([
          'SomeResourcesRemain',
          `Some resources are remaining: ${listed(remaining, 'has', 'resource instances')}`,
        ] as const),
      ['ContentRemoved', 'All content successfully removed'],
    ),
    condition(
      'NamespaceFinalizersRemaining',
      finalizers.size > 0 &&
        ([
          'SomeFinalizersRemain',
          `Some content in the namespace has finalizers remaining: ${listed(finalizers, 'in', 'resource instances')}`,
        ] as const),
      ['ContentHasNoFinalizers', 'All content-preserving finalizers finished'],
    ),
  ];
}

type ReasonAndMessage = readonly [reason: string, message: string];

function condition(type: string, problem: ReasonAndMessage | false, fine: ReasonAndMessage): Condition {
  const [reason, message] = problem === false ? fine : problem;
  return { type, status: problem === false ? 'False' : 'True', reason, message };
}

function listed(counts: ReadonlyMap<string, number>, verb: string, what: string): string {
  return [...counts]
    .map(([name, count]) => `${name} ${verb} ${count} ${what}`)
    .sort()
    .join(', ');
}
