import type { BootstrapFile } from '../../../api/index.ts';
import { caCertHash, splitCertificates } from '../../../pki/index.ts';
import type { ClusterCertificates } from './types.ts';

const rootOwned = 'root:root';

/** Returns the pairs as files of a machine, in plan order. */
export function certificateFiles(certificates: ClusterCertificates): BootstrapFile[] {
  const files: BootstrapFile[] = [];
  for (const { plan, certificate, privateKey } of certificates.values()) {
    files.push({ path: plan.certificateFile, owner: rootOwned, permissions: '0640', content: certificate });
    if (privateKey !== undefined && plan.keyFile !== undefined) {
      files.push({ path: plan.keyFile, owner: rootOwned, permissions: '0600', content: privateKey });
    }
  }
  return files;
}

/** Hashes with which a joining machine verifies the cluster CA, one per certificate of the bundle. */
export function authorityHashes(certificates: ClusterCertificates): string[] {
  const authority = certificates.get('ca');
  return authority ? splitCertificates(authority.certificate).map(caCertHash) : [];
}
