import { readFile } from 'node:fs/promises';
import { type OidcAlgorithm, type OidcOptions, oidcAlgorithms } from '../apiserver/index.ts';
import { CapstanError, errorMessage } from '../machinery/index.ts';

/** Flags of kube-apiserver for an OpenID Connect issuer. */
export interface OidcFlags {
  oidcIssuerUrl?: string;
  oidcClientId?: string;
  oidcUsernameClaim?: string;
  oidcUsernamePrefix?: string;
  oidcGroupsClaim?: string;
  oidcGroupsPrefix?: string;
  oidcCaFile?: string;
  oidcRequiredClaim?: string[];
  oidcSigningAlgs?: string[];
}

const others = [
  'oidcUsernameClaim',
  'oidcUsernamePrefix',
  'oidcGroupsClaim',
  'oidcGroupsPrefix',
  'oidcCaFile',
  'oidcRequiredClaim',
  'oidcSigningAlgs',
] as const;

/** Reads the flags; undefined if none is given. */
export async function oidcOptions(flags: OidcFlags): Promise<OidcOptions | undefined> {
  const { oidcIssuerUrl: issuerUrl, oidcClientId: clientId } = flags;
  const isGiven = issuerUrl !== undefined || clientId !== undefined || others.some((flag) => flags[flag] !== undefined);
  if (!isGiven) return undefined;
  if (!issuerUrl || !clientId) throw usage('--oidc-issuer-url and --oidc-client-id must be given together');
  if (!URL.canParse(issuerUrl) || new URL(issuerUrl).protocol !== 'https:') {
    throw usage(`--oidc-issuer-url: "${issuerUrl}" is not an https:// address`);
  }
  const algorithms = (flags.oidcSigningAlgs ?? []).flatMap((value) => value.split(','));
  for (const algorithm of algorithms) {
    if (!(oidcAlgorithms as readonly string[]).includes(algorithm)) {
      throw usage(`--oidc-signing-algs: "${algorithm}" is not one of ${oidcAlgorithms.join(', ')}`);
    }
  }
  return {
    issuerUrl,
    clientId,
    ...(flags.oidcUsernameClaim !== undefined && { usernameClaim: flags.oidcUsernameClaim }),
    ...(flags.oidcUsernamePrefix !== undefined && { usernamePrefix: flags.oidcUsernamePrefix }),
    ...(flags.oidcGroupsClaim !== undefined && { groupsClaim: flags.oidcGroupsClaim }),
    ...(flags.oidcGroupsPrefix !== undefined && { groupsPrefix: flags.oidcGroupsPrefix }),
    ...(flags.oidcRequiredClaim && { requiredClaims: requiredClaims(flags.oidcRequiredClaim) }),
    ...(algorithms.length > 0 && { signingAlgorithms: algorithms as OidcAlgorithm[] }),
    ...(flags.oidcCaFile !== undefined && { ca: await readAuthority(flags.oidcCaFile) }),
  };
}

function requiredClaims(given: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    given.map((text) => {
      const at = text.indexOf('=');
      if (at < 1) throw usage(`--oidc-required-claim: "${text}" is not KEY=VALUE`);
      return [text.slice(0, at), text.slice(at + 1)];
    }),
  );
}

async function readAuthority(path: string): Promise<string> {
  let text = '';
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw usage(`--oidc-ca-file: ${errorMessage(error)}`);
  }
  if (!text.includes('-----BEGIN CERTIFICATE-----')) throw usage(`--oidc-ca-file: ${path} holds no certificate`);
  return text;
}

function usage(message: string): CapstanError {
  return new CapstanError('CAP_USAGE', message);
}
