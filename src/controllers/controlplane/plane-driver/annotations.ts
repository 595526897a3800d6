import { restoreAnnotation } from '../../../api/index.ts';
import type { ObjectKey } from '../../../client/index.ts';
import type { ApiServerSpec, BackupSpec } from '../../../hosting/index.ts';
import { checkDns1123Label, checkDns1123Subdomain, type KubeObject } from '../../../machinery/index.ts';
import type { PlaneRequest, RestoreRequest, RotationRequest } from './types.ts';

// Annotations for requests that the hosted control plane kinds have no fields for.

const domain = 'controlplane.cluster.x-k8s.io';

/** `rotate-<what>`: every new value starts a rotation */
export const rotateAnnotations: Readonly<Record<RotationRequest['what'], string>> = {
  ca: `${domain}/rotate-ca`,
  'etcd-ca': `${domain}/rotate-etcd-ca`,
  'front-proxy-ca': `${domain}/rotate-front-proxy-ca`,
  sa: `${domain}/rotate-sa`,
};

// A new combination of the restore annotation (name of a backup, or `latest`) and these two starts a restore.
/** `namespace/name` or `name` of the plane that was backed up, if it is a different one */
const restoreFromAnnotation = `${domain}/restore-from`;
const restoreTokenAnnotation = `${domain}/restore-token`;

/** cron expression, or @daily and similar */
const backupScheduleAnnotation = `${domain}/backup-schedule`;
/**
 * Formerly a path on the management host. Security: only the operator may set the backup path, so the annotation is
 * refused.
 */
const backupDirectoryAnnotation = `${domain}/backup-directory`;
/** a Secret with the keys accessKeyID, secretAccessKey, host, region and bucket */
const backupSecretAnnotation = `${domain}/backup-secret`;

/** `true`: Secrets of the workload cluster are encrypted at rest, with a key of the plane */
const encryptionAnnotation = `${domain}/encrypt-secrets`;

/** `none`, or comma-separated names of Secrets for cloud credentials, as `name` or `namespace/name` */
const cloudCredentialsAnnotation = `${domain}/cloud-credentials`;
const cloudSecretNamespace = 'kube-system';
/** not used by any chart or manual: users create the Secrets those mention, which must not exist already */
const defaultCloudSecret = 'openstack-credentials';

/** Reads API server settings from annotations. */
export function annotatedApiServer({ metadata }: KubeObject): Pick<ApiServerSpec, 'encryptionAtRest'> {
  return metadata.annotations?.[encryptionAnnotation] === 'true' ? { encryptionAtRest: true } : {};
}

/** Reads rotation requests, the restore request and the credentials target from annotations. */
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

/**
 * Reads backup settings from annotations; undefined without a schedule. Without a bucket, backups go to the operator's
 * directory.
 */
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
