import { flushSecrets, type PlaneScope } from './scope.ts';
import { type PlaneState, stateData } from './state.ts';

/** Persists the next state before it is acted on. */
export async function writeState(scope: PlaneScope, state: PlaneState): Promise<void> {
  if (state === scope.state) return;
  const { naming } = scope.desired;
  scope.drafts.put(naming.rotationState, { labels: naming.labels('certificate'), data: stateData(state) });
  await flushSecrets(scope);
  scope.state = state;
}
