import { setVerdict, summarize } from '../../shared/index.ts';
import type { K0sWorkerConfigScope } from './scope.ts';

export function dataSecretAvailable(scope: K0sWorkerConfigScope, name: string): void {
  const { config } = scope;
  config.status = {
    ...config.status,
    dataSecretName: name,
    initialization: { ...config.status?.initialization, dataSecretCreated: true },
  };
  scope.dataSecret = { status: 'True', reason: 'Available' };
}

/** Reports that user data waits for a prerequisite, without a fault. */
export function dataSecretWaiting(scope: K0sWorkerConfigScope, message: string): void {
  scope.dataSecret = { status: 'False', reason: 'WaitingForControlPlaneInitialization', message };
}

/** Reports input from which no user data can be made. */
export function dataSecretRefused(scope: K0sWorkerConfigScope, message: string): void {
  scope.dataSecret = { status: 'False', reason: 'DataSecretGenerationFailed', message };
}

/** Reports an internal failure, which is retried. */
export function dataSecretFailed(scope: K0sWorkerConfigScope, message: string): void {
  scope.dataSecret = { status: 'False', reason: 'InternalError', message };
}

/** Writes the findings to the draft. */
export function observe({ config, context, dataSecret }: K0sWorkerConfigScope): void {
  const now = context.clock.now();
  if (dataSecret) setVerdict(config, 'DataSecretAvailable', dataSecret, now);
  const reasons = { issue: 'NotReady', unknown: 'ReadyUnknown', good: 'Ready' };
  setVerdict(config, 'Ready', summarize(config, { of: ['DataSecretAvailable'], reasons }), now);
}
