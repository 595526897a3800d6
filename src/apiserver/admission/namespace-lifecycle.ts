import { must, statusError, type UnstructuredObject } from '../../machinery/index.ts';
import type { Store } from '../../store/index.ts';
import { objectKey } from '../storage/keys.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import type { AdmissionRequest, AdmissionStep } from './types.ts';

const immortal = new Set(['default', 'kube-system', 'kube-public']);
const space = { group: '', plural: 'namespaces' };

/** Refuses to create objects in missing or terminating namespaces, and refuses to delete the system namespaces. */
export function namespaceLifecycle(store: Store<StoredObject>): AdmissionStep {
  return {
    name: 'NamespaceLifecycle',
    concerns: ({ group, plural, namespaced }) => namespaced || (group === '' && plural === 'namespaces'),
    operations: ['CREATE', 'DELETE'],
    validate(request) {
      if (request.operation === 'DELETE') return checkDelete(request);
      if (request.operation === 'CREATE' && request.target.namespace !== undefined) checkCreate(request, store);
    },
  };
}

function isNamespaceRequest({ target }: AdmissionRequest): boolean {
  return target.resource.definition.group === '' && target.resource.definition.plural === 'namespaces';
}

function checkDelete(request: AdmissionRequest): void {
  if (!isNamespaceRequest(request) || !immortal.has(request.target.name)) return;
  throw statusError.forbidden(
    { group: '', resource: 'namespaces', name: request.target.name },
    'this namespace may not be deleted',
  );
}

function checkCreate(request: AdmissionRequest, store: Store<StoredObject>): void {
  const name = must(request.target.namespace, 'request.target.namespace');
  const record = store.head(objectKey(space, undefined, name));
  if (!record) throw statusError.notFound({ group: '', resource: 'namespaces', name });
  const namespace: UnstructuredObject = record.value.object;
  if (namespace.metadata.deletionTimestamp === undefined) return;
  // Access reviews must work while a namespace is terminating.
  const { definition } = request.target.resource;
  if (definition.group === 'authorization.k8s.io') return;
  throw statusError.forbidden(
    { group: definition.group, resource: definition.plural, name: request.target.name },
    `unable to create new content in namespace ${name} because it is being terminated`,
    [{ reason: 'NamespaceTerminating', message: `namespace ${name} is being terminated`, field: 'metadata.namespace' }],
  );
}
