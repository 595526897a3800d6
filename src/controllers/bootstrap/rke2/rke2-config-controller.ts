import { RKE2Configs } from '../../../api/index.ts';
import { type ControllerDefinition, done, type Result } from '../../../runtime/index.ts';
import { isTrue } from '../../shared/index.ts';
import { configController } from '../common/config-controller.ts';
import { type ConfigDependencies, dataSecretNameOf } from '../common/config-scope.ts';
import {
  certificatesAvailable,
  certificatesMissing,
  dataSecretAvailable,
  dataSecretRefused,
  dataSecretWaiting,
  observe,
} from '../common/config-status.ts';
import { keepDataSecretOwned } from '../common/data-secret.ts';
import { releaseInitLock } from '../common/init-lock.ts';
import { dataSecretAccess, makeUserData } from './make-user-data.ts';
import type { RKE2ConfigScope } from './scope.ts';

/** Builds the controller of RKE2Configs, which generates the user data of rke2 servers and agents. */
export function rke2ConfigController(dependencies: ConfigDependencies): ControllerDefinition {
  return configController(dependencies, {
    name: 'rke2-config',
    resource: RKE2Configs,
    // the shared token of an rke2 cluster does not expire
    tokenTtlMs: 0,
    reportsGeneration: true,
    waitsForOthers: true,
    wakesOnFollowed: true,
    advance,
    notConnected: (scope, message) => dataSecretWaiting(scope, message, 'WaitingForControlPlaneAvailable'),
    certificatesMissing(scope: RKE2ConfigScope, { message, missing }) {
      certificatesMissing(scope, message, missing);
      dataSecretWaiting(scope, 'Waiting for the certificates of the Cluster', 'WaitingForControlPlaneAvailable');
    },
    refused: dataSecretRefused,
    failed: dataSecretRefused,
    observe,
    problemOf: ({ legacy, verdict }) => (legacy.severity === 'Warning' ? (verdict.message ?? '') : undefined),
  });
}

async function advance(scope: RKE2ConfigScope): Promise<Result> {
  const secretName = dataSecretNameOf(scope);
  if (secretName && (await keepReady(scope, secretName))) return done();
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

/** Keeps existing user data unchanged. Returns false if it was lost before use and must be generated again. */
async function keepReady(scope: RKE2ConfigScope, secretName: string): Promise<boolean> {
  const { config, context, cluster, owner } = scope;
  if (secretName === config.metadata.name) {
    const exists = await keepDataSecretOwned(dataSecretAccess(scope));
    if (!exists && !owner.hasNodes && !owner.deleting) return false;
  }
  dataSecretAvailable(scope, secretName);
  certificatesAvailable(scope);
  if (owner.isControlPlane && isTrue(cluster, 'ControlPlaneInitialized')) await releaseInitLock(context, cluster);
  return true;
}
