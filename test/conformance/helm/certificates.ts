import type { CertificateMaker } from '../../../src/template/index.ts';

/** Placeholders. The real ones are random and not compared. */
const pair = () => ({ certificate: 'certificate', key: 'key' });

export const certificates: CertificateMaker = {
  privateKey: () => 'key',
  authority: pair,
  selfSigned: pair,
  signed: pair,
  passwordHash: () => 'hash',
};
