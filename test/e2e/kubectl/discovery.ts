import { expect } from 'vitest';
import type { Expectation } from './expectation.ts';
import { configMap } from './objects.ts';
import { lines, table } from './output.ts';

/** Discovery: versions, kinds, schemas, health. */
export function discoveryExpectations(expectation: Expectation): void {
  expectation('version prints a server version kubectl supports', async (s) => {
    const version = JSON.parse(await s.ok`version -o json`) as { serverVersion: Record<string, string> };
    expect(version.serverVersion).toMatchObject({
      major: '1',
      gitVersion: expect.stringMatching(/^v1\.\d+\.\d+/) as string,
      platform: expect.stringContaining('/') as string,
    });
    expect(Number(version.serverVersion['minor'])).toBeGreaterThanOrEqual(32);
  });

  expectation('cluster-info names the address of the control plane', async (s) => {
    expect(await s.ok`cluster-info`).toMatch(/control plane.* is running at .*https:\/\/\S+/);
  });

  expectation('api-versions lists core and the groups in sorted order', async (s) => {
    const versions = lines(await s.ok`api-versions`);
    expect(versions).toEqual([...versions].sort());
    expect(versions).toEqual(
      expect.arrayContaining([
        ...['admissionregistration.k8s.io/v1', 'apiextensions.k8s.io/v1', 'apiregistration.k8s.io/v1', 'apps/v1'],
        ...['authentication.k8s.io/v1', 'authorization.k8s.io/v1', 'autoscaling/v2', 'batch/v1'],
        ...['certificates.k8s.io/v1', 'coordination.k8s.io/v1', 'discovery.k8s.io/v1', 'events.k8s.io/v1'],
        ...['networking.k8s.io/v1', 'node.k8s.io/v1', 'policy/v1', 'rbac.authorization.k8s.io/v1'],
        ...['scheduling.k8s.io/v1', 'storage.k8s.io/v1', 'v1'],
      ]),
    );
  });

  const resources: [string, ...string[]][] = [
    ['bindings', 'v1', 'true', 'Binding'],
    ['configmaps', 'cm', 'v1', 'true', 'ConfigMap'],
    ['endpoints', 'ep', 'v1', 'true', 'Endpoints'],
    ['events', 'ev', 'v1', 'true', 'Event'],
    ['limitranges', 'limits', 'v1', 'true', 'LimitRange'],
    ['namespaces', 'ns', 'v1', 'false', 'Namespace'],
    ['nodes', 'no', 'v1', 'false', 'Node'],
    ['persistentvolumeclaims', 'pvc', 'v1', 'true', 'PersistentVolumeClaim'],
    ['persistentvolumes', 'pv', 'v1', 'false', 'PersistentVolume'],
    ['pods', 'po', 'v1', 'true', 'Pod'],
    ['podtemplates', 'v1', 'true', 'PodTemplate'],
    ['replicationcontrollers', 'rc', 'v1', 'true', 'ReplicationController'],
    ['resourcequotas', 'quota', 'v1', 'true', 'ResourceQuota'],
    ['secrets', 'v1', 'true', 'Secret'],
    ['serviceaccounts', 'sa', 'v1', 'true', 'ServiceAccount'],
    ['services', 'svc', 'v1', 'true', 'Service'],
    ['mutatingwebhookconfigurations', 'admissionregistration.k8s.io/v1', 'false', 'MutatingWebhookConfiguration'],
    ['validatingwebhookconfigurations', 'admissionregistration.k8s.io/v1', 'false', 'ValidatingWebhookConfiguration'],
    ['customresourcedefinitions', 'crd,crds', 'apiextensions.k8s.io/v1', 'false', 'CustomResourceDefinition'],
    ['apiservices', 'apiregistration.k8s.io/v1', 'false', 'APIService'],
    ['controllerrevisions', 'apps/v1', 'true', 'ControllerRevision'],
    ['daemonsets', 'ds', 'apps/v1', 'true', 'DaemonSet'],
    ['deployments', 'deploy', 'apps/v1', 'true', 'Deployment'],
    ['replicasets', 'rs', 'apps/v1', 'true', 'ReplicaSet'],
    ['statefulsets', 'sts', 'apps/v1', 'true', 'StatefulSet'],
    ['selfsubjectreviews', 'authentication.k8s.io/v1', 'false', 'SelfSubjectReview'],
    ['tokenreviews', 'authentication.k8s.io/v1', 'false', 'TokenReview'],
    ['localsubjectaccessreviews', 'authorization.k8s.io/v1', 'true', 'LocalSubjectAccessReview'],
    ['selfsubjectaccessreviews', 'authorization.k8s.io/v1', 'false', 'SelfSubjectAccessReview'],
    ['selfsubjectrulesreviews', 'authorization.k8s.io/v1', 'false', 'SelfSubjectRulesReview'],
    ['subjectaccessreviews', 'authorization.k8s.io/v1', 'false', 'SubjectAccessReview'],
    ['horizontalpodautoscalers', 'hpa', 'autoscaling/v2', 'true', 'HorizontalPodAutoscaler'],
    ['cronjobs', 'cj', 'batch/v1', 'true', 'CronJob'],
    ['jobs', 'batch/v1', 'true', 'Job'],
    ['certificatesigningrequests', 'csr', 'certificates.k8s.io/v1', 'false', 'CertificateSigningRequest'],
    ['leases', 'coordination.k8s.io/v1', 'true', 'Lease'],
    ['endpointslices', 'discovery.k8s.io/v1', 'true', 'EndpointSlice'],
    ['events', 'ev', 'events.k8s.io/v1', 'true', 'Event'],
    ['ingressclasses', 'networking.k8s.io/v1', 'false', 'IngressClass'],
    ['ingresses', 'ing', 'networking.k8s.io/v1', 'true', 'Ingress'],
    ['networkpolicies', 'netpol', 'networking.k8s.io/v1', 'true', 'NetworkPolicy'],
    ['runtimeclasses', 'node.k8s.io/v1', 'false', 'RuntimeClass'],
    ['poddisruptionbudgets', 'pdb', 'policy/v1', 'true', 'PodDisruptionBudget'],
    ['clusterrolebindings', 'rbac.authorization.k8s.io/v1', 'false', 'ClusterRoleBinding'],
    ['clusterroles', 'rbac.authorization.k8s.io/v1', 'false', 'ClusterRole'],
    ['rolebindings', 'rbac.authorization.k8s.io/v1', 'true', 'RoleBinding'],
    ['roles', 'rbac.authorization.k8s.io/v1', 'true', 'Role'],
    ['priorityclasses', 'pc', 'scheduling.k8s.io/v1', 'false', 'PriorityClass'],
    ['csidrivers', 'storage.k8s.io/v1', 'false', 'CSIDriver'],
    ['csinodes', 'storage.k8s.io/v1', 'false', 'CSINode'],
    ['csistoragecapacities', 'storage.k8s.io/v1', 'true', 'CSIStorageCapacity'],
    ['storageclasses', 'sc', 'storage.k8s.io/v1', 'false', 'StorageClass'],
    ['volumeattachments', 'storage.k8s.io/v1', 'false', 'VolumeAttachment'],
  ];
  expectation('api-resources lists every built-in kind with short names and scope', async (s) => {
    const rows = table(await s.ok`api-resources`);
    expect(rows[0]).toEqual(['NAME', 'SHORTNAMES', 'APIVERSION', 'NAMESPACED', 'KIND']);
    expect(rows).toEqual(expect.arrayContaining(resources));
  });

  expectation('api-resources filters by group, scope, verb and category', async (s) => {
    expect(lines(await s.ok`api-resources --api-group=rbac.authorization.k8s.io -o name`)).toEqual([
      'clusterrolebindings.rbac.authorization.k8s.io',
      'clusterroles.rbac.authorization.k8s.io',
      'rolebindings.rbac.authorization.k8s.io',
      'roles.rbac.authorization.k8s.io',
    ]);
    expect(lines(await s.ok`api-resources --api-group=${''} --namespaced=false -o name`)).toEqual(
      expect.arrayContaining(['namespaces', 'nodes', 'persistentvolumes']),
    );
    expect(lines(await s.ok`api-resources --api-group=authorization.k8s.io --verbs=list -o name`)).toEqual([]);
    expect(lines(await s.ok`api-resources --categories=all -o name`)).toEqual(
      expect.arrayContaining([
        ...['pods', 'replicationcontrollers', 'services', 'daemonsets.apps', 'deployments.apps', 'replicasets.apps'],
        ...['statefulsets.apps', 'horizontalpodautoscalers.autoscaling', 'cronjobs.batch', 'jobs.batch'],
      ]),
    );
  });

  expectation('api-resources -o wide shows the verbs of a kind', async (s) => {
    const rows = table(await s.ok`api-resources --api-group=coordination.k8s.io -o wide`);
    expect(rows[1]).toEqual([
      'leases',
      'coordination.k8s.io/v1',
      'true',
      'Lease',
      'create,delete,deletecollection,get,list,patch,update,watch',
    ]);
  });

  expectation('an unknown kind is refused by the name the user typed', async (s) => {
    expect(await s.fails`get sprockets`).toContain('the server doesn\'t have a resource type "sprockets"');
  });

  expectation('explain describes a built-in kind and a field of it', async (s) => {
    const kind = await s.ok`explain configmap`;
    expect(kind).toMatch(/^KIND: +ConfigMap\nVERSION: +v1\n/);
    expect(kind).toMatch(/^ {2}data\t<map\[string\]string>$/m);
    expect(kind).toMatch(/^ {2}immutable\t<boolean>$/m);
    const field = await s.ok`explain deployment.spec.replicas`;
    expect(field).toMatch(/^GROUP: +apps\nKIND: +Deployment\nVERSION: +v1\n/);
    expect(field).toMatch(/^FIELD: replicas <integer>$/m);
    const list = await s.ok`explain pod.spec.containers`;
    expect(list).toMatch(/^FIELD: containers <\[\]Container>$/m);
    expect(list).toMatch(/^ {2}name\t<string> -required-$/m);
  });

  expectation('explain --recursive prints the tree of fields', async (s) => {
    const tree = await s.ok`explain networkpolicy.spec --recursive`;
    expect(tree).toMatch(/^ {2}egress\t<\[\]NetworkPolicyEgressRule>$/m);
    expect(tree).toMatch(/^ {4}ports\t<\[\]NetworkPolicyPort>$/m);
    expect(tree).toMatch(/^ {6}port\t<IntOrString>$/m);
    expect(tree).toMatch(/^ {2}podSelector\t<LabelSelector>/m);
  });

  expectation('explain --api-version chooses a version', async (s) => {
    const text = await s.ok`explain horizontalpodautoscaler.spec --api-version=autoscaling/v1`;
    expect(text).toMatch(/^VERSION: +v1$/m);
    expect(text).toMatch(/^ {2}targetCPUUtilizationPercentage\t<integer>$/m);
  });

  expectation('explain refuses a field that does not exist', async (s) => {
    expect(await s.fails`explain configmap.nothing`).toContain('field "nothing" does not exist');
  });

  expectation('get --raw reads any path', async (s) => {
    expect(await s.ok`get --raw /readyz`).toBe('ok');
    expect(await s.ok`get --raw /livez`).toBe('ok');
    expect(await s.ok`get --raw /healthz`).toBe('ok');
    expect(await s.ok`get --raw /readyz?verbose`).toMatch(/\[\+\]ping ok\n(?:.*\n)*readyz check passed\n$/);
    expect(JSON.parse(await s.ok`get --raw /version`)).toMatchObject({ major: '1' });
    expect(JSON.parse(await s.ok`get --raw /api`)).toMatchObject({ kind: 'APIVersions', versions: ['v1'] });
    expect(JSON.parse(await s.ok`get --raw /apis/apps/v1`)).toMatchObject({
      kind: 'APIResourceList',
      groupVersion: 'apps/v1',
    });
    expect(JSON.parse(await s.ok`get --raw /openapi/v3`)).toMatchObject({
      paths: {
        'apis/apps/v1': { serverRelativeURL: expect.stringMatching(/^\/openapi\/v3\/apis\/apps\/v1\?hash=/) as string },
      },
    });
    expect(await s.ok`get --raw /metrics`).toMatch(/^apiserver_request_total\{/m);
    expect((JSON.parse(await s.ok`get --raw /`) as { paths: string[] }).paths).toEqual(
      expect.arrayContaining([
        '/api',
        '/api/v1',
        '/apis',
        '/apis/apps/v1',
        '/healthz',
        '/openapi/v3',
        '/readyz',
        '/version',
      ]),
    );
  });

  expectation('get --raw of an unknown path is a NotFound', async (s) => {
    expect(await s.fails`get --raw /nowhere`).toBe(
      'Error from server (NotFound): the server could not find the requested resource\n',
    );
    expect(await s.fails`get --raw /apis/nobody.example.com/v1`).toBe(
      'Error from server (NotFound): the server could not find the requested resource\n',
    );
  });

  expectation('create --raw and delete --raw write', async (s) => {
    const path = `/api/v1/namespaces/${s.namespace}/configmaps`;
    const body = await s.file('body.json', JSON.stringify(configMap('raw', { a: '1' })));
    expect(JSON.parse(await s.ok`create --raw ${path} -f ${body}`)).toMatchObject({
      kind: 'ConfigMap',
      data: { a: '1' },
    });
    expect(JSON.parse(await s.ok`delete --raw ${path}/raw`)).toMatchObject({ kind: 'Status', status: 'Success' });
  });

  expectation('the namespaces and roles of a fresh cluster are there', async (s) => {
    expect(lines(await s.ok`get namespaces default kube-system kube-public kube-node-lease -o name`)).toHaveLength(4);
    expect(lines(await s.ok`get clusterroles cluster-admin admin edit view system:node -o name`)).toHaveLength(5);
    expect(
      lines(await s.ok`get clusterrolebinding cluster-admin system:basic-user system:discovery -o name`),
    ).toHaveLength(3);
    expect(
      await s.ok`get service kubernetes -n default -o ${'jsonpath={.spec.ports[0].name} {.spec.ports[0].port}'}`,
    ).toBe('https 443');
  });
}
