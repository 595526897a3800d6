import {
  compareKubernetesVersions,
  type HostedClaim,
  type HostedControlPlaneSpec,
  type HostedOidcProvider,
  parseKubernetesVersion,
} from '../../../api/index.ts';
import { type JsonObject, must } from '../../../machinery/index.ts';

/** the first version that reads the stable form */
const stableSince = must(parseKubernetesVersion('v1.35.0'), 'parseKubernetesVersion("v1.35.0")');

/** Who else says who users are, as API servers read it; undefined when nobody does. */
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

/** A claim needs a prefix, be it none; an expression has none. */
function claimOf({ claim, prefix, expression }: HostedClaim): JsonObject {
  return expression ? { expression } : { claim: claim ?? '', prefix: prefix ?? '' };
}
