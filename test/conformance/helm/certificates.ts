import type { CertificateMaker } from '../../../src/template/index.ts';

/** Stand-ins: what helm makes here differs from run to run, and is not compared. */
const pair = () => ({ certificate: 'certificate', key: 'key' });

export const certificates: CertificateMaker = {
  privateKey: () => 'key',
  authority: pair,
  selfSigned: pair,
  signed: pair,
  passwordHash: () => 'hash',
};
