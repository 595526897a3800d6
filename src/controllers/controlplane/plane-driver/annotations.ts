import type { ObjectKey } from '../../../client/index.ts';
import type { ApiServerSpec, BackupSpec } from '../../../hosting/index.ts';
import { checkDns1123Label, checkDns1123Subdomain, type KubeObject } from '../../../machinery/index.ts';
import type { PlaneRequest, RestoreRequest, RotationRequest } from './types.ts';

// Requests that the kinds of hosted control planes have no fields for. People write them as annotations of their object.

const domain = 'controlplane.cluster.x-k8s.io';

/** `rotate-<what>`: any value that was not there before begins a rotation */
export const rotateAnnotations: Readonly<Record<RotationRequest['what'], string>> = {
  ca: `${domain}/rotate-ca`,
  'etcd-ca': `${domain}/rotate-etcd-ca`,
  'front-proxy-ca': `${domain}/rotate-front-proxy-ca`,
  sa: `${domain}/rotate-sa`,
};

/** name of a backup, or `latest`; a plane goes back to it once for every new value of both */
const restoreAnnotation = `${domain}/restore`;
/** `namespace/name`, or `name`, of the plane the backup was made of, where that was another one */
const restoreFromAnnotation = `${domain}/restore-from`;
const restoreTokenAnnotation = `${domain}/restore-token`;

/** cron, or @daily and the like */
const backupScheduleAnnotation = `${domain}/backup-schedule`;
/** Once a path of the management host. Where backups lie is the operator's to say; nobody else names a path. */
const backupDirectoryAnnotation = `${domain}/backup-directory`;
/** a Secret with the keys accessKeyID, secretAccessKey, host, region and bucket */
const backupSecretAnnotation = `${domain}/backup-secret`;

/** `true`: Secrets of the workload cluster are stored encrypted, under a key of the plane's own */
const encryptionAnnotation = `${domain}/encrypt-secrets`;

/** `none`, or names of Secrets with credentials of the cloud, as `name` or `namespace/name` with commas between them */
const cloudCredentialsAnnotation = `${domain}/cloud-credentials`;
const cloudSecretNamespace = 'kube-system';
/** a name that no chart and no manual has: those tell people to make theirs, which must not be there already */
const defaultCloudSecret = 'openstack-credentials';

/** What the API server is to do that the kinds have no field for. */
export function annotatedApiServer({ metadata }: KubeObject): Pick<ApiServerSpec, 'encryptionAtRest'> {
  return metadata.annotations?.[encryptionAnnotation] === 'true' ? { encryptionAtRest: true } : {};
}

/** Rotations and a restore somebody asks for, and where credentials go. */
export function annotatedRequests({ metadata }: KubeObject): Pick<PlaneRequest, 'rotate' | 'restore' | 'cloudSecrets'> {
  const annotations = metadata.annotations ?? {};
  const rotate = (Object.keys(rotateAnnotations) as RotationRequest['what'][]).flatMap((what): RotationRequest[] => {
    const token = annotations[rotateAnnotations[what]];
    return token ? [{ what, token }] : [];
  });
  const restore = restoreRequest(annotations, metadata.namespace ?? '');
  return {
    ...(rotate.length > 0 && { rotate }),
    ...(restore && { restore }),
    cloudSecrets: cloudSecretsOf(annotations[cloudCredentialsAnnotation] ?? defaultCloudSecret),
  };
}

function cloudSecretsOf(text: string): Required<ObjectKey>[] {
  if (text === 'none') return [];
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')
    .map((entry) => {
      const slash = entry.indexOf('/');
      return slash < 0
        ? { namespace: cloudSecretNamespace, name: entry }
        : { namespace: entry.slice(0, slash), name: entry.slice(slash + 1) };
    });
}

function restoreRequest(annotations: Readonly<Record<string, string>>, own: string): RestoreRequest | undefined {
  const backup = annotations[restoreAnnotation];
  if (!backup) return undefined;
  const source = annotations[restoreFromAnnotation];
  const request = { backup, token: [backup, source ?? '', annotations[restoreTokenAnnotation] ?? ''].join(' ') };
  if (!source) return request;
  const parts = source.split('/');
  const [namespace = '', name = ''] = parts.length === 1 ? [own, source] : parts;
  if (parts.length > 2 || checkDns1123Label(namespace).length > 0 || checkDns1123Subdomain(name).length > 0) {
    const problem = `${restoreFromAnnotation}: ${JSON.stringify(source)} is neither a name nor namespace/name`;
    return { ...request, problem };
  }
  return { ...request, from: { namespace, name } };
}

/** Backups somebody asks for; undefined without a schedule. They go to a bucket, or else to the directory of the operator. */
export function annotatedBackup({ metadata }: KubeObject): BackupSpec | undefined {
  const annotations = metadata.annotations ?? {};
  const schedule = annotations[backupScheduleAnnotation];
  const path = annotations[backupDirectoryAnnotation];
  const secretName = annotations[backupSecretAnnotation];
  if (!schedule) return undefined;
  if (path) {
    const problem =
      `${backupDirectoryAnnotation} is not followed: where backups lie on the management host is its operator's to say. ` +
      'Remove it, and they go there';
    return { schedule, target: { type: 'directory' }, problem };
  }
  if (!secretName) return { schedule, target: { type: 'directory' } };
  return {
    schedule,
    target: {
      type: 's3',
      secretNamespace: metadata.namespace ?? '',
      secretName,
      keys: {
        accessKeyId: 'accessKeyID',
        secretAccessKey: 'secretAccessKey',
        host: 'host',
        region: 'region',
        bucket: 'bucket',
      },
    },
  };
}
