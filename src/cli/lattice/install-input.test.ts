import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LatticeCluster, Secret } from '../../api/index.ts';
import { type JsonObject, parseYaml, systemClock } from '../../machinery/index.ts';
import { checkedCluster } from './checked-cluster.ts';
import { credentialsOfEnvironment } from './environment-credentials.ts';
import { registrySecrets } from './registry-credentials.ts';

const settings = { secret: { namespace: 'capo-system', name: 'openstack-cloud-config' }, cloudName: 'openstack' };
const password = { OS_AUTH_URL: 'https://cloud.test/v3', OS_USERNAME: 'u', OS_PASSWORD: 'p', OS_PROJECT_NAME: 'x' };

describe('the input of capstan lattice install', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'capstan-install-input-'));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));
  const file = async (name: string, text: string): Promise<string> => {
    const path = join(directory, name);
    await writeFile(path, text);
    return path;
  };
  const textIn = (secret: Secret | undefined, key: string): string =>
    Buffer.from(secret?.data?.[key] ?? '', 'base64').toString('utf8');
  const cloudIn = (secret: Secret | undefined): JsonObject => {
    const { clouds } = parseYaml(textIn(secret, 'clouds.yaml')).value as { clouds: { openstack: JsonObject } };
    return clouds.openstack;
  };

  describe('credentials from the environment', () => {
    it('are undefined when nothing is set', async () => {
      expect(await credentialsOfEnvironment({}, settings)).toBeUndefined();
    });

    it('are taken from the OS_* variables', async () => {
      const cacert = await file('ca.crt', 'PEM');
      const made = await credentialsOfEnvironment({ ...password, OPENSTACK_CACERT: cacert }, settings);
      expect(made?.metadata).toEqual(settings.secret);
      expect(textIn(made, 'cacert')).toBe('PEM');
      expect(cloudIn(made)['auth']).toEqual({
        auth_url: 'https://cloud.test/v3',
        username: 'u',
        password: 'p',
        project_name: 'x',
        project_domain_name: 'Default',
        user_domain_name: 'Default',
      });
    });

    it('may be an application credential', async () => {
      const application = {
        OS_AUTH_URL: 'https://cloud.test/v3',
        OS_APPLICATION_CREDENTIAL_ID: 'i',
        OS_APPLICATION_CREDENTIAL_SECRET: 's',
        OS_REGION_NAME: 'R',
      };
      expect(cloudIn(await credentialsOfEnvironment(application, settings))).toMatchObject({
        auth_type: 'v3applicationcredential',
        auth: { application_credential_id: 'i', application_credential_secret: 's' },
        region_name: 'R',
      });
    });

    it('are refused with the name of the missing variable', async () => {
      const { OS_PASSWORD: _, ...rest } = password;
      await expect(credentialsOfEnvironment(rest, settings)).rejects.toThrow('OS_PASSWORD is not');
      const { OS_PROJECT_NAME: __, ...others } = password;
      await expect(credentialsOfEnvironment(others, settings)).rejects.toThrow(
        'OS_PROJECT_NAME or OS_TENANT_NAME is not',
      );
      expect(
        cloudIn(await credentialsOfEnvironment({ ...others, OS_TENANT_NAME: 't' }, settings))['auth'],
      ).toMatchObject({
        project_name: 't',
      });
    });

    it('are taken from clouds.yaml before variables, and only from the chosen cloud', async () => {
      const path = await file(
        'clouds.yaml',
        'clouds: {mine: {auth: {username: f}}, other: {auth: {password: secret}}}',
      );
      const env = { ...password, OPENSTACK_CLOUD_CONFIG: path, OS_CLOUD: 'mine' };
      const made = await credentialsOfEnvironment(env, settings);
      expect(cloudIn(made)).toEqual({ auth: { username: 'f' } });
      expect(textIn(made, 'clouds.yaml')).not.toContain('secret');
    });
  });

  describe('credentials of a registry', () => {
    it('become a Secret in the namespace of the parents', async () => {
      const path = await file('config.json', '{"auths":{"registry.test":{"auth":"eA=="}}}');
      expect(await registrySecrets(path)).toMatchObject([
        { type: 'kubernetes.io/dockerconfigjson', metadata: { namespace: 'lattice-system', name: 'lattice-registry' } },
      ]);
      expect(await registrySecrets(undefined)).toEqual([]);
    });

    it.each(['{}', 'x', '[]'])('are refused: %s', async (text) => {
      await expect(registrySecrets(await file('bad.json', text))).rejects.toThrow('is not a docker config.json');
    });
  });

  describe('a cluster checked without an API', () => {
    const signal = new AbortController().signal;
    const cluster = (controlPlane: number): LatticeCluster => ({
      apiVersion: 'lattice.dev/v1alpha1',
      kind: 'LatticeCluster',
      metadata: { name: 'one' },
      spec: {
        provider: {
          kubernetes: { version: '1.32.0' },
          config: {
            openstack: {
              externalNetworkId: 'public',
              cpFlavor: 'a',
              workerFlavor: 'b',
              imageName: 'Ubuntu 22.04',
              sshKeyName: 'k',
            },
          },
        },
        nodes: { controlPlane },
        endpoints: {},
      },
    });

    it('gets its defaults', async () => {
      const checked = await checkedCluster(cluster(1), { clock: systemClock, signal });
      expect(checked.metadata).toEqual({ name: 'one' });
      expect(checked.spec.endpoints).toMatchObject({ grpcPort: 50_051, bootstrapPort: 8443 });
    });

    it('is refused with the same errors as by an API', async () => {
      await expect(checkedCluster(cluster(2), { clock: systemClock, signal })).rejects.toThrow(
        /spec\.nodes\.controlPlane: Invalid value: 2/,
      );
    });
  });
});
