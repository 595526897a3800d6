import { K0sWorkerConfigs } from '../../../api/index.ts';
import type { ControllerDefinition, Result } from '../../../runtime/index.ts';
import { configController } from '../common/config-controller.ts';
import { dataSecretNameOf } from '../common/config-scope.ts';
import { keepReady } from './keep-ready.ts';
import { makeUserData } from './make-user-data.ts';
import type { K0sWorkerConfigDependencies, K0sWorkerConfigScope } from './scope.ts';
import { dataSecretFailed, dataSecretRefused, dataSecretWaiting, observe } from './status.ts';

/** Builds the controller of K0sWorkerConfigs, which generates the user data of k0s workers. */
export function k0sWorkerConfigController(dependencies: K0sWorkerConfigDependencies): ControllerDefinition {
  return configController(dependencies, {
    name: 'k0s-worker-config',
    resource: K0sWorkerConfigs,
    tokenTtlMs: 24 * 3_600_000,
    reportsGeneration: false,
    waitsForOthers: false,
    wakesOnFollowed: true,
    advance,
    notConnected: dataSecretWaiting,
    certificatesMissing: (scope, { message }) =>
      dataSecretWaiting(scope, `Waiting for the certificates of the Cluster: ${message}`),
    refused: dataSecretRefused,
    failed: dataSecretFailed,
    observe,
    problemOf: ({ reason, message = '' }) => (reason === 'DataSecretGenerationFailed' ? message : undefined),
  });
}

async function advance(scope: K0sWorkerConfigScope): Promise<Result> {
  const secretName = dataSecretNameOf(scope);
  return secretName ? await keepReady(scope, secretName) : await makeUserData(scope);
}
