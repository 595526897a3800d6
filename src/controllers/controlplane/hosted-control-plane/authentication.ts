import {
  compareKubernetesVersions,
  type HostedClaim,
  type HostedControlPlaneSpec,
  type HostedOidcProvider,
  parseKubernetesVersion,
} from '../../../api/index.ts';
import { type JsonObject, must } from '../../../machinery/index.ts';

/** first version with the stable (v1) API */
const stableSince = must(parseKubernetesVersion('v1.35.0'), 'parseKubernetesVersion("v1.35.0")');

/** Builds the AuthenticationConfiguration of API servers; undefined without OIDC issuers. */
export function authenticationOf(
  version: string,
  { oidcProviders = {} }: HostedControlPlaneSpec,
): JsonObject | undefined {
  const issuers = Object.entries(oidcProviders).sort(([one], [other]) => (one < other ? -1 : 1));
  if (issuers.length === 0) return undefined;
  const known = parseKubernetesVersion(version);
  const isStable = known !== undefined && compareKubernetesVersions(known, stableSince) >= 0;
  return {
    apiVersion: `apiserver.config.k8s.io/${isStable ? 'v1' : 'v1beta1'}`,
    kind: 'AuthenticationConfiguration',
    jwt: issuers.map(([issuer, provider]) => authenticatorOf(issuer, provider)),
  };
}

function authenticatorOf(issuer: string, provider: HostedOidcProvider): JsonObject {
  const { audiences, certificateAuthority, claimValidationRules, claimMappings } = provider;
  return {
    issuer: {
      url: issuer,
      audiences: [...audiences],
      ...(audiences.length > 1 && { audienceMatchPolicy: 'MatchAny' }),
      ...(certificateAuthority && { certificateAuthority }),
    },
    ...(claimValidationRules && {
      claimValidationRules: claimValidationRules.map((rule) => ({ ...rule })),
    }),
    claimMappings: {
      username: claimOf(claimMappings.username),
      ...(claimMappings.groups && { groups: claimOf(claimMappings.groups) }),
    },
  };
}

/** A claim requires a prefix, possibly empty; an expression must not have one. */
function claimOf({ claim, prefix, expression }: HostedClaim): JsonObject {
  return expression ? { expression } : { claim: claim ?? '', prefix: prefix ?? '' };
}
