export { type OidcAuthenticator, type OidcOptions, oidcAuthenticator } from './authenticator.ts';
export { type OidcAlgorithm, oidcAlgorithms } from './signatures.ts';
