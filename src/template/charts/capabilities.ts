import { failed, type Result, succeeded, TemplateError } from '../errors.ts';
import { type GoMethod, stringList, type Value, withMethods, withTypeName } from '../values/index.ts';
import { GoStruct } from './go-struct.ts';

/** Version and APIs of the cluster, for `.Capabilities`. */
export interface Capabilities {
  /** for example `v1.34.2`; default: the newest Kubernetes this release knows */
  readonly kubeVersion?: string;
  /** `apps/v1` or `apps/v1/Deployment`, in addition to the built-in ones */
  readonly apiVersions?: readonly string[];
}

export const defaultKubeVersion = 'v1.34.0';

/** Emulated version of Helm. Charts compare it. */
const helmVersion = 'v3.19.5';

/** Default API versions of `helm template` without a cluster. */
const knownVersions: readonly string[] = Object.entries({
  '': ['v1'],
  'admissionregistration.k8s.io': ['v1', 'v1alpha1', 'v1beta1'],
  'internal.apiserver.k8s.io': ['v1alpha1'],
  apps: ['v1', 'v1beta1', 'v1beta2'],
  'authentication.k8s.io': ['v1', 'v1alpha1', 'v1beta1'],
  'authorization.k8s.io': ['v1', 'v1beta1'],
  autoscaling: ['v1', 'v2', 'v2beta1', 'v2beta2'],
  batch: ['v1', 'v1beta1'],
  'certificates.k8s.io': ['v1', 'v1beta1', 'v1alpha1'],
  'coordination.k8s.io': ['v1alpha2', 'v1beta1', 'v1'],
  'discovery.k8s.io': ['v1', 'v1beta1'],
  'events.k8s.io': ['v1', 'v1beta1'],
  extensions: ['v1beta1'],
  'flowcontrol.apiserver.k8s.io': ['v1', 'v1beta1', 'v1beta2', 'v1beta3'],
  'networking.k8s.io': ['v1', 'v1beta1'],
  'node.k8s.io': ['v1', 'v1alpha1', 'v1beta1'],
  policy: ['v1', 'v1beta1'],
  'rbac.authorization.k8s.io': ['v1', 'v1beta1', 'v1alpha1'],
  'resource.k8s.io': ['v1', 'v1beta2', 'v1beta1', 'v1alpha3'],
  'scheduling.k8s.io': ['v1alpha1', 'v1beta1', 'v1'],
  'storage.k8s.io': ['v1beta1', 'v1', 'v1alpha1'],
  'storagemigration.k8s.io': ['v1alpha1'],
  'apiextensions.k8s.io': ['v1beta1', 'v1'],
}).flatMap(([group, versions]) => versions.map((version) => (group === '' ? version : `${group}/${version}`)));

/** Normalizes versions such as `1.34` or `v1.34.2+k0s.0` like Helm. */
export function readKubeVersion(text: string): Result<string> {
  const found = /^\s*v?([0-9]+)\.([0-9]+)(?:\.([0-9]+))?([^0-9].*)?$/.exec(text);
  if (!found) return failed(new TemplateError(`invalid kube version '${text}': write it as v1.34.2`));
  return succeeded(`v${Number(found[1])}.${Number(found[2])}.${Number(found[3] ?? '0')}`);
}

/** Builds `.Capabilities` for a normalized Kubernetes version. */
export function capabilitiesObject(kubeVersion: string, apiVersions: readonly string[]): Value {
  const [major = '', minor = ''] = kubeVersion.slice(1).split('.');
  const constant = (value: Value): GoMethod => ({ parameters: [], call: () => value });
  const versions = [...knownVersions, ...apiVersions];
  const known = new Set(versions);
  const has: GoMethod = { parameters: ['string'], call: ([wanted]) => typeof wanted === 'string' && known.has(wanted) };
  return new GoStruct('*chartutil.Capabilities', {
    kind: 'ptr',
    fields: [
      {
        name: 'KubeVersion',
        value: new GoStruct('chartutil.KubeVersion', {
          fields: [
            { name: 'Version', value: kubeVersion },
            { name: 'Major', value: major },
            { name: 'Minor', value: minor },
          ],
          methods: { String: constant(kubeVersion), GitVersion: constant(kubeVersion) },
          output: kubeVersion,
        }),
      },
      {
        name: 'APIVersions',
        value: withMethods({ Has: has }, withTypeName('chartutil.VersionSet', stringList(versions))),
      },
      {
        name: 'HelmVersion',
        value: new GoStruct('version.BuildInfo', {
          fields: [
            { name: 'Version', value: helmVersion, json: 'version' },
            { name: 'GitCommit', value: '', json: 'git_commit' },
            { name: 'GitTreeState', value: '', json: 'git_tree_state' },
            { name: 'GoVersion', value: 'go1.24.11', json: 'go_version' },
          ],
        }),
      },
    ],
  });
}
