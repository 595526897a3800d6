import { stringify } from 'yaml';
import type { CloudSecrets } from './world/secrets.ts';

export interface CloudsYamlOptions {
  /** for example `http://127.0.0.1:5080` */
  readonly url: string;
  readonly region: string;
  readonly secrets: CloudSecrets;
  /** CA file of a cloud served over HTTPS */
  readonly authorityFile?: string;
}

/**
 * Renders a clouds.yaml with one entry per user of the world: `openstack` for the first, `admin` for the administrator,
 * the others by name, application credentials as `NAME-application-credential`.
 */
export function renderCloudsYaml({ url, region, secrets, authorityFile }: CloudsYamlOptions): string {
  const auth_url = `${url}/identity/v3`;
  const common = {
    region_name: region,
    interface: 'public',
    identity_api_version: 3,
    ...(authorityFile !== undefined && { cacert: authorityFile }),
  };
  const domains = { user_domain_name: 'Default', project_domain_name: 'Default' };
  const clouds: Record<string, object> = {};
  const [first, ...others] = secrets.users;
  const login = (user: CloudSecrets['users'][number]): object => ({
    auth: {
      auth_url,
      username: user.name,
      password: user.password,
      project_id: user.projectId,
      project_name: user.project,
      ...domains,
    },
    ...common,
  });
  if (first) clouds['openstack'] = login(first);
  clouds['admin'] = {
    auth: { auth_url, username: 'admin', password: secrets.adminPassword, project_name: 'admin', ...domains },
    ...common,
  };
  for (const user of others) clouds[user.name] = login(user);
  for (const { name, id, secret } of secrets.applicationCredentials) {
    clouds[`${name}-application-credential`] = {
      auth_type: 'v3applicationcredential',
      auth: { auth_url, application_credential_id: id, application_credential_secret: secret },
      ...common,
    };
  }
  return `# The simulated cloud. Rewritten at every start.\n${stringify({ clouds })}`;
}
