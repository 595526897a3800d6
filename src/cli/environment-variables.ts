/**
 * The environment variables the program reads. `docs/reference/environment.md` is made from this list; a test compares it with
 * the code.
 */
export const environmentVariables: Readonly<Record<string, string>> = {
  CAPSTAN_BACKUP_PASSPHRASE:
    'Passphrase of `backup` and `restore`, where neither `--passphrase-file` nor `--key-file` is given.',
  CAPSTAN_CONTEXT: 'Context of the kubeconfig, where `--context` is not given.',
  CAPSTAN_FREEZE_OBJECTS: '`1`: objects of the store are frozen, which finds code that changes shared objects. Slow.',
  CAPSTAN_KUBECONFIG: 'Kubeconfig of the management API, where `--kubeconfig` is not given.',
  GIT_ACCESS_TOKEN: 'Token for release pages of cluster stacks.',
  GIT_ORG_NAME: 'Organization on GitHub, with `--stacks-source github`.',
  GIT_PROVIDER: '`github`, with `--stacks-source github`.',
  GIT_REPOSITORY_NAME: 'Repository on GitHub, with `--stacks-source github`.',
  HOME: 'Where `~/.kube/config` is looked for.',
  KUBECONFIG: 'Kubeconfigs, as for kubectl.',
  KUBERNETES_SERVICE_HOST: 'Set by Kubernetes in a Pod: the API server of the cluster the program runs in.',
  KUBERNETES_SERVICE_PORT: 'Set by Kubernetes in a Pod: the port of that API server.',
  NO_COLOR: 'Any value: no colours.',
  OCI_ACCESS_TOKEN: 'Token for the registry of cluster stacks, in place of name and password.',
  OCI_PASSWORD: 'Password for the registry of cluster stacks.',
  OCI_REGISTRY: 'Host of the registry, with `--stacks-source oci`; `http://` before it for one without TLS.',
  OCI_REPOSITORY: 'Repository of the registry, with `--stacks-source oci`.',
  OCI_USERNAME: 'User name for the registry of cluster stacks.',
  OS_CLIENT_CONFIG_FILE: 'Path of clouds.yaml.',
  OS_CLIENT_SECURE_FILE: 'Path of secure.yaml.',
  OS_CLOUD: 'Cloud of clouds.yaml.',
  OS_CLOUD_NAME: 'Name of the cloud that the other OS_* variables make up; `envvars` without it.',
  OS_PASSWORD: 'Password of a cloud, for `capstan env` where clouds.yaml has none.',
  OS_REGION_NAME: 'Region of the cloud.',
  SNAP_REAL_HOME: 'Home directory of the user, inside a snap.',
  TERM: '`dumb`: no colours.',
  XDG_CONFIG_DIRS: 'Further directories with `openstack/clouds.yaml`.',
  XDG_CONFIG_HOME: 'Where `capstan/keys` and `openstack/clouds.yaml` are; `~/.config` without it.',
  XDG_DATA_HOME: 'Where the data directory `capstan` is; `~/.local/share` without it.',
  npm_command: 'Set by npm: how the program was started, for the commands it prints.',
  npm_lifecycle_event: 'Set by npm: how the program was started, for the commands it prints.',
};
