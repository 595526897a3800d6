import { KubeadmConfigs } from '../../../api/index.ts';
import { type ControllerDefinition, done, type Result } from '../../../runtime/index.ts';
import { configController } from '../common/config-controller.ts';
import { dataSecretNameOf } from '../common/config-scope.ts';
import {
  certificatesMissing,
  dataSecretAvailable,
  dataSecretRefused,
  dataSecretWaiting,
  observe,
} from '../common/config-status.ts';
import { defaultTokenTtlMs } from './bootstrap-token.ts';
import { keepReady } from './keep-ready.ts';
import { makeUserData } from './make-user-data.ts';
import type { KubeadmConfigDependencies, KubeadmConfigScope } from './scope.ts';
import { createTokenChecks } from './token-checks.ts';

/** Builds the controller of KubeadmConfigs, which generates the user data of kubeadm init and join. */
export function kubeadmConfigController(dependencies: KubeadmConfigDependencies): ControllerDefinition {
  const tools = { ...dependencies, tokenChecks: createTokenChecks() };
  return configController(tools, {
    name: 'kubeadm-config',
    resource: KubeadmConfigs,
    tokenTtlMs: defaultTokenTtlMs,
    reportsGeneration: true,
    waitsForOthers: true,
    wakesOnFollowed: false,
    advance,
    notConnected: (scope, message) => dataSecretWaiting(scope, message, 'WaitingForControlPlaneAvailable'),
    certificatesMissing(scope: KubeadmConfigScope, { message, missing }) {
      certificatesMissing(scope, message, missing);
      dataSecretWaiting(scope, 'Waiting for the certificates of the Cluster', 'WaitingForControlPlaneAvailable');
    },
    refused: dataSecretRefused,
    failed: dataSecretRefused,
    observe,
    problemOf: ({ legacy, verdict }) => (legacy.severity === 'Warning' ? (verdict.message ?? '') : undefined),
  });
}

async function advance(scope: KubeadmConfigScope): Promise<Result> {
  const secretName = dataSecretNameOf(scope);
  if (secretName) {
    const ready = await keepReady(scope, secretName);
    if (ready) return ready;
  }
  if (scope.cluster.status?.initialization?.infrastructureProvisioned !== true) {
    if (secretName) dataSecretAvailable(scope, secretName);
    else {
      const message = 'Waiting for Cluster status.initialization.infrastructureProvisioned to be true';
      dataSecretWaiting(scope, message, 'WaitingForClusterInfrastructure');
    }
    return done();
  }
  return makeUserData(scope);
}
