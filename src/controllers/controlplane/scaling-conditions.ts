import type { Verdict } from '../shared/index.ts';

// Replica conditions of the Cluster API contract, shared by control planes in Pods.

export interface ReplicaCounts {
  readonly desired: number;
  readonly replicas: number;
  readonly upToDate: number;
}

export function rollingOut({ replicas, upToDate }: ReplicaCounts): Verdict {
  return upToDate >= replicas
    ? { status: 'False', reason: 'NotRollingOut' }
    : {
        status: 'True',
        reason: 'RollingOut',
        message: `${replicas - upToDate} of ${replicas} replicas not up-to-date`,
      };
}

export function scaling({ desired, replicas }: ReplicaCounts, type: 'ScalingUp' | 'ScalingDown'): Verdict {
  const isSo = type === 'ScalingUp' ? replicas < desired : replicas > desired;
  if (!isSo) return { status: 'False', reason: `Not${type}` };
  const direction = type === 'ScalingUp' ? 'up' : 'down';
  return { status: 'True', reason: type, message: `Scaling ${direction} from ${replicas} to ${desired} replicas` };
}
