import {
  type Container,
  type K0smotronCluster,
  k0sVersionOf,
  parseImage,
  type Secret,
  type StatefulSet,
} from '../../../api/index.ts';
import {
  type CredentialName,
  etcdMembersFor,
  maxEtcdMembers,
  nextEtcdImage,
  nextVersion,
  type PlaneSpec,
  placeOf,
  specProblems,
} from '../../../hosting/index.ts';
import { isOwnedBy, secretText } from '../../shared/index.ts';
import { readState } from '../plane-driver/state.ts';
import { inputOfPlane } from './family.ts';
import { k0smotronPlaneNames, k0smotronPlaneSpec } from './spec.ts';

// Conditions for taking a plane over from k0smotron's own program, and for giving it back.

/** What another program made for a plane. */
export interface ForeignPlane {
  readonly plane: K0smotronCluster;
  readonly etcd: StatefulSet | undefined;
  readonly controllers: StatefulSet | undefined;
  secret(name: string): Secret | undefined;
}

/** Names of the objects of a plane that a take-over concerns. */
export interface PlaneNames {
  readonly etcd: string;
  readonly controllers: string;
  readonly etcdSettings: string;
  readonly rotationState: string;
  /** labels that k0smotron's own program selects Pods by */
  selector(part: 'etcd' | 'controllers'): Record<string, string>;
}

export function k0smotronNames(plane: K0smotronCluster): PlaneNames {
  const { naming } = k0smotronPlaneNames(inputOfPlane(plane));
  return {
    etcd: naming.etcd,
    controllers: naming.controlPlane,
    etcdSettings: naming.etcdSettings,
    rotationState: naming.rotationState,
    selector: (part) => ({
      ...plane.metadata.labels,
      ...plane.spec.kubeconfigSecretMetadata?.labels,
      ...naming.selector(part === 'etcd' ? 'etcd' : 'control-plane'),
      ...(part === 'controllers' && { 'cluster.x-k8s.io/control-plane': 'true' }),
    }),
  };
}

/** Names the Secrets whose content a take-over keeps. */
export function keptSecrets(plane: K0smotronCluster): string[] {
  const translated = k0smotronPlaneSpec(inputOfPlane(plane));
  if ('problem' in translated) return [];
  return keptCredentials(translated.desired).map((credential) => placeOf(translated.desired, credential).name);
}

function keptCredentials({ dataStore }: PlaneSpec): CredentialName[] {
  return ['ca', 'sa', 'front-proxy-ca', ...(dataStore.kind === 'own-etcd' ? (['etcd-ca'] as const) : [])];
}

/** Lists why the controllers here cannot continue a plane; empty if they can. */
export function adoptionProblems(foreign: ForeignPlane): string[] {
  const { plane } = foreign;
  if (plane.metadata.deletionTimestamp !== undefined) return ['it is being deleted: let the old program finish'];
  const translated = k0smotronPlaneSpec(inputOfPlane(plane));
  if ('problem' in translated) return [translated.problem.message];
  const { desired } = translated;
  return [
    ...specProblems(desired).map(({ message }) => message),
    ...shapeProblems(plane),
    ...secretProblems(foreign, desired),
    ...controllerProblems(foreign, desired),
    ...etcdProblems(foreign, desired),
  ];
}

function shapeProblems({ spec }: K0smotronCluster): string[] {
  const problems: string[] = [];
  if (spec.storage?.type === 'nats')
    problems.push('spec.storage: servers of NATS authenticate each other by a token of the old program');
  if (spec.ingress)
    problems.push('spec.ingress: the proxies on its nodes are manifests of the old program; this was never tried');
  return problems;
}

function secretProblems({ secret }: ForeignPlane, desired: PlaneSpec): string[] {
  return keptCredentials(desired).flatMap((credential) => {
    const place = placeOf(desired, credential);
    const found = secret(place.name);
    const missing = [...place.certificate, ...place.privateKey].filter((key) => secretText(found, key) === undefined);
    return missing.length === 0 ? [] : [`Secret ${place.name} lacks ${missing.join(' and ')}`];
  });
}

function controllerProblems({ plane, controllers }: ForeignPlane, desired: PlaneSpec): string[] {
  const name = desired.naming.controlPlane;
  if (!controllers) return [`StatefulSet ${name} does not exist yet: let the old program finish`];
  if (!isOwnedBy(controllers, plane)) return [`StatefulSet ${name} is not owned by it`];
  const running = k0sVersionOf(parseImage(containerOf(controllers, 'controller')?.image ?? '').tag ?? '');
  const step = nextVersion(running, desired.version);
  return step.allowed ? [] : [step.message];
}

function etcdProblems({ plane, etcd }: ForeignPlane, desired: PlaneSpec): string[] {
  if (desired.dataStore.kind !== 'own-etcd') return [];
  const name = desired.naming.etcd;
  if (!etcd) return [`StatefulSet ${name} does not exist yet: let the old program finish`];
  if (!isOwnedBy(etcd, plane)) return [`StatefulSet ${name} is not owned by it`];
  const { replicas = 1 } = etcd.spec;
  const ready = etcd.status?.readyReplicas ?? 0;
  if (replicas > maxEtcdMembers)
    return [`its etcd has ${replicas} members, and at most ${maxEtcdMembers} are supported: scale it down`];
  if (ready < replicas) return [`only ${ready} of ${replicas} members of its etcd are ready`];
  const step = nextEtcdImage(containerOf(etcd, 'etcd')?.image ?? '', desired.images.etcd ?? '');
  return 'problem' in step ? [step.problem] : [];
}

const containerOf = ({ spec }: StatefulSet, name: string): Container | undefined =>
  spec.template?.spec?.containers?.find((container) => container.name === name);

/** Lists why k0smotron's own program could not continue a plane of ours; empty if it can. */
export function releaseProblems({ plane, etcd, secret }: ForeignPlane): string[] {
  const { replicas = 1, storage } = plane.spec;
  const problems: string[] = [];
  const { rotations, restore } = readState(secret(k0smotronNames(plane).rotationState));
  const rotating = Object.entries(rotations).filter(([, entry]) => entry?.record.phase !== 'stable');
  if (rotating.length > 0)
    problems.push(`a rotation of ${rotating.map(([what]) => what).join(', ')} is under way: let it finish`);
  if (restore !== undefined && restore.phase !== 'done') problems.push('a restore is under way: let it finish');
  if (replicas === 0) problems.push('it is hibernated, which the old program does not know: set spec.replicas first');
  if ((storage?.type ?? 'etcd') !== 'etcd' || !etcd) return problems;
  const wanted = etcdMembersFor(replicas);
  const ready = etcd.status?.readyReplicas ?? 0;
  if (replicas > 0 && (etcd.spec.replicas !== wanted || ready !== wanted))
    problems.push(`${ready} of ${wanted} members of its etcd are ready: wait until they are`);
  return problems;
}
