// Public interface of the housekeeping room: the controllers every Kubernetes cluster has, independent of what it is
// used for.
import type { Client } from '../client/index.ts';
import type { CertificateAndKey } from '../pki/index.ts';
import type { ControllerDefinition } from '../runtime/index.ts';
import { clusterInfoSigner } from './bootstrap/cluster-info-signer.ts';
import { bootstrapTokenCleaner } from './bootstrap/token-cleaner.ts';
import { certificateApprovalController } from './certificates/approval.ts';
import { certificateCleaner } from './certificates/cleaner.ts';
import { certificateSigningController } from './certificates/signing.ts';
import { garbageCollector } from './garbage-collector/garbage-collector.ts';
import { namespaceController } from './namespaces/namespace-controller.ts';
import { rootCaPublisher } from './root-ca-publisher.ts';
import type { ServedResources } from './served-resources.ts';
import { serviceAccountController } from './service-accounts.ts';
import { claimProtection } from './storage/claim-protection.ts';
import { volumeProtection } from './storage/volume-protection.ts';

export { clusterInfoSigner } from './bootstrap/cluster-info-signer.ts';
export { bootstrapTokenCleaner } from './bootstrap/token-cleaner.ts';
export { certificateApprovalController } from './certificates/approval.ts';
export { certificateCleaner } from './certificates/cleaner.ts';
export { type CertificateSigningOptions, certificateSigningController } from './certificates/signing.ts';
export { type GarbageCollectorOptions, garbageCollector } from './garbage-collector/garbage-collector.ts';
export { type NamespaceControllerOptions, namespaceController } from './namespaces/namespace-controller.ts';
export { type RootCaPublisherOptions, rootCaPublisher } from './root-ca-publisher.ts';
export type { ServedResources } from './served-resources.ts';
export { serviceAccountController } from './service-accounts.ts';
export { type ClaimProtectionOptions, claimProtection } from './storage/claim-protection.ts';
export { volumeProtection } from './storage/volume-protection.ts';
export { matchesSelection, tolerates, untoleratedTaint } from './workloads/common/placement.ts';
export { indexPodsByNode, podsByNode } from './workloads/common/pod-index.ts';
export {
  type ExternalProvisionerOptions,
  externalProvisionerControllers,
} from './workloads/volumes/external-provisioner.ts';
export type {
  ProvisionedVolume,
  Provisioner,
  Provisioners,
  ProvisionRequest,
} from './workloads/volumes/provisioner.ts';
export {
  type WorkloadControllersOptions,
  type WorkloadPart,
  workloadControllers,
} from './workloads/workload-controllers.ts';

/** Builds all housekeeping controllers, ready to be added to a manager. */
export function housekeepingControllers(options: {
  served: ServedResources;
  /** PEM of the CA certificates that verify the API server */
  certificateAuthority: string;
  /** CA that signs approved certificate requests; without it the requests wait for an external signer */
  signingAuthority?: CertificateAndKey;
  /** client that reads whole objects, for controllers whose caches hold metadata only; default: their own client */
  reader?: Client;
}): ControllerDefinition[] {
  const { served, certificateAuthority, signingAuthority, reader } = options;
  return [
    garbageCollector({ served }),
    namespaceController({ served }),
    serviceAccountController(),
    rootCaPublisher({ certificateAuthority }),
    claimProtection(reader ? { reader } : {}),
    volumeProtection(),
    bootstrapTokenCleaner(),
    clusterInfoSigner(),
    certificateApprovalController(),
    certificateCleaner(),
    ...(signingAuthority ? [certificateSigningController({ authority: signingAuthority })] : []),
  ];
}
