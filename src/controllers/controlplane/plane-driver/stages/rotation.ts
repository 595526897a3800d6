import { certificatePlan } from '../../../../hosting/index.ts';
import { oldCertificateHolders } from '../certificates/holders.ts';
import { firstPublicKey } from '../certificates/leaf.ts';
import { rotate } from '../certificates/rotate.ts';
import { storedPair } from '../certificates/stored.ts';
import { bad, good, type PlaneScope, readSecret, requeueAfter, requeueAt, setStage } from '../scope.ts';
import { rotationOf } from '../state.ts';
import { writeState } from '../write-state.ts';

/** Advances rotations. Each step is persisted first; the next reconcile acts on it. */
export async function moveRotations(scope: PlaneScope): Promise<undefined> {
  const { desired, credentials, request, state } = scope;
  if (!credentials) return;
  const { clock, events } = request.context;
  const plan = certificatePlan(desired, scope.facts);
  const planned = plan.find(({ kind }) => kind === 'key');
  const stored =
    planned &&
    storedPair(planned, readSecret(scope, { namespace: desired.identity.namespace, name: planned.place.name }));
  const { settled } = rotationOf(state, 'ca').record;
  const outcome = await rotate({
    plan,
    state,
    credentials,
    requests: request.rotate ?? [],
    isRolledOut: scope.isRolledOut && (scope.etcd?.isSettled ?? true) && scope.isInClusterSettled,
    holders: settled === undefined ? undefined : await oldCertificateHolders(scope, settled),
    clock,
    serviceAccountKey: stored && { ...stored, certificate: firstPublicKey(stored.certificate) },
  });
  scope.rotations = outcome.messages;
  requeueAt(scope, outcome.nextMs, 'a rotation continues');
  if (outcome.state !== state) {
    await writeState(scope, outcome.state);
    for (const message of outcome.messages) events.event(request.owner, 'Normal', 'Rotating', message);
    // the state Secret triggers no reconcile, so requeue
    requeueAfter(scope, 0, 'a rotation took a step');
  }
  setStage(
    scope,
    'rotation',
    outcome.messages.length === 0 ? good('NotRotating') : bad('Rotating', outcome.messages.join('; ')),
  );
}
