import { parseK0sVersion, parseKubernetesVersion, withLeadingV } from '../api/index.ts';
import { checkDns1035Label, checkDns1123Subdomain, cidrFamily, ipFamily } from '../machinery/index.ts';
import { maxEtcdMembers } from './etcd/members.ts';
import type { SpecProblem } from './result.ts';
import type { PlaneSpec } from './spec.ts';

/** Lists the problems of a spec; nothing is created while there are any. */
export function specProblems(desired: PlaneSpec): SpecProblem[] {
  return [
    ...versionProblems(desired),
    ...storeProblems(desired),
    ...networkProblems(desired),
    ...nameProblems(desired),
    ...serviceProblems(desired),
  ];
}

function versionProblems({ version, layout }: PlaneSpec): SpecProblem[] {
  const known = layout === 'k0s' ? parseK0sVersion(version) : parseKubernetesVersion(withLeadingV(version));
  return known ? [] : [{ reason: 'VersionUnknown', message: `"${version}" is no version; write it like v1.32.6` }];
}

function storeProblems({ dataStore, images, layout, k0s }: PlaneSpec): SpecProblem[] {
  const problems: SpecProblem[] = [];
  if (dataStore.kind === 'own-etcd') {
    const { members } = dataStore;
    if (!Number.isInteger(members) || members < 1 || members > maxEtcdMembers || members % 2 === 0) {
      problems.push({
        reason: 'EtcdMembersRefused',
        message: `${members} members of etcd are no good number: an even one can lose its majority sooner; use 1, 3 or 5`,
      });
    }
    if (images.etcd === undefined || images.etcd === '') {
      problems.push({ reason: 'ImageMissing', message: 'etcd needs an image' });
    }
  }
  if ((layout === 'k0s') !== (k0s !== undefined)) throw new TypeError('the k0s layout and its settings come together');
  if (layout === 'k0s' ? !images.k0s : !images.apiServer || !images.controllerManager || !images.scheduler) {
    problems.push({ reason: 'ImageMissing', message: 'the image of a component of the control plane is not given' });
  }
  return problems;
}

function networkProblems({ network }: PlaneSpec): SpecProblem[] {
  const wrong = [...network.serviceCidrs, ...network.podCidrs].filter((cidr) => cidrFamily(cidr) === undefined);
  const problems = wrong.map((cidr) => ({
    reason: 'NetworkRefused',
    message: `"${cidr}" is no range of addresses; write it like 10.96.0.0/12`,
  }));
  if (network.serviceCidrs.length === 0)
    problems.push({ reason: 'NetworkRefused', message: 'Services have no range of addresses' });
  return problems;
}

/** Refuses invalid names: some clients reject a certificate with one. */
function nameProblems({ exposure }: PlaneSpec): SpecProblem[] {
  const isName = (host: string): boolean =>
    ipFamily(host) !== undefined || checkDns1123Subdomain(host.replace(/^\*\./, '').toLowerCase()).length === 0;
  const hosts = [
    ...exposure.sans,
    exposure.address,
    exposure.ingress?.host.split(':')[0],
    exposure.ingress?.konnectivityHost,
  ];
  return hosts
    .filter((host): host is string => host !== undefined && host !== '' && !isName(host))
    .map((host) => ({
      reason: 'HostRefused',
      message: `"${host}" is neither a DNS name nor an address and cannot be a name of the API server`,
    }));
}

/** Cluster names may be invalid as Service names. */
function serviceProblems({ naming, dataStore }: PlaneSpec): SpecProblem[] {
  const etcd = dataStore.kind === 'own-etcd' ? [naming.etcdService, naming.etcdClientService] : [];
  const refused = [naming.apiService, ...etcd].find((name) => checkDns1035Label(name).length > 0);
  if (refused === undefined) return [];
  return [
    {
      reason: 'NameRefused',
      message: `the control plane needs a Service ${refused}, and no Service can have that name: give the cluster a name of at most 63 lower case letters, digits and "-" that begins with a letter`,
    },
  ];
}
