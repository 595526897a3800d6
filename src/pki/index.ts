// Public interface of the PKI room: authorities, certificates, signing requests and keys.
export * from './authority.ts';
export * from './certificate.ts';
export * from './chart-certificates.ts';
export * from './csr.ts';
export * from './files.ts';
export * from './keys.ts';
export * from './pem.ts';
export * from './server-pki.ts';
export * from './signers.ts';
export * from './ssh-keys.ts';
